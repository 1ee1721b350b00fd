/** Each response that is no success: the words that the user sees, and the number of requests for it. */
import type { Fault, PresetName } from '../../sandbox/faults.mts';
import { startSandbox } from '../../sandbox/sandbox.mts';
import { calls, withShortTimeoutsFor, type CallName } from '../support/engine/calls.mts';
import type { CredentialData, NodeRun, RunResult } from '../support/engine/engine.mts';
import { credentialFor, onlyJson, runNode } from '../support/engine/engine.mts';
import { payInEachTest, sandbox, user } from '../support/engine/paying.mts';

payInEachTest({ apiKey: 'ak-Q7mZ2pX9/x', webhookSecret: 'ws  K4nV8tR1' });

async function run(
	call: CallName,
	options: Partial<NodeRun> = {},
	credential: CredentialData = {},
): Promise<RunResult> {
	const result = await runNode({
		credential: credentialFor(sandbox, credential),
		parameters: calls[call].parameters,
		items: [{ userId: user('abebe') }],
		...options,
	});
	expect(result.everything).not.toContain(sandbox.apiKey);
	expect(result.everything).not.toContain(sandbox.webhookSecret);
	expect(result.everything).not.toContain('Bearer');
	return result;
}

const response = (status: number, body = '', headers: Record<string, string> = {}): Fault => ({
	process: 'never',
	response: { status, body, headers },
});

const everyCall: CallName[] = ['read', 'write', 'createUser', 'disburse'];
const repeated: CallName[] = ['read', 'write'];
const noPayment: CallName[] = ['read', 'write', 'createUser'];
const posts: CallName[] = ['createUser', 'disburse'];

/** The requests and the words while the service keeps answering like this. */
type Seen = [requests: number, message: RegExp, description: RegExp, httpCode?: number];
/** `unknown`: where it may have been done. */
type Row = [what: string, fault: Fault | PresetName, calls: CallName[], seen: Seen, unknown?: true];

const mayHaveBeenDone =
	/^It may have been (done\. Check with the partner service before sending it again\.$|paid\. Ask the partner service .* Settle Unknown)/;
const mayBeSet = /^It may have been set: ask the partner service what is set now\. (Check|Wait)/;
const cut =
	/^No response from the service at http:\/\/127\.0\.0\.1:\d+: the connection was closed before the response was complete/;
const tooLong =
	/^No response from the service at http:\/\/127\.0\.0\.1:\d+: the service took too long to answer/;
/** A read or a write is tried four times. */
const notReached = (message: RegExp): Seen => [
	4,
	message,
	/^Check the Base URL .* the service is running\. It was tried 4 times\.$/,
];
const checkPayment = /^Check the treasury balance, the amount and the user ID\.$/;
const json = (message: string): string => JSON.stringify({ message });
const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();

const refused = 'The service refused the request';
const conflict = 'The service reports a conflict';

const refusals: [status: number, message: string, description: RegExp, calls?: CallName[]][] = [
	[400, refused, /Check the values/, noPayment],
	[400, refused, checkPayment, ['disburse']],
	[401, 'The service does not accept the API key', /Check the API key in the/],
	[402, refused, /^Check the treasury balance/, noPayment],
	[402, refused, checkPayment, ['disburse']],
	[403, 'The API key is not allowed to do this', /which permissions/],
	[404, 'The service did not find what was asked for', /identifiers.*Base URL/, noPayment],
	[404, 'The service did not find what was asked for', /not a name or a telephone/, ['disburse']],
	[409, conflict, /may exist already/, repeated],
	[
		409,
		conflict,
		/have a wallet already: use the ID that you got.*Another External ID/,
		['createUser'],
	],
	[418, refused, /Check the values/, [...repeated, 'createUser']],
	[422, refused, /Check the values/, noPayment],
	[422, refused, checkPayment, ['disburse']],
];

/** A response that leaves open whether it was done: `seen` by a read; what creates or pays is sent once. */
const open = (what: string, fault: Row[1], [requests, message, description, code]: Seen): Row[] => [
	[what, fault, ['read'], [requests, message, description, code]],
	[what, fault, ['write'], [requests, message, mayBeSet, code], true],
	[what, fault, posts, [1, message, mayHaveBeenDone, code], true],
];

