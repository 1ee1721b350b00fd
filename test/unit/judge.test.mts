/** The meaning of an answer, by its status and its body. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { readAccount } from '../../nodes/shared/account.ts';
import { judge, type Judgement } from '../../nodes/shared/service/judge.ts';
import type { Answer, Attempt } from '../../nodes/shared/service/attempt.ts';
import { resultOf } from '../../nodes/shared/service/call.ts';
import { reasonOfRefusal } from '../../nodes/shared/service/answerRules.ts';
import { unclearPaymentPatterns, refusalWords } from '../../nodes/shared/service/paymentWords.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';

const get: ServiceRequest = { method: 'GET', path: '/x' };
const pay: ServiceRequest = {
	method: 'POST',
	path: '/x',
	answersWith: 'txHash',
	movesMoney: true,
	body: { toUserId: 'etbw_a', amountEtb: 10 },
};

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const answered = (text: string, status = 200): Answer => ({
	kind: 'answer',
	status,
	headers: {},
	text,
	body: parsed(text),
});

describe('the fields of a success body', () => {
	const flatFields = (text: string): IDataObject => {
		const data = { baseUrl: 'https://example.com', apiKey: 'key-of-the-test' };
		const account = readAccount({ id: '1', name: 'account', type: 'etbWalletApi', data });
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

describe('a long hostile answer takes linear time', () => {
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
		const { verdict } = judge(pay, answered(text, status));
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
		judge(set, answered(text, status)).verdict;

	test.each([
		...['{"success":true,"data":{"success":false}}', '{"data":{"errors":["No way"]}}'],
		...['{"error":"","errors":["No"]}', '{"data":{"ok":false}}', '{"success":"false"}'],
		...['{"status":"error"}', '{"success":0}', '<h1>Sign in</h1>', '{"success": tru'],
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
])('of %j the answer %s is %s', (body, text, verdict) => {
	const set: ServiceRequest = { method: 'PUT', path: '/x', body };
	expect(judge(set, answered(text)).verdict).toBe(verdict);
});

describe('a payment', () => {
	type Verdict = Judgement['verdict'];
	type Case = [status: number, text: string, verdict: Verdict];

	/** Each of these bodies with each of these statuses. Fields are written as JSON. */
	const answers = (verdict: Verdict, statuses: number[], ...bodies: unknown[]): Case[] =>
		bodies.flatMap((body) => {
			const text = typeof body === 'string' ? body : JSON.stringify(body);
			return statuses.map((status): Case => [status, text, verdict]);
		});
	const success = { success: true, txHash: '0x1' };
	/** An answer 200 that says yes, with each of these fields beside that. */
	const beside = (verdict: Verdict, ...fields: object[]): Case[] =>
		answers(verdict, [200], ...fields.map((each) => ({ ...success, ...each })));
	/** A refusal in these words, as a status and as a field say it. */
	const inWords = (verdict: Verdict, ...messages: string[]): Case[] =>
		messages.flatMap((message) => [
			...answers(verdict, [422], { message }),
			...answers(verdict, [200], { success: false, message }),
		]);
	const words = (text: string): string[] => text.split(' ');
	/** For each of these names, separated by blanks, an object whose field of that name has the value. */
	const fieldsOf = (names: string, value: unknown): object[] =>
		words(names).map((name) => ({ [name]: value }));
	/** For each of these values, separated by blanks, an object with the value in the field. */
	const valuesOf = (field: string, values: string): object[] =>
		words(values).map((value) => ({ [field]: value }));

	const successes = [
		...beside(
			'done',
			...valuesOf('status', 'true 1 0x1 200 201 OK okay success successful successfully succeeded'),
			...valuesOf('status', 'sent paid done complete completed confirmed settled executed mined'),
			...valuesOf('status', 'processed delivered disbursed transferred finalized finalised'),
			...[{ cancelUrl: 'https://x.example.com' }, { refundable: true }, { code: '00' }],
			...[{ error: '' }, { errors: [] }, { refund: null }, { is_paid: true }],
			...[{ queuedAt: '2026-11-01' }, { txHash: 'a1'.repeat(32) }, { txHash: 'FT25331ABC12' }],
			{ txHash: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb' },
			...[{ message: 'Payment processed without delay' }, { networkCosts: 3 }],
			...[{ processingFee: 0 }, { statusUrl: 'https://x/pending' }, { resultCode: '00' }],
			...[{ currency: { code: 'ETB' } }, { postage: 'paid by us' }, { pendingFee: 2 }],
			...[{ defaultCurrency: 'ETB' }, { recipient: { name: 'Kuwait Trading' } }],
			{ message: 'Transaction submitted to the network' },
			...[{ executionTimeMs: 0 }, { feeAmount: 0 }, { amount: 10 }, { status: 'FINISHED' }],
			...[{ to_user_id: 'etbw_a' }, { type: 'disbursement' }],
		),
		...beside(
			'unknown',
			...fieldsOf('err error exception failReason rejected declineReason cancelled reverted', 'x'),
			...fieldsOf('reversal refund expired dry_run dryRun simulated pendingSince queued', 'x'),
			...fieldsOf('waiting state phase outcome result statusText code responseCode', 'x'),
			...fieldsOf('status_code fault', 'x'),
			...[
				{ status: 'accepted' },
				{ status: { type: 'on its way' } },
				{ TxSts: 'PDNG' },
				{ resultCode: 17 },
			],
			...[{ message: 'Payment is being processed' }, { warning: 'It was not executed' }],
			...[{ message: 'Transfer initiated' }, { note: 'Disbursement initiated' }],
			...[{ message: { en: 'Awaiting approval' } }, { description: 'Timed out' }],
			...[{ x: 'pending' }, { inProgress: true }, { timedOut: true }, { onHold: true }],
			...[{ note: 'transfer failed' }, { comment: 'Not pending' }, { finalized: 'N' }],
			...[{ credited: false }, { paymentSuccess: false }, { failedAt: '2026-11-01' }],
			...[{ refund: { reason: 'x' } }, { replayed: true }, { idempotent: true }],
			...[{ livemode: false }, { testMode: true }, { approvalRequired: true }],
			...[{ broadcast: false }, { txHash: '{"a":1}' }, { to_user_id: 'etbw_b' }, { amount: 0 }],
			...[{ data: { paid_amount: '0.00' } }, { voided: true }, { isDraft: true }],
			// A path that is cut off keeps its end.
			...[{ level: 'error' }, { ['x'.repeat(80)]: { status: 'accepted' } }],
			...[{ message: 'Nothing was moved' }, { note: 'Money returned to treasury' }],
			...valuesOf('txHash', 'pending-1 queued:8a7 404 202 n/a:1 https://x/tx/1 simulated-0x1'),
			...valuesOf('txHash', 'unknown1 mock-1 proposal-1'),
			...[
				...fieldsOf('success ok paid done completed confirmed settled executed sent', false),
				...fieldsOf('processed finalised mined transferred approved isPaid wasSent', false),
				...fieldsOf('has_confirmed succeeded finalized', false),
			].map((data) => ({ data })),
			...words('failed declined rejected insufficient reverted').flatMap((word) =>
				fieldsOf('message reason detail description', `Transfer ${word}`),
			),
		),
	];

	const refusals = [
		...answers(
			'unknown',
			[422],
			{ success: 'true' },
			{ amountEtb: 10, txHash: '0xabc' },
			{ result: { success: true } },
			'{"message":"{\\"success\\":true}"}',
			'{"message":"{\\"body\\":\\"{\\\\\\"txHash\\\\\\":\\\\\\"0x1\\\\\\"}\\"}"}',
			`{"message":"Got {'success': True}"}`,
			`{"message":"Got {'success': False, 'txHash': None}"}`,
			...['Receipt failed\nPayment sent', 'Could not email user but payment was sent'].map(
				(message) => ({ message }),
			),
			...[
				...['No problem: the payment was made', 'The transfer will be retried'],
				...['Funds were deducted', 'Payout completed, receipt could not be stored'],
				'Request could not be processed',
			].map((message) => ({ message })),
			...['under review', 'deferred', 'not yet confirmed', 'no final state', 'blockchain'].map(
				(state) => ({ success: false, state }),
			),
			...[{ status: 'submitted' }, { waiting: true }, { transaction: '0x1' }, { transactions: 0 }],
			...[{ status: { code: 'ACSC' } }, { stage: 'completed' }, { TxSts: 'ACSP' }],
			...[{ trxRef: 'T1' }, { paidAt: '2026-11-01' }, { statusCode: 504, message: 'x' }],
			{ data: { state: { value: 'completed' } } },
			...['status: completed, error: none', 'status=completed&error=none', 'status: completed'],
			'<r><status>COMPLETED</status><error>none</error></r>',
			...['<r><status>FAILED</status></r>', '{&#x27;status&#x27;: &#39;completed&#39;}'],
			...fieldsOf('receipt state stage hash tx id reference processed paidAt result outcome', 'x'),
			...[{ data: { id: 'x' } }, { error: { txId: 'x' } }],
		),
		...answers(
			'unknown',
			[422, 429],
			...[{ error: { code: -32005, message: 'request rate limited' } }, { newBalance: 990 }],
			...[
				{ status: 'failed', data: 'FT25331ABC12' },
				{ code: '0', message: 'x' },
			],
			...[{ type: 'disburse.completed', data: { id: 1 } }, { code: '23505' }],
			...[{ message: 'ክፍያው ተልኳል' }, { _tx: '0xab12' }],
		),
		...answers(
			'notDone',
			[422],
			...[{ message: 'The submitted value is invalid' }, '{"success":false,"txHash": null}'],
			{ status: 'rejected', transaction: { id: null } },
			...valuesOf('status', 'failed err error rejected declined denied refused invalid bad'),
			...valuesOf('status', 'insufficient forbidden not_found unsuccessful unauthorized'),
			...valuesOf('status', 'unprocessable no false 400 404 422'),
			{ status: 'too many requests' },
			{ detail: [{ loc: ['body', 'amountEtb'], msg: 'Must be above 0', ctx: { gt: 0 } }] },
			{ errors: [{ type: 'field', value: -1, msg: 'Invalid value', location: 'body' }] },
			{ error: { issues: [{ expected: 'number', received: 'nan', message: 'Required' }] } },
			{ message: 'Insufficient ETB', version: 'v1', non_field_errors: ['Insufficient balance.'] },
			{ success: false, error: { code: 'E17', message: 'No money', details: [] } },
			{ errors: [{ field: 'toUserId', message: 'not found' }], data: null },
			{ errors: { toUserId: ['"toUserId" must be a text'] }, amountEtb: 10 },
			{ message: 'No money', details: { availableBalance: 3, required: 10, limit: 5 } },
			{
				type: 'https://x.example.com/problems/1',
				title: 'Forbidden',
				status: 403,
				detail: 'Denied',
			},
			{ statusCode: 400, error: 'Bad Request', message: ['amountEtb must be positive'] },
			{ timestamp: '2026-11-01T00:00:00Z', path: '/api/v1/partners/disburse', requestId: 'r1' },
			...[
				...['Insufficient balance (3 < 10)', 'Amount must be > 0', 'User has been suspended'],
				...['amountEtb is not a number', 'No wallet for this user', 'Account must be approved'],
				...['Wallet is not active', 'No such user', 'Daily limit exceeded', 'Too many requests'],
			].map((message) => ({ error: 'Bad Request', message })),
		),
		...inWords(
			'notDone',
			...['The payment was not sent', 'No money was sent', 'User must be approved'],
			...['Account not confirmed', 'Unknown user'],
		),
		...inWords(
			'unknown',
			...['Transaction is being processed', 'The payment was sent', 'Transfer completed'],
			...['Payment submitted', 'No response from the bank', 'Status of the payment is unknown'],
			...['read ECONNRESET', 'Transaction was not mined, it might still be', 'Deadline exceeded'],
			...['Internal server error', 'upstream connect error'],
			...['Payment record not found', 'Declined after capture'],
			`See https://x/tx/0x${'a1'.repeat(32)}`,
		),
		...answers(
			'notDone',
			[404],
			...['', 'Not Found', 'Cannot POST /api/v1/partners/disburse'],
			'<html><head><title>404 Not Found</title></head><body><hr>nginx</body></html>',
			'<!DOCTYPE html>\n<html lang="en"><body><pre>Cannot POST /x</pre></body></html>',
		),
	];

	// Words of services that may have paid: of a lost connection, a receipt, an earlier payment, or a notice that failed.
	const unclearWords = [
		'Payment of 10 ETB to etbw_a sent, but the receipt could not be stored',
		...['The transfer has completed', 'Paid 10 ETB, could not save receipt', 'unexpected EOF'],
		...['Please check if the payment was made before trying again', 'INTERNAL_SERVER_ERROR'],
		...['Could not notify user after payment was sent', 'Transaction receipt not found'],
		...['Cannot pay again because payment was made earlier', 'Request failed with status code 502'],
		...['Transaction reference has been used before', 'Reference must be unique', 'NONCE_TOO_LOW'],
		'Transaction was not confirmed in 60 seconds. It is unknown if it succeeded',
		...['Transfer held for AML review', 'Payment will be processed within 24 hours', 'write EPIPE'],
		...['Contact support with transaction ID FT1', 'This payment exists', 'Something went wrong'],
		...['Invalid response body: Premature close', 'database is locked', 'Transaction not found'],
		...['This operation was aborted', 'Webhook endpoint not found', 'Reference must not be reused'],
		...['Account locked: transfer underway', 'Payment must be approved by a second person'],
		...['The bank accepted the transfer, but it is invalid', 'ክፍያው ተልኳል', '23505'],
		...['context canceled', 'SERVER_ERROR', 'TimeLimitExceeded'],
		'Maximum polling attempts exceeded',
		...['Exceeded maximum wait for block', 'Unexpected token < in JSON at position 0'],
		...['Missing field in bank answer', 'txHash must be a string', 'Validation: hash is required'],
		...['replacement fee too low', 'Funds reserved, kyc required', 'Second signature required'],
		...['Payment postponed: limit exceeded', 'The same payment was requested before, not allowed'],
		...['Limit of 1 open payment per user exceeded', 'EMFILE: too many open files'],
		...['Null value violates not-null constraint: invalid', 'Record not found after insert'],
		...['Access denied for table disbursements', 'Bank declined the credit after debit'],
		...['Authorization required by a supervisor', 'A previous payment must finish first'],
	];

	test.each([
		...answers('unknown', [400, 404, 422, 429, 302], success),
		...answers('unknown', [403], '{"success":false,"success":true}'),
		...answers('unknown', [404], '<pre>{&quot;txHash&quot;:&quot;0x1&quot;}</pre>'),
		...answers('unknown', [429], '{"Success":"TRUE"}', { success: 1 }, { success: 10 }),
		...answers('unknown', [429], '{"success":false,"txhash": "0x1"}'),
		...answers('notDone', [429], { success: false, txHash: '' }, { status: 'Too Many Requests' }),
		...answers('notDone', [429], { message: 'Too many requests, please wait for the queue' }),
		...answers('notDone', [429], 'error code: 1015'),
		...answers('notDone', [402], {
			message: 'Insufficient funds: the transfer will be possible after a deposit',
		}),
		...answers('unknown', [406, 424, 444, 449], ''),
		...answers('unknown', [406, 410, 418, 451], '{}'),
		...[500, 503, 408, 409, 425, 499].flatMap((status) =>
			answers('unknown', [200], { success: false, status }),
		),
		...answers('notDone', [200], { success: false, message: 'Request could not be processed' }),
		...answers('notDone', [403], { message: 'Nope' }),
		...answers('unknown', [409], { message: 'Duplicate' }),
		...answers('unknown', [500], { success: false }),
		...successes,
		...refusals,
		...inWords('unknown', ...unclearWords),
		...unclearWords.flatMap((error) => answers('unknown', [400], { success: false, error })),
	])('that is answered %i %s is %s', (status, text, verdict) => {
		expect(judge(pay, answered(text, status)).verdict).toBe(verdict);
	});

	describe('shows the rule that judges its answer', () => {
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
			['Invalid: {}', 'quotedAnswer', '{'],
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
			const judgement = judge(pay, answered(JSON.stringify(body), status));
			expect(judgement).toMatchObject({ verdict: 'unknown', rule, matched });
		});

		test.each(reasons)('%s: %s', (message, rule, matched) => {
			expect(reasonOfRefusal(message)).toEqual({ rule, matched });
		});

		test('which has a name of its own', () => {
			const shown = [...unclearMessages, ...reasons].map(([, rule]) => rule);
			const rules = [...Object.keys(unclearPaymentPatterns), ...Object.keys(refusalWords)];
			expect([...shown].sort()).toEqual([...rules, 'unexplainedReason'].sort());
		});

		const shownBy = (...answer: string[]): string[] =>
			execFileSync(process.execPath, ['scripts/judge-answer.mts', ...answer], {
				encoding: 'utf8',
			}).split('\n');

		test('by a program', () => {
			expect(shownBy('422', '{"message":"Could not save it"}')).toEqual([
				'verdict: unknown',
				'code: unclear',
				'problem: The service answered 422 with a message that leaves open whether it paid',
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
			const answer = answered(JSON.stringify({ ...success, ...shown }));
			expect(judge({ ...pay, body }, answer)).toEqual({ verdict: 'done' });
		}
	});
});

