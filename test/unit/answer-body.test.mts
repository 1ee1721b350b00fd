/** What is made of the bodies of answers, whatever they hold. */
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { parseAccount } from '../../nodes/shared/account.ts';
import { judge, type Judgement } from '../../nodes/shared/service/answer.ts';
import { makeAttempt, type Answer } from '../../nodes/shared/service/attempt.ts';
import { resultOf } from '../../nodes/shared/service/call.ts';
import { reasonIn } from '../../nodes/shared/service/reason.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';

const get: ServiceRequest = { method: 'GET', path: '/x' };

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const answered = (text: string): Answer => ({
	...{ kind: 'answer', status: 200, headers: {}, text, body: parsed(text) },
});
const reasonOf = (text: string): string => reasonIn(answered(text), (unchanged) => unchanged);

const anyBody = fc.oneof(
	fc.string({ maxLength: 2000 }),
	fc.json({ maxDepth: 8 }),
	fc.json({ maxDepth: 4 }).map((json) => json.slice(0, -1)),
	fc.string().map((text) => `<html><body><p>${text}</p></body></html>`),
	fc
		.array(fc.record({ message: fc.string(), field: fc.string() }), { maxLength: 50 })
		.map((errors) => JSON.stringify({ errors })),
);

describe('the reason in an error body', () => {
	test('is one line of at most 300 characters, and an ellipsis', () => {
		fc.assert(
			fc.property(anyBody, (body) => {
				const reason = reasonOf(body);
				expect(reason.length).toBeLessThanOrEqual(301);
				expect(reason).not.toMatch(/[\r\n\t]|^ | $/);
			}),
			{ numRuns: 1000 },
		);
	});

	test.each([
		['message', { message: 'No' }, 'No'],
		['error.message', { error: { code: 'x', message: 'No' } }, 'No'],
		['errors of texts', { errors: ['No', 'Never'] }, 'No; Never'],
		[
			'errors of objects',
			{ errors: [{ field: 'phone', message: 'too short' }, { message: 'No' }] },
			'phone: too short; No',
		],
		[
			'errors by field',
			{ errors: { phone: ['too short', 'no plus'] } },
			'phone: too short; no plus',
		],
		['detail', { type: 'about:blank', detail: 'No' }, 'No'],
		['title', { title: 'No', status: 422 }, 'No'],
		['message before error', { error: 'Bad Request', message: 'No' }, 'No'],
		['nothing known', { code: 17, ok: false }, ''],
		['a list', ['No', 'Never'], 'No; Never'],
		['a text', 'No', 'No'],
		['a number', 17, ''],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonOf(JSON.stringify(body))).toBe(reason);
	});

	test.each([
		['plain text', 'Upstream is down\n', 'Upstream is down'],
		['HTML without one', '<p>Bad <b>gateway</b></p>', 'Bad gateway'],
		['a cut JSON', '{"message": "No', '{"message": "No'],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonOf(body)).toBe(reason);
	});
});

describe('the fields of a success body', () => {
	const flatFields = (text: string): IDataObject => {
		const data = { baseUrl: 'https://example.com', apiKey: 'key-of-the-test' };
		const account = parseAccount({ id: '1', name: 'account', type: 'etbWalletApi', data });
		const judged = { last: answered(text), judgement: { verdict: 'done' as const }, attempts: 1 };
		const result = resultOf(account, get, judged);
		return result.ok ? result.output : { failed: result.failure.message };
	};

	test('are the same with and without the wrapper', () => {
		const fields = fc.dictionary(
			fc.string().filter((key) => key !== 'data' && key !== '__proto__'),
			fc.jsonValue(),
		);
		fc.assert(
			fc.property(fields, (data) => {
				const plain: unknown = JSON.parse(JSON.stringify(data));
				expect(flatFields(JSON.stringify(data))).toEqual(plain);
				expect(flatFields(JSON.stringify({ data }))).toEqual(plain);
			}),
		);
	});

	test.each([
		['{"data":[1],"a":2}', { data: [1], a: 2 }],
		['{"data":null}', { data: null }],
		['{"data":{"a":1},"a":2,"b":3}', { a: 1, b: 3 }],
		['[1]', {}],
		['null', {}],
		['', {}],
	])('%s gives %p', (body, fields) => {
		expect(flatFields(body)).toEqual(fields);
	});

	test('change no prototype', () => {
		const fields = flatFields('{"data":{"__proto__":{"polluted":1},"constructor":{"a":1}}}');
		expect(Reflect.get({}, 'polluted')).toBeUndefined();
		expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
	});
});

