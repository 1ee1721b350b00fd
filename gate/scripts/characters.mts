/**
 * The characters on which the key of a reference depends, for the SQL in `schema/`: what the rule of the nodes makes of each
 * character that there is.
 */
import { createRequire } from 'node:module';
import { z } from 'zod';

/** Characters by what they mean for a key, as they stand in E'…' of PostgreSQL. */
type Characters = Record<
	| 'invisible' // Nobody sees them.
	| 'blanks'
	| 'quotes'
	// These and the following ones are those that Unicode's form NFKD leaves as they are.
	| 'dashes'
	| 'digits'
	// Letters outside of ASCII that become another one, in the same order. The sharp s becomes two, which the SQL says.
	| 'capitals'
	| 'small',
	string
>;

const Reference = z.object({ referenceKeyOf: z.function().args(z.string()).returns(z.string()) });

/** The characters as the built nodes treat them, by the Unicode of this Node.js. */
export function charactersOfNodes(): Characters {
	const { referenceKeyOf } = Reference.parse(
		createRequire(import.meta.url)('../../dist/nodes/shared/reference.js'),
	);
	// (Between two digits also a blank stays.)
	const forms = new Map(
		everyCharacter().map((each) => [each, referenceKeyOf(`1${each}1`).slice(1, -1)]),
	);
	const all = [...forms.keys()];
	const becoming = (form: string) => all.filter((each) => forms.get(each) === form);
	const plain = all.filter((each) => each.normalize('NFKD') === each);
	const capitals = plain.filter(
		(each) => each > '\x7f' && /^\p{L}$/u.test(forms.get(each) ?? '') && forms.get(each) !== each,
	);
	return {
		invisible: ranges(becoming('')),
		blanks: becoming(' ').map(escaped).join(''),
		quotes: ranges(becoming("'")),
		dashes: ranges(plain.filter((each) => forms.get(each) === '-')),
		digits: ranges(plain.filter((each) => referenceKeyOf(`${each} 1`).includes(' '))),
		capitals: capitals.map(escaped).join(''),
		small: capitals.map((each) => escaped(forms.get(each) ?? '')).join(''),
	};
}

/** Each character that a text of PostgreSQL may have, but those without a meaning. */
const everyCharacter = (): string[] =>
	Array.from({ length: 0x10ffff }, (_, index) => index + 1)
		.filter((code) => code < 0xd800 || code > 0xdfff)
		.map((code) => String.fromCodePoint(code))
		.filter((each) => /[^\p{Cn}\p{Co}]|\p{Default_Ignorable_Code_Point}/u.test(each));

function escaped(character: string): string {
	const code = character.codePointAt(0)?.toString(16) ?? '';
	return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}

/** Characters in the order of their codes, those that follow each other as a range. */
function ranges(characters: string[]): string {
	const found: Array<{ first: string; last: string }> = [];
	for (const each of characters) {
		const range = found.at(-1);
		if (range && each.codePointAt(0) === (range.last.codePointAt(0) ?? 0) + 1) range.last = each;
		else found.push({ first: each, last: each });
	}
	return found
		.map(({ first, last }) => escaped(first) + (first === last ? '' : `-${escaped(last)}`))
		.join('');
}
