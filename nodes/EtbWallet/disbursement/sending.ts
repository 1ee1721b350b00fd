/** Sends payments, a few at once, and reads how each ended. */
import { sleep } from 'n8n-workflow';
import { messageOf } from '../../shared/unknown';
import { callService, type ServiceRequest } from '../../shared/service/call';
import { unknownRemedy } from '../../shared/service/failure';
import { hideSecrets } from '../../shared/service/secrets';
import { endingOf, refusalRemedies } from './ending';
import type { Batch, Ending, Payment } from './run';

/** Sends as many at once as the options allow, until the run stops. @param msLeft for how many more ms a payment may begin or go on */
export async function sendConcurrently<Sent extends Payment>(
	batch: Batch,
	payments: Sent[],
	end: (payment: Sent, ending: Ending) => void,
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
			end(payment, await sending.catch((error: unknown) => sendingFailed(error, batch)));
		}
	};
	const senders = Math.min(batch.options.concurrency, payments.length);
	await Promise.all(Array.from({ length: senders }, sendQueued));
}

/** So many payments may begin in one turn of Node's event loop. */
const startsPerTurn = 4;

/**
 * Makes a wait that lets a few payments begin in each turn of Node's event loop, and the others in the next ones. Node
 * opens their connections only at the end of a turn: if many began in one, all would wait for the last of them.
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

/** How a payment ends when an error was thrown that nobody expected: it may be under way. */
function sendingFailed(error: unknown, { account }: Batch): Ending {
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
): Promise<Ending> {
	const request: ServiceRequest = {
		method: 'POST',
		path: '/disburse',
		mayRepeat: false,
		isJudgedByCaller: true,
		// JSON writes this number as the same text.
		body: { toUserId, amountEtb: Number(amount) },
		remedies: refusalRemedies,
	};
	const stop = context.getExecutionCancelSignal();
	const limits = { timeoutMs: options.timeoutMs, msLeft, stop, finishes: true };
	const result = await callService(context, account, request, limits);
	return endingOf(result, (text) => hideSecrets(text, account));
}