test('a body of more than 64 levels is not read', async () => {
	const bodyOf = async (levels: number): Promise<unknown> => {
		const body = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
		const raw = { status: 200, headers: {}, body };
		const attempt = await makeAttempt(async () => await Promise.resolve(raw), 1_000);
		return Reflect.get(attempt, 'body');
	};
	expect(await bodyOf(63)).toHaveProperty('a');
	expect(await bodyOf(64)).toBeUndefined();
	expect(await bodyOf(200_000)).toBeUndefined();
});

describe('a long hostile answer takes linear time', () => {
	const pay: ServiceRequest = {
		...{ method: 'POST', path: '/x', answersWith: 'txHash', movesMoney: true },
		body: { toUserId: 'etbw_a', amountEtb: 10 },
	};
	const half = 2 ** 19;
	test.each([
		['a long name of many values', 200, `"${'x'.repeat(half)}":[0${',0'.repeat(half / 2)}]`],
		[
			'many names in many levels',
			200,
			`${'"a":{'.repeat(60)}"b":[${'1,'.repeat(half)}1]${'}'.repeat(60)}`,
		],
		['a state of brackets', 422, `"status":${'['.repeat(half)}`],
		['many states', 422, `"message":"${'state'.repeat(12_000)}"`],
		['a state of blanks', 422, `"status":${' '.repeat(half)}`],
	])('%s', (_what, status, fields) => {
		// One that takes the square of its length meets the time limit of a test.
		const { verdict } = judge(pay, {
			...answered(`{"success":true,"txHash":"0x1",${fields}}`),
			status,
		});
		expect(['done', 'unknown', 'notDone']).toContain(verdict);
	});
});

describe('a setting', () => {
	const url = 'https://n8n.example.com/webhook/failed-and-pending';
	const set: ServiceRequest = {
		...{ method: 'PUT', path: '/x', body: { webhookUrl: url }, defaultOutput: {} },
	};
	const verdictOn = (status: number, text: string): Judgement['verdict'] =>
		judge(set, { ...answered(text), status }).verdict;

	test.each([
		...['{"success":0}'],
		...['{"success":"no"}', '{"code":500}', '{"status":{"code":400}}', '{"state":"failed"}'],
		...['{"errorCode":17}', '{"result":{"success":false}}', '[{"error":"x"}]'],
		...['{"message":"Could not be saved: not allowed"}', 'Unauthorized', 'FAILED', 'Error: x'],
		...['{"success":false,"success":true}', '{"message":"Internal Server Error"}'],
	])('that is answered 200 %s is unknown', (text) => {
		expect(verdictOn(200, text)).toBe('unknown');
	});

	test('that is accepted is done, because the service document shows no answer to it', () => {
		expect(verdictOn(202, '{"success":true}')).toBe('done');
	});

	test.each([
		...['{}', 'OK', '{"status":"active"}', '{"errors":[]}', '{"message":"Saved"}'],
		...['{"message":"The URL is already registered"}', '{"data":{"active":true}}'],
		JSON.stringify({ webhookUrl: url }),
		JSON.stringify({ data: { webhookUrl: url } }),
	])('that is answered 200 %s is done', (text) => {
		expect(verdictOn(200, text)).toBe('done');
	});
});

test('a number that was set is the same number as a text', () => {
	const set: ServiceRequest = { method: 'PUT', path: '/x', body: { feePercent: 0.25 } };
	expect(judge(set, answered('{"data":{"feePercent":"0.250"}}')).verdict).toBe('done');
	expect(judge(set, answered('{"feePercent":"0.2"}')).verdict).toBe('unknown');
});

