import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import type { Decimal } from '../../shared/decimal';
import { decimalText, formatEtb, subtract, sum } from '../../shared/decimal';
import { callService } from '../../shared/transport';
import type { Failure, Payment } from './outcome';

const isAbove = (left: Decimal, right: Decimal): boolean =>
	left !== right && !subtract(left, right).startsWith('-');

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

/** Why the run may not start because its sum is above the limit in ETB, if so. */
export function aboveRunLimit(
	payments: Payment[],
	maxTotalEtb: number | undefined,
): Failure | undefined {
	if (maxTotalEtb === undefined) return undefined;
	const total = totalOf(payments);
	const limit = decimalText(maxTotalEtb) ?? '0';
	if (!isAbove(total, limit)) return undefined;
	return {
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		description: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** The treasury balance in ETB, or why it cannot be read. */
export async function readBalance(
	context: IExecuteFunctions,
	account: Account,
	signal?: AbortSignal,
): Promise<Decimal | Failure> {
	const result = await callService(
		context,
		account,
		{ method: 'GET', path: '/balance' },
		{ signal },
	);
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
