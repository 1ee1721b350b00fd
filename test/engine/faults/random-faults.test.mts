/**
 * Thousands of payments through the node in n8n's engine while service and network fail at random. The
 * sandbox's own books tell whether anybody was paid twice, and whether what the node said is true.
 *
 * FAULTS_SEED repeats a run's choices, FAULTS_PAYMENTS sets how many payments are sent (4,000).
 */
import { createHash } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import type { ReceivedRequest, Sandbox } from '../../../sandbox/sandbox.mts';
import { startSandbox } from '../../../sandbox/sandbox.mts';
import { withoutPauses } from '../../support/engine/calls.mts';
import type { RunOptions, RunResult } from '../../support/engine/engine.mts';
import { credentialFor, deduplicator, runNode } from '../../support/engine/engine.mts';
import { fromItems } from '../../support/engine/paying.mts';

const seed = process.env.FAULTS_SEED ?? String(Date.now() % 1_000_000);
const wanted = Number(process.env.FAULTS_PAYMENTS ?? 4_000);

/** A number from 0 to 1 that depends on the seed and the parts only, not on the order of requests. */
function chance(...parts: (string | number)[]): number {
	const digest = createHash('sha256')
		.update([seed, ...parts].join('|'))
		.digest();
	return digest.readUInt32BE(0) / 2 ** 32;
}
const within = (least: number, most: number, ...parts: (string | number)[]): number =>
	least + Math.floor(chance(...parts) * (most - least + 1));
function oneOf<Value>(values: readonly [Value, ...Value[]], ...parts: (string | number)[]): Value {
	return values[Math.floor(chance(...parts) * values.length)] ?? values[0];
}

/** ms that the node waits for an answer. */
const timeout = 150;

const answer = (status: number, body: object, process: Fault['process']): Fault => ({
	process,
	answer: { status, headers: { 'retry-after': '0' }, body: JSON.stringify(body) },
});

const faults: Record<string, Fault | PresetName> = {
	'timeout after paying': 'timeoutAfterPaying',
	'timeout before paying': 'timeoutBeforePaying',
	'500 after paying': 'error500AfterPaying',
	'500 before paying': 'error500BeforePaying',
	'503 after paying': answer(503, {}, 'before-answer'),
	'reset after paying': 'resetAfterPaying',
	'reset before paying': 'resetBeforePaying',
	'429': answer(429, {}, 'never'),
	slow: { process: 'before-answer', answer: 'normal', delayMs: timeout / 2 },
	'too slow': { process: 'before-answer', answer: 'normal', delayMs: timeout * 2 },
	'cut body': 'cutBody',
	'dripping body': { process: 'before-answer', answer: 'drip', dripEveryMs: timeout / 5 },
	'drips, not paid': { process: 'never', answer: 'drip', dripEveryMs: timeout / 5 },
	'101 after paying': 'switchingProtocols',
	'101 before paying': { process: 'never', answer: 'switch' },
	'says two things': answer(200, { success: true, data: { success: false } }, 'before-answer'),
	'empty body': 'emptyBody',
	'no JSON': 'invalidJson',
	'408 after paying': answer(408, {}, 'before-answer'),
	rejection: answer(422, { error: { message: 'The wallet is closed' } }, 'never'),
	'success: false': answer(200, { success: false }, 'never'),
};
const faultNames = Object.keys(faults);
const refused = 'refused connection';

/** In front of the sandbox: connections are refused while it is closed, and those that are open are cut. */
class Gate {
	private server: Server | undefined;
	private readonly sockets = new Set<Socket>();
	private readonly target: number;
	port = 0;
	/** Closes after so many connections more. */
	closeAfter = Infinity;

	constructor(target: number) {
		this.target = target;
	}