const rows: Row[] = [
	...refusals.map(([status, message, description, names = everyCall]): Row => {
		const told = new RegExp(
			`^${message} \\(${status}\\)\\. The service said: "Not allowed: no way`,
		);
		const fault = response(status, json('Not allowed: no way'));
		return [String(status), fault, names, [1, told, description, status]];
	}),
	...Object.entries({ 0: 4, [new Date(0).toUTCString()]: 4, 3600: 1, [inAnHour]: 1 }).map(
		([retryAfter, requests]): Row => {
			const fault = response(429, json('Slow down'), { 'retry-after': retryAfter });
			const told =
				/^The service is receiving too many requests \(429\)\. The service said: "Slow down/;
			const remedy = `^Wait, then run the workflow again, with fewer items at a time\\.`;
			const seen: Seen = [
				requests,
				told,
				new RegExp(remedy + (requests > 1 ? ' It was tried' : '$')),
				429,
			];
			const when = retryAfter === inAnHour ? 'a date in an hour' : retryAfter;
			return [`429 with Retry-After ${when}`, fault, everyCall, seen];
		},
	),
	...open('500 with HTML', 'htmlError', [
		4,
		/^The service failed \(500\)\. The service said: "500 Internal Server Error/,
		/^Wait a while, then run the workflow again\. It was tried 4 times\.$/,
		500,
	]),
	...open('501', response(501), [1, /^The service failed \(501\)/, /^Wait a while/, 501]),
	...[408, 499].flatMap((status) => {
		const told = `^The service, or a proxy before it, stopped waiting \\(${status}\\)`;
		return open(`${status} of a proxy`, response(status), [
			1,
			new RegExp(told),
			/^Wait a while/,
			status,
		]);
	}),
	...open('200 with an empty body', response(200), [
		1,
		/^The service answered 200 (with an empty body|without saying whether it paid)/,
		/the Base URL/,
		200,
	]),
	...['{"feePercent": tru', '<html></html>', '[]', 'null', '"ok"'].flatMap((body) =>
		open(`200 with the body ${body}`, response(200, body), [
			1,
			/^The service answered 200 (with a body that is not a JSON object|without saying whether it paid)/,
			/the Base URL/,
			200,
		]),
	),
	...[409, 423, 425].map((status): Row => {
		const what = `${status}, which may speak of an earlier request,`;
		const seen: Seen = [1, new RegExp(`\\(${status}\\)`), mayHaveBeenDone, status];
		return [what, response(status), ['disburse'], seen, true];
	}),
	// Followed, each would hand the API key to whatever answers there.
	...[301, 302, 303, 307, 308].flatMap((status): Row[] => {
		const what = `a redirect by ${status}`;
		const fault = response(status, '', { location: 'https://127.0.0.1:9/' });
		const told = /^The service answered with a redirect, which is not followed .*\(30\d\)/;
		const seen: Seen = [1, told, /^Check the Base URL/];
		const mayFollowDone = status === 302 || status === 303;
		return mayFollowDone ? open(what, fault, seen) : [[what, fault, everyCall, seen]];
	}),
	...open('a body cut in the middle', 'cutBody', notReached(cut)),
	...open('a reset connection', 'resetBeforePaying', notReached(cut)),
	...open('a reset connection behind what it did', 'resetAfterPaying', notReached(cut)),
	...open('no response in time', 'timeoutBeforePaying', notReached(tooLong)),
	...open('no response in time to what it did', 'timeoutAfterPaying', notReached(tooLong)),
];

const cases = rows.flatMap(([what, fault, names, seen, unknown = false]) =>
	names.map((call) => [what, call, fault, seen, unknown] as const),
);

/** Each payment that stops a run says whether somebody may have been paid. */
const certainty = /^Nobody was paid\. |^It is unknown whether etbw_abebe was paid 5 ETB\. /;
const reasonOf = (text?: string | null): string => (text ?? '').replace(certainty, '');

