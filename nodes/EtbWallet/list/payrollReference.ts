/** The references of the payments of a list: purpose, period and employee number, such as `salary-2026-11-E1042`. */
import { comparableText } from '../../shared/comparableText';

/** @param key the employee number in the form that is compared */
export const payrollReference = (purpose: string, period: string, key: string): string =>
	`${purpose}-${period}-${key}`;

/**
 * The period and the employee number in a reference; undefined if it is not of that purpose, or has no period.
 * @param reference in the form that is compared
 */
export function partsOfReference(
	reference: string,
	purpose: string,
): { period: string; number: string } | undefined {
	const prefix = comparableText(`${purpose}-`);
	const rest = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
	const [, period = '', number = ''] = /^(\d{4}-\d\d)-(.+)$/.exec(rest) ?? [];
	return period === '' ? undefined : { period, number };
}