describe('a payment', () => {
	const asked: ServiceRequest = {
		...{ method: 'POST', path: '/x', answersWith: 'txHash', movesMoney: true },
		body: { toUserId: 'etbw_a', amountEtb: 10 },
	};
	const cases: [status: number, text: string, Judgement['verdict']][] = [
		...[400, 404, 422, 429, 302].map((status): (typeof cases)[number] => [
			...([status, '{"success":true,"txHash":"0x1"}', 'unknown'] as const),
		]),
		[422, '{"success":"true"}', 'unknown'],
		[422, '{"amountEtb":10,"txHash":"0xabc"}', 'unknown'],
		[422, '{"result":{"success":true}}', 'unknown'],
		[403, '{"success":false,"success":true}', 'unknown'],
		[422, '{"message":"{\\"success\\":true}"}', 'unknown'],
		[422, '{"message":"{\\"body\\":\\"{\\\\\\"txHash\\\\\\":\\\\\\"0x1\\\\\\"}\\"}"}', 'unknown'],
		[422, `{"message":"Got {'success': True}"}`, 'unknown'],
		[404, '<pre>{&quot;txHash&quot;:&quot;0x1&quot;}</pre>', 'unknown'],
		[422, `{"message":"Got {'success': False, 'txHash': None}"}`, 'unknown'],
		[429, '{"Success":"TRUE"}', 'unknown'],
		[429, '{"success":1}', 'unknown'],
		[429, '{"success":false,"txhash": "0x1"}', 'unknown'],
		[429, '{"success":false,"txHash":""}', 'notDone'],
		[429, '{"success":10}', 'unknown'],
		[429, '{"status":"Too Many Requests"}', 'notDone'],
		[429, '{"message":"Too many requests, please wait for the queue"}', 'notDone'],
		[422, '{"message":"The submitted value is invalid"}', 'notDone'],
		[
			402,
			'{"message":"Insufficient funds: the transfer will be possible after a deposit"}',
			'notDone',
		],
		[422, '{"status":"submitted"}', 'unknown'],
		...[
			...['Receipt failed\nPayment sent', 'Could not email user but payment was sent'],
			...['No problem: the payment was made', 'The transfer will be retried'],
			...['Funds were deducted', 'Payout completed, receipt could not be stored'],
		].map((message): (typeof cases)[number] => [422, JSON.stringify({ message }), 'unknown']),
		[422, 'status: completed, error: none', 'unknown'],
		...[406, 424, 444, 449].map((status): (typeof cases)[number] => [status, '', 'unknown']),
		[422, '{"waiting":true}', 'unknown'],
		...['under review', 'deferred', 'not yet confirmed', 'no final state', 'blockchain'].map(
			(state): (typeof cases)[number] => [
				422,
				JSON.stringify({ success: false, state }),
				'unknown',
			],
		),
		[200, '{"success":true,"txHash":"0x1","failedAt":"2026-11-01"}', 'unknown'],
		[422, '{"data":{"state":{"value":"completed"}}}', 'unknown'],
		[422, '{"transaction":"0x1"}', 'unknown'],
		[422, '{"status":"rejected","transaction":{"id":null}}', 'notDone'],
		[200, '{"success":true,"txHash":"0x1","refund":{"reason":"x"}}', 'unknown'],
		[422, '{"success":false,"txHash": null}', 'notDone'],
		...[
			...['Transaction is being processed', 'The payment was sent', 'Transfer completed'],
			...['Payment submitted', 'No response from the bank', 'Status of the payment is unknown'],
			...['read ECONNRESET', 'Transaction was not mined, it might still be', 'Deadline exceeded'],
			...[
				'Internal server error',
				'upstream connect error',
				`See https://x/tx/0x${'a1'.repeat(32)}`,
			],
		].flatMap((message): typeof cases => [
			[422, JSON.stringify({ message }), 'unknown'],
			[200, JSON.stringify({ success: false, message }), 'unknown'],
		]),
		...[
			...['The payment was not sent', 'No money was sent'],
			...['User must be approved', 'Account not confirmed', 'Unknown user'],
		].flatMap((message): typeof cases => [
			[422, JSON.stringify({ message }), 'notDone'],
			[200, JSON.stringify({ success: false, message }), 'notDone'],
		]),
		...[500, 503, 408, 409, 425, 499].map((status): (typeof cases)[number] => [
			...([200, JSON.stringify({ success: false, status }), 'unknown'] as const),
		]),
		[422, '{"statusCode":504,"message":"x"}', 'unknown'],
		[422, '<r><status>COMPLETED</status><error>none</error></r>', 'unknown'],
		[422, 'status=completed&error=none', 'unknown'],
		[422, 'status: completed', 'unknown'],
		[422, '<r><status>FAILED</status></r>', 'unknown'],
		[422, '{&#x27;status&#x27;: &#39;completed&#39;}', 'unknown'],
		[422, '{"status":{"code":"ACSC"}}', 'unknown'],
		[422, '{"stage":"completed"}', 'unknown'],
		[422, '{"TxSts":"ACSP"}', 'unknown'],
		[422, '{"trxRef":"T1"}', 'unknown'],
		[422, '{"paidAt":"2026-11-01"}', 'unknown'],
		[422, '{"transactions":0}', 'unknown'],
		[422, '{"message":"Request could not be processed"}', 'unknown'],
		[200, '{"success":false,"message":"Request could not be processed"}', 'notDone'],
		[403, '{"message":"Nope"}', 'notDone'],
		[409, '{"message":"Duplicate"}', 'unknown'],
		[500, '{"success":false}', 'unknown'],
	];
	test.each(cases)('that is answered %i %s is %s', (status, text, verdict) => {
		expect(judge(asked, { ...answered(text), status }).verdict).toBe(verdict);
	});

	const verdictOn = (status: number, fields: object): Judgement['verdict'] =>
		judge(asked, { ...answered(JSON.stringify(fields)), status }).verdict;
	const paid = { success: true, txHash: '0x1' };
	const words = (text: string): string[] => text.split(' ');

	test.each([
		...words('true 1 0x1 200 201 OK okay success successful successfully succeeded sent paid done'),
		...words('complete completed confirmed settled executed processed delivered disbursed'),
		...words('transferred finalized finalised mined'),
	])('with the state %s is done', (status) => {
		expect(verdictOn(200, { ...paid, status })).toBe('done');
	});

	test.each([
		...[{ cancelUrl: 'https://x.example.com' }, { refundable: true }, { queuedAt: '2026-11-01' }],
		...[{ error: '' }, { errors: [] }, { refund: null }, { is_paid: true }, { code: '00' }],
	])('is done beside %j', (field) => {
		expect(verdictOn(200, { ...paid, ...field })).toBe('done');
	});

	test.each([
		...words('err error exception failReason rejected declineReason cancelled reverted reversal'),
		...words('refund expired dry_run dryRun simulated pendingSince queued waiting state phase'),
		...words('outcome result statusText code responseCode status_code'),
	])('is unknown with something in %s', (field) => {
		expect(verdictOn(200, { ...paid, [field]: 'x' })).toBe('unknown');
	});

	test.each([
		...[{ status: { type: 'on its way' } }, { TxSts: 'PDNG' }, { resultCode: 17 }],
		...[{ message: 'Payment is being processed' }, { warning: 'It was not executed' }],
		...[{ message: { en: 'Awaiting approval' } }, { description: 'Timed out' }, { x: 'pending' }],
		...[{ inProgress: true }, { timedOut: true }, { onHold: true }, { fault: 'x' }],
		...[{ note: 'transfer failed' }, { comment: 'Not pending' }],
		...[{ finalized: 'N' }, { credited: false }, { paymentSuccess: false }],
		...words('pending-1 queued:8a7 404 202 n/a:1 https://x/tx/1 simulated-0x1 unknown1').map(
			(txHash) => ({ txHash }),
		),
	])('is unknown beside %j', (field) => {
		expect(verdictOn(200, { ...paid, ...field })).toBe('unknown');
	});

	test.each([
		...['a1'.repeat(32), 'FT25331ABC12', '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb'].map(
			(txHash) => ({ txHash }),
		),
		...[{ message: 'Payment processed without delay' }, { networkCosts: 3 }],
		...[{ processingFee: 0 }, { statusUrl: 'https://x/pending' }, { resultCode: '00' }],
		...[{ currency: { code: 'ETB' } }, { postage: 'paid by us' }],
		...[{ defaultCurrency: 'ETB' }, { recipient: { name: 'Kuwait Trading' } }, { pendingFee: 2 }],
		...[{ message: 'Transaction submitted to the network' }],
	])('is done with %j', (field) => {
		expect(verdictOn(200, { ...paid, ...field })).toBe('done');
	});

	test.each([
		...words('success ok paid done completed confirmed settled executed sent processed finalised'),
		...words('mined transferred approved isPaid wasSent has_confirmed succeeded finalized'),
	])('is unknown when %s is false', (field) => {
		expect(verdictOn(200, { ...paid, data: { [field]: false } })).toBe('unknown');
	});

	test.each(words('message reason detail description'))('is unknown when %s tells', (field) => {
		for (const word of words('failed declined rejected insufficient reverted'))
			expect(verdictOn(200, { ...paid, [field]: `Transfer ${word}` })).toBe('unknown');
	});

	test.each([
		...words('failed err error rejected declined denied refused invalid bad'),
		...words('insufficient forbidden not_found unsuccessful unauthorized unprocessable no false'),
		...words('400 404 422'),
		'too many requests',
	])('that is refused with the state %s is not done', (status) => {
		expect(verdictOn(422, { status })).toBe('notDone');
	});

	test.each([
		...[{ success: false, error: { code: 'E17', message: 'No money', details: [] } }],
		...[{ errors: [{ field: 'toUserId', message: 'not found' }], data: null }],
		...[{ errors: { toUserId: ['"toUserId" must be a text'] }, amountEtb: 10 }],
		...[{ message: 'No money', details: { availableBalance: 3, required: 10, limit: 5 } }],
		...[
			{
				type: 'https://x.example.com/problems/1',
				title: 'Forbidden',
				status: 403,
				detail: 'Denied',
			},
		],
		...[{ statusCode: 400, error: 'Bad Request', message: ['amountEtb must be positive'] }],
		...[{ timestamp: '2026-11-01T00:00:00Z', path: '/api/v1/partners/disburse', requestId: 'r1' }],
	])('that is refused with %j is not done', (fields) => {
		expect(verdictOn(422, fields)).toBe('notDone');
	});

	test.each([
		...['', 'Not Found', 'Cannot POST /api/v1/partners/disburse'],
		'<html><head><title>404 Not Found</title></head><body><hr>nginx</body></html>',
		'<!DOCTYPE html>\n<html lang="en"><body><pre>Cannot POST /x</pre></body></html>',
	])('that is refused with the text %s is not done', (text) => {
		expect(judge(asked, { ...answered(text), status: 404 }).verdict).toBe('notDone');
	});

	test.each([
		...words('receipt state stage hash tx id reference processed paidAt data.id error.txId result'),
		'outcome',
	])('that is refused with the field %s is unknown', (field) => {
		const value = field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), 'x');
		expect(verdictOn(422, Object(value) as object)).toBe('unknown');
	});

	// Words of services that may have paid: of a lost connection, a receipt, an earlier payment, or a notice that failed.
	test.each([
		...[
			'Payment of 10 ETB to etbw_a sent, but the receipt could not be stored',
			'context canceled',
		],
		...['The transfer has completed', 'Paid 10 ETB, could not save receipt', 'unexpected EOF'],
		...['Please check if the payment was made before trying again', 'INTERNAL_SERVER_ERROR'],
		...['Could not notify user after payment was sent', 'Transaction receipt not found'],
		...['Cannot pay again because payment was made earlier', 'Request failed with status code 502'],
		...['Transaction reference has been used before', 'Reference must be unique', 'NONCE_TOO_LOW'],
		...[
			'Transaction was not confirmed in 60 seconds. It is unknown if it succeeded',
			'write EPIPE',
		],
		...[
			'Transfer held for AML review',
			'Payment will be processed within 24 hours',
			'SERVER_ERROR',
		],
		...['Contact support with transaction ID FT1', 'This payment exists', 'Something went wrong'],
		...['Invalid response body: Premature close', 'database is locked', 'Transaction not found'],
		...['This operation was aborted', 'Webhook endpoint not found', 'Reference must not be reused'],
		...['Account locked: transfer underway', 'Payment must be approved by a second person'],
		...['The bank accepted the transfer, but it is invalid', 'ክፍያው ተልኳል', '23505'],
	])('that is refused in the words %s is unknown', (message) => {
		expect(verdictOn(422, { message })).toBe('unknown');
		expect(verdictOn(400, { success: false, error: message })).toBe('unknown');
		expect(verdictOn(200, { success: false, message })).toBe('unknown');
	});

	test.each([
		...[{ error: { code: -32005, message: 'request rate limited' } }, { code: '0', message: 'x' }],
		...[
			{ status: 'failed', data: 'FT25331ABC12' },
			{ type: 'disburse.completed', data: { id: 1 } },
		],
		...[{ code: '23505' }, { message: 'ክፍያው ተልኳል' }, { _tx: '0xab12' }, { newBalance: 990 }],
	])('that is refused with %j is unknown', (fields) => {
		expect(verdictOn(422, fields)).toBe('unknown');
		expect(verdictOn(429, fields)).toBe('unknown');
	});

	test.each([
		...['Insufficient balance (3 < 10)', 'Amount must be > 0', 'User has been suspended'],
		...['amountEtb is not a number', 'No wallet for this user', 'Account must be approved'],
		...['Wallet is not active', 'No such user', 'Daily limit exceeded', 'Too many requests'],
	])('that is refused in the words %s is not done', (message) => {
		expect(verdictOn(422, { error: 'Bad Request', message })).toBe('notDone');
	});

	test.each([
		...[{ replayed: true }, { idempotent: true }, { livemode: false }, { testMode: true }],
		...[{ approvalRequired: true }, { broadcast: false }, { txHash: 'mock-1' }],
		...[{ txHash: 'proposal-1' }, { txHash: '{"a":1}' }],
	])('is unknown with %j', (field) => {
		expect(verdictOn(200, { ...paid, ...field })).toBe('unknown');
	});

	test.each([406, 410, 418, 451])('that is answered %i is unknown', (status) => {
		expect(judge(asked, { ...answered('{}'), status }).verdict).toBe('unknown');
	});
});
