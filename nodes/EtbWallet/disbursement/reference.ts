/** The rule for a reference: what looks the same is the same. */
import { InvalidValueError, requiredText, show } from '../../shared/invalidValue';

/** In characters (code points), as in the pay gate. */
const longestReference = 200;

/** What nobody sees: controls, format characters, fillers and halves of surrogate pairs. As code points, from and to. */
// prettier-ignore
const invisible: Ranges = [
	[0x0000, 0x001f], [0x007f, 0x009f], [0x00ad, 0x00ad], [0x034f, 0x034f], [0x061c, 0x061c], [0x115f, 0x1160],
	[0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f], [0x2800, 0x2800],
	[0x3164, 0x3164], [0xd800, 0xdfff], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb],
	[0x1bca0, 0x1bca3], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff],
];

/** Blanks that look like U+0020, and ends of lines. */
// prettier-ignore
const foreignBlanks: Ranges = [
	[0x00a0, 0x00a0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000],
];

type Ranges = ReadonlyArray<readonly [from: number, to: number]>;

/** The first character of the text that is in the ranges, as `U+200B`. */
function findIn(ranges: Ranges, text: string): string | undefined {
	const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
	const found = codes.find((code) => ranges.some(([from, to]) => code >= from && code <= to));
	return found === undefined ? undefined : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}

const writeAnew =
	'Write this reference anew, with letters, digits, plain blanks and signs that can be seen.';

/**
 * Reads a reference. The pay gate has the same rule in SQL, with the same words for the problems. White space around it is
 * removed first (JavaScript's `trim`); a whole number becomes text. Then it is refused, in this order,
 * 1. empty, or not text: `Reference is empty`;
 * 2. longer than 200 code points: `Reference is "…", which is longer than 200 characters`;
 * 3. with a character in `invisible`: `Reference is "…", which has an invisible character (U+200B)`;
 * 4. with a character in `foreignBlanks`: `Reference is "…", which has a blank that is not a plain one (U+00A0)`;
 * 5. when it is not in Unicode's form NFC: `Reference is "…", which is not in Unicode's composed form`.
 * Of two references of one run with the same `lookOf` the later one is refused:
 * `Reference is "…", which looks like "…" of item 0`, or `Reference is "…", which item 0 has too` when they are equal.
 * @throws {InvalidValueError}
 */
export function requiredReference(value: unknown): string {
	const reference = requiredText('Reference', value, 'Give this item a reference of its own.');
	if (Array.from(reference).length > longestReference) {
		throw new InvalidValueError(
			`Reference is ${show(reference)}, which is longer than ${longestReference} characters`,
			'Give this item a shorter key, such as an invoice number.',
		);
	}
	// Most are plain ASCII. To look at each character of many thousand references would take long.
	if (/^[ -~]*$/.test(reference)) return reference;
	const unseen = findIn(invisible, reference);
	if (unseen !== undefined) {
		throw new InvalidValueError(
			`Reference is ${show(reference)}, which has an invisible character (${unseen})`,
			writeAnew,
		);
	}
	const blank = findIn(foreignBlanks, reference);
	if (blank !== undefined) {
		throw new InvalidValueError(
			`Reference is ${show(reference)}, which has a blank that is not a plain one (${blank})`,
			writeAnew,
		);
	}
	if (reference !== reference.normalize('NFC')) {
		throw new InvalidValueError(
			`Reference is ${show(reference)}, which is not in Unicode's composed form`,
			'Add .normalize() to the expression of the reference, or write it anew.',
		);
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
		const isSame = first.reference === reference;
		throw new InvalidValueError(
			isSame
				? `Reference is ${show(reference)}, which item ${first.itemIndex} has too`
				: `Reference is ${show(reference)}, which looks like ${show(first.reference)} of item ${first.itemIndex}`,
			'Give each payment its own reference, or remove the duplicate row.',
		);
	};
}
