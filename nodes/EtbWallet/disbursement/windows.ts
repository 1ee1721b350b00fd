/** Goes through payments with references in windows: asks the record, sends what it grants, and waits for other executions. */
import { patience, pause } from '../../shared/elapsed';
import { messageOf } from '../../shared/invalidValue';
import { addHint } from '../../shared/n8n';
import { answerOf, notRecorded, notSettled, withSettleSteps } from './answers';
import type {
	Answers,
	Ended,
	Found,
	Ledger,
	ReferencedPayment,
	ReferenceState,
	Wanted,
} from './ledger';
import type { RunOptions } from './checks';
import type { Payment } from './payment';
import { placeOf } from './report';
import type { Batch } from './sending';
import { sendConcurrently } from './sending';

/** What a run with references works with. */
export interface ReferencedBatch extends Batch {
	options: RunOptions;
	/** Throws when this n8n cannot keep references. */
	ledger: () => Ledger;
}

export const hasReference = (payment: Payment): payment is ReferencedPayment =>
	payment.reference !== undefined;

/** Windows of the concurrency: after a crash, no more than one of them is in doubt. */
function windowsOf<Entry>({ options }: Pick<Batch, 'options'>, entries: Entry[]): Entry[][] {
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

/** Pays or settles the referenced payments of a run, which other executions may be sending too. */
export class Windows {
	private readonly batch: ReferencedBatch;
	private readonly ledger: Ledger;
	/** How payments ended whose references are not recorded yet: with the next ones that are granted. */
	private unrecorded: Ended[] = [];
	/** In flight in another execution: for how long, in ms. */
	private readonly waiting = new Map<ReferencedPayment, () => number>();

	constructor(batch: ReferencedBatch) {
		this.batch = batch;
		this.ledger = batch.ledger();
	}

	/** Sends what the record grants, and tells how all ended. */
	async pay(payments: ReferencedPayment[]): Promise<void> {
		try {
			await this.goThrough(payments, async (window) => await this.payWindow(window));
		} finally {
			await this.recordLast();
		}
	}

	/** Records what a person found out, and sends nothing. */
	async settle(payments: ReferencedPayment[]): Promise<void> {
		await this.goThrough(payments, async (window) => await this.settleWindow(window));
	}

	private async goThrough(
		payments: ReferencedPayment[],
		workOn: (window: ReferencedPayment[]) => Promise<void>,
	): Promise<void> {
		const { batch, waiting } = this;
		const workOnAll = async (left: ReferencedPayment[]): Promise<void> => {
			for (const window of windowsOf(batch, left)) {
				if (batch.isStopping()) return;
				await workOn(window);
			}
		};
		await workOnAll(payments);
		// Those that other executions are sending, once all others are done.
		while (waiting.size > 0 && !batch.isStopping()) {
			const before = await this.countMarks();
			await workOnAll([...waiting.keys()]);
			if (waiting.size > 0) await this.untilRecordDiffers(before);
		}
	}

	private async payWindow(window: ReferencedPayment[]): Promise<void> {
		const { batch, waiting } = this;
		const { timeoutMs } = batch.options;
		let exchanged: Awaited<ReturnType<Ledger['exchange']>>;
		try {
			exchanged = await this.exchange(window.map((payment) => this.wantedOf(payment)));
		} catch (error) {
			if (batch.isStopping()) return;
			for (const payment of window) {
				if (!waiting.has(payment))
					batch.settle(payment, { outcome: 'notPaid', error: notRecorded(error) });
				else if (this.wantedOf(payment).isGivenUp) this.end(payment, 'inFlight');
			}
			return;
		}
		const { answers, ageMs } = exchanged;
		this.take(answers);
		const granted = window.filter((payment) => answers.get(payment) === 'granted');
		await this.send(granted, () => timeoutMs - ageMs());
	}

	private async settleWindow(window: ReferencedPayment[]): Promise<void> {
		try {
			this.take(await this.ledger.settle(window.map((payment) => this.wantedOf(payment))));
		} catch (error) {
			// Some of it may be recorded: no finding is heeded twice, also by Retry On Fail.
			for (const payment of window) {
				this.waiting.delete(payment);
				this.batch.settle(payment, { outcome: 'unknown', error: notSettled(error) });
			}
		}
	}

	/** Ends those that have an answer, and waits for the others. */
	private take(answers: Answers): void {
		for (const [payment, found] of answers) {
			if (found === 'granted') this.waiting.delete(payment);
			else if (found !== 'inFlight') this.end(payment, found);
			else if (!this.waiting.has(payment)) this.waiting.set(payment, patience());
		}
	}

	private end(payment: ReferencedPayment, found: Exclude<Found, 'granted'>): void {
		this.waiting.delete(payment);
		this.batch.settle(payment, answerOf(payment.reference, found, this.batch.options));
	}

	private wantedOf(payment: ReferencedPayment): Wanted {
		const { timeoutMs } = this.batch.options;
		const waitedMs = this.waiting.get(payment);
		return {
			payment,
			hasWaited: waitedMs !== undefined,
			isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,
		};
	}

	private async send(granted: ReferencedPayment[], msLeft: () => number): Promise<void> {
		const ended = new Map<ReferencedPayment, Ended['outcome']>();
		// Should sending itself fail, some may be under way.
		let others: Ended['outcome'] = 'unknown';
		try {
			await sendConcurrently(
				this.batch,
				granted,
				(payment, settlement) => {
					const { outcome } = settlement;
					const isCertain = outcome === 'paid' || outcome === 'notPaid';
					ended.set(payment, isCertain ? outcome : 'unknown');
					this.batch.settle(payment, withSettleSteps(settlement));
				},
				msLeft,
			);
			others = 'notPaid';
		} finally {
			this.unrecorded.push(
				...granted.map((payment) => ({ payment, outcome: ended.get(payment) ?? others })),
			);
		}
	}

	private async exchange(wanted: Wanted[]): ReturnType<Ledger['exchange']> {
		const ended = this.unrecorded;
		// A reference must not be freed twice: in between, another execution may have claimed it.
		this.unrecorded = ended.filter(({ outcome }) => outcome !== 'notPaid');
		const exchanged = await this.ledger.exchange(ended, wanted);
		this.unrecorded = [];
		return exchanged;
	}

	private async recordLast(): Promise<void> {
		const ended = this.unrecorded;
		if (ended.length === 0) return;
		const { context } = this.batch;
		await this.exchange([]).catch((error: unknown) => {
			// They stay in doubt, which errs to the safe side; this run reports how they ended all the same.
			const references = ended.map(({ payment }) => payment.reference).join(', ');
			addHint(
				context,
				`How ${ended.length} payments ended could not be recorded, so a later run tells them as unknown. Settle them then by what this run tells.`,
			);
			context.logger.warn(
				`How payments ended could not be recorded: ${messageOf(error)}. References: ${references}. ${placeOf(context)}`,
			);
		});
	}

	/** Reading the count costs less than asking for each, and leaves no marks. Undefined when the database fails. */
	private async countMarks(): Promise<number | undefined> {
		return await this.ledger.count().catch(() => undefined);
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
	batch: Pick<ReferencedBatch, 'ledger' | 'options'>,
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
