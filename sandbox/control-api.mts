/** The control interface of the sandbox, for its page and for tests. It is no part of the service. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { USER_ID_PREFIX, type Delivery, type Disbursement, type User } from './books.mts';
import { exampleEvents } from './deliveries.mts';
import { presetNames, type Fault, type PresetName } from './faults.mts';
import { addPage } from './page/page.mts';
import { routeNames } from './partner-api.mts';
import { parseBody, parseJson, Refusal } from './refusal.mts';
import type { Sandbox } from './sandbox.mts';

/** The number of rows of each kind in the state. */
const NEWEST_ROWS = 200;
const LOOPBACK_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]', '::1']);

/** Whether a host to listen on is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
	LOOPBACK_NAMES.has(host) || host.startsWith('127.');

/** The name of the person, if it is known. The service itself knows no names. */
interface Named {
	name: string | undefined;
}

/** The sandbox at one moment, as its page shows it. Rows are newest first. */
export interface SandboxState {
	url: string;
	balance: { treasuryBalance: number; ethBalance: number; treasuryAddress: string };
	/** In percent. */
	fee: number;
	webhookUrl: string | undefined;
	payoutDestination: object | undefined;
	users: Array<User & Named>;
	disbursements: Array<Disbursement & Named>;
	deliveries: Delivery[];
	totals: { users: number; disbursements: number; deliveries: number; requests: number };
	faults: { route: string; fault: string; times: number }[];
	/** The fault that hit a request last. `at` in ms. */
	lastFault: { route: string; fault: string; at: number } | undefined;
	settings: { refuseApiKey: boolean; latencyMs: number };
}

const faultName = (fault: Fault | PresetName): string =>
	typeof fault === 'string' ? fault : JSON.stringify(fault);

/** The state of a running sandbox. */
export function stateOf(sandbox: Sandbox): SandboxState {
	const { books, faults, names } = sandbox;
	const nameOf = (userId: string) => names.get(userId.slice(USER_ID_PREFIX.length));
	return {
		url: sandbox.url,
		balance: books.balance(),
		fee: books.fee(),
		webhookUrl: books.webhookUrl(),
		payoutDestination: books.payoutDestination(),
		users: books.users(NEWEST_ROWS).map((user) => ({ ...user, name: nameOf(user.id) })),
		disbursements: books
			.disbursements(NEWEST_ROWS)
			.map((payment) => ({ ...payment, name: nameOf(payment.toUserId) })),
		deliveries: books.deliveries(NEWEST_ROWS),
		totals: { ...books.totals(), requests: sandbox.requestCount() },
		faults: faults.queued().map(({ route, fault, times }) => ({
			route,
			fault: faultName(fault),
			times,
		})),
		lastFault: faults.lastHit && { ...faults.lastHit, fault: faultName(faults.lastHit.fault) },
		settings: sandbox.settings(),
	};
}

const route = z.string().transform((name, context) => {
	const found = ['*' as const, ...routeNames].find((known) => known === name);
	if (found) return found;
	context.addIssue({ code: 'custom', message: `must be * or one of ${routeNames.join(', ')}` });
	return z.NEVER;
});

const preset = z.string().transform((name, context) => {
	const found = presetNames.find((known) => known === name);
	if (found) return found;
	context.addIssue({ code: 'custom', message: `must be one of ${presetNames.join(', ')}` });
	return z.NEVER;
});

const amountEtb = z.number().finite().positive();

const bodies = {
	simulation: z.object({ amountEtb: amountEtb.optional(), toUserId: z.string().min(1).optional() }),
	example: z.object({
		/** `*` stands for one of each kind. */
		event: z.enum([...exampleEvents, '*']),
		/** An empty text stands for the registered URL. */
		url: z.union([z.string().url(), z.literal('')]).default(''),
	}),
	fault: z.object({ route, preset, times: z.number().int().min(1).max(1_000_000).default(1) }),
};

/** A message about examples that no receiver accepted; undefined when each was accepted. */
function problemOf(deliveries: Delivery[]): string | undefined {
	const [failed, ...others] = deliveries.filter(({ state }) => state === 'failed');
	if (failed === undefined) return undefined;
	if (failed.url === '')
		return 'Not sent: no webhook URL is set. Publish a workflow with the trigger.';
	const { status, error } = failed.attempts.at(-1) ?? {};
	const what = [failed, ...others].map(({ event }) => event).join(', ');
	return `Not taken: ${what} (${status === undefined ? error : `response ${status}`}). A test URL takes one event after each Execute step.`;
}

/** The JSON of a body that arrived as text; an empty body counts as an empty object. */
const json = (body: unknown): unknown =>
	typeof body === 'string' && body !== '' ? parseJson(body) : {};

/**
 * Refuses web pages of other origins, and other host names that lead here: they must not control the sandbox.
 */
export function turnAwayOthers(app: FastifyInstance): void {
	app.addHook('onRequest', (request, _reply, next) => {
		const site = request.headers['sec-fetch-site'] ?? 'none';
		if (LOOPBACK_NAMES.has(request.hostname) && ['none', 'same-origin'].includes(String(site))) {
			next();
		} else {
			next(new Refusal(403, 'forbidden', 'Only for pages and programs on this machine.'));
		}
	});
}

/**
 * Adds the control interface under `/sandbox` and the page at `/`. They ask for no key, so a
 * sandbox that other machines can reach must not have them.
 */
export async function addControlApi(app: FastifyInstance, sandbox: Sandbox): Promise<void> {
	await app.register((control, _options, done) => {
		control.post('/sandbox/deposit', (request) =>
			sandbox.deposit(parseBody(bodies.simulation, json(request.body))),
		);
		control.post('/sandbox/transfer', (request) =>
			sandbox.transfer(parseBody(bodies.simulation, json(request.body))),
		);
		control.post('/sandbox/examples', async (request) => {
			const { event, url } = parseBody(bodies.example, json(request.body));
			const deliveries: Delivery[] = [];
			for (const each of event === '*' ? exampleEvents : [event]) {
				const { deliveryId } = await sandbox.sendExample(each, url === '' ? undefined : url);
				const delivery = sandbox.books.delivery(deliveryId);
				if (delivery !== undefined) deliveries.push(delivery);
			}
			return { deliveryIds: deliveries.map(({ id }) => id), problem: problemOf(deliveries) };
		});
		control.post('/sandbox/faults', (request) => {
			const fault = parseBody(bodies.fault, json(request.body));
			sandbox.faults.next(fault.route, fault.preset, fault.times);
			return { faults: stateOf(sandbox).faults };
		});
		control.delete('/sandbox/faults', () => {
			sandbox.faults.clear();
			return { faults: [] };
		});
		addPage(control, sandbox, () => stateOf(sandbox));
		done();
	});
}
