/** The tables that are given besides a list: rows of people and of the register, which an expression gives. */
import { normalizeText } from '../../shared/normalizeText';
import { keyOf } from '../../shared/reference';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { isObject, property } from '../../shared/unknownValues';
import { outcomeByCode, type Outcome } from '../codes';
import { employeeKeyOf } from './employeeNumber';
import { partsOfReference, payrollReference } from './payrollReference';
import { periodIn } from './period';
import { personOf, readEmployee, type Person } from './rows';
import { columnValue } from './spreadsheet';

/** A row of the register of payments. A text that the row lacks is empty. */
export interface RegisteredPayment {
	person: Person;
	purpose: string;
	/** The period, such as 2026-10, or its text if that is no period. */
	period: string;
	/** The reference. Like `ownReference` and `outcome`, it is normalized. */
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
export interface KnownTables {
	people: readonly Person[] | undefined;
	payments: readonly RegisteredPayment[] | undefined;
}

/** The amount in ETB, if the row has one. */
const amountOf = (row: unknown) => ({
	amountEtb: Number(columnValue(row, 'amountEtb')) || undefined,
});

/**
 * Reads the table of people. A row without an employee number is left out, such as that of an empty table.
 * @param given rows with `employee`, `name`, `userId` and perhaps others, or n8n's items of them
 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
 */
export const readPeople = (given: unknown, now: Date): Person[] =>
	readTable(given, 'Known People', 'People', 'employee').map((row) => {
		const cell = property(row, 'employee');
		const { employeeKey } = readEmployee(cell, 'An employee of Known People', now);
		return { ...personOf(row), employeeKey, ...amountOf(row) };
	});

/**
 * Reads the register of payments. Rows without a reference are left out.
 * @param given rows with `reference`, `outcome` and perhaps others, or n8n's items of them
 * @param listPurpose a row without a purpose gets this one if its reference begins with it
 * @throws {InvalidValueError} if it is no list
 */
export function readRegisteredPayments(given: unknown, listPurpose: string): RegisteredPayment[] {
	return readTable(given, 'Known Payments', 'Payments', 'reference').map((row) => {
		const reference = keyOf(columnValue(row, 'reference'));
		const parts = partsOfReference(reference, listPurpose);
		const purpose = columnValue(row, 'purpose') || (parts ? listPurpose : '');
		const written = columnValue(row, 'period');
		const period = periodIn(normalizeText(written || (parts?.period ?? ''))) ?? written;
		const employeeKey = employeeKeyOf(columnValue(row, 'employeeKey') || (parts?.number ?? ''));
		return {
			person: {
				...personOf(row),
				...amountOf(row),
				employee: columnValue(row, 'employee') || employeeKey,
				employeeKey,
			},
			purpose,
			period,
			reference,
			ownReference: keyOf(payrollReference(purpose, period, employeeKey)),
			outcome: normalizeText(columnValue(row, 'outcome')),
			paidAt: columnValue(row, 'paidAt') || columnValue(row, 'createdAt'),
			txHash: columnValue(row, 'txHash'),
			workflow: columnValue(row, 'workflow'),
		};
	});
}

/** Makes the function that says whether a payment has one of these outcomes, or a code of one. */
function withOutcome(...wanted: Outcome[]): (payment: RegisteredPayment) => boolean {
	const codes = Object.entries(outcomeByCode).filter(([, outcome]) => wanted.includes(outcome));
	const texts = [...wanted, ...codes.map(([code]) => code)];
	const normalized = new Set(texts.map(normalizeText));
	return ({ outcome }) => normalized.has(outcome);
}

export const isPaid = withOutcome('paid', 'alreadyPaid');
export const isUnknown = withOutcome('unknown');

/**
 * The rows with a value in the column that is needed.
 * @throws {InvalidValueError} for a table without the column
 */
function readTable(given: unknown, field: string, node: string, needed: string): unknown[] {
	const items: unknown[] = Array.isArray(given) ? given : [{ given }];
	const rows = items.map((item) => property(item, 'json') ?? item);
	const isEmpty = rows.every((row) => !isObject(row) || Object.keys(row).length === 0);
	if (!isEmpty && rows.every((row) => property(row, needed) === undefined)) {
		throw new InvalidValueError(
			`${field} is ${show(given)}, which has no rows with ${needed}`,
			`Give it the rows of a table with the column ${needed}, by an expression such as {{ $('${node}').all() }}, or leave it empty.`,
		);
	}
	return rows.filter((row) => columnValue(row, needed) !== '');
}
