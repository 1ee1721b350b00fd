import { sleep } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';
import { redact } from '../../shared/serviceError';
import { callService } from '../../shared/transport';
import { show } from '../../shared/validation';
import type { Run } from '../run';
import type { Claim, Ended, Ledger, ReferencedPayment, ReferenceState } from './ledger';
import { warn } from './ledger';
import type { DisbursementOptions } from './options';
import type { Failure, Payment, Settlement } from './outcome';
import { remedies, settle } from './outcome';

/** What sending the payments of a run needs. */
export interface Batch extends Run {
	options: DisbursementOptions;
	ledger: Ledger;
	/** How each item ended, by item index. */
	settlements: ReadonlyMap<number, Settlement>;
	/** Called once for each payment that ended. */
	record(payment: Payment, settlement: Settlement): void;
	/** Whether nothing more may be sent. */
	isStopping(): boolean;
}

/** Sends payments with bounded concurrency; those with references in windows, claimed just ahead of sending. */
export async function sendAll(batch: Batch, payments: Payment[]): Promise<void> {
	if (payments.every(({ reference }) => reference === undefined)) {
		await sendConcurrently(batch, payments);
		return;
	}
	for (const window of windows(batch, payments)) {
		if (batch.isStopping()) return;
		await sendWindow(batch, window);
	}
}

function windows({ options }: Batch, payments: Payment[]): Payment[][] {
	const size = options.concurrency;
	return Array.from({ length: Math.ceil(payments.length / size) }, (_, index) =>
		payments.slice(index * size, (index + 1) * size),
	);
}

async function sendConcurrently(batch: Batch, payments: Payment[]): Promise<void> {
	// Shared by all senders: each takes the next payment.
	const queue = payments.values();
	const pass = turnstile();
	const sendQueued = async (): Promise<void> => {
		for (;;) {
			await pass();
			if (batch.isStopping()) return;
			const { value: payment, done } = queue.next();
			if (done === true) return;
			batch.record(payment, await send(batch, payment));
		}
	};
	const senders = Math.min(batch.options.concurrency, payments.length);
	await Promise.all(Array.from({ length: senders }, sendQueued));
}

/** Payments that begin before Node looks after their connections. */
const begunAtOnce = 4;

/**
 * Lets few pass at once. A request leaves only when Node has opened its connection, which it does once all answers
 * that have arrived are dealt with: payments would gather, and all wait for the last of them.
 */
function turnstile(): () => Promise<void> {
	let begun = 0;
	let nextTurn: Promise<void> | undefined;
	const turn = async (): Promise<void> => {
		await sleep(0);
		begun = 0;
		nextTurn = undefined;
	};
	return async () => {
		while (begun === begunAtOnce) await (nextTurn ??= turn());
		begun++;
	};
}

/** Endpoint 7 of the service document §4. */
async function send(
	{ context, account, options }: Batch,
	{ toUserId, amountEtb }: Payment,
): Promise<Settlement> {
	return settle(
		await callService(
			withoutAbort(context),
			account,
			{ method: 'POST', path: '/disburse', body: { toUserId, amountEtb }, remedies },
			{ timeout: options.timeout, signal: context.getExecutionCancelSignal() },
		),
		(text) => redact(text, account),
	);
}

/** n8n would abort payments in flight when the execution is stopped, and how they end would never be known. */
function withoutAbort(context: IExecuteFunctions): IExecuteFunctions {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => undefined },
	}) as IExecuteFunctions;
}

