/** What whoever approves a list should know of a row that can be paid. */

/** Each with what it says; docs/operations.md has the same table. */
export const remarkCodes = {
	rounded: 'The amount was rounded to two decimals',
	numberIsDay:
		'The employee number is also the number of a day: the spreadsheet may have changed it',
	amountIsDay: 'The amount is also the number of a day, a time of day or a percentage',
	sumOfOthers: 'The amount is the sum of all others',
	new: 'Not in Known People, or never paid',
	changedAmount: 'Another amount than last time',
	changedName: 'Another name than last time',
	changedPhone: 'Another telephone than last time',
	changedWallet: 'Another wallet than last time',
	sameName: 'Another employee number has the same name',
	samePhone: 'Another employee number has the same telephone',
	sameWallet: 'The wallet was paid under another employee number',
	sameEmail: 'Other rows have the same email address',
	paidLately: 'Paid for another period in the last 10 days',
	unknownBefore: 'This workflow sent this payment, and it is unknown whether it was paid',
	walletInListOnly: 'The wallet stands in the list, and not in Known People',
	totalWord: 'The name or number has a word for a total, and may be a person',
	total: 'The row is a total',
} as const;
export type RemarkCode = keyof typeof remarkCodes;

export interface Remark {
	code: RemarkCode;
	/** With what was found, in a sentence. */
	text: string;
}
