/** The rows that the pages show and the register keeps, and questions about one row. Amounts are in ETB. */
import type { Code, Outcome } from '../../nodes/EtbWallet/codes.ts';
import type { CheckedRow } from '../../nodes/EtbWallet/list/checkList.ts';
import { employeeKeyOf } from '../../nodes/EtbWallet/list/employeeNumber.ts';
import { listReference } from '../../nodes/shared/listReference.ts';
import type { RemarkCode } from '../../nodes/EtbWallet/list/remarks.ts';

/** The columns of a data table. n8n gives null for an empty cell. */
type Columns<Values> = { [Name in keyof Values]?: Values[Name] | null };

/** A row of the table *ETB payments*, the register. */
export type RegisterRow = Columns<{
	id: number;
	reference: string;
	purpose: string;
	period: string;
	employeeKey: string;
	employee: string;
	name: string;
	phone: string;
	/** The wallet. */
	userId: string;
	outcome: Outcome;
	reason: string;
	/** The amount that was to be paid. */
	requestedAmountEtb: number;
	/** The amount that was paid. */
	amountEtb: number;
	/** The time of the payment; of one that is or was unknown the time at which it was sent. */
	paidAt: string;
	txHash: string;
	/** The workflow that sent it last, such as `Salaries (k3x9)`. */
	workflow: string;
	approvedBy: string;
	/** The person who settled it last, or `the node`, if only the node knows. It stays when it is sent again. */
	settledBy: string;
	settledAt: string;
}> & {
	/** Columns of n8n. */
	createdAt?: string | Date;
	updatedAt?: string | Date;
};

/** A row of the table *ETB people to pay*. */
export type PeopleRow = Columns<{
	employeeKey: string;
	employee: string;
	name: string;
	email: string;
	phone: string;
	amountEtb: number;
	payroll: string;
	userId: string;
}>;

/**
 * A payment as a page shows it: a row of *Check List*, with the result of the node that pays if it was sent, or a
 * row of the register. Its amounts:
 *
 * field | of a row of the list | of a result | of a row of the register
 * --- | --- | --- | ---
 * `amountEtb` | is to be paid, if it is ready | is to be paid, or was paid | was paid
 * `requestedAmountEtb` | | was to be paid, if the service paid another amount | was to be paid
 * `listedAmountEtb` | stands in the list, if it is not `amountEtb` | the same | the same, if a list has the payment
 */
export interface PaymentRow
	extends RegisterRow,
		Partial<Pick<CheckedRow, 'line' | 'status' | 'toUserId' | 'problem' | 'remarks' | 'notRead'>> {
	listedAmountEtb?: number;
	/** The row of this very payment, if it was paid before. */
	paid?: RegisterRow;
	/** The row of this very payment, if it is unknown. */
	unknown?: RegisterRow;
	/** The payment for the same purpose that was the last before this period, or if there is none, the newest. */
	lastTime?: RegisterRow;
	mode?: 'pay' | 'dryRun' | 'settle';
	code?: Code;
	message?: string;
	remedy?: string;
	/** Whether it was paid, or settled as paid, while the page of its list was open. */
	isPaidMeanwhile?: boolean;
	/** Whether outcome and reason are those of the register, which changed while the page was open. */
	isFromRegister?: boolean;
}

/** The key of the employee number of a row; empty if it has none. A row that a person wrote can lack the key. */
export const employeeKeyOfRow = ({ employeeKey, employee }: RegisterRow): string =>
	employeeKeyOf(employeeKey || employee || '');

/** The reference of a row by its purpose, period and employee number; empty if one of them is missing. */
function listReferenceOf(row: RegisterRow): string {
	const { purpose, period } = row;
	const number = employeeKeyOfRow(row);
	return number && purpose && period ? listReference(purpose, period, number) : '';
}

/** The reference of a row in the register, also of one that *Check List* gives none, because it cannot be paid. */
export const referenceOf = (row: PaymentRow): string =>
	row.paid?.reference ?? row.unknown?.reference ?? row.reference ?? listReferenceOf(row);

type Outcomes = Pick<RegisterRow, 'outcome'>;

export const hasOutcome =
	(wanted: RegisterRow['outcome']) =>
	({ outcome }: Outcomes): boolean =>
		outcome === wanted;

