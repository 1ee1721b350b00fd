/** Normalized texts: references, wallets and names are compared in this form. */

/** Invisible characters: controls, format characters, single halves of surrogate pairs, and fillers. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Every kind of dash, and the minus. */
export const dashes = /[\p{Pd}\u2212\u02d7]/gu;
const blanks = /[\p{Z}\s]+/gu;
/**
 * Quotes of every kind, single or double. All count as the same, because a telephone writes other quotes than
 * a keyboard, and two single quotes look like a double one.
 */
const quotes = /["'\u2018-\u201f\u02bc\u02b9\u02ba\u2032\u2033`\u00b4]+/gu;

/**
 * A normalized text. It ignores the difference between capital and small letters, the
 * kinds of dashes and quotes, invisible characters, compatibility forms (Unicode's form NFKC, such as
 * full-width letters), and blanks. One blank stays between two digits, so that `1 12` and `11 2` differ.
 * Letters of two scripts that look alike differ too. Records keep texts in this form, so after a change of
 * this rule they would not find the older texts.
 * @returns an empty text when the text has no visible character
 */
export function normalizeText(text: string): string {
	// Plain texts take a faster way with the same result, because a run can have 60,000 references.
	if (/^[\w./-]*$/.test(text)) return text.toLowerCase();
	return (
		withoutCase(withoutBlanks(visible(text)))
			// The changes of case can split a letter, and NFKC can turn a sign into a quote.
			.normalize('NFKC')
			.replace(quotes, "'")
	);
}

/** The case is changed three times, because some letters have three forms, such as ẞ, ß and SS. */
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

const visible = (text: string): string =>
	text
		.replace(blanks, ' ')
		.replace(invisible, '')
		.replace(quotes, "'")
		.normalize('NFKC')
		.replace(dashes, '-')
		// NFKC turns some signs into a blank and a second character.
		.replace(blanks, ' ')
		.replace(invisible, '');

const withoutBlanks = (text: string): string => text.trim().replace(/(?<!\p{N}) | (?!\p{N})/gu, '');
