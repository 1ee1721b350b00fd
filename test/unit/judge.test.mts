/** The meaning of a response, by its status and its body. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { readAccount } from '../../nodes/shared/account.ts';
import { judge, type Judgement } from '../../nodes/shared/service/judge.ts';
import type { AttemptResult } from '../../nodes/shared/service/attempt.ts';
import { resultOf } from '../../nodes/shared/service/call.ts';
import { refusalRuleFor } from '../../nodes/shared/service/responseRules.ts';
import { unclearPaymentPatterns, refusalWords } from '../../nodes/shared/service/paymentWords.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';
import { failedSettings } from '../support/judged-responses.mts';
import { cutOff, notSent, pay, responseWith } from '../support/judging.mts';

const get: ServiceRequest = { method: 'GET', path: '/x' };

describe('the fields of a success body', () => {
	const flatFields = (text: string): IDataObject => {
		const data = { baseUrl: 'https://example.com', apiKey: 'key-of-the-test' };
		const account = readAccount({ id: '1', name: 'account', type: 'etbWalletApi', data });
		const judged = {
			last: responseWith(text),
			judgement: { verdict: 'done' as const },
			attempts: 1,
		};
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

describe('a long hostile response takes linear time', () => {
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
		['a name of states', 200, `"${'status '.repeat(12_000)}":1`],
	])('%s', (_what, status, fields) => {
		// One that takes the square of its length meets the time limit of a test.
		const text = `{"success":true,"txHash":"0x1",${fields}}`;
		const { verdict } = judge(pay, responseWith(text, status));
		expect(['done', 'unknown', 'notDone']).toContain(verdict);
	});
});

describe('a setting', () => {
	const url = 'https://n8n.example.com/webhook/failed-and-pending';
	const set: ServiceRequest = {
		method: 'PUT',
		path: '/x',
		body: { webhookUrl: url },
		defaultOutput: {},
	};
	const verdictOn = (status: number, text: string): Judgement['verdict'] =>
		judge(set, responseWith(text, status)).verdict;

	test.each(failedSettings)('that is answered 200 %s is unknown', (text) => {
		expect(verdictOn(200, text)).toBe('unknown');
	});

	test('that is accepted is done, because the service document shows no response to it', () => {
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

const mobile = { type: 'mobile', phone: '+251911223344' };
const hook = { webhookUrl: 'https://n8n.example.com/1' };
test.each([
	[{ feePercent: 0.25 }, '{"data":{"feePercent":"0.250"}}', 'done'],
	[{ feePercent: 0.25 }, '{"feePercent":"0.2"}', 'unknown'],
	[{ feePercent: 0.25 }, '{"feePercent":{}}', 'unknown'],
	[mobile, '{"data":{"phone":null}}', 'unknown'],
	[mobile, '{"data":{"type":"bank"}}', 'unknown'],
	[mobile, '{"data":{"phone":"+251911223344"}}', 'done'],
	[{ type: 'bank', accountNumber: '0042' }, '{"accountNumber":"42"}', 'unknown'],
	[{ type: 'bank', accountNumber: '0042' }, '{"accountNumber":"0042"}', 'done'],
	[hook, '{"webhookUrl":"https://n8n.example.com/1/2"}', 'unknown'],
	[hook, '{"webhookUrl":"https://N8N.example.com/1"}', 'done'],
])('of %j the response %s is %s', (body, text, verdict) => {
	const set: ServiceRequest = { method: 'PUT', path: '/x', body };
	expect(judge(set, responseWith(text)).verdict).toBe(verdict);
});

describe('a payment', () => {
	const success = { success: true, txHash: '0x1' };

	describe('shows the rule that judges its response', () => {
		/** The words of refusals that leave open whether it paid, with the rule and the part that it matches. */
		const unclearMessages: Array<[message: string, rule: string, matched: string]> = [
			['Payment is pending', 'unclearWords', 'pending'],
			['The payment was sent', 'madeWords', 'sent'],
			['DEADLINE_EXCEEDED', 'gaveUp', 'DEADLINE'],
			['Peer hang up', 'network', 'hang up'],
			['Internal server error', 'program', 'server error'],
			['Nonce too low', 'chain', 'Nonce'],
			['Bank declined it after debit', 'bank', 'debit'],
			['Null value violates a constraint', 'database', 'violates'],
			['Could not save it', 'laterStep', 'Could not save'],
			['This payment exists', 'otherPayment', 'payment exists'],
			['A second person must sign', 'approval', 'second person'],
			['It might be rejected', 'serviceUnsure', 'might'],
			['ክፍያ', 'otherScript', 'ክ'],
			['Invalid: {}', 'quotedResponse', '{'],
			[`Invalid ${'a1'.repeat(32)}`, 'longHash', 'a1'.repeat(32)],
			['No way', 'unexplainedReason', 'No way'],
		];
		/** Words that say why a payment is refused. */
		const reasons: typeof unclearMessages = [
			['Insufficient_ETB', 'noMoney', 'Insufficien'],
			['amountEtb is not a number', 'wrongValue', 'not a '],
			['Daily limit reached', 'outsideLimit', 'limit'],
			['Too many requests', 'tooMany', 'Too many'],
			['No such user', 'notFound', 'No such'],
			['API key unknown', 'notAllowed', 'API key'],
			['Wallet is frozen', 'unusableAccount', 'frozen'],
			['The bank declined', 'saysNo', 'declined'],
		];

		type Row = [status: number, body: object, rule: string, matched: string];
		test.each<Row>([
			...unclearMessages.map(([message, ...shown]): Row => [422, { message }, ...shown]),
			[422, { receipt: 'x' }, 'fieldNeverInRefusal', 'receipt'],
			[422, { ok: 'yes' }, 'successNotDenied', 'yes'],
			[422, { received: 'x' }, 'receivedNoType', 'x'],
			[422, { code: '00' }, 'codeNeverInRefusal', '00'],
			[422, { status: 'new' }, 'statusNeverInRefusal', 'new'],
			[200, { ...success, ok: false }, 'saysNoSuccess', 'false'],
			[200, { ...success, status: 'failed' }, 'statusOfFailure', 'fail'],
			[200, { ...success, message: 'Internal' }, 'messageOfFailure', 'Internal'],
			[200, { ...success, error: 'x' }, 'hasError', 'x'],
			[200, { ...success, state: 'new' }, 'stateOtherThanSuccess', 'new'],
			[200, { ...success, code: 'X1' }, 'codeOtherThanSuccess', 'X1'],
			[200, { ...success, isPaid: 'no' }, 'successIsFalse', 'no'],
			[200, { ...success, failReason: 'x' }, 'nameOfFailure', 'x'],
			[200, { ...success, pendingSince: 'x' }, 'nameOfUnclearStep', 'x'],
			[200, { ...success, replayed: true }, 'otherKindOfPayment', 'true'],
			[200, { ...success, level: 'error' }, 'severityOfError', 'err'],
			[200, { ...success, amount: 0 }, 'amountOfNothing', '0'],
			[200, { ...success, note: 'Still queued' }, 'wordsOfFailureOrUnclearStep', 'Still queued'],
			[200, { ...success, txHash: 'mock-1' }, 'transactionHash', '["mock-1"]'],
		])('%i %j: %s', (status, body, rule, matched) => {
			const judgement = judge(pay, responseWith(JSON.stringify(body), status));
			expect(judgement).toMatchObject({ verdict: 'unknown', rule, matched });
		});

		test.each(reasons)('%s: %s', (message, rule, matched) => {
			expect(refusalRuleFor(message)).toEqual({ rule, matched });
		});

		test('which has a name of its own', () => {
			const shown = [...unclearMessages, ...reasons].map(([, rule]) => rule);
			const rules = [...Object.keys(unclearPaymentPatterns), ...Object.keys(refusalWords)];
			expect([...shown].sort()).toEqual([...rules, 'unexplainedReason'].sort());
		});

		const shownBy = (...response: string[]): string[] =>
			execFileSync(process.execPath, ['scripts/judge-response.mts', ...response], {
				encoding: 'utf8',
			}).split('\n');

		test('by a program', () => {
			expect(shownBy('422', '{"message":"Could not save it"}')).toEqual([
				'verdict: unknown',
				'code: unclear',
				'evidence: The service answered 422 with a message that leaves open whether it paid',
				...['rule: laterStep', 'matched: Could not save', ''],
			]);
			expect(shownBy('422', '{"errors":["No money"],"message":"Bad request"}')).toEqual([
				...['verdict: notDone', 'code: refused'],
				...['rule: noMoney', 'matched: No money', 'rule: wrongValue', 'matched: Bad request', ''],
			]);
			expect(shownBy('409')).toEqual(['verdict: unknown', 'code: unclear', 'rule: none', '']);
			expect(shownBy('200', JSON.stringify(success))).toEqual(['verdict: done', '']);
		});
	});

	test('may repeat a word of failure that was sent', () => {
		const body = { toUserId: 'etbw_failed', amountEtb: 10 };
		for (const shown of [body, { data: body }]) {
			const response = responseWith(JSON.stringify({ ...success, ...shown }));
			expect(judge({ ...pay, body }, response)).toEqual({ verdict: 'done' });
		}
	});
});

