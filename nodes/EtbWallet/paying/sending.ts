/** Sends payments: reserves a batch of them, sends a few at once, and reads how each ended. */
import { decimalText } from '../../shared/decimal';
import { addHint, describeExecution } from '../../shared/n8n';
import { callService } from '../../shared/service/call';
import type { ServiceRequest } from '../../shared/service/request';
import { hideSecrets } from '../../shared/service/secrets';
import { messageOf } from '../../shared/unknownValues';
import { outcomeOf } from '../codes';
import { outcomeOfEntry, type Payable, type Payment, type EntryResult } from './entry';
import type { PaymentRecord } from './paymentRecord';
import type { RunTry } from './run';
import { noRecordResult, resultOfState } from './stateResults';
import { batchesOf } from './batches';

/**
 * Sends the payments that the record allows, and gives each a result, unless the run stops. A crash leaves
 * the reservations of one batch. A crash while a batch is being reserved also leaves those of the previous batch,
 * whose results are recorded in the same change.
 */
export async function payAll(
	run: RunTry,
	record: PaymentRecord,
	payments: Payment[],
): Promise<void> {
	const { concurrency, timeoutMs } = run.options;
	// The payments that were reserved and sent, and whose results the next change of the record has to record.
	let unrecorded: Payment[] = [];
	const failedChanges: FailedChange[] = [];
	for (const batch of batchesOf(concurrency, payments)) {
		if (run.mustStop()) break;
		const reserved = unrecorded;
		let reservation: Awaited<ReturnType<PaymentRecord['recordResultsAndReserve']>>;
		try {
			reservation = await record.recordResultsAndReserve(reserved, batch);
		} catch (error) {
			// The next change records only *paid* again: this one may have been stored, and somebody may have settled
			// or reserved the other references since.
			unrecorded = reserved.filter((payment) => outcomeOfEntry(payment) === 'paid');
			// The next change records *paid*, and a later run reports an unknown payment as unknown anyway.
			const notPaid = reserved.filter((each) => outcomeOfEntry(each) === 'notPaid');
			failedChanges.push({ error, payments: notPaid });
			if (run.mustStop()) break;
			for (const payment of batch) run.setResult(payment, noRecordResult(error));
			continue;
		}
		const { statesBefore, getAgeMs } = reservation;
		for (const [payment, state] of statesBefore)
			if (state !== 'unused') run.setResult(payment, resultOfState(payment, state));
		unrecorded = batch.filter((payment) => statesBefore.get(payment) === 'unused');
		await sendConcurrently(run, unrecorded, () => timeoutMs - getAgeMs());
	}
	try {
		await record.recordLastResults(unrecorded);
	} catch (error) {
		failedChanges.push({ error, payments: unrecorded });
	}
	warnOfUnrecorded(run, failedChanges);
}

/** A change of the record that failed, and the payments whose results it may not have recorded. */
interface FailedChange {
	error: unknown;
	payments: Payment[];
}

/** Warns about payments whose results may be missing in the record: a later run does not send them. */
function warnOfUnrecorded({ context }: RunTry, failedChanges: FailedChange[]): void {
	const payments = failedChanges.flatMap((each) => each.payments);
	if (payments.length === 0) return;
	const references = payments.map(({ reference }) => reference).join(', ');
	const what = `How ${payments.length} payments ended may not be recorded`;
	addHint(
		context,
		`${what}, so a later run may report them as unknown. Then settle them as this run reports them.`,
	);
	context.logger.warn(
		`${what}: ${messageOf(failedChanges.at(-1)?.error)}. References: ${references}. ${describeExecution(context)}`,
	);
}

/**
 * Sends as many at once as the options allow, until the run stops.
 * @param getAllowedMs the time in ms that a payment may take if it begins now; 0 or less if it is too late
 */
export async function sendConcurrently<Sent extends Payable>(
	run: RunTry,
	payments: Sent[],
	getAllowedMs: (payment: Sent) => number,
): Promise<void> {
	// All senders share this iterator, and each takes the next payment.
	const queue = payments.values();
	const sendQueued = async (): Promise<void> => {
		for (const payment of queue) {
			if (run.mustStop()) return;
			const result = await send(run, payment, () => getAllowedMs(payment));
			const isUnknown = outcomeOf(result.code) === 'unknown';
			const remedy = isUnknown ? run.remedyOfUnknown(payment) : result.remedy;
			run.setResult(payment, { ...result, remedy });
		}
	};
	const senders = Math.min(run.options.concurrency, payments.length);
	await Promise.all(Array.from({ length: senders }, sendQueued));
}

const whatToCheck = 'Check the treasury balance, the amount and the user ID.';

/** Endpoint 7 of the service document §4. The document does not say which status means too little money. */
const disburseRequest = {
	method: 'POST',
	path: '/disburse',
	responseField: 'txHash',
	movesMoney: true,
	remedies: {
		200: whatToCheck,
		400: whatToCheck,
		402: whatToCheck,
		404: 'Check To User ID: it is the ID that User → Create returned, not a name or a telephone number. Check the Base URL in the ETB Wallet API credential too.',
		422: whatToCheck,
	},
} as const satisfies ServiceRequest;

/** Sends a payment. An exception counts as unknown, because the request may have been sent. */
async function send(
	{ context, account, options }: RunTry,
	{ toUserId, amount }: Payable,
	getAllowedMs: () => number,
): Promise<EntryResult> {
	// JSON writes this number as exactly the text of `amount`.
	const request = { ...disburseRequest, body: { toUserId, amountEtb: Number(amount) } };
	const stop = context.getExecutionCancelSignal();
	const callOptions = { timeoutMs: options.timeoutMs, getAllowedMs, stop, finishesAfterStop: true };
	try {
		const called = await callService(context, account, request, callOptions);
		if (!called.ok) {
			const { code, message, remedy, httpCode } = called.failure;
			return { code, message, remedy, httpCode };
		}
		const answered = decimalText(called.output.amountEtb);
		const isOther = answered !== undefined && answered !== amount;
		return {
			code: isOther ? 'otherAmount' : 'paid',
			response: {
				...called.output,
				...(isOther && { amountEtb: Number(answered) }),
				paidAt: new Date().toISOString(),
			},
		};
	} catch (error) {
		const message = `Sending the payment failed: ${hideSecrets(messageOf(error), account)}`;
		return { code: 'unclear', message };
	}
}
