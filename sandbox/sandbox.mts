/** The partner service in one process: its interface, its page and its deliveries. */
import { timingSafeEqual } from 'node:crypto';
import fastify from 'fastify';
import { Books, randomHex, type Delivery } from './books.mts';
import { systemClock, type Clock } from './clock.mts';
import { addControlApi, isLoopback, turnAwayOthers } from './control-api.mts';
import { Deliveries, DELIVERY_TIMEOUT_MS, type ExampleEvent } from './deliveries.mts';
import { Faults } from './faults.mts';
import { addPartnerApi, type ReceivedRequest } from './partner-api.mts';

export { ManualClock, systemClock, type Clock } from './clock.mts';
export type { Attempt, Balance, Books, Delivery, Disbursement, User } from './books.mts';
export type { Fault, FaultRoute, Faults, PresetName } from './faults.mts';
export type { ReceivedRequest, RouteName } from './partner-api.mts';

export const DEFAULT_API_KEY = 'sandbox-api-key';
export const DEFAULT_WEBHOOK_SECRET = 'sandbox-webhook-secret';

export interface SandboxOptions {
	/** The address to listen on; by default 127.0.0.1. */
	host?: string;
	/** By default 0, which means any free port. */
	port?: number;
	/** The path of the database; by default `:memory:`. */
	databaseFile?: string;
	apiKey?: string;
	webhookSecret?: string;
	/** The clock for the retry schedule and timestamps; by default that of the machine. */
	clock?: Clock;
	/** The factor on the retry delays: 0.01 makes them 100 times shorter. By default 1. */
	timeFactor?: number;
	/** The ETB in the treasury when the database is new; by default 1,000,000. */
	treasuryBalance?: number;
	/** The timeout of a webhook receiver, in real ms; by default 10,000. */
	deliveryTimeoutMs?: number;
	/** The number of the newest partner requests to keep; by default all. */
	keepRequests?: number;
	/** Names of people by external ID, for the page. */
	names?: ReadonlyMap<string, string>;
}

/** A simulated deposit or transfer and the delivery of its event. */
interface Simulated {
	id: string;
	/** ETB */
	amountEtb: number;
	txHash?: string;
	toUserId?: string;
	deliveryId: string;
}

interface SimulationInput {
	/** ETB; default 100. */
	amountEtb?: number;
	toUserId?: string;
}

/** A running sandbox. */
export interface Sandbox {
	/** `http://host:port`, without a slash at the end. */
	url: string;
	apiKey: string;
	webhookSecret: string;
	/** The newest requests to the partner API, at most `keepRequests`, in order of arrival. */
	requests: ReceivedRequest[];
	books: Books;
	faults: Faults;
	/** Names of people by external ID, which only the page shows. */
	names: ReadonlyMap<string, string>;
	/** Queues an event of any name to the registered URL; `body` is sent as it is, correctly signed. */
	emit(event: string, data: object, options?: { body?: string }): { deliveryId: string };
	/** Sends an example of an event: once to `url`, or without it to the registered URL, as the service does. */
	sendExample(event: ExampleEvent, url?: string): Promise<{ deliveryId: string }>;
	/** Simulates a deposit: emits `deposit.mint_queued`, and credits the treasury if there is no `toUserId`. */
	deposit(input?: SimulationInput): Simulated;
	/** Simulates a transfer between users: emits `transfer.completed`. */
	transfer(input?: SimulationInput): Simulated;
	/** Resolves with the delivery once it succeeded or finally failed. Rejects when the sandbox stops before. */
	deliveryEnded(id: string): Promise<Delivery>;
	/** Resolves when no delivery attempt is in flight and none is due now. */
	idle(): Promise<void>;
	/** Answers 401 to every API key, or stops doing so. */
	refuseApiKey(refuse: boolean): void;
	/** Sets the constant latency of partner calls, in ms. */
	setLatency(latencyMs: number): void;
	/** Sets the factor on the retry delays from now on. */
	setTimeFactor(timeFactor: number): void;
	settings(): { refuseApiKey: boolean; latencyMs: number };
	/** The number of partner requests since the start, including those that are no longer kept. */
	requestCount(): number;
	/** Closes at once, also connections that hang. Pending deliveries stay in the database. */
	stop(): Promise<void>;
}

const bytesEqual = (left: Buffer, right: Buffer): boolean =>
	left.length === right.length && timingSafeEqual(left, right);

