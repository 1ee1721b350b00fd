/** The people and payments that are known besides a list: the rows of tables that an expression gives. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { comparableText, employeeKey } from '../../shared/lookalikes';
import { periodIn, type Period } from '../../shared/period';
import { isObject, property } from '../../shared/unknownValues';
import { valueIn } from './cells';
import { employeeIn, personIn, type Person } from './rows';

/** A row of the register of payments. The texts by which it is found are in the form that is compared. */
export type RegisteredPayment = ReturnType<typeof paymentsIn>[number];

/** In ETB. */
const amountIn = (row: unknown) => ({ amountEtb: Number(textIn(row, 'amountEtb')) || undefined });

/** @param key the employee number in the form that is compared */
export const referenceOf = (purpose: string, period: Period, key: string): string =>
	`${purpose}-${period}-${key}`;

/**
 * @param given rows with `employee`, `name`, `userId` and perhaps others, or n8n's items of them; those without an employee
 * number are left out, such as the one item of an empty table
 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
 */
export const peopleIn = (given: unknown, now: Date): Person[] =>
	rowsIn(given, 'Known People', 'People', 'employee').map((row) => {
		const cell = property(row, 'employee');
		const { key } = employeeIn(cell, 'An employee of Known People', now);
		return { ...personIn(row), key, ...amountIn(row) };
	});

/**
 * @param given rows with `reference`, `outcome` and perhaps others, or n8n's items of them; those without a reference are
 * left out
 * @param listPurpose of a row without the columns, such as a payment whose reference a person wrote, if the reference begins
 * with it
 * @throws {InvalidValueError} if it is no list
 */
export function paymentsIn(given: unknown, listPurpose: string) {
	const start = comparableText(`${listPurpose}-`);
	return rowsIn(given, 'Known Payments', 'Payments', 'reference').map((row) => {
		const reference = comparableText(textIn(row, 'reference'));
		const rest = reference.startsWith(start) ? reference.slice(start.length) : '';
		const [, month = '', number = ''] = /^(\d{4}-\d\d)-(.+)$/.exec(rest) ?? [];
		const of = (field: string, other = ''): string => textIn(row, field) || other;
		const purpose = of('purpose', month && listPurpose);
		const period = periodIn(comparableText(of('period', month))) ?? of('period');
		const key = employeeKey(of('person', number));
		return {
			...{ ...personIn(row), employee: of('employee', key), key, ...amountIn(row) },
			...{ purpose, period, reference, outcome: comparableText(of('outcome')) },
			/** The reference that the list would give it: the number in the other one may be written in another way. */
			ownReference: comparableText(referenceOf(purpose, period, key)),
			...{ paidAt: of('paidAt', of('createdAt')), txHash: of('txHash'), workflow: of('workflow') },
		};
	});
}

/** The rows that have something in the column that each of them needs. @throws {InvalidValueError} for a table without it */
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
	return rows.filter((row) => textIn(row, needed) !== '');
}

const textIn = (row: unknown, field: string): string => valueIn(property(row, field));
