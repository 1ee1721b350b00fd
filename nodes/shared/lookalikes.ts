/** The rule by which references, employee numbers, wallets and names are compared: two texts are the same if they look the same to a person. */

/** Characters that nobody sees: controls, format characters, halves of surrogate pairs and fillers. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Every kind of dash, and the minus. */
export const dashes = /[\p{Pd}\u2212\u02d7]/gu;
const blanks = /[\p{Z}\s]+/gu;
/** Quotes of every kind, single or double: a telephone writes others than a keyboard, and two single ones look like a double one. */
const quotes = /["'\u2018-\u201f\u02bc\u02b9\u02ba\u2032\u2033`\u00b4]+/gu;

/**
 * The form in which a text is compared: texts that look the same have the same. These do not count: capital and small
 * letters, kinds of dashes and quotes, what nobody sees, compatibility forms (Unicode's form NFKC, such as full-width
 * letters), and blanks, except that one stays between two digits: `1 12` and `11 2` are not the same. Records
 * keep texts in this form: a change of the rule loses them. Empty when nothing of the text can be seen.
 */
export function lookOf(text: string): string {
	// A shorter way with the same result for plain texts: a run can have 60,000 references.
	if (/^[\w./-]*$/.test(text)) return text.toLowerCase();
	return (
		withoutCase(withoutBlanks(visible(text)))
			// Again, because a small letter can be written as two, and bring back a quote.
			.normalize('NFKC')
			.replace(quotes, "'")
	);
}

/** Three times: some letters have a capital or a small one that leads to a third one, such as ẞ, ß and SS. */
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase().toLowerCase();

const visible = (text: string): string =>
	text
		.replace(blanks, ' ')
		.replace(invisible, '')
		.replace(quotes, "'")
		.normalize('NFKC')
		.replace(dashes, '-')
		// Some signs become a blank and another one.
		.replace(blanks, ' ')
		.replace(invisible, '');

const withoutBlanks = (text: string): string => text.trim().replace(/(?<!\p{N}) | (?!\p{N})/gu, '');

/** Signs that only set off the parts of an employee number. */
const oneSign = '[-/\\\\._:# ]';
const sign = `${oneSign}+`;
// A run is tried once, from its beginning: from each of its characters, it would take their square.
const signsAtEdges = new RegExp(`^${sign}|(?<!${oneSign})${sign}$`, 'g');
const signsAtLetters = new RegExp(
	`(?<=[\\p{L}\\p{M}])${sign}(?=\\p{N})|(?<=\\p{N})${sign}(?=[\\p{L}\\p{M}])`,
	'gu',
);

/** An Ethiopian mobile number: 0911…, 0711…, +251911…, 00251711…, or without anything before it. */
const mobile = /^(?:(?:\+|00)?251)?0?([79]\d{8})$/;
const mobileSigns = /[\s()./-]+/g;

/** The groups in which people write its digits, such as `0911 234567` and `091 123 4567`: 070-2024-001 is none of them. */
const mobileGroups = /^(?:251 ?)?0?[79]\d(?:\d(?: ?\d{6}|(?: \d{2,4}){2,3})| \d{3} \d{4})$/;

/**
 * The nine digits of an Ethiopian mobile number; undefined for any other text. In a telephone number, the kind and place of
 * a sign mean nothing: people write the same one as 0911-23-45-67 and 0911 234567. In an employee number they can tell two
 * people apart. So, unless it begins with +251 or 00251, a text is a mobile number only in the groups that people use for
 * one, and without 0 or 251 before it only with blanks between them: 702-024-001 is none.
 */
export function mobileIn(text: string): string | undefined {
	const [, number] = mobile.exec(text.replace(mobileSigns, '')) ?? [];
	if (/^(?:\+|00251)/.test(text)) return number;
	const isBare = /^[79]/.test(text);
	const groups = isBare ? text : text.replace(mobileSigns, ' ').trim();
	return mobileGroups.test(groups) ? number : undefined;
}

/**
 * The form in which an employee number is compared: `lookOf`, and besides, these do not count: signs and blanks at its
 * ends and between a letter and a digit (`E-701` is `e 701`), and zeros before a number. A sign or blank between two digits
 * counts: `1-12` and `11-2` are two people. All forms of a mobile number are one. Capital letters.
 */
export function personOf(employee: string): string {
	const look = lookOf(employee);
	const plain = look
		.replace(signsAtEdges, '')
		.replace(signsAtLetters, '')
		.replace(/^0+(?=\d)/, '');
	return (mobileIn(look) ?? plain).toUpperCase();
}

/** The form in which a telephone number is compared; empty for a text that is none, such as `-` or 0. */
export function phoneOf(text: string): string {
	const digits = text.normalize('NFKC').replace(/\.0$/, '').replace(/\D/g, '');
	return mobileIn(digits) ?? (/^0*$|^\d{1,6}$/.test(digits) ? '' : digits);
}