const notSent: Attempt = { kind: 'unanswered', errorCode: 'ECONNREFUSED', mayHaveBeenSent: false };
const cutOff: Attempt = { kind: 'unanswered', errorCode: 'ECONNRESET', mayHaveBeenSent: true };
const empty = (...statuses: number[]): Attempt[] =>
	statuses.map((status) => answered('{}', status));
const range = (from: number, to: number): number[] =>
	Array.from({ length: to - from + 1 }, (_, index) => from + index);
const refusals = range(400, 499).filter((status) => ![408, 429, 499].includes(status));

/** The verdicts on a read and on a POST, and the code of both. */
test.each<
	[what: string, attempts: Attempt[], read: string, post: string, code: string | undefined]
>([
	['success', empty(...range(200, 299)), 'done', 'done', undefined],
	['never sent', [notSent], 'notDone, temporary', 'notDone, temporary', 'notReached'],
	['too many requests', empty(429), 'notDone, temporary', 'notDone, temporary', 'refused'],
	['a passing failure', empty(500, 502, 503, 504), 'notDone, temporary', 'unknown', 'unclear'],
	['reset or timeout', [cutOff], 'notDone, temporary', 'unknown', 'noAnswer'],
	['another failure of it', empty(501, ...range(505, 599)), 'notDone', 'unknown', 'unclear'],
	['a refusal', empty(...refusals), 'notDone', 'notDone', 'refused'],
	['a proxy that gave up waiting', empty(408, 499), 'notDone', 'unknown', 'unclear'],
	['a status that is none', empty(NaN, 0, 199, 600), 'notDone', 'unknown', 'unclear'],
	['a redirect that keeps the method', empty(301, 307, 308), 'notDone', 'notDone', 'refused'],
	['one that may follow a POST that was done', empty(302, 303), 'notDone', 'unknown', 'unclear'],
])('%s', (_what, attempts, read, post, code) => {
	const of = (method: 'GET' | 'POST', attempt: Attempt) => {
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
