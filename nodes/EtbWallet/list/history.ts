/** The people and payments that are known besides a list: the rows of tables that an expression gives. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { comparableText } from '../../shared/comparableText';
import { outcomeByCode, type Outcome } from '../codes';
import { employeeKey } from './employeeNumber';
import { partsOfReference, payrollReference } from './payrollReference';
import { periodIn, type Period } from './period';
import { fieldIn } from './spreadsheet';
import { isObject, property } from '../../shared/unknownValues';
import { employeeIn, personIn, type Person } from './rows';

/** A row of the register of payments. A text that the row lacks is empty. */
export interface RegisteredPayment extends Person {
	purpose: string;
	/** The period, such as 2026-10, or its text if that is no period. */
	period: string;
	/** The reference. Like `ownReference` and `outcome`, it is in the form that is compared. */
	reference: string;
	/** The reference that the list would give it, because `reference` may have another form of the number. */
	ownReference: string;
	/** The outcome of *Create*, or a code of it. */
	outcome: string;
	/** The time, as the table writes it. */
	paidAt: string;
	txHash: string;
	/** The workflow that paid, such as `Salaries (k3x9)`. */
	workflow: string;
}

/** The tables that are given besides the list; undefined for one that is not. */
export interface Known {
	people: readonly Person[] | undefined;
	payments: readonly RegisteredPayment[] | undefined;
}

/** The known facts about the person of a row. */
export interface History {
	/** The person in Known People. */
	inPeople?: Person;
	/** The row of this very payment, if the register has it as paid. */
	paid?: RegisteredPayment;
	/** The unknown rows of this payment that *Create* finds in the record of this workflow. */
	unknownBefore: RegisteredPayment[];
	/** The unknown rows of another workflow or reference. The record does not have them, so *Create* would pay. */
	unknownElsewhere: RegisteredPayment[];
	/** The unknown rows of other payments to the person, of any purpose and period. */
	otherUnknown: RegisteredPayment[];
	/** All other payments that the person got, for any purpose, sorted by period. */
	otherPayments: RegisteredPayment[];
	/** The part of `otherPayments` for the purpose of the list. */
	otherPaymentsForPurpose: RegisteredPayment[];
	/** The last of `otherPaymentsForPurpose` before the period of the list, or the newest if there is none before. */
	lastTime?: RegisteredPayment;
}

const noHistory: History = {
	unknownBefore: [],
	unknownElsewhere: [],
	otherUnknown: [],
	otherPayments: [],
	otherPaymentsForPurpose: [],
};

/** The amount in ETB, if the row has one. */
const amountIn = (row: unknown) => ({ amountEtb: Number(fieldIn(row, 'amountEtb')) || undefined });

/**
 * Reads the table of people. A row without an employee number is left out, such as that of an empty table.
 * @param given rows with `employee`, `name`, `userId` and perhaps others, or n8n's items of them
 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
 */
export const peopleIn = (given: unknown, now: Date): Person[] =>
	rowsIn(given, 'Known People', 'People', 'employee').map((row) => {
		const cell = property(row, 'employee');
		const { key } = employeeIn(cell, 'An employee of Known People', now);
		return { ...personIn(row), key, ...amountIn(row) };
	});

/**
 * Reads the register of payments. Rows without a reference are left out.
 * @param given rows with `reference`, `outcome` and perhaps others, or n8n's items of them
 * @param listPurpose a row without a purpose gets this one if its reference begins with it
 * @throws {InvalidValueError} if it is no list
 */
export function paymentsIn(given: unknown, listPurpose: string): RegisteredPayment[] {
	return rowsIn(given, 'Known Payments', 'Payments', 'reference').map((row) => {
		const reference = comparableText(fieldIn(row, 'reference'));
		const parts = partsOfReference(reference, listPurpose);
		const purpose = fieldIn(row, 'purpose') || (parts ? listPurpose : '');
		const written = fieldIn(row, 'period');
		const period = periodIn(comparableText(written || (parts?.period ?? ''))) ?? written;
		const key = employeeKey(fieldIn(row, 'person') || (parts?.number ?? ''));
		return {
			...personIn(row),
			...amountIn(row),
			employee: fieldIn(row, 'employee') || key,
			key,
			purpose,
			period,
			reference,
			ownReference: comparableText(payrollReference(purpose, period, key)),
			outcome: comparableText(fieldIn(row, 'outcome')),
			paidAt: fieldIn(row, 'paidAt') || fieldIn(row, 'createdAt'),
			txHash: fieldIn(row, 'txHash'),
			workflow: fieldIn(row, 'workflow'),
		};
	});
}

