// The partner service of a model world. Its books have each request and payment, whatever the responses said.
import type { N8nProcess } from './n8n-process.mts';
import type { Plan, ResponseKind } from './plan.mts';
import type { Timeline } from './virtual-time.mts';
import type { Log } from './log.mts';

/** The body of a request to pay. */
interface PaymentBody {
	toUserId: string;
	amountEtb: number;
}

/** The grounds on which a run sends. */
export interface Grounds {
	/** When the run asked for its reservation: the last time that it wrote the mark of the reference before it sent. */
	reservedAt: number;
}

/** A request to pay. */
export interface Sent extends PaymentBody {
	grounds: Grounds;
	/** The key of its reference, from the name of the person: the service does not see references. */
	key: string;
	run: number;
	/** In ms of the world. */
	leftAt: number;
	kind: ResponseKind;
	isPaid: boolean;
	/** Whether the service or the network may still carry it out. */
	isPending: boolean;
	/** When its sender got a response, or gave it up. */
	endedAt?: number;
	isAnswered: boolean;
}

interface ServiceResponse {
	statusCode: number;
	headers: Record<string, string>;
	body: string;
}

/** A request as n8n's helper gets it. */
export interface Asked {
	method: string;
	body?: unknown;
	/** In ms; 0 for none. */
	timeout: number;
}

interface Sender {
	process: N8nProcess;
	run: number;
	name: string;
	random: () => number;
	signal: AbortSignal | undefined;
	/** The Timeout of its payments, in ms. */
	timeout: number;
	grounds(toUserId: string): Grounds;
}

/** The responses and failures of the service and the network. */
type Weather = Pick<Plan, 'responses' | 'balanceResponses' | 'balance'>;

/** Whether a response leaves the payment open, or comes so late that a sender may have given up. */
export const isUnclear = (kind: ResponseKind): boolean => !clear.has(kind);
const clear = new Set<ResponseKind>([
	'paid',
	'slowPaid',
	'rejected',
	'slowRejected',
	'saysNo',
	'tooMany',
	'tooManyForLong',
	'refused',
]);

/** The key of the reference by which a person is paid. */
export const referenceKeyOf = (toUserId: string): string =>
	toUserId.replace(/^user-([ab]\d).*/, 'inv-$1');

export const personOf = (key: string): number => Number(/\d+$/.exec(key)?.[0] ?? 0);

export type Books = ReturnType<typeof newBooks>;

/** @param paying called for each payment, just before it is in the books */
export function newBooks(
	timeline: Timeline,
	plan: Weather,
	log: Log,
	paying: (sent: Sent) => void,
) {
	const allSent: Sent[] = [];
	let { balance } = plan;
	let healthy = false;
	const timesAsked = new Map<string, number>();
	let balanceAsked = 0;

	/** From now on everything is paid at once. */
	function heal(): void {
		healthy = true;
		balance = 1_000_000;
	}

	function paymentsOf(key: string): Sent[] {
		return allSent.filter((each) => each.key === key && each.isPaid);
	}

	function isPending(key: string): boolean {
		return allSent.some((each) => each.key === key && each.isPending);
	}

	/** n8n's helper for requests. It rejects as n8n wraps it. */
	async function request(sender: Sender, asked: Asked): Promise<ServiceResponse> {
		try {
			return await exchange(sender, asked);
		} catch (error) {
			if (!(error instanceof Error)) throw error;
			throw new Error(error.message, { cause: error });
		}
	}

	async function exchange(sender: Sender, asked: Asked): Promise<ServiceResponse> {
		const { process, signal } = sender;
		return await new Promise<ServiceResponse>((done, fail) => {
			let isOpen = true;
			let isConnecting = true;
			let sent: Sent | undefined;
			process.connecting++;
			const connected = (): void => {
				if (isConnecting) process.connecting--;
				isConnecting = false;
			};
			const close = (): boolean => {
				const wasOpen = isOpen;
				isOpen = false;
				connected();
				signal?.removeEventListener('abort', abort);
				if (sent !== undefined) sent.endedAt ??= timeline.now;
				return wasOpen;
			};
			const failing = (...given: Parameters<typeof networkError>): void => {
				if (close()) fail(networkError(...given));
			};
			const abort = (): void => {
				failing('canceled', 'ERR_CANCELED');
			};
			if (signal?.aborted === true) return abort();
			signal?.addEventListener('abort', abort);
			const payment = asked.method === 'GET' ? undefined : paymentBodyIn(asked.body);
			const kind = payment === undefined ? undefined : nextResponse(payment);
			if (asked.timeout > 0 && !neverEnds(kind))
				process.timer(asked.timeout, () => {
					failing('timeout exceeded', 'ECONNABORTED');
				});
			process.arrival(0.2 + sender.random() * 5, () => {
				if (!isOpen) return;
				connected();
				if (kind === 'refused') return failing('refused', 'ECONNREFUSED', 'connect');
				const replying = (ms: number, response: ServiceResponse | Error): void => {
					process.arrival(ms, () => {
						if (!close()) return;
						if (response instanceof Error) return fail(response);
						if (sent !== undefined) sent.isAnswered = true;
						done(response);
					});
				};
				if (payment === undefined || kind === undefined)
					return respondWithBalance(sender, replying);
				sent = {
					...payment,
					key: referenceKeyOf(payment.toUserId),
					run: sender.run,
					leftAt: timeline.now,
					kind,
					isPaid: false,
					isPending: true,
					grounds: sender.grounds(payment.toUserId),
					isAnswered: false,
				};
				allSent.push(sent);
				log(() => `${sender.name} sends ${payment.toUserId} ${payment.amountEtb} ETB`);
				carryOut(sent, sender, replying);
			});
		});
	}

	function carryOut(
		sent: Sent,
		{ random, name, timeout }: Sender,
		replying: (ms: number, response: ServiceResponse | Error) => void,
	): void {
		const { kind, toUserId, amountEtb } = sent;
		const soon = (): number => 0.5 + random() * 80;
		const work = kind.startsWith('slow')
			? timeout * (0.1 + 0.4 * random())
			: kind.startsWith('late')
				? timeout * (0.7 + 0.8 * random())
				: neverEnds(kind) || kind.startsWith('silent')
					? random() * timeout * 2
					: soon();
		timeline.after(work, () => {
			sent.isPending = false;
			const pays = kind.toLowerCase().endsWith('paid');
			const covers = balance >= amountEtb;
			if (pays && covers) {
				paying(sent);
				sent.isPaid = true;
				balance -= amountEtb;
			}
			log(
				() =>
					`the service ${sent.isPaid ? 'pays' : 'does not pay'} ${toUserId} ${amountEtb} ETB for ${name} (${kind})`,
			);
			const response =
				pays && !covers ? json(422, { message: 'not enough funds' }) : responseOf(sent, random);
			if (response !== undefined) replying(soon(), response);
		});
	}

	function nextResponse({ toUserId }: PaymentBody): ResponseKind {
		if (healthy) return 'paid';
		const key = referenceKeyOf(toUserId);
		const count = timesAsked.get(key) ?? 0;
		timesAsked.set(key, count + 1);
		return plan.responses[personOf(key)]?.[count] ?? 'paid';
	}

	function respondWithBalance(
		{ random }: Sender,
		replying: (ms: number, response: ServiceResponse | Error) => void,
	): void {
		const kind = healthy ? 'read' : (plan.balanceResponses[balanceAsked++] ?? 'read');
		if (kind === 'silent') return;
		replying(
			1 + random() * 50,
			kind === 'read'
				? json(200, {
						data: { treasuryBalance: balance, ethBalance: 1, treasuryAddress: '0x0' },
					})
				: json(500, {}),
		);
	}

	return { sent: allSent, heal, paymentsOf, isPending, request };
}

