/** Sends deliveries in turn or at a rate, and notes how each was answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** A request that a receiver gets. */
export interface Delivery {
	body: string;
	signature: string;
}

export interface Answer {
	status: number;
	/** From sending to the whole answer, in ms. */
	ms: number;
}

const LONGEST_ANSWER_MS = 180_000;

/** Sends deliveries to a URL over connections that are kept open, as a service does. */
export class Sender {
	private readonly url: string;
	private readonly agent = new Agent({
		headersTimeout: LONGEST_ANSWER_MS,
		bodyTimeout: LONGEST_ANSWER_MS,
	});

	constructor(url: string) {
		this.url = url;
	}

	async send({ body, signature }: Delivery): Promise<Answer> {
		const startedAt = performance.now();
		const response = await request(this.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json', 'x-webhook-signature': signature },
			body,
			dispatcher: this.agent,
		});
		await response.body.dump();
		return { status: response.statusCode, ms: performance.now() - startedAt };
	}

	/** Closed loop: `concurrency` senders, each of which sends its next delivery when the last is answered. */
	async sendInTurn(deliveries: Delivery[], concurrency: number): Promise<Answer[]> {
		const answers: Answer[] = [];
		const queue = deliveries.values();
		const sendNext = async () => {
			for (const delivery of queue) answers.push(await this.send(delivery));
		};
		await Promise.all(Array.from({ length: concurrency }, sendNext));
		return answers;
	}

	/** Open loop: `perSecond` deliveries a second, whether or not those before are answered. */
	async sendAtRate(deliveries: Delivery[], perSecond: number): Promise<Answer[]> {
		const startedAt = performance.now();
		const answers: Array<Promise<Answer>> = [];
		for (const [index, delivery] of deliveries.entries()) {
			const early = startedAt + (index * 1000) / perSecond - performance.now();
			if (early > 0) await sleep(early);
			answers.push(this.send(delivery));
		}
		return await Promise.all(answers);
	}

	async close(): Promise<void> {
		await this.agent.close();
	}
}
