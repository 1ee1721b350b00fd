/** Sends payments, a few at once, and reads how each ended. */
import { sleep } from 'n8n-workflow';
import { messageOf } from '../../shared/invalidValue';
import { callService } from '../../shared/service/call';
import { unknownRemedy } from '../../shared/service/failure';
import { hideSecrets } from '../../shared/service/secrets';
import type { Run } from '../actions/operation';
import type { SendOptions } from './checks';
import type { Payment } from './payment';
import type { Settlement } from './settlement';
import { rejectionRemedies, settlementOf } from './settlement';

export interface Batch extends Pick<Run, 'context' | 'account'> {
	options: SendOptions;
	/** Called once for each payment that ended. */
	settle: (payment: Payment, settlement: Settlement) => void;
	/** Whether nothing more may be sent. */
	isStopping(): boolean;
}

/**
 * Sends as many at once as the options allow, until the run is to stop.
 * @param settle is called once for each payment that ended
 * @param msLeft how long a payment may still begin or go on
 */
export async function sendConcurrently<Sent extends Payment>(
	batch: Batch,
	payments: Sent[],
	settle: (payment: Sent, settlement: Settlement) => void,
	msLeft?: (payment: Sent) => number,
): Promise<void> {
	// Shared by all senders: each takes the next payment.
	const queue = payments.values();
	const nextStart = startsInTurns();
	const sendQueued = async (): Promise<void> => {
		for (;;) {
			await nextStart();
			if (batch.isStopping()) return;
			const { value: payment, done } = queue.next();
			if (done === true) return;
			const ownMsLeft = msLeft && (() => msLeft(payment));
			const sending = send(batch, payment, ownMsLeft);
			settle(payment, await sending.catch((error: unknown) => sendingFailed(error, batch)));
		}
	};
	const senders = Math.min(batch.options.concurrency, payments.length);
	await Promise.all(Array.from({ length: senders }, sendQueued));
}

/** So many payments begin before Node opens their connections. */
const startsPerTurn = 4;

/**
 * Node opens a connection only once all answers that have arrived are dealt with: payments that begin meanwhile would
 * gather, and all wait for the last of them. So few may begin in one turn of Node's event loop, and the others wait
 * for the next.
 */
function startsInTurns(): () => Promise<void> {
	let starts = 0;
	let nextTurn: Promise<void> | undefined;
	const beginTurn = async (): Promise<void> => {
		await sleep(0);
		starts = 0;
		nextTurn = undefined;
	};
	return async () => {
		while (starts === startsPerTurn) {
			nextTurn ??= beginTurn();
			await nextTurn;
		}
		starts++;
	};
}

/** Nothing that is thrown once a payment may be under way is lost, or ends the run while others are under way. */
function sendingFailed(error: unknown, { account }: Batch): Settlement {
	return {
		outcome: 'unknown',
		error: {
			message: `Sending the payment failed: ${hideSecrets(messageOf(error), account)}`,
			description: unknownRemedy,
		},
	};
}

/** Endpoint 7 of the service document §4. */
async function send(
	{ context, account, options }: Batch,
	{ toUserId, amount }: Payment,
	msLeft?: () => number,
): Promise<Settlement> {
	const result = await callService(
		context,
		account,
		{
			method: 'POST',
			path: '/disburse',
			mayRepeat: false,
			isJudgedByCaller: true,
			// JSON writes this number as the same text.
			body: { toUserId, amountEtb: Number(amount) },
			remedies: rejectionRemedies,
		},
		{
			timeoutMs: options.timeoutMs,
			msLeft,
			stop: context.getExecutionCancelSignal(),
			finishes: true,
		},
	);
	return settlementOf(result, (text) => hideSecrets(text, account));
}
