/** Telephone numbers. */

/** An Ethiopian mobile number: 0911…, 0711…, +251911…, 00251711…, or 911… without a prefix. */
const mobile = /^(?:(?:\+|00)?251)?0?([79]\d{8})$/;
const mobileSigns = /[\s()./-]+/g;

/** The groups in which people write its digits, such as `0911 234567` or `09 11 23 45 67`; not 070-2024-001. */
const mobileGroups =
	/^(?:(?:251 ?)?0?[79]\d(?:\d(?: ?\d{6}|(?: \d{2,4}){2,3})| \d{3} \d{4})|0[79](?: \d{8}|(?: \d\d){4}))$/;

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
 * A normalized telephone number: its digits.
 * @returns an empty text for no number, such as `-` or 0
 */
export function normalizePhone(text: string): string {
	const digits = text.normalize('NFKC').replace(/\.0$/, '').replace(/\D/g, '');
	return mobileIn(digits) ?? (/^0*$|^\d{1,6}$/.test(digits) ? '' : digits);
}
