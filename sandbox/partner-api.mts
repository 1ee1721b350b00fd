/** The endpoints of the service document §4. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Books, Disbursement } from './books.mts';
import { unavailable, type CannedResponse, type Fault, type Faults } from './faults.mts';
import { parseEtb } from './money.mts';
import { errorBody, errorResponse, parseBody, parseJson, Refusal } from './refusal.mts';

/** The path prefix of every endpoint (service document §1). */
const PARTNER_PREFIX = '/api/v1/partners';

/** A request as it arrived at the partner API. */
export interface ReceivedRequest {
	method: string;
	/** The path with its query. */
	path: string;
	/** The headers as received, with the API key. */
	headers: FastifyRequest['headers'];
	bodyText: string;
	/** The body parsed as JSON; undefined if it is not JSON. */
	body: unknown;
	/** The values of the route's parameters, such as `:id`. */
	params: Readonly<Record<string, string | undefined>>;
	query: URLSearchParams;
	/** ms since the Unix epoch */
	receivedAt: number;
}

/** The parts of the service that the partner API needs. */
interface PartnerApiOptions {
	books: Books;
	faults: Faults;
	now(): number;
	/** Whether the value of the Authorization header is accepted. */
	accepts(authorization: string | undefined): boolean;
	record(request: ReceivedRequest): void;
	/** The constant latency of each response, in ms. */
	latencyMs(): number;
	onDisbursed: (disbursement: Disbursement) => void;
	/** Aborted when the service stops. */
	stopping: AbortSignal;
}

const Params = z.record(z.string());

interface ServiceResponse {
	status: number;
	body: unknown;
}

const httpUrl = z
	.string()
	.refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), 'must be an http(s) URL');

const bodies = {
	fee: z.object({ feePercent: z.number().min(0).max(100) }),
	webhook: z.object({ webhookUrl: httpUrl }),
	payoutDestination: z.discriminatedUnion('type', [
		z
			.object({
				type: z.literal('mobile'),
				phone: z.string().regex(/^\+[1-9]\d{6,14}$/, 'must be + and 7 to 15 digits'),
			})
			.passthrough(),
		z.object({ type: z.literal('bank') }).passthrough(),
	]),
	user: z.object({
		externalId: z.string().trim().min(1).max(200),
		email: z.string().email().optional(),
	}),
	disbursement: z.object({
		toUserId: z.string().min(1),
		amountEtb: z.number().finite().positive(),
	}),
};

/** The decimal text of the top-level `amountEtb` in a JSON object, as it was sent. */
function amountTextOf(bodyText: string): string {
	const sources = new Map<unknown, string>();
	const root: unknown = JSON.parse(
		bodyText,
		function (this: unknown, key: string, value: unknown, context?: { source?: string }) {
			if (key === 'amountEtb' && context?.source) sources.set(this, context.source);
			return value;
		},
	);
	return sources.get(root) ?? '';
}

function disburse(
	request: ReceivedRequest,
	{ books, onDisbursed }: PartnerApiOptions,
): ServiceResponse {
	const { toUserId, amountEtb } = parseBody(bodies.disbursement, request.body);
	const amountText = amountTextOf(request.bodyText);
	try {
		parseEtb(amountText);
	} catch (error) {
		throw new Refusal(422, 'invalid_body', `amountEtb: ${String(error)}`);
	}
	const { txHash } = books.atomically(() => {
		const disbursement = books.disburse(toUserId, amountText);
		onDisbursed(disbursement);
		return disbursement;
	});
	return { status: 200, body: { success: true, amountEtb, txHash } };
}

interface Endpoint {
	/** The label of the route on the page. */
	label: string;
	respond: (request: ReceivedRequest, options: PartnerApiOptions) => ServiceResponse;
}

/** The endpoints of the service document §4. */
const endpoints = {
	'GET /balance': {
		label: 'Read the balance',
		respond: (_request, { books }) => ({ status: 200, body: { data: books.balance() } }),
	},
	'GET /fee': {
		label: 'Read the fee',
		respond: (_request, { books }) => ({
			status: 200,
			body: { data: { feePercent: books.fee() } },
		}),
	},
	'PUT /fee': {
		label: 'Set the fee',
		respond(request, { books }) {
			books.setFee(parseBody(bodies.fee, request.body).feePercent);
			return { status: 200, body: { data: { feePercent: books.fee() } } };
		},
	},
	'PUT /webhook': {
		label: 'Set the webhook URL',
		respond(request, { books }) {
			const { webhookUrl } = parseBody(bodies.webhook, request.body);
			books.setWebhookUrl(webhookUrl);
			return { status: 200, body: { data: { webhookUrl } } };
		},
	},
	'PUT /treasury/payout-destination': {
		label: 'Set the payout destination',
		respond(request, { books }) {
			const destination = parseBody(bodies.payoutDestination, request.body);
			books.setPayoutDestination(destination);
			return { status: 200, body: { data: destination } };
		},
	},
	'POST /users': {
		label: 'Create a user',
		respond(request, { books }) {
			const { id, externalId, walletAddress } = books.addUser(parseBody(bodies.user, request.body));
			return { status: 201, body: { id, externalId, walletAddress } };
		},
	},
	'POST /disburse': { label: 'Pay a user', respond: disburse },
} satisfies Record<string, Endpoint>;

