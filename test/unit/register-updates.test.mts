/** The rows of the register after a payroll, made by the code of the examples (`examples/code/register-updates.mts`). */
import { readExample, tablesOf } from '../../demo/examples.mts';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import {
	check,
	pageAndRows,
	people,
	period,
	purpose,
	referenceOf,
	registered,
	user,
	type Rows,
} from '../support/example-code.mts';

describe('the register after a payroll', () => {
	test.each([
		{ has: [], ends: 'paid', written: 'new paid', needsPerson: false },
		{ has: [], ends: 'notPaid', written: 'new notPaid', needsPerson: true },
		{ has: [], ends: 'unknown', written: 'new unknown', needsPerson: true },
		{ has: ['notPaid'], ends: 'paid', written: 'changed paid', needsPerson: false },
		{ has: ['notPaid'], ends: 'unknown', written: 'changed unknown', needsPerson: true },
		{ has: ['unknown'], ends: 'paid', written: 'changed paid', needsPerson: false },
		{ has: ['unknown'], ends: 'notPaid', written: undefined, needsPerson: true },
		{ has: ['paid'], ends: 'notPaid', written: undefined, needsPerson: false },
		{ has: ['paid'], ends: 'unknown', written: undefined, needsPerson: false },
		{ has: ['paid', 'unknown'], ends: 'notPaid', written: undefined, needsPerson: false },
		{ has: ['unknown', 'paid'], ends: 'notPaid', written: undefined, needsPerson: false },
	])(
		'that had $has, when a payment ends as $ends: $written',
		({ has, ends, written, needsPerson }) => {
			const [row] = check().rows;
			const paid = { amountEtb: 1000, txHash: '0x1', paidAt: '2026-10-26T08:00:00Z' };
			const result = { ...row, mode: 'pay', outcome: ends, ...(ends === 'paid' ? paid : {}) };
			const rows = pageAndRows('payroll.json', {
				'Check List': [[{ ...row }]],
				'Pay salaries': [[{ ...result, message: 'Refused' }]],
				Payments: [has.map((outcome, index) => registered(1, outcome, { id: index + 7 }))],
			});
			const [one, ...more] = rows.filter(({ createdAt }) => createdAt === true);
			expect(more).toEqual([]);
			expect(one && `${one['id'] ? 'changed' : 'new'} ${String(one['outcome'])}`).toBe(written);
			if (one)
				expect(one).toMatchObject({
					reference: referenceOf(1),
					purpose,
					period,
					employeeKey: 'E1',
					requestedAmountEtb: 1000,
					workflow: 'Salaries (own)',
					reason: ends === 'paid' ? '' : 'Refused',
					...(ends === 'paid' && { amountEtb: 1000, txHash: '0x1' }),
				});
			expect(rows.some((each) => each['needsPerson'] === true)).toBe(needsPerson);
		},
	);

	test('says of a payment with another amount than last time what it was', () => {
		const last = { period: '2026-09', reference: `${purpose}-2026-09-E1`, amountEtb: 40_000 };
		const payments = [registered(1, 'paid', last)];
		const [row] = check(payments).rows;
		const runs = { 'Check List': [[{ ...row }]], 'Pay salaries': [[{ ...row, outcome: 'paid' }]] };
		const [written] = pageAndRows('payroll.json', { ...runs, Payments: [payments] });
		expect(written?.['outcome']).toBe('paid');
		expect(written?.['reason']).toContain('40,000');
	});

	test('a monthly payroll names who was paid less than the table has, but for a correction', () => {
		const salary = registered(1, 'paid', { amountEtb: 400 });
		const correction = { reference: 'c', purpose: 'correction', amountEtb: 600 };
		for (const [payments, needsPerson] of [
			[[salary], true],
			[[salary, registered(1, 'paid', correction)], false],
			// Advice to pay the difference would be false: it may have been paid.
			[[salary, registered(1, 'unknown', { ...correction, requestedAmountEtb: 600 })], false],
			[[salary, registered(1, 'notPaid', { ...correction, requestedAmountEtb: 600 })], true],
		] as const) {
			const [row] = check([...payments]).rows;
			const runs = { 'Check List': [[{ ...row }]], Payments: [[...payments]] };
			expect(pageAndRows('payroll.json', runs)).toEqual(
				needsPerson
					? [expect.objectContaining({ needsPerson, name: 'Person 1', requestedAmountEtb: 1000 })]
					: [],
			);
		}
	});

	test('gets each of its columns, and no other field', async () => {
		const columns = tablesOf(await readExample('people-to-pay.json')).get('ETB payments') ?? [];
		const [row] = check().rows;
		const runs = { 'Check List': [[{ ...row }]], 'Pay salaries': [[{ ...row, outcome: 'paid' }]] };
		const [written = {}] = pageAndRows('payroll.json', { ...runs, Payments: [[]] });
		const names = [...columns.map(({ name }) => name), 'createdAt'];
		expect(Object.keys(written).toSorted()).toEqual(names.toSorted());
	});

	test('who was recorded as not paid, sent again and paid is not recorded by that person', () => {
		const freed = registered(1, 'notPaid', { settledBy: 'first@example.com' });
		const result = { outcome: 'alreadyPaid', code: 'paidBefore', txHash: undefined };
		expect(ended([freed], result)[0]).toMatchObject([{ outcome: 'paid', settledBy: 'the node' }]);
		expect(ended([freed], result)[0]?.[0]?.['reason']).toMatch(
			/^First recorded as not paid by first@example.com/,
		);
	});

	test.each([
		[
			'the balance does not cover it',
			{ outcome: 'notPaid', code: 'notCovered', message: 'No' },
			{},
		],
		['its amount cannot be read', {}, { amountEtb: 'abc' }],
		['it is unknown again', { outcome: 'unknown', message: 'Failed' }, {}],
	])('who was recorded as not paid keeps who said that if %s', (_how, result, more) => {
		const settled = { settledBy: 'first@example.com', settledAt: '2026-10-25T08:00:00Z' };
		const freed = registered(1, 'notPaid', {
			...settled,
			requestedAmountEtb: 900,
			userId: 'w0',
		});
		const [abebe] = people;
		const [written, left] = ended([freed], result, [{ ...abebe, ...more }]);
		expect(written).toMatchObject([settled]);
		expect(written?.[0]?.['reason']).toBeTruthy();
		// The amount and the wallet are those of the sending that was settled.
		const isSentAgain = 'outcome' in result && result.outcome === 'unknown';
		expect(written?.[0]).toMatchObject({
			requestedAmountEtb: isSentAgain ? 1000 : 900,
			userId: isSentAgain ? 'w1' : 'w0',
		});
		expect(left).toMatchObject([settled]);
	});

	test('a payment that only the node has as paid can be taken back', () => {
		for (const before of [[], [registered(1, 'notPaid')]]) {
			const [written] = ended(before, { outcome: 'alreadyPaid', code: 'paidBefore' });
			expect(written).toMatchObject([{ outcome: 'paid', settledBy: 'the node' }]);
		}
	});

	test('a row with a problem is written with the amount of the list', () => {
		const [abebe] = people;
		const [written] = ended([], {}, [{ ...abebe, employee: 'New', toUserId: '', amountEtb: 700 }]);
		expect(written).toMatchObject([{ outcome: 'notPaid', requestedAmountEtb: 700 }]);
	});

	test('a payment that is sent again keeps who said that it was not paid', () => {
		const freed = registered(1, 'notPaid', { settledBy: 'first@example.com' });
		expect(ended([freed], { txHash: '0x1' })[0]).toMatchObject([
			{ outcome: 'paid', txHash: '0x1', settledBy: 'first@example.com' },
		]);
	});

	test('a payment that another payroll made before is not written again, and nobody is left', () => {
		const payments = [registered(1, 'paid')];
		const { rows } = check(payments);
		const runs = { 'Check List': [rows.slice(0, 1)], Payments: [payments] };
		expect(pageAndRows('payroll.json', runs)).toEqual([]);
	});

	/** The rows that are written, and the people who are left, after a monthly run that pays who is ready. */
	function ended(payments: Rows, more: object = {}, given: Rows = people.slice(0, 1)) {
		const rows = checkList(given, {
			...{ purpose, period, now: new Date('2026-10-26T08:00:00Z'), people, register: payments },
		}).map(({ row }) => ({ ...row }));
		const ready = rows.filter(({ status }) => status === 'ready');
		const paid = ready.map((row) => ({ ...row, mode: 'pay', outcome: 'paid', ...more }));
		const runs = { 'Check List': [rows], 'Pay salaries': [paid], Payments: [payments] };
		const items = pageAndRows('payroll.json', runs);
		const isWritten = ({ createdAt }: Rows[number]) => createdAt === true;
		return [items.filter(isWritten), items.filter(({ needsPerson }) => needsPerson === true)];
	}

	test.each([
		['under another reference', { reference: 'Lohn-77' }],
		['in other letters', { reference: 'SALARY-2026-10-E1' }],
		['with an amount that is not known', { amountEtb: null }],
		['with its amount as text', { amountEtb: '1,000.00' }],
	])('who was paid %s is not written again, and not left', (_how, more) => {
		expect(ended([registered(1, 'paid', more)])).toEqual([[], []]);
	});

	test.each([
		['under another reference', { reference: 'Lohn-77' }],
		['in other letters', { reference: 'SALARY-2026-10-E1' }],
		['by nobody knows which workflow', { workflow: null }],
	])('who was left unknown %s stays unknown, and is not paid', (_how, more) => {
		const unknown = registered(1, 'unknown', more);
		const [written, left] = ended([unknown]);
		expect(written).toEqual([]);
		expect(left).toMatchObject([{ reference: unknown.reference, outcome: 'unknown' }]);
	});

	test('what another person or amount was paid before is unknown, and its amount and time too, also once it is settled', () => {
		const other = { outcome: 'notPaid', code: 'otherPayment', message: 'No' };
		for (const before of [[], [registered(1, 'notPaid', { requestedAmountEtb: 700 })]]) {
			const [written, left] = ended(before, other);
			const unknown = { amountEtb: null, requestedAmountEtb: null, paidAt: undefined };
			expect(written).toMatchObject([{ ...unknown, outcome: 'unknown', reason: 'No' }]);
			expect(left).toMatchObject([{ outcome: 'unknown' }]);
			const open = [
				registered(1, 'unknown', { ...written?.[0], id: 7, createdAt: null, workflow: 'S (own)' }),
			];
			const reference = referenceOf(1);
			const [settled] = pageAndRows(
				'payroll.json',
				{
					'What is open': [[{}]],
					Payments: [open],
					Ask: [[{ [reference]: 'It was paid', user: user('second') }]],
					'Pay salaries': [
						[{ outcome: 'alreadyPaid', code: 'paidBefore', mode: 'settle', reference }],
					],
				},
				1,
			).filter(({ createdAt }) => createdAt === true);
			expect(settled).toMatchObject({ outcome: 'paid', amountEtb: null, paidAt: undefined });
		}
	});

	test('a monthly payroll names a person with the number of somebody who was paid', () => {
		const [written, left] = ended([registered(1, 'paid', { name: 'Kebede' })]);
		expect(written).toEqual([]);
		expect(left).toMatchObject([{ name: 'Person 1', outcome: 'paid' }]);
		expect(left?.[0]?.['reason']).toContain('Kebede');
	});

	test('fields of the response replace none of the list', () => {
		const response = { remarks: 'x', line: 7, paid: true, purpose: 'x', name: 'x', period: null };
		const [written, left] = ended([], response);
		expect(written).toMatchObject([{ purpose, period, name: 'Person 1', outcome: 'paid' }]);
		expect(left).toEqual([]);
	});

	test('two rows of one line, from two sheets, are both written', () => {
		const [written] = ended(
			[],
			{},
			people.slice(0, 2).map((row) => ({ ...row, row_number: 2 })),
		);
		expect(written).toMatchObject([{ name: 'Person 1' }, { name: 'Person 2' }]);
	});

	test.each([{ employeeKey: 'E-1' }, { purpose: 'Correction' }])(
		'a correction counts with %j',
		(more) => {
			const correction = { reference: 'c', purpose: 'correction', amountEtb: 600, ...more };
			const payments = [
				registered(1, 'paid', { amountEtb: 400 }),
				registered(1, 'paid', correction),
			];
			expect(ended(payments)).toEqual([[], []]);
		},
	);

	const perhapsPaid = 'recorded as not paid, but perhaps it was';
	test.each(['inDoubt', 'inFlight'])('what is taken back and %s is unknown again', (code) => {
		const freed = { workflow: 'S (own)', settledBy: 'first@example.com' };
		const payments = [registered(1, 'notPaid', freed)];
		const rows = pageAndRows(
			'payroll-from-a-file.json',
			{
				'What is open': [[{}]],
				Payments: [payments],
				Ask: [
					[{ takeBack: [`Person 1 (${referenceOf(1)}): ${perhapsPaid}`], user: user('second') }],
				],
				'Pay salaries': [[{ outcome: 'unknown', code, mode: 'settle', reference: referenceOf(1) }]],
			},
			1,
		);
		const written = rows.filter(({ createdAt }) => createdAt === true);
		expect(written).toMatchObject([{ id: 1, outcome: 'unknown' }]);
		expect(JSON.stringify(rows)).not.toMatch(/Nothing is UNKNOWN|Not paid: 1/);
	});

	test('what somebody settles is written with who did it', () => {
		const codes = [
			...['settledPaid', 'settledNotPaid', 'paidBefore', 'contradicted', 'notSettled'],
			// Somebody settled the last two in the node.
			...['ready', 'ready'],
		];
		const open = codes.map((_, index) =>
			registered(index + 1, 'unknown', {
				workflow: 'S (own)',
				settledBy: '',
				paidAt: '2026-10-25T07:00:00Z',
			}),
		);
		const ended = codes.map((code, index) => ({
			outcome:
				{ settledNotPaid: 'ready', ready: 'ready', notSettled: 'unknown', contradicted: 'unknown' }[
					code
				] ?? 'alreadyPaid',
			code,
			mode: 'settle',
			reference: referenceOf(index + 1),
		}));
		const said = codes.map((_, index): [string, string] => [
			referenceOf(index + 1),
			[1, 4, 5].includes(index) ? 'It was not paid' : 'It was paid',
		]);
		const answer = { ...Object.fromEntries(said), user: user('second') };
		const rows = pageAndRows(
			'payroll-from-a-file.json',
			{
				'What is open': [[{}]],
				Payments: [open],
				'Payments now': [open],
				Ask: [[answer]],
				'Pay salaries': [ended],
			},
			1,
		);
		expect(rows.filter(({ createdAt }) => createdAt === true)).toMatchObject([
			{ id: 1, outcome: 'paid', amountEtb: 1000, settledBy: 'second@example.com' },
			{ id: 2, outcome: 'notPaid', amountEtb: null },
			{ id: 3, outcome: 'paid', amountEtb: 3000, settledBy: 'second@example.com' },
			// An answer that differs from an earlier one.
			{ id: 4, outcome: 'unknown', settledBy: '', paidAt: '2026-10-25T07:00:00Z' },
			{ id: 6, outcome: 'notPaid', settledBy: 'second@example.com' },
		]);
		expect(rows.some((each) => each['needsPerson'] === true)).toBe(false);
	});
});