test.each(cases)('%s to %s stops the workflow with the reason and what to do', async (...row) => {
	const [, call, fault, [requests, message, description, httpCode], isUnknown] = row;
	withShortTimeoutsFor(fault);
	sandbox.faults.plan(calls[call].route, () => fault);
	// A request that may have been carried out is not sent again, although n8n tries the node again.
	const { error } = await run(call, { retryOnFail: isUnknown && posts.includes(call) });
	expect(reasonOf(error?.message)).toMatch(message);
	expect(error?.message).toMatch(/ \[item 0\]$/);
	expect(reasonOf(error?.description)).toMatch(description);
	if (httpCode !== undefined) {
		const told: unknown = Reflect.get(Object(error?.context?.data), 'httpCode');
		expect(error?.httpCode ?? told).toBe(String(httpCode));
	}
	if (call === 'disburse') expect(/^It is unknown/.test(error?.message ?? '')).toBe(isUnknown);
	expect(sandbox.requests).toHaveLength(requests);
});

test('a payment is not sent again once its Timeout would be over', async () => {
	// The first pause of 1 s ends within the Timeout, and the second one would not.
	sandbox.faults.plan(calls.disburse.route, () => 'tooManyRequests');
	const parameters = { ...calls.disburse.parameters, options: { timeout: 1_500 } };
	const { error } = await run('disburse', { parameters });
	expect(error?.message).toMatch(/429/);
	expect(sandbox.requests.length).toBeLessThan(3);
});

test.each<[outcome: 'unknown' | undefined, Fault | PresetName, Fault | PresetName]>([
	['unknown', 'resetBeforePaying', response(400)],
	['unknown', response(500), 'resetBeforePaying'],
	['unknown', response(429), response(200)],
	[undefined, response(429), response(400)],
])('a setting is %p in its item after two failures', async (outcome, first, last) => {
	sandbox.faults.next(calls.write.route, first);
	sandbox.faults.plan(calls.write.route, () => last);
	const { errorOutput } = await run('write', { onError: 'continueErrorOutput' });
	expect(errorOutput[0]?.json.error).toHaveProperty('code');
	expect(Reflect.get(Object(errorOutput[0]?.json.error), 'outcome')).toBe(outcome);
});

test.each(repeated)(
	'a passing failure is not seen when a retry of the %s succeeds',
	async (call) => {
		for (const status of [429, 500, 502, 503, 504]) {
			sandbox.requests.length = 0;
			sandbox.faults.next(calls[call].route, response(status));
			expect(onlyJson(await run(call))).toHaveProperty('feePercent');
			expect(sandbox.requests).toHaveLength(2);
		}
	},
);

const url = 'https://n8n.example.com/webhook/etb-wallet';

test.each([
	['PUT /webhook', { resource: 'webhook', webhookUrl: url }],
	[
		'PUT /treasury/payout-destination',
		{ resource: 'payoutDestination', type: 'mobile', phone: '+251911234567' },
	],
] as const)('the output of %s is what was set, whatever is answered', async (route, fields) => {
	for (const body of ['', 'OK', '[]', 'null']) {
		sandbox.faults.next(route, response(200, body));
		const { resource, ...sent } = fields;
		const result = await run('read', { parameters: { ...fields, operation: 'set' } });
		expect([resource, onlyJson(result)]).toEqual([resource, sent]);
	}
});

/** Which responses contradict what was set: `test/unit/judge.test.mts`. */
test.each([
	['{"success":false,"message":"No way"}', /with success: "false"\. The service said: "No way"/],
	['{"data":{"errors":["No way"]}}', /with data\.errors: "No way"/],
	['<!DOCTYPE html><title>Sign in</title>', /200 with a body that is not .* said: "Sign in"/],
	['{"success": tru', /200 with a body that is not a JSON object/],
	['{"data":{"feePercent":0.2}}', /another value .*: feePercent is 0.2/],
	['{"feePercent":{}}', /feePercent is {}/],
	['{}', /with no feePercent in its body/],
])('the response %s leaves open which fee is set', async (body, why) => {
	const parameters = { resource: 'fee', operation: 'update', feePercent: '0.25' };
	sandbox.faults.next('*', response(200, body));
	const { error } = await run('write', { parameters });
	expect(error?.message).toMatch(why);
	expect(error?.description).toMatch(mayBeSet);
});

