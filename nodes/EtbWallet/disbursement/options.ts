import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidValueError, amountInEtb, isAbsent, show } from '../../shared/validation';

/** The Options of Disbursement → Create. */
export interface DisbursementOptions {
	/** In ms. */
	timeout?: number;
	concurrency: number;
	/** In ETB. */
	maxAmountEtb?: number;
	/** In ETB. */
	maxTotalEtb?: number;
	checkBalance: boolean;
	ifReferenceUsed: 'skip' | 'fail' | 'payAgain';
}

/**
 * Reads the options, which hold for the whole run.
 * @throws {InvalidValueError}
 */
export function readOptions(context: IExecuteFunctions): DisbursementOptions {
	const given = new Map<string, unknown>(
		Object.entries(Object(context.getNodeParameter('options', 0, {})) as object),
	);
	const limit = (name: string, field: string): number | undefined => {
		if (!given.has(name)) return undefined;
		if (isAbsent(given.get(name))) {
			throw new InvalidValueError(
				`${field} is empty`,
				'Enter an amount in ETB, for example 5000, or remove this option.',
			);
		}
		return amountInEtb(given.get(name), field);
	};
	return {
		timeout: wholeNumber(given.get('timeout'), 'Timeout (Ms)', 1, 3_600_000),
		concurrency: wholeNumber(given.get('concurrency'), 'Concurrency', 1, 100) ?? 10,
		maxAmountEtb: limit('maxAmountEtb', 'Maximum per Payment'),
		maxTotalEtb: limit('maxTotalEtb', 'Maximum per Run'),
		checkBalance: given.get('checkBalance') === true,
		ifReferenceUsed: usedReferencePolicy(given.get('ifReferenceUsed') ?? 'skip'),
	};
}

function wholeNumber(
	value: unknown,
	field: string,
	least: number,
	most: number,
): number | undefined {
	if (value === undefined) return undefined;
	const count = Number(value);
	if (Number.isInteger(count) && count >= least && count <= most) return count;
	throw new InvalidValueError(
		`${field} is ${show(value)}, which is not a whole number from ${least} to ${most}`,
		`Enter a whole number from ${least} to ${most}.`,
	);
}

function usedReferencePolicy(value: unknown): DisbursementOptions['ifReferenceUsed'] {
	if (value === 'skip' || value === 'fail' || value === 'payAgain') return value;
	throw new InvalidValueError(
		`If Reference Was Used is ${show(value)}`,
		'Choose skip, fail or payAgain.',
	);
}
