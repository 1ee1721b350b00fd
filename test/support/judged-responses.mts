/**
 * Responses of the service, and the verdict on each. `test/unit/payment-words.test.mts` says which words need
 * one.
 */
import type { Judgement } from '../../nodes/shared/service/judge.ts';

/** Bodies of a 200 which leave open whether a setting was set. */
export const failedSettings: string[] = [
	...['Error 17', 'cannot save', 'not saved', 'Access denied', 'failed'].map((message) =>
		JSON.stringify({ message }),
	),
	...['{"success":true,"data":{"success":false}}', '{"data":{"errors":["No way"]}}'],
	...['{"error":"","errors":["No"]}', '{"data":{"ok":false}}', '{"success":"false"}'],
	...['{"status":"error"}', '{"success":0}', '<h1>Sign in</h1>', '{"success": tru'],
	...['{"success":"no"}', '{"code":500}', '{"status":{"code":400}}', '{"state":"failed"}'],
	...['{"errorCode":17}', '{"result":{"success":false}}', '[{"error":"x"}]'],
	...['{"message":"Could not be saved: not allowed"}', 'Unauthorized', 'FAILED', 'Error: x'],
	...['{"success":false,"success":true}', '{"message":"Internal Server Error"}'],
	...['off', 'error', 'fail', 'failed', 'failure'].map((ok) => JSON.stringify({ ok })),
	...['{"data":{"ok":"n"}}', '{"result":{"ok":"no"}}', '{"data":{"status":"failed"}}'],
	...['{"result":{"code":500}}', '{"status":"no"}', '{"status":false}', '{"error":{"id":"x"}}'],
];

/** Texts of a refusal, each with words that leave open whether it paid, by the reason. */
const unclearTexts = `
	being sent; being paid; being made; being executed; it is already there; inflight; in process; for approval;
	scheduled; partial; unconfirmed; not yet; still processing;
	broadcasted; cleared; confirmed; credited; delivered; disbursed; done; executed; finalised; is complete; issued;
	mined; moved; was paid; posted; refunded; released; reversed; settled; successful; success; succeeded; transferred;
	wired; accepted the; burned; charged; dispatched; gone out; landed; left the; minted; relayed; remitted; withdrawn;
	it was made; it was processed; in transit; on its way; on the way; payment complete; transfer complete; payment ok; payment is final;
	payment accepted; transfer accepted; transaction accepted; disbursement accepted; was accepted; were accepted;
	been accepted; is accepted; has accepted; have accepted; payment initiated; payment received; payment recorded;
	payment submitted; payout accepted; payment 5 was at once received; it went through;
	will be retried; is retrying; no response; did not respond; did not answer; took too long; too long for it; retries;
	retry limit; retry exceed; max attempts; max retr; max wait; wait for block; wait for transaction; wait time;
	wait limit; no confirmation; no reply; wait for the block; wait for the transaction; maximum wait; poll; time limit;
	broken pipe; connection; socket; network error; fetch failed; upstream; gateway; unavailable; aborted; econn; epipe;
	eof; hang up; channel closed; stream closed; pool closed; client closed; session is closed; cancelled; terminated;
	disconnected; empty reply; recv fail; other side; request failed; err network; err bad response;
	internal error; server error; unknown error; status code 5; task cancelled; context was cancelled; cannot read;
	-32000; something went wrong; end of json; expecting value; nonetype; undefined array; undefined index;
	invalid reply; missing reply; malformed reply; bad reply; empty response; no result; bad json reply; bad rpc result;
	response body; unexpected token; looking for beginning; rpc request; rpc error; serialize;
	nonce; underpriced; known transaction; replace; replay; receipt; mempool; hash; confirmations; confirm the; yet;
	transaction id; tx number; payment reference; transfer id; transaction not found; transfer not mined;
	payment not confirmed; disbursement not verified; header not found; block not found; payment record not found;
	payment entry was not found; payment row could not be found; payment status not found; successflag: x;
	debit; deducted; escrow; deferred; postponed; delayed; parked; tomorrow; was taken; money reserved;
	amount was reserved; funds is reserved; funds are reserved; money were reserved; from the bank; from provider;
	from chain; bank answer; bank reply;
	deadlock; unique; database; sqlite; redis; noauth; eacces; enospc; relation "x"; input syntax; string value; column;
	p2002; e11000; 23505; 40001; violates; for table; table is; after insert; too many clients; too many open files; @'x';
	failed to save; could not be store; could not notif; webhook; callback; sms; notification; ledger; refund failed;
	reversal failed; compensation failed; could not send; failed to log; could not write; could not verify;
	could not publish; after payment; after capture; after transfer; after sending; after charge;
	idempotency; payment exists; transfer exists; transaction exists; disbursement exists; reference exists; identical;
	used before; dup key; underway; ongoing; is running; concurrent; double; repeat; reused; twice; once per;
	another payment; another transaction; locked by; forwarded; requested before; simultaneous; open payment;
	same payment; previous payment; first request; same transaction; same transfer; to finish;
	review; held; signature required; signatures are required; signature is missing; more signature; signing;
	authorization required by; authorisation by; needs sign; needs authori; otp; pin; approval; payment must be approved;
	second person; might; may still; may have; unknown status; unknown state; unknown outcome; unknown result; unknown if;
	unknown whether; status unknown; state is unknown; outcome of it unknown; result unknown;
	{; }; </x; <!x; <?x; <b; "x":; status: x; state: x; stage= x; phase: x; outcome: x; result: x; success: x`;