test('an external id that looks like a web address is compared as a text', async () => {
	const externalId = 'EMP:1042';
	const parameters = { resource: 'user', operation: 'create', externalId };
	const { error, output } = await run('createUser', { parameters });
	expect([error, output[0]?.json.externalId]).toEqual([undefined, externalId]);
});

describe('a wallet that the service answers 200 to, and does not say that it made', () => {
	test.each([
		['{"id":"u1","data":{"success":false}}', /with data\.success: "false"/],
		['{"ok":false,"id":"u1"}', /with ok: "false"/],
		[
			'{"error":{"message":"No way"}}',
			/with error\.message: "No way"\. The service said: "No way"/,
		],
	])('with %s is unknown, and not asked for again', async (body, why) => {
		sandbox.faults.plan('POST /users', () => response(200, body));
		const { error } = await run('createUser', { retryOnFail: true });
		expect(error?.message).toMatch(why);
		expect(error?.description).toMatch(mayHaveBeenDone);
		expect(sandbox.requests).toHaveLength(1);
		const { output, errorOutput } = await run('createUser', { onError: 'continueErrorOutput' });
		expect(output).toEqual([]);
		expect(Object(errorOutput[0]?.json.error)).toMatchObject({ outcome: 'unknown' });
	});
});

test.each([
	['GET /balance', { resource: 'balance', operation: 'get' }, 'treasuryBalance'],
	['POST /users', { resource: 'user', operation: 'create', externalId: 'abebe' }, 'id'],
] as const)('a response without what the service document shows is none of %s', async (...row) => {
	const [route, parameters, field] = row;
	for (const body of ['{"success":true,"data":{}}', `{"${field}":null}`]) {
		sandbox.faults.next(route, response(200, body));
		const { error } = await run('read', { parameters });
		expect(error?.message).toContain(`The service answered 200 with no ${field} in its body`);
		expect(error?.description).toMatch(
			route === 'POST /users' ? /It may have been done/ : /the Base URL/,
		);
	}
});

describe('the reason of the service', () => {
	test('is left out when there is none', async () => {
		sandbox.faults.next('*', response(422, '{"code":17}'));
		expect((await run('createUser')).error?.message).toBe(
			'The service refused the request (422) [item 0]',
		);
	});

	test('never repeats a secret, nor a part of one that was shortened', async () => {
		const { apiKey, webhookSecret } = sandbox;
		const both = `${apiKey} and ${webhookSecret}`;
		const refusals = [
			[401, `The key ${both} is wrong`],
			[422, 'x'.repeat(290) + both],
			[500, both],
		] as const;
		const bodies = [
			...[60, 64, 68, 72].map((before) => ({ feePercent: { x: 'x'.repeat(before) + apiKey } })),
			...[60, 72, 76, 285, 295].flatMap((before) =>
				[apiKey, webhookSecret].map((secret) => {
					return { success: true, error: 'x'.repeat(before) + secret };
				}),
			),
		];
		const faults = [
			...refusals.map(([status, text]) => response(status, json(text).replaceAll('/', '\\/'))),
			...bodies.map((body) => response(200, JSON.stringify(body))),
		];
		for (const [index, fault] of faults.entries()) {
			for (const call of ['write', 'disburse'] as const) {
				sandbox.faults.plan('*', () => fault);
				const { everything } = await run(call, { onError: 'continueErrorOutput' });
				expect(everything).not.toMatch(/Q7m|K4n|ak-Q/);
				if (index < refusals.length) expect(everything).toMatch(/\[hidden\]|x\[?h?i?d?d?e?…/);
			}
		}
	});
});

test.each(['read', 'disburse'] as const)('a %s says that nothing listens', async (call) => {
	const gone = await startSandbox();
	await gone.stop();
	const { error } = await run(call, {}, { baseUrl: gone.url });
	expect(error?.message).toBe(
		`The service at ${gone.url} cannot be reached: nothing answers at that address [item 0]`,
	);
	expect(error?.description).toMatch(
		/^(Nobody was paid\. )?Check the Base URL .* the service is running\. It was tried 4 times\.$/,
	);
});
