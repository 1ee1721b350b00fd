/** What is checked before anybody is paid: the sum of the run, and the treasury. */
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import { callService } from '../../shared/service/call';
import { balanceRequest } from '../../shared/service/request';
import type { Payable, Result } from './payment';
import type { Run } from './run';

const totalOf = (payments: Payable[]): Decimal => sum(payments.map(({ amount }) => amount));

/** Why the run may not start, if its sum is above the limit in ETB. */
export function aboveRunLimit(payments: Payable[], limit?: Decimal): Result | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		code: 'aboveMaximum',
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		remedy: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** What the treasury holds in ETB, or why that cannot be read. */
export async function readTreasury(run: Run): Promise<Decimal | Result> {
	const { context, account, options } = run;
	const limits = { timeoutMs: options.timeoutMs, stop: context.getExecutionCancelSignal() };
	const result = await callService(context, account, balanceRequest, limits);
	if (!result.ok) {
		const { message, remedy, httpCode } = result.failure;
		return {
			code: 'notCovered',
			message: `The treasury balance could not be read: ${message}`,
			remedy,
			httpCode,
		};
	}
	return (
		decimalText(result.output.treasuryBalance) ?? {
			code: 'notCovered',
			message: 'The service answered without a treasury balance',
			remedy: 'Turn off Check Balance First under Options to pay without this check.',
		}
	);
}

/** Why the run may not start, if the treasury does not cover it. */
export function notCovered(balance: Decimal, payments: Payable[]): Result | undefined {
	const total = totalOf(payments);
	if (!isAbove(total, balance)) return undefined;
	return {
		code: 'notCovered',
		message: `The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
		remedy: 'Top up the treasury, or pay fewer items.',
	};
}