/** Starts the local partner service. Rejects when the port is taken (`code: 'EADDRINUSE'`). */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const {
		host = '127.0.0.1',
		port = 0,
		databaseFile = ':memory:',
		apiKey = DEFAULT_API_KEY,
		webhookSecret = DEFAULT_WEBHOOK_SECRET,
		clock = systemClock,
		timeFactor = 1,
		treasuryBalance = 1_000_000,
		deliveryTimeoutMs = DELIVERY_TIMEOUT_MS,
		keepRequests = Infinity,
		names = new Map(),
	} = options;

	const app = fastify({ forceCloseConnections: true, exposeHeadRoutes: false });
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

	const books = new Books(databaseFile, clock, treasuryBalance);
	const faults = new Faults();
	const deliveryOptions = {
		books,
		clock,
		webhookSecret,
		timeFactor,
		timeoutMs: deliveryTimeoutMs,
	};
	const deliveries = new Deliveries(deliveryOptions);
	const requests: ReceivedRequest[] = [];
	const stopping = new AbortController();
	const bearer = Buffer.from(`Bearer ${apiKey}`);
	let refused = false;
	let latency = 0;
	let requestCount = 0;

	if (isLoopback(host)) turnAwayOthers(app);
	addPartnerApi(app, {
		books,
		faults,
		now: () => clock.now(),
		accepts: (authorization) =>
			!refused && authorization !== undefined && bytesEqual(Buffer.from(authorization), bearer),
		record(request) {
			requestCount += 1;
			requests.push(request);
			if (requests.length > keepRequests) requests.shift();
		},
		latencyMs: () => latency,
		onDisbursed({ id, toUserId, amountEtb, txHash }) {
			deliveries.queue('disburse.completed', { id, toUserId, amountEtb, txHash });
		},
		stopping: stopping.signal,
	});

	/** The data of an example event, to which no deposit, transfer or payment in the books belongs. */
	const exampleOf = (event: ExampleEvent): object => {
		const amountEtb = 100;
		const toUserId = books.users(1)[0]?.id ?? 'etbw_example';
		const txHash = randomHex('0x', 32);
		const examples: Record<ExampleEvent, object> = {
			'disburse.completed': { id: randomHex('disb_', 12), toUserId, amountEtb, txHash },
			'transfer.completed': { id: randomHex('trf_', 12), amountEtb, txHash },
			'deposit.mint_queued': { id: randomHex('dep_', 12), amountEtb, toUserId },
		};
		return examples[event];
	};

	const sandbox: Sandbox = {
		url: '',
		apiKey,
		webhookSecret,
		requests,
		books,
		faults,
		names,
		emit: (event, data, { body } = {}) => ({ deliveryId: deliveries.queue(event, data, body) }),
		async sendExample(event, url) {
			const data = exampleOf(event);
			if (url === undefined) return { deliveryId: deliveries.queue(event, data) };
			return { deliveryId: await deliveries.sendOnce(event, data, url) };
		},
		deposit({ amountEtb = 100, toUserId } = {}) {
			const deposit = { id: randomHex('dep_', 12), amountEtb, ...(toUserId && { toUserId }) };
			if (!toUserId) books.creditTreasury(amountEtb);
			return { ...deposit, deliveryId: deliveries.queue('deposit.mint_queued', deposit) };
		},
		transfer({ amountEtb = 100, toUserId } = {}) {
			const transfer = { id: randomHex('trf_', 12), amountEtb, txHash: randomHex('0x', 32) };
			const deliveryId = deliveries.queue('transfer.completed', transfer);
			return { ...transfer, ...(toUserId && { toUserId }), deliveryId };
		},
		deliveryEnded: (id) => deliveries.ended(id),
		idle: () => deliveries.idle(),
		refuseApiKey(refuse) {
			refused = refuse;
		},
		setTimeFactor(factor) {
			deliveryOptions.timeFactor = factor;
		},
		setLatency(latencyMs) {
			latency = latencyMs;
		},
		settings: () => ({ refuseApiKey: refused, latencyMs: latency }),
		requestCount: () => requestCount,
		async stop() {
			stopping.abort();
			await Promise.all([app.close(), deliveries.stop()]);
			books.close();
		},
	};

	try {
		if (isLoopback(host)) await addControlApi(app, sandbox);
		sandbox.url = await app.listen({ host, port });
	} catch (error) {
		books.close();
		throw error;
	}
	deliveries.resume();
	return sandbox;
}