	async open(): Promise<void> {
		this.closeAfter = Infinity;
		if (this.server !== undefined) return;
		const server = createServer((client) => {
			if (--this.closeAfter < 0) this.close();
			const service = connect(this.target, '127.0.0.1');
			for (const [socket, other] of [
				[client, service],
				[service, client],
			] as const) {
				this.sockets.add(socket);
				socket.on('error', () => other.destroy());
				socket.on('close', () => {
					this.sockets.delete(socket);
					other.destroy();
				});
			}
			client.pipe(service).pipe(client);
		});
		this.server = server;
		await new Promise<void>((listening) => server.listen(this.port, '127.0.0.1', listening));
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('no port');
		this.port = address.port;
	}

	close(): void {
		this.server?.close();
		this.server = undefined;
		for (const socket of this.sockets) socket.destroy();
	}
}

/** What the node said about one payment. */
interface Told {
	outcome: string;
	txHash?: unknown;
	run: string;
}

interface User {
	told: Told[];
	/** ETB */
	amountEtb: number;
	/** Share of the requests to pay this user that go wrong. */
	faultRate: number;
	/** The last thing that went wrong. */
	fault: string;
}

const users = new Map<string, User>();
const attempts = new Map<string, number>();
/** Payments that dry runs sent: they alone reach the service by this name. */
let sentByDryRuns = 0;
const hostOfDryRuns = 'localhost';
let sandbox: Sandbox;
let gate: Gate;
let created = 0;

function faultFor(request: ReceivedRequest): Fault | PresetName | undefined {
	const userId = String(new Map(Object.entries(Object(request.body) as object)).get('toUserId'));
	const attempt = (attempts.get(userId) ?? 0) + 1;
	attempts.set(userId, attempt);
	if (request.headers.host?.startsWith(hostOfDryRuns) === true) sentByDryRuns++;
	const user = users.get(userId);
	if (user === undefined || chance('fault', userId, attempt) > user.faultRate) return undefined;
	const name = faultNames[within(0, faultNames.length - 1, 'which', userId, attempt)] ?? '';
	user.fault = name;
	return faults[name];
}

function newUser(node: string, faultRate: number, fault: string): string {
	const { id } = sandbox.books.addUser({ externalId: `${node}-${++created}` });
	const amountEtb = within(1, 500, 'amount', id) / 100;
	users.set(id, { told: [], amountEtb, faultRate, fault });
	return id;
}

const referenceOf = (id: string): string => `ref-${id}`;

function itemFor(id: string) {
	const { amountEtb } = users.get(id) ?? { amountEtb: 0 };
	return { toUserId: id, amountEtb, reference: referenceOf(id) };
}

const isUnknown = (id: string): boolean => users.get(id)?.told.at(-1)?.outcome === 'unknown';
const usersOf = (node: string): string[] =>
	[...users.keys()].filter((id) => id.startsWith(`etbw_${node}-`));

/** The transactions in the books that paid each user. */
function booked(newest?: number): Map<string, string[]> {
	const paid = new Map<string, string[]>();
	for (const { toUserId, txHash } of sandbox.books.disbursements(newest))
		paid.set(toUserId, [...(paid.get(toUserId) ?? []), txHash]);
	return paid;
}

const recordOf = (value: unknown): Map<string, unknown> =>
	new Map(Object.entries(Object(value) as object));

/** Notes each payment under the outcome that the node gave it. */
function note(result: RunResult, run: string): void {
	const tell = (payment: unknown, fixed?: string): void => {
		const found = recordOf(payment);
		const outcome = fixed ?? String(found.get('outcome'));
		users
			.get(String(found.get('toUserId')))
			?.told.push({ outcome, txHash: found.get('txHash'), run });
	};
	for (const { json } of [...result.output, ...result.errorOutput]) tell(json.error ?? json);
	for (const [outcome, list] of recordOf(result.error?.context?.data)) {
		if (Array.isArray(list)) for (const line of list as unknown[]) tell(line, outcome);
	}
}

const counts = {
	runs: 0,
	stopped: 0,
	retryOnFail: 0,
	repeated: 0,
	together: 0,
	settled: 0,
	dry: 0,
};
const problems: string[] = [];
/** Whether what the last run had in flight may still go on. */
let wasStopped = false;

