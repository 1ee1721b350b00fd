/** Sends payments with references in windows: each is recorded ahead of sending, and waits while another execution sends it. */
import { patience, pause } from '../../shared/elapsed';
import { messageOf } from '../../shared/invalidValue';
import type { Payment } from './payment';
import type {
	Claim,
	Ended,
	Exchanged,
	ReferencedPayment,
	ReferenceState,
	Wanted,
	WordCounts,
} from './ledger';
import type { Batch } from './sending';
import { sendConcurrently } from './sending';
import { notRecorded, usedBefore, withWordRemedy } from './settlement';

export const hasReference = (payment: Payment): payment is ReferencedPayment =>
	payment.reference !== undefined;

/**
 * Asked before anything else: a word is about what was in doubt before the run, and counts once, while another execution
 * with the same word may be under way. Should the database fail, no word is heeded.
 */
export async function countWords(batch: Batch, payments: Payment[]): Promise<WordCounts> {
	const words = new Map<ReferencedPayment, number>();
	const spoken = payments.filter(hasReference).filter(({ ifUnknown }) => ifUnknown !== 'report');
	for (const window of windowsOf(batch, spoken)) {
		try {
			const counts = await batch.ledger().countWords(window);
			for (const [payment, count] of counts) words.set(payment, count);
		} catch {
			// No word about this window's payments is heeded.
		}
	}
	return words;
}

/** Windows of the concurrency: after a crash, no more than one of them is in doubt. */
function windowsOf<Entry>({ options }: Batch, entries: Entry[]): Entry[][] {
	const size = options.concurrency;
	return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}

/** Waiting for another execution begins with short pauses. */
const firstPauseMs = 200;
const longestPauseMs = 2_000;

/** Beyond the time that its payment may take, another execution needs some to record how that ended. */
const recordingMs = 15_000;

/** After so many ms a waiting run looks again, although the record seems unchanged. */
const lookAgainAfterMs = 5_000;

/** Sends the referenced payments of a run, which other executions may be sending too. */
export class ReferencedSending {
	private readonly batch: Batch;
	/** How payments ended whose references are not recorded yet: with the next ones that are taken. */
	private unrecorded: Ended[] = [];
	private readonly wordsBefore: WordCounts;
	/** In flight in another execution: for how long, in ms. */
	private readonly waiting = new Map<ReferencedPayment, () => number>();

	constructor(batch: Batch, wordsBefore: WordCounts) {
		this.batch = batch;
		this.wordsBefore = wordsBefore;
	}

	async send(payments: ReferencedPayment[]): Promise<void> {
		const { batch, waiting } = this;
		try {
			await this.sendWindows(payments);
			// Those that other executions are sending, once all others are done.
			while (waiting.size > 0 && !batch.isStopping()) {
				const before = await this.countMarks();
				await this.sendWindows([...waiting.keys()]);
				if (waiting.size > 0) await this.untilRecordDiffers(before);
			}
		} finally {
			await this.recordLast();
		}
	}

	private async sendWindows(payments: ReferencedPayment[]): Promise<void> {
		for (const window of windowsOf(this.batch, payments)) {
			if (this.batch.isStopping()) return;
			await this.sendWindow(window);
		}
	}

	private async sendWindow(window: ReferencedPayment[]): Promise<void> {
		const { batch, waiting } = this;
		const { timeoutMs } = batch.options;
		let exchanged: Exchanged;
		try {
			exchanged = await this.exchange(window.map((payment) => this.wantedOf(payment)));
		} catch (error) {
			if (batch.isStopping()) return;
			for (const payment of window) {
				if (waiting.has(payment)) {
					if (this.wantedOf(payment).isGivenUp) this.end(payment, 'inFlight');
				} else if (this.wordsBefore.has(payment)) this.end(payment, 'inDoubt');
				else batch.settle(payment, { outcome: 'notPaid', error: notRecorded(error) });
			}
			return;
		}
		const { claims, ageMs } = exchanged;
		for (const { payment, found } of claims) {
			if (found === 'inFlight') {
				if (!waiting.has(payment)) waiting.set(payment, patience());
			} else if (found === 'taken') waiting.delete(payment);
			else this.end(payment, found);
		}
		const taken = claims.flatMap(({ payment, found }) => (found === 'taken' ? [payment] : []));
		await this.sendTaken(taken, () => timeoutMs - ageMs());
	}

