import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BooksError, type Books, type Disbursement } from './books.mts';
import { unavailable, type CannedAnswer, type Fault, type Faults } from './faults.mts';
import { parseEtb } from './money.mts';

/** Path prefix of every endpoint (service document §1). */
export const PARTNER_PREFIX = '/api/v1/partners';

/** A request as it arrived at the partner API. */
export interface ReceivedRequest {
	method: string;
	path: string;
	/** Headers as received, authorization included. */
	headers: FastifyRequest['headers'];
	bodyText: string;
	/** The body parsed as JSON; undefined when it is none. */
	body: unknown;
	/** ms since the Unix epoch */
	receivedAt: number;
}

export type RouteName =
	| 'GET /balance'
	| 'GET /fee'
	| 'PUT /fee'
	| 'PUT /webhook'
	| 'PUT /treasury/payout-destination'
	| 'POST /users'
	| 'POST /disburse';

/** What the partner API needs from the rest of the service. */
export interface PartnerApiOptions {
	books: Books;
	faults: Faults;
	now(): number;
	/** Whether the value of the Authorization header is accepted. */
	accepts(authorization: string | undefined): boolean;
	record(request: ReceivedRequest): void;
	/** Constant latency of each answer, in ms. */
	latencyMs(): number;
	onDisbursed: (disbursement: Disbursement) => void;
	/** Aborted when the service stops. */
	stopping: AbortSignal;
}

interface Answer {
	status: number;
	body: unknown;
}

/** An answer other than success. */
class Refusal extends Error {
	readonly status: number;
	readonly code: string;

	constructor(status: number, code: string, message: string) {
		super(message);
		this.status = status;
		this.code = code;
	}
}

const BOOKS_REFUSAL_STATUS: Record<BooksError['reason'], number> = {
	unknown_user: 404,
	duplicate_external_id: 409,
	insufficient_treasury: 422,
};

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

function parseBody<Body>(schema: z.ZodType<Body>, request: ReceivedRequest): Body {
	if (request.body === undefined) throw new Refusal(400, 'invalid_json', 'The body is not JSON.');
	const parsed = schema.safeParse(request.body);
	if (parsed.success) return parsed.data;
	const reasons = parsed.error.issues.map(
		(issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`,
	);
	throw new Refusal(422, 'invalid_body', reasons.join('; '));
}

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

function disburse(request: ReceivedRequest, { books, onDisbursed }: PartnerApiOptions): Answer {
	const { toUserId, amountEtb } = parseBody(bodies.disbursement, request);
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

type Endpoint = (request: ReceivedRequest, options: PartnerApiOptions) => Answer;

/** The seven endpoints (service document §4); 1 to 5 answer with a `data` wrapper, 6 and 7 without. */
const endpoints: Record<RouteName, Endpoint> = {
	'GET /balance': (_request, { books }) => ({ status: 200, body: { data: books.balance() } }),
	'GET /fee': (_request, { books }) => ({
		status: 200,
		body: { data: { feePercent: books.fee() } },
	}),
	'PUT /fee': (request, { books }) => {
		books.setFee(parseBody(bodies.fee, request).feePercent);
		return { status: 200, body: { data: { feePercent: books.fee() } } };
	},
	'PUT /webhook': (request, { books }) => {
		const { webhookUrl } = parseBody(bodies.webhook, request);
		books.setWebhookUrl(webhookUrl);
		return { status: 200, body: { data: { webhookUrl } } };
	},
	'PUT /treasury/payout-destination': (request, { books }) => {
		const destination = parseBody(bodies.payoutDestination, request);
		books.setPayoutDestination(destination);
		return { status: 200, body: { data: destination } };
	},
	'POST /users': (request, { books }) => {
		const { id, externalId, walletAddress } = books.addUser(parseBody(bodies.user, request));
		return { status: 201, body: { id, externalId, walletAddress } };
	},
	'POST /disburse': disburse,
};

const isRouteName = (name: string): name is RouteName => Object.hasOwn(endpoints, name);

/** The routes of the partner API, as faults name them. */
export const routeNames: readonly RouteName[] = Object.keys(endpoints).filter(isRouteName);

const refusalAnswer = (status: number, code: string, message: string): Answer => ({
	status,
	body: { error: { code, message } },
});

function answerOf(
	endpoint: Endpoint,
	request: ReceivedRequest,
	options: PartnerApiOptions,
): Answer {
	if (!options.accepts(request.headers.authorization)) {
		return refusalAnswer(401, 'unauthorized', 'The API key is missing or not valid.');
	}
	try {
		return endpoint(request, options);
	} catch (error) {
		if (error instanceof Refusal) return refusalAnswer(error.status, error.code, error.message);
		if (error instanceof BooksError) {
			return refusalAnswer(BOOKS_REFUSAL_STATUS[error.reason], error.reason, error.message);
		}
		throw error;
	}
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const canned = ({ status, headers, body = '' }: CannedAnswer) => ({
	status,
	headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
	text: body,
});

async function send(
	reply: FastifyReply,
	kind: Fault['answer'],
	own: Answer | undefined,
): Promise<void> {
	if (kind === 'none') return void reply.hijack();
	if (kind === 'reset') {
		reply.hijack();
		reply.raw.socket?.resetAndDestroy();
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
				const own = fault?.process === 'never' ? undefined : answerOf(endpoint, received, options);
				const delayMs = options.latencyMs() + (fault?.delayMs ?? 0);
				if (delayMs > 0) await delay(delayMs, undefined, { signal: options.stopping });
				await send(reply, fault?.answer ?? 'normal', own);
				return reply;
			},
		});
	}

	app.setNotFoundHandler(async (request, reply) => {
		if (request.url.startsWith(PARTNER_PREFIX)) receive(request);
		await reply.code(404).send({ error: { code: 'not_found', message: 'No such endpoint.' } });
		return reply;
	});
}
