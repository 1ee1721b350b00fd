/** The limits of payments that a person set, and the treasury: what keeps an entry, or the whole run, from being sent. */
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import { callService } from '../../shared/service/call';
import { balanceRequest } from '../../shared/service/request';
import type { Entry, EntryResult, Payment } from './entry';
import type { PaymentRecord } from './paymentRecord';
import type { RunTry } from './run';
import { noRecordResult } from './stateResults';

/** The objection to an entry whose amount is above the Maximum per Payment, in ETB. */
export function amountObjection(
	{ amount }: Entry,
	maxAmountEtb?: Decimal,
): EntryResult | undefined {
	if (maxAmountEtb === undefined || amount === undefined || !isAbove(amount, maxAmountEtb))
		return undefined;
	return {
		code: 'aboveMaximum',
		message: `Amount (ETB) is ${amount}, which is above the Maximum per Payment of ${maxAmountEtb}`,
		remedy: 'Check the amount, or raise the maximum under Options.',
	};
}

/** The halt of a run whose sum is above the Maximum per Run in ETB; undefined if it may start. */
export function totalHalt(payments: Payment[], limit?: Decimal): EntryResult | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		code: 'totalAboveMaximum',
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		remedy: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** The halt of a run if the treasury does not hold what is still to be paid; undefined if it may start. */
export async function coverageHalt(
	run: RunTry,
	record: PaymentRecord,
	pending: Payment[],
): Promise<EntryResult | undefined> {
	if (!run.options.checkBalance) return undefined;
	const { balance, halt } = await loadBalance(run);
	if (halt !== undefined) return halt;
	if (!isAbove(totalOf(pending), balance)) return undefined;
	try {
		// A run that is repeated after a crash needs money only for the payments that were not sent yet.
		const states = await record.askStates(pending, run.options.concurrency);
		const unused = pending.filter((payment) => states.get(payment) === 'unused');
		const total = totalOf(unused);
		if (!isAbove(total, balance)) return undefined;
		return notCovered(
			`The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
			'Top up the treasury, or pay fewer items.',
		);
	} catch (error) {
		return noRecordResult(error);
	}
}

/** The treasury balance in ETB, or the halt of the run if it cannot be read. */
type Balance = { balance: Decimal; halt?: undefined } | { balance?: undefined; halt: EntryResult };

async function loadBalance({ context, account, options }: RunTry): Promise<Balance> {
	const callOptions = { timeoutMs: options.timeoutMs, stop: context.getExecutionCancelSignal() };
	const called = await callService(context, account, balanceRequest, callOptions);
	if (!called.ok) {
		const { message, remedy, httpCode } = called.failure;
		const unread = `The treasury balance could not be read: ${message}`;
		return { halt: notCovered(unread, remedy, httpCode) };
	}
	const balance = decimalText(called.output.treasuryBalance);
	if (balance !== undefined) return { balance };
	return {
		halt: notCovered(
			'The service answered without a treasury balance',
			'Turn off Check Balance First under Options to pay without this check.',
		),
	};
}

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

const notCovered = (message: string, remedy: string, httpCode?: string): EntryResult => ({
	code: 'notCovered',
	message,
	remedy,
	httpCode,
});
