/** The columns of a list: their words in the editor, and how their values are compared. */
import { normalizeText } from '../../shared/normalizeText';
import { normalizePhone } from './phone';
import type { RemarkCode } from './remarks';

interface ColumnTraits {
	/**
	 * The heading, unless the user named another. Upper case, blanks and signs of a heading do not count, so
	 * `Amount (ETB)` is `amountEtb`.
	 */
	name: string;
	isRequired?: true;
	/** Whether a cell that cannot be used is a problem of its row. Other cells are given out as they came. */
	isChecked?: true;
	/** The name of its field under *Columns*, for the heading in the user's own list. */
	displayName: string;
	/** Such a heading. */
	example: string;
	/** The end of the sentence *The heading of the column with …*. */
	contents: string;
	/** Only for text. How it is compared with that of other people and of earlier lists. */
	comparison?: Comparison;
}

interface Comparison {
	/** An empty text is not compared. */
	normalize: (text: string) => string;
	/** The remark on another text than before. */
	changed: RemarkCode;
	/** The remark on the text of another person. */
	same: RemarkCode;
}

const normalizeEmail = (text: string): string => (text.includes('@') ? normalizeText(text) : '');

/** Remarks come in this order. */
const personColumnTraits = [
	{
		name: 'employee',
		isRequired: true,
		isChecked: true,
		displayName: 'Employee',
		example: 'Staff No',
		contents: 'employee numbers, or another number that each person keeps',
	},
	{
		name: 'name',
		isRequired: true,
		isChecked: true,
		displayName: 'Name',
		example: 'Full name',
		contents: 'names',
		comparison: { normalize: normalizeText, changed: 'changedName', same: 'sameName' },
	},
	{
		name: 'amountEtb',
		isRequired: true,
		isChecked: true,
		displayName: 'Amount',
		example: 'Net to pay',
		contents: 'what each person gets, in ETB',
	},
	{
		name: 'phone',
		displayName: 'Phone',
		example: 'Mobile',
		contents: 'telephone numbers',
		comparison: { normalize: normalizePhone, changed: 'changedPhone', same: 'samePhone' },
	},
	{
		name: 'userId',
		isChecked: true,
		displayName: 'User ID',
		example: 'Wallet',
		contents: 'wallets, if the list has them',
		comparison: { normalize: normalizeText, changed: 'changedUserId', same: 'sameUserId' },
	},
	{
		name: 'email',
		displayName: 'Email',
		example: 'E-mail',
		contents: 'email addresses',
		comparison: { normalize: normalizeEmail, changed: 'changedEmail', same: 'sameEmail' },
	},
] as const satisfies readonly ColumnTraits[];

type PersonColumn = (typeof personColumnTraits)[number]['name'];
/** The columns that hold text about a person. */
export type TextColumn = Exclude<PersonColumn, 'amountEtb'>;
export type CheckedColumn = Extract<
	(typeof personColumnTraits)[number],
	{ isChecked: true }
>['name'];
export type UncheckedColumn = Exclude<PersonColumn, CheckedColumn>;

export const personColumns: ReadonlyArray<ColumnTraits & { name: PersonColumn }> =
	personColumnTraits;

/** The known columns. A column `period`, if the list has one, must have the period of the run. */
export type Column = PersonColumn | 'period';
export const columnNames: readonly Column[] = [...personColumns.map(({ name }) => name), 'period'];

export const checkedColumns: readonly CheckedColumn[] = personColumnTraits.flatMap((column) =>
	'isChecked' in column ? column.name : [],
);
export const uncheckedColumns: readonly UncheckedColumn[] = personColumnTraits.flatMap((column) =>
	'isChecked' in column ? [] : column.name,
);
export const requiredColumns: readonly PersonColumn[] = personColumns
	.filter(({ isRequired }) => isRequired)
	.map(({ name }) => name);
export const optionalColumns: readonly PersonColumn[] = personColumns
	.filter(({ isRequired }) => !isRequired)
	.map(({ name }) => name);

/** The columns whose texts are compared. */
export const comparedColumns: ReadonlyArray<Comparison & { name: TextColumn }> =
	personColumns.flatMap(({ name, comparison }) =>
		comparison && name !== 'amountEtb' ? { name, ...comparison } : [],
	);