/** Texts that say why a payment is refused. The last ones have a word for a payment that was made, and deny it. */
const refusingTexts = `
	Insufficient; not enough; no money; no funds; low balance;
	invalid; not valid; incorrect; wrong; required; must; missing; malformed; not a number; should be; should not be; validation;
	field; bad request; unprocessable;
	limit; exceed; too large; too small; too low; too high; too much; maximum; minimum; below; above; between;
	greater than; less than; positive; negative; too many; slow down; throttl; error code: 1015;
	not found; no such; not exist; isn't existent; unsupported; cannot post; cannot be used;
	unknown user; unknown wallet; unknown account; unknown recipient; unknown field; unknown route; unknown endpoint;
	unauthorised; authenticat; authorisation; credential; api key; token; forbidden; permission; not allowed;
	not permitted; not authorised; not supported; not acceptable; not verified; not active; not eligible;
	no wallet; not have; kyc; blocked; suspended; frozen; disabled; inactive; closed; locked; account not; user was not;
	wallet is not; recipient not; denied; rejected; declined; refused; payment could not; transfer not;
	disbursement was not; money not;
	invalid, not paid; invalid, no money sent; invalid, never paid; invalid, cannot be sent; invalid, must be paid;
	invalid, should be sent; invalid, wasn't paid; invalid, payment not accepted; invalid, payment never received;
	invalid, payment cannot be accepted; invalid, payment wasn't accepted`;

/** Words of a failure, or of a payment that is not finished, in any field of a success. */
const contradictingTexts = `
	aborted; unable; rollback; being processed; being sent; being paid; being made; being executed; for approval;
	under review; not yet; wasn't saved; no funds moved; not paid; not sent; not made; not done; not final;
	it did not go; it didn't go; nothing was; no transfer; not found; not answer; dropped; out of gas; payment initiated;
	transaction initiated; will be sent; will be paid; will be processed; will be transferred; proposed; draft; held by;
	needs approval; needs 2; otp; returned by; bounced; voided; charged back; replay`;

/** Names of fields that a refusal may have beside its reason. */
const namesInRefusals = `
	error_code response_code result_code name param path pointer source target input property issues amount_min max
	limit_value method docs_url help instance trace_id correlation_id retry_after remaining reset user_id amount currency
	shortfall requested available current_balance treasury_balance account_balance wallet_balance`;

/** Texts that say only that too many requests were sent. */
const tooManyRequests = [
	...['', '{}', '{"success":false}', '{"code":429,"error":"too_many_requests"}', 'Rate limited!'],
	...[
		'Rate limit exceeded, please slow down. Try again in 5 seconds',
		'Too many requests, retry after 5 s',
	],
	...['Too many request', 'Too many requests, wait, later', 'Rate limit'],
];

const textsIn = (list: string): string[] =>
	list.split(';').map((text) => text.trim().replace(/\s+/g, ' '));

type Verdict = Judgement['verdict'];
type Case = [status: number, text: string, verdict: Verdict];

/** Each of these bodies with each of these statuses. Fields are written as JSON. */
const responses = (verdict: Verdict, statuses: number[], ...bodies: unknown[]): Case[] =>
	bodies.flatMap((body) => {
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		return statuses.map((status): Case => [status, text, verdict]);
	});
const success = { success: true, txHash: '0x1' };
/** A response 200 that says yes, with each of these fields beside that. */
const beside = (verdict: Verdict, ...fields: object[]): Case[] =>
	responses(verdict, [200], ...fields.map((each) => ({ ...success, ...each })));