const pause = async (ms: number): Promise<void> => {
	await new Promise((passed) => setTimeout(passed, ms));
};

/** Far longer than any run takes, so that one that never ends is noticed. */
const endsWithinMs = 120_000;

async function ended(run: Promise<RunResult>, name: string): Promise<RunResult> {
	let timer: NodeJS.Timeout | undefined;
	const never = new Promise<never>((_, reject) => {
		const error = new Error(`run ${name} does not end`);
		timer = setTimeout(() => reject(error), endsWithinMs);
	});
	try {
		return await Promise.race([run, never]);
	} finally {
		clearTimeout(timer);
	}
}

const entriesOf = (node: string): string[] =>
	[...(deduplicator.rows.get(`wf1:${node}`) ?? [])].sort();

/** Of runs that must send nothing. */
const ofDryRuns = () =>
	credentialFor(sandbox, { baseUrl: sandbox.url.replace('127.0.0.1', hostOfDryRuns) });

/** The same run without sending: nobody is paid, nothing is recorded, and nobody is called ready who was paid. */
async function tryOut(options: RunOptions, number: number): Promise<void> {
	const { nodeId = '', parameters } = options;
	const entries = entriesOf(nodeId);
	const before = booked();
	const endedBefore = sentByDryRuns;
	const result = await ended(
		runNode({
			...options,
			credential: ofDryRuns(),
			parameters: { ...parameters, mode: 'dryRun' },
		}),
		`${number}, dry`,
	);
	counts.dry++;
	const wrong = (what: string): void => void problems.push(`dry run ${number}: ${what}`);
	if (JSON.stringify(entriesOf(nodeId)) !== JSON.stringify(entries)) wrong('left a trace');
	if (sentByDryRuns !== endedBefore) wrong('sent something');
	for (const { json } of result.output) {
		const { outcome, toUserId } = json;
		if (outcome === 'ready' && typeof toUserId === 'string' && before.has(toUserId))
			wrong(`calls ${toUserId} ready, who was paid`);
	}
}

/** A person tells the node what they found out: nothing is sent, and each ends as they said. */
async function settle(
	options: RunOptions,
	number: number | string,
	wasPaid: string[],
	wasNotPaid: string[],
): Promise<void> {
	const endedBefore = sentByDryRuns;
	const lines = (ids: string[]): string => ids.map(referenceOf).join('\n');
	const { output, error } = await ended(
		runNode({
			...options,
			retryOnFail: false,
			credential: ofDryRuns(),
			parameters: {
				...options.parameters,
				...{ mode: 'settle', wasPaid: lines(wasPaid), wasNotPaid: lines(wasNotPaid) },
			},
		}),
		`${number}, settling`,
	);
	if (sentByDryRuns !== endedBefore) problems.push(`run ${number} that settles sent something`);
	const outcomes = new Map(output.map(({ json }) => [json.reference, json.outcome]));
	for (const [ids, wanted] of [
		[wasPaid, 'alreadyPaid'],
		[wasNotPaid, 'ready'],
	] as const) {
		for (const id of ids) {
			const told = outcomes.get(referenceOf(id));
			if (told !== wanted)
				problems.push(
					`${id}: run ${number} settles it as ${wanted}, told ${JSON.stringify(told)} ${error?.message ?? ''}`,
				);
		}
	}
}

/** What a run by itself says of each payment, against what entered the books while it ran. */
function checkRun(run: string, bookedBefore: number): void {
	const paidNow = booked(sandbox.books.totals().disbursements - bookedBefore);
	const paid = booked();
	for (const [id, { told }] of users) {
		for (const { outcome } of told.filter((each) => each.run === run)) {
			const times = paidNow.get(id)?.length ?? 0;
			const wanted = { paid: 1, notPaid: 0, notAttempted: 0, alreadyPaid: 0 }[outcome];
			if (wanted !== undefined && times !== wanted)
				problems.push(`${id}: called ${outcome} by run ${run}, which paid it ${times} times`);
			if (outcome === 'alreadyPaid' && !paid.has(id))
				problems.push(`${id}: called already paid by run ${run}, is not`);
		}
	}
}

