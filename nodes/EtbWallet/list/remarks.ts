/** The remarks on rows of a list: their codes and words. */

/** The number of days for which a payment to the same person is worth a remark. */
export const latelyDays = 10;

/**
 * Remarks on rows, for the person who approves the list. docs/operations.md has the same table. The output
 * `known` is `new` with the code `new`, and `changed` with a code that begins with `changed`.
 */
export const remarkTexts = {
	rounded: 'Rounded to two decimals',
	numberIsDay: 'The spreadsheet may have changed the number',
	amountIsDay: 'The spreadsheet may have changed the amount',
	sumOfOthers: 'The amount is the sum of all others',
	new: 'New',
	changedAmount: 'Another amount',
	changedName: 'Another name',
	changedPhone: 'Another telephone',
	changedUserId: 'Another wallet',
	changedEmail: 'Another email address',
	sameName: 'The same name as another number',
	samePhone: 'The same telephone as another number',
	sameUserId: 'The same wallet as another number',
	sameEmail: 'The same email address as another number',
	paidLately: `Paid for the same purpose in the last ${latelyDays} days`,
	sameAmountLately: `Paid the same amount in the last ${latelyDays} days`,
	paidForPeriod: 'Paid for this period before',
	otherUnknown: 'It is unknown whether another payment was made',
	userIdInListOnly: 'The wallet stands in this list alone',
	total: 'This row is a total',
} as const;
export type RemarkCode = keyof typeof remarkTexts;

export interface Remark {
	code: RemarkCode;
	text: string;
}

/** Whether a remark says that something is other than it was. */
export const isChange = ({ code }: Remark): boolean => code.startsWith('changed');

/** @param found the text after the words of the code, such as the other name */
export const remark = (code: RemarkCode, found = ''): Remark => ({
	code,
	text: `${remarkTexts[code]}${found === '' ? '' : `: ${found}`}.`,
});

/** @param found as in `remark`; there is no remark if it is empty or false */
export const remarkIf = (code: RemarkCode, found: string | false): Remark[] =>
	found === '' || found === false ? [] : [remark(code, found)];