test.each([
	['Too many requests, slow down', true],
	['', true],
	['Too many requests for payouts', false],
	['Limit exceeded: 5 of 5 in the last minute', false],
])('a payment that is refused with 429 and %p is repeated: %p', (message, mayBeRepeated) => {
	const response = responseWith(JSON.stringify({ success: false, message }), 429);
	expect(judge(pay, response)).toMatchObject({ verdict: 'notDone', mayBeRepeated });
});

const empty = (...statuses: number[]): AttemptResult[] =>
	statuses.map((status) => responseWith('{}', status));
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from + 1 }, (_, index) => from + index);
const refusals = range(400, 499).filter((status) => ![408, 429, 499].includes(status));

/** The verdicts on a read and on a POST, and the code of both. */
test.each<
	[what: string, attempts: AttemptResult[], read: string, post: string, code: string | undefined]
>([
	['success', empty(...range(200, 299)), 'done', 'done', undefined],
	['never sent', [notSent], 'notDone, temporary', 'notDone, temporary', 'notReached'],
	['too many requests', empty(429), 'notDone, temporary', 'notDone, temporary', 'refused'],
	['a passing failure', empty(500, 502, 503, 504), 'notDone, temporary', 'unknown', 'unclear'],
	['reset or timeout', [cutOff], 'notDone, temporary', 'unknown', 'noResponse'],
	['another failure of it', empty(501, ...range(505, 599)), 'notDone', 'unknown', 'unclear'],
	['a refusal', empty(...refusals), 'notDone', 'notDone', 'refused'],
	['a proxy that gave up waiting', empty(408, 499), 'notDone', 'unknown', 'unclear'],
	['a status that is none', empty(NaN, 0, 199, 600), 'notDone', 'unknown', 'unclear'],
	['a redirect that keeps the method', empty(301, 307, 308), 'notDone', 'notDone', 'refused'],
	['one that may follow a POST that was done', empty(302, 303), 'notDone', 'unknown', 'unclear'],
])('%s', (_what, attempts, read, post, code) => {
	const of = (method: 'GET' | 'POST', attempt: AttemptResult) => {
		const judgement = judge({ method }, attempt);
		if (judgement.verdict === 'done') return ['done', undefined];
		const { verdict, mayBeRepeated } = judgement;
		return [mayBeRepeated ? `${verdict}, temporary` : verdict, judgement.code];
	};
	for (const attempt of attempts) {
		expect(of('GET', attempt)).toEqual([read, code]);
		expect(of('POST', attempt)).toEqual([post, code]);
	}
});
