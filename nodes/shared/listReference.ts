/** The references of the payments of a list: purpose, period and employee number, such as `salary-2026-11-E1042`. */
import { normalizeText } from './normalizeText';
import { property } from './unknownValues';

/** @param employeeKey the key of an employee number */
export const listReference = (purpose: string, period: string, employeeKey: string): string =>
	`${purpose}-${period}-${employeeKey}`;

/**
 * A row of *Check List*, with the reference of its purpose, period and employee number. One that is ready or paid before
 * has no problem.
 */
export interface ReferencedRow {
	status: 'ready' | 'paidBefore' | 'problem' | 'noPerson';
	reference: string;
	problem: string;
}

/** Reads an item as a row of *Check List*; undefined for any other item. */
export function referencedRowOf(item: unknown): ReferencedRow | undefined {
	const textOf = (name: string): string => {
		const value = property(item, name);
		// A node in between can make a number of a text.
		return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	};
	const [status, purpose, period] = ['status', 'purpose', 'period'].map(textOf);
	const employeeKey = textOf('employeeKey');
	if (!purpose || !period) return undefined;
	const reference = listReference(purpose, period, employeeKey);
	if (status === 'ready' || status === 'paidBefore')
		return employeeKey ? { status, reference, problem: '' } : undefined;
	return status === 'problem' || status === 'noPerson'
		? { status, reference, problem: textOf('problem') }
		: undefined;
}

/**
 * The period and the employee number in a reference; undefined if it is not of that purpose, or has no period.
 * @param reference normalized
 */
export function partsOfReference(
	reference: string,
	purpose: string,
): { period: string; employeeKey: string } | undefined {
	const prefix = normalizeText(`${purpose}-`);
	const rest = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
	const [, period = '', employeeKey = ''] = /^(\d{4}-\d\d)-(.+)$/.exec(rest) ?? [];
	return period === '' ? undefined : { period, employeeKey };
}