/** One run of the node, or two at once on the same references. */
async function runOnce(number: number): Promise<void> {
	const pick = (...parts: (string | number)[]): number => chance('run', number, ...parts);
	// A node in use before, so that its references come again.
	const node = `n${within(0, 9, 'node', number)}`;
	const onError = oneOf(
		[undefined, 'continueErrorOutput', 'continueRegularOutput'] as const,
		'onError',
		number,
	);
	// A run that stops at the first failure would otherwise pay hardly anybody.
	const faultRate = pick('rate') * (onError === undefined ? 0.05 : 0.4);
	const network = pick('network');
	const fault = network < 0.03 ? refused : network < 0.1 ? 'cut network' : 'no fault';
	const size = within(1, 60, 'size', number);
	// A person who settles what is unknown looks it up in the books, which by then say how it ended.
	const settles = pick('settle') < 0.3;
	if (wasStopped) await pause(timeout * 6);
	const books = booked();
	const old = usersOf(node).filter(
		(id) => pick('old', id) < (settles && isUnknown(id) ? 0.5 : 0.1),
	);
	const repeatedIds = old.slice(0, 40);
	const found = settles ? repeatedIds.filter(isUnknown) : [];
	counts.settled += found.length;
	const repeated = repeatedIds.map(itemFor);
	const fresh = Array.from({ length: size }, () => itemFor(newUser(node, faultRate, fault)));
	const items = [...fresh, ...repeated].sort(
		(left, right) => pick('order', left.toUserId) - pick('order', right.toUserId),
	);
	counts.repeated += repeated.length;

	await gate.open();
	if (network < 0.03) gate.close();
	else if (network < 0.1) gate.closeAfter = within(1, size, 'close', number);
	const retryOnFail = pick('retry') < 0.5;
	if (retryOnFail) counts.retryOnFail++;
	const stops = pick('stop') < 0.04;
	wasStopped = stops;
	if (stops) counts.stopped++;
	const options: RunOptions = {
		credential: credentialFor(sandbox, {
			baseUrl: network < 0.1 ? `http://127.0.0.1:${gate.port}` : sandbox.url,
		}),
		nodeId: node,
		items,
		...(onError && { onError }),
		...(retryOnFail && { retryOnFail, maxTries: within(2, 5, 'tries', number) }),
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			reference: '={{ $json.reference }}',
			toUserId: '={{ $json.toUserId }}',
			amountEtb: '={{ $json.amountEtb }}',
			options: {
				timeout,
				concurrency: within(1, 25, 'concurrency', number),
				checkBalance: pick('balance') < 0.2,
			},
		},
	};
	if (found.length > 0) {
		const isPaid = (id: string): boolean => books.has(id);
		await settle(
			options,
			number,
			found.filter(isPaid),
			found.filter((id) => !isPaid(id)),
		);
	}
	if (pick('dry') < 0.1) await tryOut(options, number);
	const together = pick('together') < 0.15;
	if (together) counts.together++;
	const others = items.slice(size / 2);
	const bookedBefore = sandbox.books.totals().disbursements;
	const results = await Promise.all(
		(together ? [options, { ...options, items: others }] : [options]).map(
			async (each, index) =>
				await ended(
					runNode({
						...each,
						...(stops && {
							started: (engine) =>
								void setTimeout(() => engine.cancel(), within(1, 60, 'stop', number)),
						}),
					}),
					`${number}.${index}`,
				),
		),
	);
	results.forEach((result, index) => note(result, `${number}.${index}`));
	counts.runs += results.length;
	if (!together && !stops) checkRun(`${number}.0`, bookedBefore);
}

const sent = (): number =>
	[...users.values()].filter(({ told }) =>
		told.some(({ outcome }) => ['paid', 'notPaid', 'unknown'].includes(outcome)),
	).length;

