/** Goes through payments with references in windows: asks the record, sends what it grants, and waits for other executions. */
import { monotonicStopwatch, pause } from '../../shared/elapsed';
import { messageOf } from '../../shared/unknown';
import { addHint } from '../../shared/n8n';
import { answerOf, notRecorded, notSettled, withSettleSteps } from './answers';
import {
	hasReference,
	type Answers,
	type Found,
	type Ledger,
	type ReferencedPayment,
	type ReferenceState,
	type WantedPayment,
} from './ledger';
import { placeOf } from './report';
import type { Batch, Payment, Run } from './run';
import { sendConcurrently } from './sending';

/**
 * Windows of the concurrency. A crash leaves the claims of one window; while a window is granted, also those of the one
 * before, which is recorded in the same access.
 */
function windowsOf<Entry>(size: number, entries: Entry[]): Entry[][] {
	return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
		entries.slice(index * size, (index + 1) * size),
	);
}

/** The pauses while another execution sends: short ones first. */
const firstPauseMs = 200;
const longestPauseMs = 2_000;

/** The other execution needs so long to record how its payment ended, beyond the time that this may take. */
const recordingMs = 15_000;

/** After so many ms a waiting run asks again, also if the number of marks is the same. */
const lookAgainAfterMs = 5_000;

/** Pays or settles the referenced payments of a run, which other executions may be sending too. */
export class Windows {
	private readonly batch: Batch;
	private readonly ledger: Ledger;
	/** Payments that ended, or were not sent, until the next access records it. */
	private unrecorded: ReferencedPayment[] = [];
	/** Payments that another execution is sending, and for how many ms this run has waited for each. */
	private readonly waiting = new Map<ReferencedPayment, () => number>();

	constructor(batch: Batch, ledger: Ledger) {
		this.batch = batch;
		this.ledger = ledger;
	}

	/** Sends what the record grants, and tells how all ended. */
	async pay(payments: ReferencedPayment[]): Promise<void> {
		await this.goThrough(payments, async (window) => await this.payWindow(window));
		await this.recordLast();
	}

	async settle(payments: ReferencedPayment[]): Promise<void> {
		await this.goThrough(payments, async (window) => await this.settleWindow(window));
	}

	private async goThrough(
		payments: ReferencedPayment[],
		workOn: (window: ReferencedPayment[]) => Promise<void>,
	): Promise<void> {
		const { batch, waiting } = this;
		const workOnAll = async (all: ReferencedPayment[]): Promise<void> => {
			for (const window of windowsOf(batch.options.concurrency, all)) {
				if (batch.isStopping()) return;
				await workOn(window);
			}
		};
		await workOnAll(payments);
		// Once all others are done: those that other executions are sending.
		while (waiting.size > 0 && !batch.isStopping()) {
			const marks = await this.countMarks();
			await workOnAll([...waiting.keys()]);
			if (waiting.size > 0) await this.untilRecordDiffers(marks);
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
					batch.end(payment, { outcome: 'notPaid', error: notRecorded(error) });
				else if (this.wantedOf(payment).isGivenUp) this.end(payment, 'inFlight');
			}
			return;
		}
		const { answers, ageMs } = exchanged;
		this.heed(answers);
		const granted = window.filter((payment) => answers.get(payment) === 'granted');
		const end: Batch['end'] = (payment, ending) => batch.end(payment, withSettleSteps(ending));
		await sendConcurrently(batch, granted, end, () => timeoutMs - ageMs());
		this.unrecorded.push(...granted);
	}

	private async settleWindow(window: ReferencedPayment[]): Promise<void> {
		try {
			this.heed(await this.ledger.settle(window.map((payment) => this.wantedOf(payment))));
		} catch (error) {
			// Some findings may be recorded. As `unknown`, Retry On Fail does not record one a second time.
			for (const payment of window) {
				this.waiting.delete(payment);
				this.batch.end(payment, { outcome: 'unknown', error: notSettled(error) });
			}
		}
	}

	/** Ends the payments that have an answer, and waits for those that are in flight. */
	private heed(answers: Answers): void {
		for (const [payment, found] of answers) {
			if (found === 'granted') this.waiting.delete(payment);
			else if (found !== 'inFlight') this.end(payment, found);
			else if (!this.waiting.has(payment)) this.waiting.set(payment, monotonicStopwatch());
		}
	}

	private end(payment: ReferencedPayment, found: Exclude<Found, 'granted'>): void {
		this.waiting.delete(payment);
		this.batch.end(payment, answerOf(payment, found, this.batch.options));
	}

	private wantedOf(payment: ReferencedPayment): WantedPayment {
		const { timeoutMs } = this.batch.options;
		const waitedMs = this.waiting.get(payment);
		return {
			payment,
			hasWaited: waitedMs !== undefined,
			isGivenUp: waitedMs !== undefined && waitedMs() >= timeoutMs + recordingMs,
		};
	}

	private async exchange(wanted: WantedPayment[]): ReturnType<Ledger['exchange']> {
		const ended = this.unrecorded;
		// Also if this access fails, it may have freed references, and another execution claimed them: the next one frees none.
		this.unrecorded = ended.filter(({ ending }) => ending && ending.outcome !== 'notPaid');
		const exchanged = await this.ledger.exchange(ended, wanted);
		this.unrecorded = [];
		return exchanged;
	}

	private async recordLast(): Promise<void> {
		const ended = this.unrecorded;
		if (ended.length === 0) return;
		const { context } = this.batch;
		await this.exchange([]).catch((error: unknown) => {
			// Their claims stay, which is safe, and this run tells how they ended.
			const references = ended.map(({ reference }) => reference).join(', ');
			addHint(
				context,
				`How ${ended.length} payments ended could not be recorded, so a later run tells them as unknown. Settle them then by what this run tells.`,
			);
			context.logger.warn(
				`How payments ended could not be recorded: ${messageOf(error)}. References: ${references}. ${placeOf(context)}`,
			);
		});
	}

	/** Costs less than asking for each payment, and adds no marks. Undefined when the database fails. */
	private async countMarks(): Promise<number | undefined> {
		return await this.ledger.count().catch(() => undefined);
	}

	private async untilRecordDiffers(marks: number | undefined): Promise<void> {
		const { batch } = this;
		const stop = batch.context.getExecutionCancelSignal();
		const waitedMs = monotonicStopwatch();
		const longestMs = Math.min(lookAgainAfterMs, batch.options.timeoutMs);
		let pauseMs = firstPauseMs;
		while (waitedMs() < longestMs && !batch.isStopping()) {
			await pause(pauseMs, stop);
			if (marks === undefined || (await this.countMarks()) !== marks) return;
			pauseMs = Math.min(longestPauseMs, pauseMs * 2);
		}
	}
}

/**
 * What is known of the references. Asked in windows, because a crash in the middle of a question leaves the marks that it
 * asked for, and so these payments claimed. @throws {Error} when n8n's database fails
 */
export async function lookAtAll(
	{ options }: Run,
	ledger: Ledger,
	payments: Payment[],
): Promise<Map<Payment, ReferenceState>> {
	const states = new Map<Payment, ReferenceState>();
	for (const window of windowsOf(options.concurrency, payments.filter(hasReference)))
		for (const [payment, state] of await ledger.look(window)) states.set(payment, state);
	return states;
}