const outcomesBySureness = ['notPaid', 'unknown', 'paid'];
/** A higher number is a surer outcome. It is negative for any other, such as *ready*. */
export const sureness = ({ outcome }: Outcomes): number =>
	outcomesBySureness.indexOf(outcome ?? '');

/**
 * The amount that was paid, or is to be paid; 0 if it is not known. A row that cannot be paid has only the amount of
 * the list. For a payment that was sent before, the list can have another amount, which does not count.
 */
export function amountOf(row: PaymentRow): number {
	const inList = row.paid || row.unknown ? 0 : row.listedAmountEtb;
	return Number(row.amountEtb ?? row.paid?.amountEtb ?? row.requestedAmountEtb ?? inList ?? 0);
}

export const sumOf = (rows: PaymentRow[]): number =>
	rows.reduce((total, row) => total + amountOf(row), 0);

/** One row for each payment that was sent. Rows that were not sent all stay. */
export const onePerPayment = (rows: PaymentRow[]): PaymentRow[] => [
	...new Map(
		rows.map((row) => [row.paid || row.unknown ? referenceOf(row) : row, row] as const),
	).values(),
];

/** Whether two rows have the same employee number. A row of the register can lack it. */
export const isSamePerson = (one: RegisterRow, other: RegisterRow): boolean =>
	Boolean(one.employeeKey) && one.employeeKey === other.employeeKey;

export const hasRemark =
	(wanted: RemarkCode) =>
	({ remarks = [] }: Pick<PaymentRow, 'remarks'>): boolean =>
		remarks.some(({ code }) => code === wanted);

/** The texts of the remarks with one of these codes. */
export const remarksWith = ({ remarks = [] }: PaymentRow, codes: RemarkCode[]): string[] =>
	remarks.filter(({ code }) => codes.includes(code)).map(({ text }) => text);

/** The texts of the remarks with other codes than these. */
export const remarksWithout = ({ remarks = [] }: PaymentRow, codes: RemarkCode[]): string[] =>
	remarks.filter(({ code }) => !codes.includes(code)).map(({ text }) => text);

/** The codes for what a person has in common with another employee number. */
export const likenessCodes: RemarkCode[] = ['sameName', 'samePhone', 'sameUserId', 'sameEmail'];

/** People who have the name of another number, and its telephone, email or wallet too. */
export const rowsLikeOthers = <Row extends PaymentRow>(rows: Row[]): Row[] =>
	rows.filter((row) => remarksWith(row, likenessCodes).length > 1);

/** Whether the purpose is `correction`, or that of a further one, such as `correction 2`. */
export const isCorrection = ({ purpose }: Pick<RegisterRow, 'purpose'>): boolean =>
	purpose?.toLowerCase().startsWith('correction') === true;

/**
 * In ETB. An amount of a list before rounding differs by up to half a cent from the amount that was paid, and a sum of
 * such numbers is inexact.
 */
export const roundingEtb = 0.006;

/** Whether the list has another amount than the one that was paid, or was sent earlier. */
export const hasOtherAmount = ({ listedAmountEtb }: PaymentRow, other: PaymentRow): boolean =>
	typeof listedAmountEtb === 'number' && Math.abs(listedAmountEtb - amountOf(other)) > roundingEtb;

/** Whether only a person says that it was paid: the service gave no transaction. */
export const isPaidByStatement = ({ outcome, settledBy, txHash }: RegisterRow): boolean =>
	outcome === 'paid' && Boolean(settledBy) && !txHash;

/** Whether a person recorded it as not paid, and it was sent again. */
export const wasSentAgain = ({ outcome, settledBy, txHash }: RegisterRow): boolean =>
	outcome === 'paid' && Boolean(settledBy) && Boolean(txHash);

/** Whether a person settled it, and it was neither paid nor left unknown since. */
export const isSettled = (row: RegisterRow): boolean =>
	isPaidByStatement(row) || (row.outcome === 'notPaid' && Boolean(row.settledBy));

export const isTitleOrTotal = (row: PaymentRow): boolean =>
	row.status === 'noPerson' || hasRemark('total')(row);

/** The reason why a row was not paid, or is unknown; empty if there is none. */
export function reasonOf({ outcome, problem, message, remedy, reason }: PaymentRow): string {
	const told = outcome === 'notPaid' ? [message, remedy] : outcome === 'unknown' ? [message] : [];
	return problem || reason || told.filter(Boolean).join('. ');
}