/** What is wrong with what was told of a user, by the books. */
function problemWith({ told }: User, paid: string[]): string | undefined {
	const all = told.map(({ outcome }) => outcome);
	if (paid.length > 1) return `paid ${paid.length} times`;
	for (const { outcome, txHash } of told) {
		if (outcome === 'paid' && !paid.includes(String(txHash))) return 'called paid, is not';
		if (outcome === 'alreadyPaid' && paid.length === 0) return 'called already paid, is not';
	}
	const certainlyNot = ['notPaid', 'notAttempted'];
	if (all.length > 0 && all.every((outcome) => certainlyNot.includes(outcome)) && paid.length > 0)
		return 'called not paid, is paid';
	if (all.filter((outcome) => outcome === 'paid').length > 1) return 'called paid twice';
	return undefined;
}

/** Without faults: a person looks up everybody, and runs each node once more. */
async function settleAll(): Promise<void> {
	sandbox.faults.clear();
	const paid = booked();
	for (const node of new Set(
		[...users.keys()].map((id) => id.slice('etbw_'.length, id.lastIndexOf('-'))),
	)) {
		const ids = usersOf(node);
		const options: RunOptions = {
			credential: credentialFor(sandbox),
			nodeId: node,
			items: ids.map(itemFor),
			parameters: { ...fromItems, options: { concurrency: 25 } },
		};
		const unknown = ids.filter((id) => !paid.has(id));
		await settle(
			options,
			`of ${node} that settles all`,
			[...paid.keys()].filter((id) => ids.includes(id)),
			unknown,
		);
		const result = await ended(runNode(options), `of ${node} after all is settled`);
		const outcomes = new Map(result.output.map(({ json }) => [json.toUserId, json.outcome]));
		for (const id of ids.filter(
			(each) => outcomes.get(each) !== (paid.has(each) ? 'alreadyPaid' : 'paid'),
		))
			problems.push(
				`${id}: settled as ${JSON.stringify(outcomes.get(id))} ${result.error?.message ?? ''} ${JSON.stringify(users.get(id))}`,
			);
	}
}

beforeAll(async () => {
	withoutPauses();
	sandbox = await startSandbox({ treasuryBalance: 1e9, keepRequests: 1 });
	sandbox.faults.plan('POST /disburse', faultFor);
	gate = new Gate(Number(new URL(sandbox.url).port));
});
afterAll(async () => {
	gate.close();
	await sandbox.stop();
});

test(`nobody is paid twice and every outcome is true (FAULTS_SEED=${seed})`, async () => {
	const startedAt = Date.now();
	for (let number = 0; sent() < wanted; number++) await runOnce(number);
	// What stopped executions had in flight ends before the books are read.
	await pause(timeout * 4);
	const paid = booked();
	const paidInFaults = sandbox.books.disbursements().length;
	await settleAll();
	const times = booked();
	for (const id of users.keys()) {
		const found = times.get(id)?.length ?? 0;
		if (found !== 1) problems.push(`${id}: paid ${found} times, once all was settled`);
	}

	for (const [id, user] of users) {
		const problem = problemWith(user, paid.get(id) ?? []);
		if (problem !== undefined) problems.push(`${id}: ${problem} ${JSON.stringify(user)}`);
	}
	process.stdout.write(
		[
			'',
			`FAULTS_SEED=${seed}: ${sent()} payments sent in ${counts.runs} runs, ${Math.round((Date.now() - startedAt) / 1000)} s`,
			`${counts.retryOnFail} runs with Retry On Fail, ${counts.stopped} stopped, ${counts.together} twice at once, ${counts.repeated} references again, ${counts.settled} of them settled by hand, ${counts.dry} dry runs`,
			`${paidInFaults} paid, ${sandbox.books.disbursements().length} once all is settled, ${problems.length} problems`,
			'',
		].join('\n'),
	);
	expect(problems.slice(0, 20)).toEqual([]);
}, 1_800_000);