/** Makes the check for an outcome, or a code of it, in the form that is compared. */
function outcomeCheck(...wanted: Outcome[]): (payment: RegisteredPayment) => boolean {
	const codes = Object.entries(outcomeByCode).filter(([, outcome]) => wanted.includes(outcome));
	const texts = [...wanted, ...codes.map(([code]) => code)];
	const comparable = new Set(texts.map(comparableText));
	return ({ outcome }) => comparable.has(outcome);
}

export const isPaid = outcomeCheck('paid', 'alreadyPaid');
const isUnknown = outcomeCheck('unknown');

/** Sorts by period, and in a period by time. */
function byPeriod(one: RegisteredPayment, other: RegisteredPayment): number {
	const first = one.period + one.paidAt;
	const second = other.period + other.paidAt;
	return first === second ? 0 : first < second ? -1 : 1;
}

/** Makes the function that finds the history of a person by their key. */
export function historyFinder(
	{ people = [], payments = [] }: Known,
	{ purpose, period, workflowId }: { purpose: string; period: Period; workflowId?: string },
): (key: string) => History {
	const peopleByKey = new Map(people.map((person) => [person.key, person]));
	const paidPayments = payments.filter(isPaid);
	const paidTo = grouped(paidPayments, ({ key }) => key);
	const paidReferences = new Set(paidPayments.map(({ reference }) => reference));
	// Two workflows at once can write one reference as paid and as unknown, or twice as unknown. Then paid
	// counts, or the last row.
	const unknown = payments.filter((each) => isUnknown(each) && !paidReferences.has(each.reference));
	const unknownByReference = new Map(unknown.map((each) => [each.reference, each]));
	const unknownTo = grouped([...unknownByReference.values()], ({ key }) => key);
	// Each payment is found under its reference, and under the one that the list would give it.
	const references = payments.flatMap((payment) =>
		[...new Set([payment.reference, payment.ownReference])].map((name) => ({ name, payment })),
	);
	const byReference = grouped(references, ({ name }) => name);
	const isOfWorkflow = ({ workflow }: RegisteredPayment): boolean =>
		workflow === '' || (Boolean(workflowId) && workflow.endsWith(`(${workflowId})`));

	return (key) => {
		if (key === '') return noHistory;
		const reference = comparableText(payrollReference(purpose, period, key));
		const rows = (byReference.get(reference) ?? []).map(({ payment }) => payment);
		const paid = rows.find(isPaid);
		const unknownRows = rows.filter((each) => !paid && isUnknown(each));
		const isHere = (each: RegisteredPayment): boolean =>
			each.reference === reference && isOfWorkflow(each);
		const otherPayments = (paidTo.get(key) ?? [])
			.filter((each) => !rows.includes(each))
			.sort(byPeriod);
		const otherPaymentsForPurpose = otherPayments.filter(
			(each) => comparableText(each.purpose) === comparableText(purpose),
		);
		const before = otherPaymentsForPurpose.filter((each) => each.period < period);
		return {
			inPeople: peopleByKey.get(key),
			paid,
			unknownBefore: unknownRows.filter(isHere),
			unknownElsewhere: unknownRows.filter((each) => !isHere(each)),
			otherUnknown: (unknownTo.get(key) ?? []).filter((each) => !rows.includes(each)),
			otherPayments,
			otherPaymentsForPurpose,
			lastTime: (before.length > 0 ? before : otherPaymentsForPurpose).at(-1),
		};
	};
}

/**
 * The rows with a value in the column that is needed.
 * @throws {InvalidValueError} for a table without the column
 */
function rowsIn(given: unknown, field: string, node: string, needed: string): unknown[] {
	const items: unknown[] = Array.isArray(given) ? given : [{ given }];
	const rows = items.map((item) => property(item, 'json') ?? item);
	const isEmpty = rows.every((row) => !isObject(row) || Object.keys(row).length === 0);
	if (!isEmpty && rows.every((row) => property(row, needed) === undefined)) {
		throw new InvalidValueError(
			`${field} is ${show(given)}, which has no rows with ${needed}`,
			`Give it the rows of a table with the column ${needed}, by an expression such as {{ $('${node}').all() }}, or leave it empty.`,
		);
	}
	return rows.filter((row) => fieldIn(row, needed) !== '');
}
