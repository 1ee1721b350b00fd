/** The references of the payments of a list: purpose, period and employee number, such as `salary-2026-11-E1042`. */
import { normalizeText } from './normalizeText';
import { property } from './unknownValues';

/** @param employeeKey the key of an employee number */
export const listReference = (purpose: string, period: string, employeeKey: string): string =>
	`${purpose}-${period}-${employeeKey}`;

/**
 * The reference that *Check List* gave a row that is ready, from its purpose, period and employee number; undefined for
 * an item that is none.
 */
export function referenceOfCheckedRow(item: unknown): string | undefined {
	if (property(item, 'status') !== 'ready') return undefined;
	const [purpose, period, employeeKey] = ['purpose', 'period', 'employeeKey'].map((name) => {
		const value = property(item, name);
		return typeof value === 'string' ? value : '';
	});
	return purpose && period && employeeKey ? listReference(purpose, period, employeeKey) : undefined;
}

/**
 * The period and the employee number in a reference; undefined if it is not of that purpose, or has no period.
 * @param reference normalized
 */
export function partsOfReference(
	reference: string,
	purpose: string,
): { period: string; number: string } | undefined {
	const prefix = normalizeText(`${purpose}-`);
	const rest = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
	const [, period = '', employeeKey = ''] = /^(\d{4}-\d\d)-(.+)$/.exec(rest) ?? [];
	return period === '' ? undefined : { period, number: employeeKey };
}
