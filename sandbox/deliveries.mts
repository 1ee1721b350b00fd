/** Sends events to the registered URL, with the service's retries. */
import { Agent, request } from 'undici';
import type { Attempt, Books, Delivery } from './books.mts';
import type { Clock } from './clock.mts';
import { signBody } from './signature.mts';

/** The pauses before the retries, in ms (service document §6). */
const retryDelaysMs: readonly number[] = [30_000, 120_000, 480_000];
/** The time in ms after which an attempt without a response has failed. */
export const DELIVERY_TIMEOUT_MS = 10_000;
// So many attempts keep a receiver busy. More would only queue at the receiver and time out there.
const ATTEMPTS_AT_ONCE = 64;

/** The events of the service document §6. */
export const exampleEvents = [
	'disburse.completed',
	'transfer.completed',
	'deposit.mint_queued',
] as const;
export type ExampleEvent = (typeof exampleEvents)[number];

interface DeliveryOptions {
	books: Books;
	clock: Clock;
	webhookSecret: string;
	timeFactor: number;
	timeoutMs: number;
}

const describe = (error: unknown): string => {
	if (!(error instanceof Error)) return String(error);
	const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
	return [code, error.message].filter(Boolean).join(': ');
};

const isSuccess = ({ status }: Omit<Attempt, 'at'>): boolean =>
	status !== undefined && status >= 200 && status < 300;

interface Waiting {
	resolve: (delivery: Delivery) => void;
	reject: (error: Error) => void;
}

/** Delivers events to the registered URL, on the service's retry schedule. */
export class Deliveries {
	private readonly options: DeliveryOptions;
	private readonly agent = new Agent({ connections: ATTEMPTS_AT_ONCE });
	private readonly timers = new Map<string, () => void>();
	private readonly due: string[] = [];
	private readonly inFlight = new Map<string, AbortController>();
	private readonly waiting = new Map<string, Waiting[]>();
	private readonly whenIdle: (() => void)[] = [];
	private stopped = false;

	constructor(options: DeliveryOptions) {
		this.options = options;
	}

	/** Schedules each delivery that an earlier run left pending, at its own due time. */
	resume(): void {
		const { books, clock } = this.options;
		for (const { id, nextAttemptAt } of books.pendingDeliveries()) {
			this.schedule(id, nextAttemptAt - clock.now());
		}
	}

	/**
	 * Queues an event for the registered URL and returns the delivery's id. Without a URL the delivery is
	 * recorded as failed, with no attempt.
	 * @param body the exact text to send instead of the event as JSON
	 */
	queue(event: string, data: object, body?: string): string {
		const { books, clock, webhookSecret } = this.options;
		const timestamp = new Date(clock.now()).toISOString();
		const sent = body ?? JSON.stringify({ event, timestamp, data });
		const url = books.webhookUrl();
		const id = books.addDelivery({
			event,
			url: url ?? '',
			body: sent,
			signature: signBody(sent, webhookSecret),
			state: url === undefined ? 'failed' : 'pending',
		});
		if (url !== undefined) this.enqueue(id);
		return id;
	}

	/** Sends an event once to any URL, such as that of a test in n8n's editor, and returns the delivery's id. */
	async sendOnce(event: string, data: object, url: string): Promise<string> {
		const { books, clock, webhookSecret } = this.options;
		const at = clock.now();
		const body = JSON.stringify({ event, timestamp: new Date(at).toISOString(), data });
		const signature = signBody(body, webhookSecret);
		const outcome = await this.post(url, { body, signature }, new AbortController());
		const state = isSuccess(outcome) ? 'delivered' : 'failed';
		const id = books.addDelivery({ event, url, body, signature, state });
		books.addAttempt(id, { at, ...outcome }, { url, state });
		return id;
	}

	/**
	 * Resolves with the delivery once it has succeeded or finally failed. Rejects when the sandbox stops first.
	 */
	async ended(id: string): Promise<Delivery> {
		const delivery = this.options.books.delivery(id);
		if (!delivery) throw new Error(`There is no delivery ${id}`);
		if (delivery.state !== 'pending') return delivery;
		return await new Promise((resolve, reject) => {
			this.waiting.set(id, [...(this.waiting.get(id) ?? []), { resolve, reject }]);
		});
	}