	/** Ends a payment that is not sent, because its reference was used. */
	private end(payment: ReferencedPayment, found: Exclude<Claim['found'], 'taken'>): void {
		const { failsIfUsed } = this.batch.options;
		this.waiting.delete(payment);
		this.batch.settle(payment, usedBefore(payment.reference, found, failsIfUsed));
	}

	private wantedOf(payment: ReferencedPayment): Wanted {
		const { timeoutMs } = this.batch.options;
		const waitedMs = this.waiting.get(payment);
		return {
			payment,
			// A doubt that came while it waited is not the one that the person spoke of.
			wordsBefore: waitedMs === undefined ? this.wordsBefore.get(payment) : undefined,
			isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,
		};
	}

	private async sendTaken(taken: ReferencedPayment[], msLeft: () => number): Promise<void> {
		const ended = new Map<ReferencedPayment, Ended['outcome']>();
		// Should sending itself fail, some may be under way.
		let others: Ended['outcome'] = 'unknown';
		try {
			await sendConcurrently(
				this.batch,
				taken,
				(payment, settlement) => {
					const { outcome } = settlement;
					const isCertain = outcome === 'paid' || outcome === 'notPaid';
					ended.set(payment, isCertain ? outcome : 'unknown');
					this.batch.settle(payment, withWordRemedy(settlement));
				},
				msLeft,
			);
			others = 'notPaid';
		} finally {
			this.unrecorded.push(
				...taken.map((payment) => ({ payment, outcome: ended.get(payment) ?? others })),
			);
		}
	}

	private async exchange(wanted: Wanted[]): Promise<Exchanged> {
		const ended = this.unrecorded;
		// A reference must not be freed twice: in between, another execution may have taken it.
		this.unrecorded = ended.filter(({ outcome }) => outcome !== 'notPaid');
		const exchanged = await this.batch.ledger().exchange(ended, wanted);
		this.unrecorded = [];
		return exchanged;
	}

	private async recordLast(): Promise<void> {
		const ended = this.unrecorded;
		if (ended.length === 0) return;
		const { context } = this.batch;
		await this.exchange([]).catch((error: unknown) => {
			// They stay in doubt, which errs to the safe side; this run reports how they ended all the same.
			context.logger.warn('How payments ended could not be recorded', {
				references: ended.map(({ payment }) => payment.reference),
				reason: messageOf(error),
			});
		});
	}

	/** Reading the count costs less than asking for each, and leaves no marks. Undefined when the database fails. */
	private async countMarks(): Promise<number | undefined> {
		return await this.batch
			.ledger()
			.count()
			.catch(() => undefined);
	}

	private async untilRecordDiffers(before: number | undefined): Promise<void> {
		const { batch } = this;
		const stop = batch.context.getExecutionCancelSignal();
		const waitedMs = patience();
		const longestMs = Math.min(lookAgainAfterMs, batch.options.timeoutMs);
		let pauseMs = firstPauseMs;
		while (waitedMs() < longestMs && !batch.isStopping()) {
			await pause(pauseMs, stop);
			if (before === undefined || (await this.countMarks()) !== before) return;
			pauseMs = Math.min(longestPauseMs, pauseMs * 2);
		}
	}
}

/**
 * What is known of the references, without a trace and without sending; asked in windows as for sending, because a
 * crash in the middle of a question leaves what it asked for in doubt.
 * @throws {Error} with the reason, when n8n's database fails
 */
export async function lookAtAll(
	batch: Batch,
	payments: Payment[],
): Promise<Map<Payment, ReferenceState>> {
	const states = new Map<Payment, ReferenceState>();
	const referenced = payments.filter(hasReference);
	for (const window of windowsOf(batch, referenced)) {
		const found = await batch.ledger().look(window);
		for (const [payment, state] of found) states.set(payment, state);
	}
	return states;
}
