/** The rule for a reference: what looks the same is the same. */
import { InvalidValueError, invalid, requiredText, show } from '../../shared/invalidValue';

/** In characters (code points), as in the pay gate. */
const longestReference = 200;

/** What nobody sees: controls, halves of surrogate pairs, format characters and fillers. */
const invisible = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;

/** Blanks that look like U+0020, and ends of lines. */
const foreignBlank = /(?! )\p{Z}/u;

/** The first such character of the text, as `U+200B`. */
function findIn(text: string, kind: RegExp): string | undefined {
	const code = kind.exec(text)?.[0].codePointAt(0);
	return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

const writeAnew =
	'Write this reference anew, with letters, digits, plain blanks and signs that can be seen.';

/**
 * Reads a reference. The pay gate has the same rule in SQL, with the same words for the problems. White space around it is
 * removed first (JavaScript's `trim`); a whole number becomes text. Then it is refused, in this order,
 * 1. empty, or not text: `Reference is empty`;
 * 2. longer than 200 code points: `Reference is "…", which is longer than 200 characters`;
 * 3. with a character in `invisible`: `Reference is "…", which has an invisible character (U+200B)`;
 * 4. with a character in `foreignBlank`: `Reference is "…", which has a blank that is not a plain one (U+00A0)`;
 * 5. when it is not in Unicode's form NFC: `Reference is "…", which is not in Unicode's composed form`.
 * Of two references of one run with the same `lookOf` the later one is refused:
 * `Reference is "…", which looks like "…" of item 0`, or `Reference is "…", which item 0 has too` when they are equal.
 * @throws {InvalidValueError}
 */
export function requiredReference(value: unknown): string {
	const field = 'Reference';
	const reference = requiredText(field, value, 'Give this item a reference of its own.');
	if (Array.from(reference).length > longestReference) {
		const remedy = 'Give this item a shorter key, such as an invoice number.';
		throw invalid(field, reference, `is longer than ${longestReference} characters`, remedy);
	}
	const unseen = findIn(reference, invisible);
	if (unseen !== undefined) {
		throw invalid(field, reference, `has an invisible character (${unseen})`, writeAnew);
	}
	const blank = findIn(reference, foreignBlank);
	if (blank !== undefined) {
		throw invalid(field, reference, `has a blank that is not a plain one (${blank})`, writeAnew);
	}
	if (reference !== reference.normalize('NFC')) {
		const remedy = 'Add .normalize() to the expression of the reference, or write it anew.';
		throw invalid(field, reference, `is not in Unicode's composed form`, remedy);
	}
	return reference;
}

/**
 * Two references with the same look differ only in case, blanks or compatibility forms (such as ２ and 2): in form NFKC,
 * lower case, without blanks. In SQL: `replace(lower(normalize(reference, NFKC)), ' ', '')`.
 */
export const lookOf = (reference: string): string =>
	reference.normalize('NFKC').toLowerCase().replaceAll(' ', '');

/** Makes a check for the references of a run, in order. It throws an {InvalidValueError} for a look-alike of an earlier one. */
export function refusesLookAlikes(): (reference: string, itemIndex: number) => void {
	const firstUses = new Map<string, { reference: string; itemIndex: number }>();
	return (reference, itemIndex) => {
		const look = lookOf(reference);
		const first = firstUses.get(look);
		if (first === undefined) {
			firstUses.set(look, { reference, itemIndex });
			return;
		}
		throw new InvalidValueError(
			first.reference === reference
				? `Reference is ${show(reference)}, which item ${first.itemIndex} has too`
				: `Reference is ${show(reference)}, which looks like ${show(first.reference)} of item ${first.itemIndex}`,
			'The same payment? Then remove this row. Another one? Then give it a reference of its own.',
		);
	};
}
