// Responses to a payment, and what each means: a payment counts as paid only with a proof.

type Meaning = 'paid' | 'notPaid' | 'unknown';

interface PaymentResponse {
	status: number;
	body: string;
	meaning: Meaning;
}

/** The response that the service document (§4) shows, for a payment of 10 ETB to `etbw_a`. */
const shown = { success: true, amountEtb: 10, txHash: '0x1' };

const responses = (status: number, meaning: Meaning, ...bodies: unknown[]): PaymentResponse[] =>
	bodies.map((body) => ({
		status,
		meaning,
		body: typeof body === 'string' ? body : JSON.stringify(body),
	}));

const words = (text: string): string[] => text.split(' ');
const shownWith = (...fields: object[]): object[] => fields.map((each) => ({ ...shown, ...each }));
const withoutHash = { success: true, amountEtb: 10 };

/** One for each way in which a response is judged. Fields and words: `test/unit/judge.test.mts`. */
export const paymentResponses: PaymentResponse[] = [
	...responses(200, 'paid', shown, { data: shown }, { ...shown, data: { bank: 'b' } }),
	...responses(
		200,
		'paid',
		...shownWith(
			...['COMPLETED', 200, true, null, ''].map((status) => ({ status })),
			...[null, [], {}, false, 0, 'none', 'no error'].map((error) => ({ error })),
			...[{ toUserId: 'etbw_a' }, { amountEtb: '10.00' }, { amountEtb: null }, { amountEtb: '' }],
			...[{ note: '"success": false' }, { receipt: { status: 1 } }, { status: 'Success.' }],
			{ processedAt: 1793491200, cancelUrl: 'https://x.example/1', confirmations: 12 },
			...[{ data: { amountEtb: '10.00' } }, { data: shown }],
		),
	),
	...[201, 299].flatMap((status) => responses(status, 'paid', shown)),
	...responses(202, 'unknown', shown, {}, '', 'OK', { success: false }),
	...responses(207, 'unknown', shown, { success: false }),
	...responses(
		200,
		'unknown',
		...shownWith(
			...['failed', 'PENDING', '500', '??', false, 402, ['failed'], { value: 'failed' }].map(
				(status) => ({ status }),
			),
			...['No money', { code: 17 }, ['No money'], true, 17].map((error) => ({ error })),
			...[{ failed: true }, { failed: 2 }, { isPending: true }, { paid: false }],
			{ code: 'failed' },
			...[...words('0x 0x0 null pending 0xundefined'), ' ', undefined, null, false, {}, []].map(
				(txHash) => ({ txHash }),
			),
			...[{ success: false }, { status: 'pending' }, { txHash: null }, { txHash: '0x2' }].map(
				(data) => ({ data }),
			),
			...[{ transaction: { status: 'failed' } }, { receipts: [{ error: 'No money' }] }],
			...[{ toUserId: 'etbw_b' }, { toUserId: null }, { data: { toUserId: 'etbw_b' } }],
			...[0, -10, 'much', true, [10], {}].map((amountEtb) => ({ amountEtb })),
			{ receipts: [{ result: { code: 17 } }] },
			...['true', 1, null].map((success) => ({ success })),
			...[{ data: { amountEtb: 20 } }, { data: { amountEtb: null } }, { dryRun: true }],
		),
		...[withoutHash, { data: withoutHash }, { amountEtb: 10, txHash: '0x1' }, [shown]],
		...[{ result: shown }, { success: false, txHash: '0x1' }, { success: false, paid: true }],
		...[{ status: 'pending' }, { code: 'DUPLICATE' }, { data: { success: true } }].map((each) => ({
			...each,
			success: false,
		})),
		'{"success":true,"txHash":"0x1","status":"failed","status":"ok"}',
		'{"success":true,"toUserId":"etbw_b","toUserId":"etbw_a","txHash":"0x1"}',
		'{"\\u0073uccess":false,"success":true,"txHash":"0x1"}',
		`${JSON.stringify(shown)}${JSON.stringify(shown)}`,
		...['{"success":true,"txHash":"0x1"', '', 'OK', 'null', '<html>OK</html>', '{"data":{}}'],
	),
	...responses(
		200,
		'notPaid',
		...[{ success: false }, { success: false, status: 'failed', error: 'No money' }],
		...[{ success: false, txHash: null, amountEtb: 0 }, { data: { success: false } }],
		{ success: false, code: 'E1042' },
	),
	...[400, 422, 429].flatMap((status) =>
		responses(status, 'unknown', { status: 'pending' }, { success: 'yes' }, { error: 'Duplicate' }),
	),
	...responses(422, 'notPaid', {}, '', { error: 'Bad Request', statusCode: 422 }),
	...responses(422, 'unknown', { code: 'E1042' }, { message: 'No way' }),
	...responses(400, 'notPaid', { message: 'Bad request', transactionLimit: 5000 }),
];
