/** The tables that are given besides a list: rows of people and of the register, which an expression gives. */
import { normalizeText } from '../../shared/normalizeText';
import { referenceKeyOf } from '../../shared/reference';
import { InvalidValueError, isAbsent, show } from '../../shared/invalidValue';
import { isObject, property } from '../../shared/unknownValues';
import { employeeKeyOf } from './employeeNumber';
import { partsOfReference, listReference } from '../../shared/listReference';
import { addisAbabaTime, periodIn } from './period';
import { registeredOutcome, type RegisteredOutcome } from './registeredOutcome';
import { personOf, readEmployee, type Person } from './rows';
import { visibleTextOf } from './spreadsheet';

/** A row of the register of payments. A text that the row lacks is empty. */
export interface RegisteredPayment {
	person: Person;
	purpose: string;
	/** The period, such as 2026-10, or its text if that is no period. */
	period: string;
	reference: string;
	/** The key of the reference. */
	referenceKey: string;
	/** The key of the reference that the list would give it: `reference` may have another form of the number. */
	listReferenceKey: string;
	outcome: RegisteredOutcome;
	/** The time, as the table writes it. */
	paidAt: string;
	txHash: string;
	/** The workflow that paid, such as `Salaries (k3x9)`. */
	workflow: string;
}

/** The tables that are given besides the list; undefined for one that is not. */
export interface KnownTables {
	people: readonly Person[] | undefined;
	register: readonly RegisteredPayment[] | undefined;
}

/** The amount in ETB of the first of these columns that has one. */
const amountIn = (row: unknown, ...columns: string[]): number | undefined =>
	columns.map((column) => Number(visibleTextOf(row, column))).find((amount) => amount > 0);

/**
 * Reads the table of people. A row without an employee number is left out, such as that of an empty table.
 * @param given rows with `employee`, `name`, `userId` and perhaps others, or n8n's items of them
 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
 */
export const readPeople = (given: unknown, now: Date): Person[] =>
	readTable(given, 'Known People', 'People', ['employee']).map((row) => {
		const cell = property(row, 'employee');
		const { employeeKey } = readEmployee(cell, 'An employee of Known People', now);
		return { ...personOf(row), employeeKey, amountEtb: amountIn(row, 'amountEtb') };
	});

/**
 * Reads the register of payments. Rows without a reference are left out.
 * @param given rows with `reference`, `outcome` and perhaps others, or n8n's items of them
 * @param listPurpose a row without a purpose gets this one if its reference begins with it
 * @throws {InvalidValueError} if it is no list
 */
export function readRegister(given: unknown, listPurpose: string): RegisteredPayment[] {
	return readTable(given, 'Known Payments', 'Payments', ['reference', 'outcome']).map((row) => {
		const reference = visibleTextOf(row, 'reference');
		const parts = partsOfReference(referenceKeyOf(reference), listPurpose);
		const purpose = visibleTextOf(row, 'purpose') || (parts ? listPurpose : '');
		const day = property(row, 'period');
		const written =
			day instanceof Date ? addisAbabaTime(day.getTime()) : visibleTextOf(row, 'period');
		const period = periodIn(normalizeText(written || (parts?.period ?? ''))) ?? written;
		const employeeKey = employeeKeyOf(
			visibleTextOf(row, 'employeeKey') || (parts?.employeeKey ?? visibleTextOf(row, 'employee')),
		);
		const outcome = registeredOutcome(visibleTextOf(row, 'outcome'));
		return {
			person: {
				...personOf(row),
				amountEtb: amountIn(row, 'amountEtb', 'requestedAmountEtb'),
				employee: visibleTextOf(row, 'employee') || employeeKey,
				employeeKey,
			},
			purpose,
			period,
			reference,
			referenceKey: referenceKeyOf(reference),
			listReferenceKey: referenceKeyOf(listReference(purpose, period, employeeKey)),
			outcome,
			paidAt: visibleTextOf(row, 'paidAt') || visibleTextOf(row, 'createdAt'),
			txHash: visibleTextOf(row, 'txHash'),
			workflow: visibleTextOf(row, 'workflow'),
		};
	});
}

export const isPaid = ({ outcome }: RegisteredPayment): boolean => outcome === 'paid';
export const isUnknown = ({ outcome }: RegisteredPayment): boolean => outcome === 'unknown';

/**
 * The rows with a value in the first of the columns that are needed.
 * @throws {InvalidValueError} for rows that are none, or a table without one of these columns
 */
function readTable(given: unknown, field: string, node: string, needed: string[]): unknown[] {
	const [first = '', ...others] = needed;
	const items: unknown[] = Array.isArray(given) ? given : [{ given }];
	const rows = items.map((item) => property(item, 'json') ?? item).filter((row) => !isAbsent(row));
	const named = rows.filter((row) => visibleTextOf(row, first) !== '');
	const lacks = (own: unknown[], column: string): boolean =>
		own.length > 0 && own.every((row) => property(row, column) === undefined);
	const filled = rows.filter((row) => Object.keys(Object(row) as object).length > 0);
	const isNoTable = !rows.every(isObject) || lacks(filled, first);
	if (isNoTable || others.some((column) => lacks(named, column))) {
		const columns = isNoTable ? first : needed.join(' and ');
		throw new InvalidValueError(
			`${field} is ${show(given)}, which has no rows with ${columns}`,
			`Give it the rows of a table with the column ${needed.join(' and the column ')}, by an expression such as {{ $('${node}').all() }}, or leave it empty.`,
		);
	}
	return named;
}
