/**
 * The rule for comparing references, employee numbers, wallets and names: two texts are the same if a person
 * cannot tell them apart.
 */

/** Characters that nobody sees: controls, format characters, halves of surrogate pairs and fillers. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Every kind of dash, and the minus. */
export const dashes = /[\p{Pd}\u2212\u02d7]/gu;
const blanks = /[\p{Z}\s]+/gu;
/**
 * Quotes of every kind, single or double. A telephone writes other quotes than a keyboard, and two single
 * quotes look like a double one.
 */
const quotes = /["'\u2018-\u201f\u02bc\u02b9\u02ba\u2032\u2033`\u00b4]+/gu;

/**
 * The form in which a text is compared: texts that look the same have the same form. The form drops the
 * difference of capital and small letters, the kinds of dashes and quotes, invisible characters,
 * compatibility forms (Unicode's form NFKC, such as full-width letters), and blanks. One blank stays between
 * two digits: `1 12` and `11 2` differ. Records keep texts in this form, so a change of the rule loses them.
 * @returns an empty text when the text has no visible character
 */
export function comparableText(text: string): string {
	// A faster way with the same result for plain texts, because a run can have 60,000 references.
	if (/^[\w./-]*$/.test(text)) return text.toLowerCase();
	return (
		withoutCase(withoutBlanks(visible(text)))
			// The change to small letters can split a letter into two characters, and bring back a quote.
			.normalize('NFKC')
			.replace(quotes, "'")
	);
}

/** Three changes, because some letters come in three forms, such as ẞ, ß and SS. */
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

const visible = (text: string): string =>
	text
		.replace(blanks, ' ')
		.replace(invisible, '')
		.replace(quotes, "'")
		.normalize('NFKC')
		.replace(dashes, '-')
		// NFKC turns some signs into a blank and another sign.
		.replace(blanks, ' ')
		.replace(invisible, '');

const withoutBlanks = (text: string): string => text.trim().replace(/(?<!\p{N}) | (?!\p{N})/gu, '');

/** Signs that only separate the parts of an employee number. */
const sign = '[-/\\\\._:# ]';
const signs = `${sign}+`;
// The lookbehind lets a match begin only at the first sign of a row: otherwise the time grows with the square
// of the row.
const signsAtEdges = new RegExp(`^${signs}|(?<!${sign})${signs}$`, 'g');
const signsAtLetters = new RegExp(
	`(?<=[\\p{L}\\p{M}])${signs}(?=\\p{N})|(?<=\\p{N})${signs}(?=[\\p{L}\\p{M}])`,
	'gu',
);

/** An Ethiopian mobile number: 0911…, 0711…, +251911…, 00251711…, or 911… without a prefix. */
const mobile = /^(?:(?:\+|00)?251)?0?([79]\d{8})$/;
const mobileSigns = /[\s()./-]+/g;

/** The groups in which people write its digits, such as `0911 234567`; not 070-2024-001. */
const mobileGroups = /^(?:251 ?)?0?[79]\d(?:\d(?: ?\d{6}|(?: \d{2,4}){2,3})| \d{3} \d{4})$/;

/**
 * The nine digits of an Ethiopian mobile number. In a telephone number the kind and place of a sign mean
 * nothing: 0911-23-45-67 and 0911 234567 are the same. In an employee number a sign can tell two people
 * apart. So a text that does not begin with +251 or 00251 is a mobile number only in the groups that people
 * use for one. Without 0 or 251 before it, only blanks may separate the groups: 702-024-001 is no mobile
 * number.
 * @returns undefined for a text that is no mobile number
 */
export function mobileIn(text: string): string | undefined {
	const [, number] = mobile.exec(text.replace(mobileSigns, '')) ?? [];
	if (/^(?:\+|00251)/.test(text)) return number;
	const isBare = /^[79]/.test(text);
	const groups = isBare ? text : text.replace(mobileSigns, ' ').trim();
	return mobileGroups.test(groups) ? number : undefined;
}

/**
 * The form in which an employee number is compared, in capital letters. It is the form of `comparableText`
 * without signs and blanks at the ends and between a letter and a digit (`E-701` is `e 701`), and without
 * zeros before a number. A sign or blank between two digits stays: `1-12` and `11-2` are two people. All ways
 * to write one mobile number have the same form.
 * @returns an empty text for a number without letters and digits
 */
export function employeeKey(employee: string): string {
	const comparable = comparableText(employee);
	const withoutSigns = comparable
		.replace(signsAtEdges, '')
		.replace(signsAtLetters, '')
		.replace(/^0+(?=\d)/, '');
	return (mobileIn(comparable) ?? withoutSigns).toUpperCase();
}

/**
 * The form in which a telephone number is compared: its digits.
 * @returns an empty text for no number, such as `-` or 0
 */
export function comparablePhone(text: string): string {
	const digits = text.normalize('NFKC').replace(/\.0$/, '').replace(/\D/g, '');
	return mobileIn(digits) ?? (/^0*$|^\d{1,6}$/.test(digits) ? '' : digits);
}