export type RouteName = keyof typeof endpoints;

const isRouteName = (name: string): name is RouteName => Object.hasOwn(endpoints, name);

/** The routes of the partner API, as faults name them. */
export const routeNames: readonly RouteName[] = Object.keys(endpoints).filter(isRouteName);

/** The label of each route on the page. */
export const labelOfRoute = (route: RouteName): string => endpoints[route].label;

const isJson = (contentType = '') => /^application\/json\s*(;|$)/i.test(contentType);

function responseOf(
	endpoint: Endpoint,
	request: ReceivedRequest,
	options: PartnerApiOptions,
): ServiceResponse {
	try {
		if (!options.accepts(request.headers.authorization)) {
			throw new Refusal(401, 'unauthorized', 'The API key is missing or not valid.');
		}
		if (request.bodyText !== '' && !isJson(request.headers['content-type'])) {
			throw new Refusal(415, 'not_json', 'The Content-Type must be application/json.');
		}
		return endpoint.respond(request, options);
	} catch (error) {
		return errorResponse(error);
	}
}

const canned = ({ status, headers, body = '' }: CannedResponse) => ({
	status,
	headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
	text: body,
});

const DRIP_EVERY_MS = 300;

/** Sends a head and then a space at this interval (ms), until the client or the service closes the connection. */
function drip({ raw }: FastifyReply, everyMs: number): void {
	raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
	raw.write(' ');
	const timer = setInterval(() => raw.write(' '), everyMs);
	raw.once('close', () => clearInterval(timer));
}

async function send(
	reply: FastifyReply,
	kind: Fault['response'],
	own: ServiceResponse | undefined,
	dripEveryMs = DRIP_EVERY_MS,
): Promise<void> {
	if (kind === 'none') return void reply.hijack();
	if (kind === 'reset') {
		reply.hijack();
		reply.raw.socket?.resetAndDestroy();
		return;
	}
	if (kind === 'drip') {
		reply.hijack();
		drip(reply, dripEveryMs);
		return;
	}
	if (kind === 'switch') {
		reply.hijack();
		reply.raw.writeHead(101, { connection: 'Upgrade', upgrade: 'websocket' });
		reply.raw.flushHeaders();
		return;
	}
	const { status, headers, text } =
		typeof kind === 'object'
			? canned(kind)
			: canned(own ? { status: own.status, body: JSON.stringify(own.body) } : unavailable);
	if (kind === 'cut') {
		const bytes = Buffer.from(text);
		reply.hijack();
		reply.raw.writeHead(status, { ...headers, 'content-length': bytes.length });
		reply.raw.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () =>
			reply.raw.socket?.destroy(),
		);
		return;
	}
	await reply.code(status).headers(headers).send(text);
}

/** Waits for `ms` ms, or until the service stops. */
const wait = (ms: number, stopping: AbortSignal): Promise<unknown> =>
	delay(ms, undefined, { signal: stopping }).catch((error: unknown) => {
		if (!stopping.aborted) throw error;
	});

/** Adds the partner API to a server whose bodies arrive as text. */
export function addPartnerApi(app: FastifyInstance, options: PartnerApiOptions): void {
	const receive = (request: FastifyRequest): ReceivedRequest => {
		const bodyText = typeof request.body === 'string' ? request.body : '';
		const received: ReceivedRequest = {
			method: request.method,
			path: request.url,
			headers: request.headers,
			bodyText,
			body: parseJson(bodyText),
			params: Params.catch({}).parse(request.params),
			query: new URLSearchParams(request.url.split('?')[1]),
			receivedAt: options.now(),
		};
		options.record(received);
		return received;
	};

	for (const name of routeNames) {
		const endpoint = endpoints[name];
		const [method = '', path = ''] = name.split(' ');
		app.route({
			method,
			url: PARTNER_PREFIX + path,
			handler: async (request, reply) => {
				const received = receive(request);
				const fault = options.faults.take(name, received);
				const own =
					fault?.process === 'never' ? undefined : responseOf(endpoint, received, options);
				const delayMs = options.latencyMs() + (fault?.delayMs ?? 0);
				if (delayMs > 0) await wait(delayMs, options.stopping);
				const kind = options.stopping.aborted ? 'reset' : (fault?.response ?? 'normal');
				await send(reply, kind, own, fault?.dripEveryMs);
				return reply;
			},
		});
	}

	app.setErrorHandler(async (error, _request, reply) => {
		const { status, body } = errorResponse(error);
		await reply.code(status).send(body);
		return reply;
	});

	app.setNotFoundHandler(async (request, reply) => {
		if (request.url.startsWith(PARTNER_PREFIX)) receive(request);
		await reply.code(404).send(errorBody('not_found', 'No such endpoint.'));
		return reply;
	});
}