	/** Resolves when no attempt is in flight and none is due now. */
	async idle(): Promise<void> {
		if (this.isIdle()) return;
		await new Promise<void>((resolve) => this.whenIdle.push(resolve));
	}

	/** Aborts the attempts in flight. Their deliveries and all pending ones stay in the books as they were. */
	async stop(): Promise<void> {
		this.stopped = true;
		for (const cancel of this.timers.values()) cancel();
		this.timers.clear();
		this.due.length = 0;
		for (const attempt of this.inFlight.values()) attempt.abort();
		await this.idle();
		for (const { reject } of [...this.waiting.values()].flat())
			reject(new Error('The sandbox was stopped'));
		this.waiting.clear();
		await this.agent.destroy();
	}

	private isIdle(): boolean {
		return this.due.length === 0 && this.inFlight.size === 0;
	}

	private schedule(id: string, delayMs: number): void {
		if (delayMs <= 0) return this.enqueue(id);
		const cancel = this.options.clock.setTimer(() => {
			this.timers.delete(id);
			this.enqueue(id);
		}, delayMs);
		this.timers.set(id, cancel);
	}

	private enqueue(id: string): void {
		if (this.stopped) return;
		this.due.push(id);
		// The transaction that queued the event must be complete before the first attempt.
		queueMicrotask(() => this.startDue());
	}

	private startDue(): void {
		while (this.inFlight.size < ATTEMPTS_AT_ONCE) {
			const id = this.due.shift();
			if (id === undefined) break;
			const abort = new AbortController();
			this.inFlight.set(id, abort);
			void this.attempt(id, abort).finally(() => {
				this.inFlight.delete(id);
				this.startDue();
			});
		}
		if (this.isIdle()) for (const resolve of this.whenIdle.splice(0)) resolve();
	}

	private async attempt(id: string, abort: AbortController): Promise<void> {
		const { books, clock, timeFactor } = this.options;
		const delivery = books.delivery(id);
		if (!delivery) return;
		const url = books.webhookUrl() ?? delivery.url;
		const at = clock.now();
		const outcome = await this.post(url, delivery, abort);
		if (this.stopped) return;

		const delivered = isSuccess(outcome);
		const delay = delivered ? undefined : retryDelaysMs[delivery.attempts.length];
		if (delay === undefined) {
			books.addAttempt(id, { at, ...outcome }, { url, state: delivered ? 'delivered' : 'failed' });
			this.resolveWaiting(id);
		} else {
			const wait = delay * timeFactor;
			const nextAttemptAt = Math.round(clock.now() + wait);
			books.addAttempt(id, { at, ...outcome }, { url, state: 'pending', nextAttemptAt });
			this.schedule(id, wait);
		}
	}

	private async post(
		url: string,
		delivery: Pick<Delivery, 'body' | 'signature'>,
		abort: AbortController,
	): Promise<Omit<Attempt, 'at'>> {
		const { timeoutMs } = this.options;
		const timeout = setTimeout(
			() => abort.abort(new Error(`No response within ${timeoutMs} ms`)),
			timeoutMs,
		);
		try {
			const response = await request(url, {
				method: 'POST',
				headers: {
					'content-type': 'application/json',
					'user-agent': 'etb-wallet-sandbox',
					'x-webhook-signature': delivery.signature,
				},
				body: delivery.body,
				dispatcher: this.agent,
				signal: abort.signal,
			});
			await response.body.dump();
			return { status: response.statusCode };
		} catch (error) {
			return { error: describe(error) };
		} finally {
			clearTimeout(timeout);
		}
	}

	private resolveWaiting(id: string): void {
		const waiting = this.waiting.get(id);
		const delivery = this.options.books.delivery(id);
		if (!waiting || !delivery) return;
		this.waiting.delete(id);
		for (const { resolve } of waiting) resolve(delivery);
	}
}