/** A refusal in these words, as a status and as a field say it. */
const inWords = (verdict: Verdict, ...messages: string[]): Case[] =>
	messages.flatMap((message) => [
		...responses(verdict, [422], { message }),
		...responses(verdict, [200], { success: false, message }),
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
		...valuesOf(
			'txHash',
			'err1 undefined1 null1 test-1 sandbox-1 draft-1 job-1 dummy1 fake1 http1',
		),
		...valuesOf(
			'txHash',
			'placeholder1 batch-1 task-1 req-1 approval-1 timeout-1 simulat1 -1 queue-17 temp-1 TBD1',
		),
		...valuesOf('txHash', 'unknown1 mock-1 proposal-1 ipfs://1 0xmock1 tx-mock-1'),
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
	...responses(
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
	...responses(
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
	...responses(
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
	...responses(
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

/** Responses to a payment. */
export const judgedPayments: Case[] = [
	...responses('unknown', [400, 404, 422, 429, 302], success),
	...responses('unknown', [403], '{"success":false,"success":true}'),
	...responses('unknown', [404], '<pre>{&quot;txHash&quot;:&quot;0x1&quot;}</pre>'),
	...responses('unknown', [429], '{"Success":"TRUE"}', { success: 1 }, { success: 10 }),
	...responses('unknown', [429], '{"success":false,"txhash": "0x1"}'),
	...responses('notDone', [429], { success: false, txHash: '' }, { status: 'Too Many Requests' }),
	...responses('notDone', [429], { message: 'Too many requests, please wait for the queue' }),
	...responses(
		'notDone',
		[429],
		'error code: 1015',
		'Too many requests, payouts closed',
		...tooManyRequests,
	),
	...responses('notDone', [402], {
		message: 'Insufficient funds: the transfer will be possible after a deposit',
	}),
	...responses('unknown', [406, 424, 444, 449], ''),
	...responses('unknown', [406, 410, 418, 451], '{}'),
	...[500, 503, 408, 409, 425, 499].flatMap((status) =>
		responses('unknown', [200], { success: false, status }),
	),
	...responses('notDone', [200], { success: false, message: 'Request could not be processed' }),
	...responses('notDone', [403], { message: 'Nope' }),
	...responses('unknown', [409], { message: 'Duplicate' }),
	...responses('unknown', [500], { success: false }),
	...successes,
	...refusals,
	...inWords(
		'unknown',
		...unclearWords,
		...textsIn(unclearTexts).map((text) => `Invalid: ${text}`),
	),
	...beside(
		'done',
		...valuesOf('error', 'null n/a -'),
		...fieldsOf('sentCount sentAmount confirmedBalance', 0),
		...fieldsOf('pendingPayable processingTime pendingBalance pendingUrl', 'x'),
	),
	...beside(
		'unknown',
		...valuesOf('paid', 'n off error'),
		...fieldsOf('sts status_name statusLabel respCode retCode reasonCode', 'X1'),
		...fieldsOf('data response status', { code: 'X1' }),
		...fieldsOf(
			'isCached existing sandbox mock demo validateOnly signatureRequired actionRequired',
			true,
		),
		...fieldsOf('otpRequired blocked frozen held stuck dropped returned bounced chargeback', true),
		...[{ data: { cached: true } }, { cached: 1 }, { cached: 'yes' }],
		...[{ data: { level: 'error' } }, { type: 'error' }, { severity: 'error' }, { level: 'fatal' }],
		...fieldsOf('netAmount creditedAmount', 0),
		...[{ amount: -5 }, { requiresStep: 'x' }],
	),
	...responses(
		'notDone',
		[422],
		{ ok: false, message: 'No money' },
		...fieldsOf('error_message status_message response_message result_message', 'No money'),
		...fieldsOf('response_desc result_desc description error_description reason hint', 'No money'),
		...fieldsOf(namesInRefusals.trim().replace(/\s+/g, ' '), 'x').map((field) => ({
			message: 'No money',
			...field,
		})),
		...valuesOf('received', 'undefined null string number boolean object array').map((field) => ({
			message: 'Invalid',
			...field,
		})),
		...textsIn(
			'permission; unauthenticated; rate limit; payment required; method required; payment not; unsupported; blocked',
		).map((status) => ({ message: 'Invalid', status })),
	),
	...responses(
		'unknown',
		[422],
		{ errors: [{ received: 'x', message: 'Invalid' }] },
		...[{ ok: 'yes' }, { received: 'x' }].map((field) => ({ message: 'Invalid', ...field })),
		...valuesOf('code', '000 09 68 91 96 approved ACSC PDNG').map((field) => ({
			message: 'Invalid',
			...field,
		})),
	),
	...beside('unknown', ...textsIn(contradictingTexts).map((note) => ({ note }))),
	...beside(
		'unknown',
		...fieldsOf('tx_ok transactionOk accepted delivered disbursed posted submitted', false),
	),
	...responses('notDone', [422], ...textsIn(refusingTexts).map((message) => ({ message }))),
	...unclearWords.flatMap((error) => responses('unknown', [400], { success: false, error })),
];