async function sendWindow(batch: Batch, window: Payment[]): Promise<void> {
	const { ledger, options, context, settlements } = batch;
	let claims: Map<string, Claim>;
	try {
		claims = await claimAll(batch, window);
	} catch (error) {
		for (const payment of window)
			batch.record(payment, { outcome: 'notPaid', error: notRecorded(error) });
		return;
	}
	const toSend: Payment[] = [];
	for (const payment of window) {
		const claim = claims.get(payment.reference ?? '');
		if (claim === undefined || claim.taken) toSend.push(payment);
		else batch.record(payment, usedBefore(claim, options.ifReferenceUsed === 'fail'));
	}
	const ended: Ended[] = [];
	// Should sending itself fail, some may be under way.
	let others: 'notPaid' | 'unknown' = 'unknown';
	try {
		await sendConcurrently(batch, toSend);
		others = 'notPaid';
	} finally {
		for (const { reference, itemIndex } of toSend) {
			const claim = claims.get(reference ?? '');
			const outcome = settlements.get(itemIndex)?.outcome ?? others;
			if (claim !== undefined && outcome !== 'alreadyPaid') ended.push({ ...claim, outcome });
		}
		await ledger.settle(ended).catch((error: unknown) => {
			// They stay in doubt, which errs to the safe side; this run reports how they ended all the same.
			warn(context, 'How payments ended could not be recorded', ended, error);
		});
	}
}

async function claimAll(
	{ ledger, options }: Batch,
	payments: Payment[],
): Promise<Map<string, Claim>> {
	const referenced = payments.flatMap(({ reference, toUserId, amount }): ReferencedPayment[] =>
		reference === undefined ? [] : [{ reference, toUserId, amount }],
	);
	const claims = await ledger.claim(referenced, options.ifReferenceUsed === 'payAgain');
	return new Map(claims.map((claim) => [claim.reference, claim]));
}

/**
 * The payments whose references are unused. Asking the ledger also writes, so it is done in windows, as for
 * sending: a crash leaves no more than one of them in doubt.
 * @throws {Error} with the reason, when n8n's database fails
 */
export async function unusedOnes(batch: Batch, payments: Payment[]): Promise<Payment[]> {
	const unused: Payment[] = [];
	for (const window of windows(batch, payments)) {
		const claims = await claimAll(batch, window);
		const taken = [...claims.values()].filter((claim) => claim.taken);
		await batch.ledger.settle(taken.map((claim) => ({ ...claim, outcome: 'notPaid' })));
		unused.push(...window.filter(({ reference }) => claims.get(reference ?? '')?.taken ?? true));
	}
	return unused;
}

/** Why nothing is sent when n8n's database fails. */
export function notRecorded(error: unknown): Failure {
	return {
		message: 'The reference could not be recorded in the database of n8n, so nothing was sent',
		description: `Run the workflow again. If it then reports references as unknown that were not used before, this run did not send them. The database said: ${error instanceof Error ? error.message : String(error)}`,
	};
}

interface UsedReference {
	outcome: 'alreadyPaid' | 'unknown' | 'notPaid';
	found: string;
	remedy: string;
}

const usedReferences: Readonly<Record<Exclude<ReferenceState, 'unused'>, UsedReference>> = {
	paid: {
		outcome: 'alreadyPaid',
		found: 'Paid before, not sent again',
		remedy: 'Use a new reference for a new payment.',
	},
	inDoubt: {
		outcome: 'unknown',
		found: 'Not sent again: it was sent before, and how that ended is not known',
		remedy:
			'Ask the partner service whether it was paid. If it was not, and no other execution is sending it, set If Reference Was Used under Options to Pay Again for one run.',
	},
	inFlight: {
		outcome: 'unknown',
		found: 'Another execution is sending this reference right now, not sent again',
		remedy: 'Look at that execution for how it ended, or run this one again later.',
	},
	otherPayment: {
		outcome: 'notPaid',
		found: 'Nothing was sent, because another person or amount had this reference before',
		remedy:
			'The earlier payment stays as it was. Give each payment a reference of its own. If it is the same payment with another amount, ask the partner service what was paid.',
	},
};

function usedBefore({ reference, before }: Claim, fails: boolean): Settlement {
	const { outcome, found, remedy } = usedReferences[before === 'unused' ? 'inDoubt' : before];
	return fails || outcome === 'notPaid'
		? { outcome, error: { message: `${found}: ${show(reference)}`, description: remedy } }
		: { outcome, skipped: outcome === 'unknown' ? `${found}. ${remedy}` : found };
}
