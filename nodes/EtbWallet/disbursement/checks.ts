/** What is checked before anybody is paid: the options, the sum of the run, and the treasury. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Decimal } from '../../shared/decimal';
import { decimalText, formatEtb, isAbove, subtract, sum } from '../../shared/decimal';
import { InvalidValueError, isAbsent, requiredChoice, show } from '../../shared/invalidValue';
import { callService } from '../../shared/service/call';
import type { Failure } from '../../shared/service/failure';
import type { Run } from '../actions/operation';
import type { Payment } from './payment';
import { amountInEtb } from './payment';

/** The Options of Disbursement → Create that hold for the whole run. */
export interface RunOptions {
	timeoutMs: number;
	concurrency: number;
	/** In ETB. */
	maxAmount?: Decimal;
	/** In ETB. */
	maxTotal?: Decimal;
	checkBalance: boolean;
	dryRun: boolean;
	/** Whether a reference that was used before is an error. */
	failsIfUsed: boolean;
}

/** @throws {InvalidValueError} */
export function readOptions(context: IExecuteFunctions): RunOptions {
	const saved = Object(context.getNodeParameter('options', 0, {})) as object;
	const given: Record<string, unknown> = {
		checkBalance: false,
		dryRun: false,
		ifReferenceUsed: 'skip',
		...saved,
	};
	const limit = (name: string, field: string): Decimal | undefined => {
		if (!(name in given)) return undefined;
		if (isAbsent(given[name])) {
			throw new InvalidValueError(
				`${field} is empty`,
				'Enter an amount in ETB, for example 5000, or remove this option.',
			);
		}
		return amountInEtb(given[name], field);
	};
	return {
		timeoutMs: wholeNumber(given.timeout, 'Timeout (Ms)', 3_600_000) ?? 60_000,
		concurrency: wholeNumber(given.concurrency, 'Concurrency', 100) ?? 10,
		maxAmount: limit('maxAmountEtb', 'Maximum per Payment'),
		maxTotal: limit('maxTotalEtb', 'Maximum per Run'),
		checkBalance: isOn(given.checkBalance, 'Check Balance First'),
		dryRun: isOn(given.dryRun, 'Dry Run'),
		failsIfUsed:
			requiredChoice('If Reference Was Used', given.ifReferenceUsed, ['skip', 'fail']) === 'fail',
	};
}

/** What protects is never silently off: an expression can give a text, a number or nothing. */
function isOn(value: unknown, field: string): boolean {
	const text = String(value).trim().toLowerCase();
	if (typeof value !== 'object' && (text === 'true' || text === 'false')) return text === 'true';
	throw new InvalidValueError(
		`${field} is ${show(value)}, which is neither true nor false`,
		'Turn the option on or off, give it an expression that is true or false, or remove it.',
	);
}

function wholeNumber(value: unknown, field: string, most: number): number | undefined {
	if (value === undefined) return undefined;
	const isNumber = typeof value === 'number' || typeof value === 'string';
	const count = isNumber ? Number(value) : NaN;
	if (Number.isInteger(count) && count >= 1 && count <= most) return count;
	throw new InvalidValueError(
		`${field} is ${show(value)}, which is not a whole number from 1 to ${most}`,
		`Enter a whole number from 1 to ${most}.`,
	);
}

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

/** Why the run may not start because its sum is above the limit in ETB, if so. */
export function aboveRunLimit(
	payments: Payment[],
	limit: Decimal | undefined,
): Failure | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		description: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** The treasury balance in ETB, or why it cannot be read. */
export async function readBalance(
	{ context, account }: Run,
	timeoutMs: number,
): Promise<Decimal | Failure> {
	const request = { method: 'GET', path: '/balance', mayRepeat: true } as const;
	const stop = context.getExecutionCancelSignal();
	const result = await callService(context, account, request, { timeoutMs, stop });
	if (!result.ok) {
		const { message, description, httpCode } = result.failure;
		return {
			message: `The treasury balance could not be read: ${message}`,
			description,
			httpCode,
		};
	}
	return (
		decimalText(result.output.treasuryBalance) ?? {
			message: 'The service answered without a treasury balance',
			description: 'Turn off Check Balance First under Options to pay without this check.',
		}
	);
}

/** Why the run may not start because the treasury does not cover it, if so. */
export function notCovered(balance: Decimal, payments: Payment[]): Failure | undefined {
	const total = totalOf(payments);
	if (!isAbove(total, balance)) return undefined;
	return {
		message: `The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
		description: 'Top up the treasury, or pay fewer items.',
	};
}
