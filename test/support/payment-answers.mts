// Answers to a payment, and what each means: a payment counts as paid only with a proof.

export type Meaning = 'paid' | 'notPaid' | 'unknown';

interface PaymentAnswer {
	status: number;
	body: string;
	meaning: Meaning;
}

/** What the service document (§4) shows, for a payment of 10 ETB to `etbw_a`. */
const shown = { success: true, amountEtb: 10, txHash: '0x1' };

const answers = (status: number, meaning: Meaning, ...bodies: unknown[]): PaymentAnswer[] =>
	bodies.map((body) => ({
		...{ status, meaning },
		body: typeof body === 'string' ? body : JSON.stringify(body),
	}));

const words = (text: string): string[] => text.split(' ');
const with_ = (...fields: object[]): object[] => fields.map((each) => ({ ...shown, ...each }));
const withoutHash = { success: true, amountEtb: 10 };

export const paymentAnswers: PaymentAnswer[] = [
	...answers(200, 'paid', shown, { data: shown }, { ...shown, data: { bank: 'b' } }),
	...answers(
		200,
		'paid',
		...with_(
			...words('success ok OK paid completed COMPLETED confirmed sent processed').map((status) => ({
				status,
			})),
			...[200, true, null, ''].map((status) => ({ status })),
			...[null, '', [], {}, false, 0, 'none'].map((error) => ({ error })),
			{ errorCode: 0 },
			{ toUserId: 'etbw_a' },
			{ amountEtb: '10.00' },
			{ amountEtb: null },
			{ amountEtb: '' },
			{ memo: 'Salary', createdAt: '2026-11-01T00:00:00Z' },
			{ note: '"success": false' },
			{ receipt: { status: 1 } },
			{ code: '00', refundable: true, countryCode: 'ET' },
			{ message: 'Disbursement successful', error: 'no error' },
			{ status: 'Success.', queuedAt: 1793491200 },
			{ requestId: 'req_8a7', currency: 'ETB', queuedAt: '2026-11-01T00:00:00Z' },
			{ processedAt: 1793491200, cancelUrl: 'https://x.example/1', confirmations: 12 },
			{ bank: { name: 'Commercial' }, result: { code: '00' } },
			{ data: { amountEtb: '10.00' } },
			{ data: shown },
		),
	),
	...answers(201, 'paid', shown),
	...answers(299, 'paid', shown),
	...answers(202, 'unknown', shown, {}, '', 'OK', { success: false }),
	...answers(207, 'unknown', shown, { success: false }),
	...answers(
		200,
		'unknown',
		...with_(
			...[
				...words(
					'failed FAILED failure error rejected declined cancelled canceled reverted reversed',
				),
				...words('refunded expired timeout timed_out invalid unpaid not_paid unsuccessful unknown'),
				...words('aborted denied blocked incomplete pending PENDING queued processing in_progress'),
				...words('waiting accepted submitted scheduled on_hold created initiated partial new 500'),
				...words('unconfirmed broadcast 207 approved TBD ??'),
				...['in progress', 'on its way', false, 402, 202],
			].map((status) => ({ status })),
			...['state', 'result', 'outcome', 'code', 'txStatus', 'payment_status'].map((name) => ({
				[name]: 'failed',
			})),
			...['No money', { code: 17 }, ['No money'], true, 17].map((error) => ({ error })),
			{ errors: ['No money'] },
			{ errorMessage: 'No money' },
			{ failureReason: 'No money' },
			{ hasError: true },
			{ txStatus: false },
			{ failed: true },
			{ isPending: true },
			{ ok: false },
			{ paid: false },
			{ completed: false },
			...[...words('0x 0x0 null none pending'), '', ' ', undefined, null, false, true, {}, []].map(
				(txHash) => ({ txHash }),
			),
			{ data: { success: false } },
			{ data: { status: 'pending' } },
			{ data: { txHash: null } },
			{ data: { txHash: '0x2' } },
			{ transaction: { status: 'failed' } },
			{ receipts: [{ error: 'No money' }] },
			{ toUserId: 'etbw_b' },
			{ toUserId: null },
			{ data: { toUserId: 'etbw_b' } },
			...[0, -10, 'much', true, [10], {}].map((amountEtb) => ({ amountEtb })),
			...['true', 1, null, 'yes'].map((success) => ({ success })),
			...['error: nonce too low', 'insufficient funds', 'null\u200b', '[object Object]'].map(
				(txHash) => ({ txHash }),
			),
			...words('pending... reverted unknown no N.A. nil 0xundefined reverted17').map((txHash) => ({
				txHash,
			})),
			{ receipt: { status: 0 } },
			...['yes', '1', 2].map((failed) => ({ failed })),
			{ isReversed: 'yes' },
			{ status: ['failed'] },
			{ status: { value: 'failed' } },
			{ receipts: [{ result: { code: 17 } }] },
			...[{ phase: 'failed' }, { dryRun: true }, { simulated: true }, { err: 'x' }],
			{ data: { amountEtb: 20 } },
			{ data: { amountEtb: null } },
		),
		withoutHash,
		{ data: withoutHash },
		{ amountEtb: 10, txHash: '0x1' },
		[shown],
		{ result: shown },
		{ success: false, txHash: '0x1' },
		{ success: false, data: { success: true } },
		{ success: false, status: 'pending' },
		{ success: false, data: { state: 'QUEUED' } },
		{ success: false, status: 'completed' },
		{ success: false, transactionHash: '0xabc123' },
		{ success: false, paid: true },
		{ success: false, pending: true },
		{ success: false, status: 'in_flight' },
		{ success: false, status: ['pending'] },
		{ success: false, error: 'timeout waiting for confirmation' },
		{ success: false, code: 'DUPLICATE' },
		'{"success":true,"txHash":"0x1","status":"failed","status":"ok"}',
		'{"success":true,"error":"x","error":null,"txHash":"0x1"}',
		'{"success":true,"toUserId":"etbw_b","toUserId":"etbw_a","txHash":"0x1"}',
		'{"success":true,"txHash":null,"txHash":"0x1"}',
		'{"\\u0073uccess":false,"success":true,"txHash":"0x1"}',
		'{"success":false,"success":true,"txHash":"0x1"}',
		'{"success":true,"txHash":"0x1"',
		`${JSON.stringify(shown)}${JSON.stringify(shown)}`,
		'',
		'OK',
		'null',
		'<html>OK</html>',
		'{}',
		'{"data":{}}',
	),
	...answers(
		200,
		'notPaid',
		{ success: false },
		{ success: false, message: 'No money' },
		{ success: false, status: 'failed', error: 'No money' },
		{ success: false, txHash: null, amountEtb: 0 },
		{ success: false, code: 'E1042' },
		{ data: { success: false } },
	),
	...[400, 422, 429].flatMap((status) =>
		answers(
			status,
			'unknown',
			{ status: 'pending' },
			{ status: 'completed', transactionHash: '0xabc1' },
			{ success: 'yes' },
			{ error: 'Duplicate of a payment' },
		),
	),
	...answers(422, 'notPaid', {}, '', { error: 'Bad Request', statusCode: 422 }),
	...answers(422, 'unknown', { code: 'E1042' }, { message: 'No way' }),
	...answers(400, 'notPaid', { message: 'Bad request', transactionLimit: 5000 }),
	...answers(422, 'unknown', { executionTime: 12, processedAt: 1793491200, countryCode: 'ET' }),
];