/** Whether a byte of the body comes now and then: n8n's own timeout does not end such a response. */
const neverEnds = (kind: ResponseKind | undefined): boolean =>
	kind === 'dripping' || kind === 'drippingPaid';

function responseOf(
	{ kind, amountEtb }: Sent,
	random: () => number,
): ServiceResponse | Error | undefined {
	switch (kind) {
		case 'paid':
		case 'slowPaid':
		case 'latePaid':
			return json(200, { success: true, amountEtb, txHash: `0x${1 + Math.floor(random() * 1e9)}` });
		case 'rejected':
		case 'slowRejected':
		case 'lateRejected':
			return json(422, { message: 'not allowed' });
		case 'saysNo':
			return json(200, { success: false, message: 'no' });
		case 'tooMany':
			return json(429, {}, random() < 0.5 ? { 'retry-after': '1' } : {});
		case 'tooManyForLong':
			return json(429, {}, { 'retry-after': '9' });
		case 'error':
		case 'errorPaid':
			return json(500, {});
		case 'undecided':
		case 'undecidedPaid':
			return json(409, { message: 'not allowed' });
		case 'reset':
		case 'resetPaid':
			return networkError('reset', 'ECONNRESET');
		case 'unreadable':
		case 'unreadablePaid':
			return { statusCode: 200, headers: {}, body: '{"suc' };
		case 'contradictory':
		case 'contradictoryPaid': {
			const shown = { success: true, amountEtb, txHash: '0x1' };
			const responses: Array<[status: number, body: object]> = [
				[200, { success: true, data: { success: false } }],
				[200, { success: false, data: { success: true } }],
				[200, { ...shown, txHash: null }],
				[200, { ...shown, txHash: '0x0' }],
				[200, { ...shown, status: 'pending' }],
				[200, { ...shown, toUserId: 'somebody-else' }],
				[422, { message: 'not allowed', txHash: '0x1' }],
			];
			return json(...(responses[Math.floor(random() * (responses.length + 1))] ?? [202, shown]));
		}
		case 'silent':
		case 'silentPaid':
		case 'dripping':
		case 'drippingPaid':
		case 'refused':
			return undefined;
	}
}

const json = (
	statusCode: number,
	body: object,
	headers: Record<string, string> = {},
): ServiceResponse => ({
	statusCode,
	headers,
	body: JSON.stringify(body),
});

const networkError = (message: string, code: string, syscall?: string): Error =>
	Object.assign(new Error(message), { code, ...(syscall !== undefined && { syscall }) });

function paymentBodyIn(body: unknown): PaymentBody {
	const sent: unknown = JSON.parse(String(body));
	const { toUserId, amountEtb } = Object(sent) as Record<string, unknown>;
	if (typeof toUserId !== 'string' || typeof amountEtb !== 'number')
		throw new Error(`Not a disbursement: ${String(body)}`);
	return { toUserId, amountEtb };
}
