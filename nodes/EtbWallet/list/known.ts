/** The people and payments that are known besides a list: the rows of tables that an expression gives. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { lookOf, personOf } from '../../shared/lookalikes';
import { property } from '../../shared/unknownValues';
import { visibleText, withoutPlaceholder } from './cells';
import { employeeIn } from './people';
import { periodIn, type Period } from './period';

/** A person, as a list or a table has them. Empty texts for what is not known. */
export interface Person {
	/** The employee number as it is written. */
	employee: string;
	/** The same in the form that is compared; empty if it cannot be read. */
	key: string;
	name: string;
	phone: string;
	email: string;
	userId: string;
	/** In ETB. */
	amountEtb?: number;
}

/** A row of the register of payments. */
export interface Payment extends Person {
	/** In the form that is compared, like the outcome. */
	reference: string;
	/** The one that the list would give it, in the same form: the number in `reference` may be written in another way. */
	ownReference: string;
	purpose: string;
	period: Period;
	outcome: string;
	/** As the register has it. */
	paidAt: string;
	txHash: string;
	workflow: string;
}

/** @param key the employee number in the form that is compared */
export const referenceOf = (purpose: string, period: Period, key: string): string =>
	`${purpose}-${period}-${key}`;

/** The same, for rows without these columns. */
const partsOf = /^(?<purpose>.+?)-(?<period>\d{4}-\d{2})-(?<person>.+)$/;

/**
 * @param given rows with `employee`, `name`, `userId` and perhaps others, or n8n's items of them; those without an employee
 * number are left out, such as the one item of an empty table
 * @throws {InvalidValueError} if it is no list, or has an employee number that a spreadsheet changed
 */
export const peopleIn = (given: unknown, now: Date): Person[] =>
	rowsIn(given, 'Known People', 'People')
		.filter((row) => textIn(row, 'employee') !== '')
		.map((row) => {
			const cell = property(row, 'employee');
			return personIn(row, employeeIn(cell, now, 'An employee of Known People').key);
		});

/**
 * @param given rows with `reference`, `outcome` and perhaps others, or n8n's items of them; those without a reference are
 * left out
 * @throws {InvalidValueError} if it is no list
 */
export const paymentsIn = (given: unknown): Payment[] =>
	rowsIn(given, 'Known Payments', 'Payments')
		.filter((row) => textIn(row, 'reference') !== '')
		.map((row) => {
			const reference = textIn(row, 'reference');
			const parts = partsOf.exec(reference)?.groups ?? {};
			const of = (field: string): string => textIn(row, field) || (parts[field] ?? '');
			const [key, purpose] = [personOf(of('person')), of('purpose')];
			const period = periodIn(lookOf(of('period'))) ?? of('period');
			return {
				...personIn(row, key),
				...{ reference: lookOf(reference), purpose, period, outcome: lookOf(of('outcome')) },
				...{
					ownReference: lookOf(referenceOf(purpose, period, key)),
					paidAt: of('paidAt') || of('createdAt'),
				},
				...{ txHash: of('txHash'), workflow: of('workflow') },
			};
		});

function rowsIn(given: unknown, field: string, node: string): unknown[] {
	if (Array.isArray(given)) return given.map((item: unknown) => property(item, 'json') ?? item);
	throw new InvalidValueError(
		`${field} is ${show(given)}`,
		`Give it the rows of a table by an expression, such as {{ $('${node}').all() }}, or leave it empty.`,
	);
}

const textIn = (row: unknown, field: string): string =>
	withoutPlaceholder(visibleText(property(row, field)));

function personIn(row: unknown, key: string): Person {
	const of = (field: string): string => textIn(row, field);
	const amount = Number(of('amountEtb') || of('askedEtb') || NaN);
	return {
		...{ employee: of('employee') || key, key, name: of('name') },
		...{ phone: of('phone'), email: of('email'), userId: of('userId') },
		...(Number.isFinite(amount) && { amountEtb: amount }),
	};
}
