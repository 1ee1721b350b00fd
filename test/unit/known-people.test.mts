/** Lists beside what is known: who is the same, who is new, what changed, what was paid; and what whoever approves is told. */
import fc from 'fast-check';
import {
	checkList,
	type CheckedRow,
	type ListSettings,
} from '../../nodes/EtbWallet/list/checkList.ts';
import { paymentsIn, peopleIn } from '../../nodes/EtbWallet/list/known.ts';
import type { RemarkCode } from '../../nodes/EtbWallet/list/remarks.ts';
import { lookOf, personOf } from '../../nodes/shared/lookalikes.ts';

const now = new Date('2026-11-26T18:00:00Z');
const settings: ListSettings = { purpose: 'salary', period: '2026-11', now };

type Fields = Record<string, unknown>;
const check = (rows: Fields[], more: Partial<ListSettings> = {}): CheckedRow[] =>
	checkList(rows, { ...settings, ...more }).map(({ row }) => row);
const codesOf = (row?: CheckedRow): RemarkCode[] => row?.remarks.map(({ code }) => code) ?? [];
const textOf = (row: CheckedRow | undefined, code: RemarkCode): string | undefined =>
	row?.remarks.find((remark) => remark.code === code)?.text;

const abebe = { employee: 'E-1', name: 'Abebe Kebede', amountEtb: 5000, phone: '0911000001' };
/** So that no amount is the sum of the rest. */
const others = [
	{ employee: 'x1', name: 'Almaz', amountEtb: 7 },
	{ employee: 'x2', name: 'Hirut', amountEtb: 11 },
];

describe('who is the same', () => {
	test.each([
		['1-12', '11-2'],
		['1 12', '11 2'],
		['1-12', '1 12'],
		['1/12', '1-12'],
		['1.12', '11.2'],
		['A-B1', 'AB-1'],
		['፩ ፪፫', '፩፪ ፫'],
		['٠٧١ ١', '٠٧ ١١'],
		['E-0701', 'E-701'],
		['7-2024-0001', '72-024-0001'],
		['70-2024-001', '702-024-001'],
		['70 2024 001', '702 024 001'],
		['911-23-45-67', '911-234-567'],
		['070-2024-001', '0702-024-001'],
		['070-2024-001', '0702024001'],
		['07-02-024-001', '0702-024-001'],
		['25-1702-024-001', '251-702-024-001'],
		['00-2517-02024001', '00251702024001'],
		['ሰ-12', 'ሠ-12'],
	])('not %p and %p', (one, other) => {
		const rows = check([{ ...abebe, employee: one }, { ...abebe, employee: other }, ...others]);
		expect(rows.slice(0, 2).map(({ status }) => status)).toEqual(['ready', 'ready']);
		expect(lookOf(rows[0]?.reference ?? '')).not.toBe(lookOf(rows[1]?.reference ?? ''));
	});

	test.each([
		['E-701', 'e 701'],
		['E-701', 'E/701'],
		['E-701', 'Ｅ７０１'],
		['E-701', 'E\u200b-701'],
		['1-12', '1\u2013\u200b12'],
		['1 12', '1\u00a0 12'],
		['007', '7.0'],
		...['0711000701', '+251711000701', '711000701', '251 711 00 07 01', '(0711) 000-701'].map(
			(phone) => ['0711 000 701', phone],
		),
		...['911 00 07 01', '911 000 701', '91 100 0701', '0911-00-07-01'].map((phone) => [
			'911000701',
			phone,
		]),
		['0911-23-45-67', '0911 234567'],
		...['0911 234 567', '(0911) 23 45 67', '091 123 4567', '251-911-234567', '+251-91-1234-567'].map(
			(phone) => ['0911-23-45-67', phone],
		),
		...['+251 (0)911 000701', '00251-911-000-701', '911000701.0'].map((phone) => [
			'0911000701',
			phone,
		]),
	])('%p and %p', (one, other) => {
		const rows = check([{ ...abebe, employee: one }, { ...abebe, employee: other }, ...others]);
		expect(rows[0]?.problem).toMatch(/^Row 2 \(Abebe Kebede\) has the same employee/);
		expect(rows[1]?.person).toBe(rows[0]?.person);
	});

	const digits = fc.array(fc.stringMatching(/^\d{1,3}$/), { minLength: 1, maxLength: 4 });
	const separators = fc.array(fc.constantFrom('-', ' ', '/', '.', '_', ''), {
		minLength: 4,
		maxLength: 4,
	});
	const numbers = fc
		.tuple(fc.constantFrom('', 'E', 'TT', 'ሰ'), digits, separators)
		.map(([letters, parts, signs]) => ({
			text: letters + parts.map((part, index) => part + (signs[index] ?? '')).join(''),
		}))
		// Mobile numbers are one in all their forms.
		.filter(({ text }) => text.replace(/\D/g, '').length < 9);
	/** Zeros before a number do not count, nor signs at its end. */
	const plain = (text: string): string =>
		text.replace(/[-/._ ]+$/, '').replace(/^([-/._ ]|0(?=\d))+/, '');

	test('two numbers with other digits or other signs between digits are never one person', () => {
		fc.assert(
			fc.property(numbers, numbers, ({ text: one }, { text: other }) => {
				fc.pre(plain(one) !== plain(other));
				expect(personOf(one)).not.toBe(personOf(other));
			}),
			{ numRuns: 5_000 },
		);
	});

	test('nor are two whose signs alone are at other places', () => {
		fc.assert(
			fc.property(digits, separators, separators, (parts, one, other) => {
				const written = (signs: string[]): string =>
					parts
						.map((part, index) => part + (index < parts.length - 1 ? signs[index] : ''))
						.join('');
				fc.pre(parts.join('').length < 9 && plain(written(one)) !== plain(written(other)));
				expect(personOf(written(one))).not.toBe(personOf(written(other)));
			}),
			{ numRuns: 5_000 },
		);
	});

	test('the same number with other letters, dashes, or a blank between a letter and a digit always is', () => {
		const ways: Array<(text: string) => string> = [
			(text) => text.toLowerCase(),
			(text) => text.replaceAll('-', '\u2011'),
			(text) => text.replaceAll('-', '\u2212'),
			(text) => text.replace(/(?<=\p{L})(?=\d)/u, ' '),
			(text) => text.replace(/(?<=\p{L})(?=\d)/u, '-'),
			(text) => `\u200e ${text}\u00a0`,
			(text) => text.normalize('NFKD'),
			(text) => personOf(text),
		];
		fc.assert(
			fc.property(numbers, fc.constantFrom(...ways), ({ text }, way) => {
				expect(personOf(way(text))).toBe(personOf(text));
			}),
			{ numRuns: 5_000 },
		);
	});

	test('persons are one exactly when their references are', () => {
		const text = fc.oneof(
			numbers.map((number) => number.text),
			fc.string({ unit: 'binary' }),
		);
		fc.assert(
			fc.property(text, text, (one, other) => {
				const [first, second] = [personOf(one), personOf(other)];
				const isOne = lookOf(`salary-2026-11-${first}`) === lookOf(`salary-2026-11-${second}`);
				expect(isOne).toBe(lookOf(first) === lookOf(second));
			}),
			{ numRuns: 2_000 },
		);
	});
});

describe('a remark', () => {
	const remarked = (row: Fields, more: Partial<ListSettings> = {}): RemarkCode[] =>
		codesOf(check([{ ...abebe, ...row }, ...others], more)[0]);

	test.each<[Fields, RemarkCode[]]>([
		[{}, []],
		[{ amountEtb: 8333.333333333334 }, ['rounded']],
		[{ amountEtb: 46_154 }, ['amountIsDay']],
		[{ amountEtb: '46154' }, []],
		[{ amountEtb: 0.5208333 }, ['rounded', 'amountIsDay']],
		// Of this, the last and the next year, but of no other one.
		[{ employee: 46_034 }, ['numberIsDay']],
		[{ employee: 45_669 }, ['numberIsDay']],
		[{ employee: 46_399 }, ['numberIsDay']],
		[{ employee: 45_657 }, []],
		[{ employee: 46_753 }, []],
		[{ employee: '46034' }, []],
		[{ amountEtb: 18 }, ['sumOfOthers']],
		[{ name: 'Total Bekele' }, ['totalWord']],
		[{ name: 'Sum Kebede' }, ['totalWord']],
		[{ employee: 'TOTAL-014' }, ['totalWord']],
		[{ name: 'Sumeya Ali' }, []],
	])('on %p is %p, and the row is ready', (row, codes) => {
		expect(remarked(row)).toEqual(codes);
		expect(check([{ ...abebe, ...row }, ...others])[0]?.status).toBe('ready');
	});

	test('tells the sum of all others as near as rounding makes it, and no nearer', () => {
		const amounts = (last: number): boolean[] =>
			check(
				[4500, 5500, last].map((amountEtb, index) => ({
					...{ employee: `E-${index}`, name: 'Abebe', amountEtb },
				})),
			).map((row) => codesOf(row).includes('sumOfOthers'));
		expect(amounts(10_000)).toEqual([false, false, true]);
		expect(amounts(10_000.01)).toEqual([false, false, true]);
		expect(amounts(10_000.03)).toEqual([false, false, false]);
	});

	test('names the other numbers with the same name, telephone or email', () => {
		const rows = check([
			{ ...abebe, email: 'No_Email@supplied.com' },
			{ employee: 'HR-9', name: 'ABEBE  kebede', amountEtb: 9, phone: '+251 911 000 001' },
			{ employee: 'HR-8', name: 'Sara', amountEtb: 8, email: 'no_email@supplied.com' },
			{ employee: 'HR-7', name: 'Liya', amountEtb: 7.5, phone: '-', email: '-' },
			{ employee: 'HR-6', name: 'Mimi', amountEtb: 6.5, phone: '-', email: '-' },
		]);
		expect(rows.map(codesOf)).toEqual([
			['sameName', 'samePhone', 'sameEmail'],
			['sameName', 'samePhone'],
			['sameEmail'],
			[],
			[],
		]);
		expect(textOf(rows[0], 'samePhone')).toMatch(/: HR-9\.$/);
	});

	test('and a problem name the first three others, and how many more there are', () => {
		const rows = check(
			Array.from({ length: 20_000 }, (_, index) => ({
				...{ employee: `E-${index + 1}`, name: 'Abebe', amountEtb: 5 + index / 100, userId: 'w' },
			})),
		);
		for (const [at, told, named] of [
			[0, '2 (Abebe), 3 (Abebe), 4 (Abebe) and 19996 more', 'E-2, E-3, E-4 and 19996 more'],
			[2, '1 (Abebe), 2 (Abebe), 4 (Abebe) and 19996 more', 'E-1, E-2, E-4 and 19996 more'],
			[19_999, '1 (Abebe), 2 (Abebe), 3 (Abebe) and 19996 more', 'E-1, E-2, E-3 and 19996 more'],
		] as const) {
			expect(rows[at]?.problem).toContain(`Row ${told} has the same userId`);
			expect(textOf(rows[at], 'sameName')).toContain(`: ${named}.`);
		}
		const [few] = check([
			{ ...abebe, userId: 'w' },
			{ ...abebe, employee: 'E-2', userId: 'w' },
			...others,
		]);
		expect(few?.problem).toContain('Row 2 (Abebe Kebede) has the same userId');
	});

	test('names a number of the table, or of the payments, that is not in the list', () => {
		const earlier = { employee: 'E-824', name: 'Lulit Tadesse', phone: '0911000824' };
		const row = { ...earlier, employee: 'HR-0924', amountEtb: 4000, phone: '+251911000824' };
		const people = peopleIn([{ ...earlier, userId: 'w' }], now);
		const [inTable] = check([row], { people, setsUpPeople: true });
		expect(textOf(inTable, 'samePhone')).toMatch(/E-824/);
		expect(textOf(inTable, 'sameName')).toMatch(/E-824/);
		const paid = {
			...earlier,
			userId: 'etbw_1',
			reference: 'salary-2026-10-E824',
			outcome: 'paid',
		};
		const [inRegister] = check([{ ...row, userId: 'ETBW_1' }], { payments: paymentsIn([paid]) });
		expect(codesOf(inRegister)).toEqual(['new', 'sameName', 'samePhone', 'sameWallet']);
	});
});

describe('with Known People', () => {
	const table = [
		{
			employee: 'e 1',
			name: 'Abebe Kebede',
			userId: 'w1',
			phone: '+251911000001',
			amountEtb: 5000,
		},
		{ employee: 'E-2', name: 'Sara Tesfaye', userId: 'w2', phone: '', amountEtb: null },
	];
	const setUp = (row: Fields): CheckedRow | undefined =>
		check([row], { people: peopleIn(table, now), setsUpPeople: true })[0];

	test.each<[Fields, CheckedRow['known'], RemarkCode[]]>([
		[abebe, 'same', []],
		[{ ...abebe, amountEtb: 5500 }, 'changed', ['changedAmount']],
		[{ ...abebe, name: 'Abebe Bekele' }, 'changed', ['changedName']],
		[{ ...abebe, phone: '0911000002' }, 'changed', ['changedPhone']],
		[{ employee: 'E2', name: 'sara tesfaye', amountEtb: 1, phone: '0911000003' }, 'same', []],
		[{ employee: 'E-3', name: 'Liya', amountEtb: 1 }, 'new', ['new']],
		[
			{ employee: 'E-3', name: 'Liya', amountEtb: 1, userId: 'w3' },
			'new',
			['walletInListOnly', 'new'],
		],
	])('%p is %p, with %p, when people are set up', (row, known, codes) => {
		const checked = setUp(row);
		expect(checked).toMatchObject({ status: 'ready', known });
		expect(codesOf(checked)).toEqual(codes);
	});

	test('who has no wallet is a problem, unless people are set up', () => {
		const row = { employee: 'E-3', name: 'Liya', amountEtb: 1 };
		expect(check([row], { people: peopleIn(table, now) })[0]).toMatchObject({
			...{
				status: 'problem',
				known: 'new',
				problem: expect.stringMatching(/no wallet/) as unknown,
			},
		});
		expect(setUp({ ...row, userId: 'w1' })?.problem).toMatch(/that of e 1 \(Abebe Kebede\)/);
	});
});

describe('with Known Payments', () => {
	const paid = (more: Fields = {}): Fields => ({
		...{ reference: 'salary-2026-10-E1', period: '2026-10', purpose: 'salary', person: 'E1' },
		...{ name: 'Abebe Kebede', phone: '0911000001', userId: 'w1', amountEtb: 5000 },
		...{ outcome: 'paid', paidAt: '2026-10-25T10:00:00.000Z', txHash: '0x1', workflow: 'Pay (w)' },
		...more,
	});
	const thisMonth = { reference: 'Salary-2026-11-e1', period: '2026-11' };
	const row = { ...abebe, userId: 'w1' };
	const against = (payments: Fields[], more: Fields = {}, own = ''): CheckedRow | undefined =>
		check([{ ...row, ...more }, ...others], {
			...{ payments: paymentsIn(payments.map((json) => ({ json }))), workflowId: own },
		})[0];

	test('who was paid under the same reference is told with the proof, and cannot be paid', () => {
		const checked = against([paid(), paid({ ...thisMonth, txHash: '0x2' })]);
		expect(checked).toMatchObject({
			...{ status: 'paidBefore', problem: '', known: 'same' },
			paid: {
				...{ amountEtb: 5000, name: 'Abebe Kebede', toUserId: 'w1', txHash: '0x2' },
				...{ paidAt: '2026-10-25T10:00:00.000Z', workflow: 'Pay (w)' },
			},
		});
		expect(checked).not.toHaveProperty('reference');
		expect(checked).not.toHaveProperty('amountEtb');
	});

	test.each<[Fields, RemarkCode]>([
		[{ amountEtb: 5500 }, 'changedAmount'],
		[{ name: 'Sara Tesfaye' }, 'changedName'],
		[{ userId: 'w2' }, 'changedWallet'],
		[{ phone: '0911 00 00 02' }, 'changedPhone'],
	])('%p is told of who was paid, and of who is paid again', (more, code) => {
		const before = against([paid(thisMonth)], more);
		expect(before?.status).toBe('paidBefore');
		expect(codesOf(before)).toContain(code);
		const again = against([paid()], more);
		expect(again).toMatchObject({ status: 'ready', known: 'changed' });
		expect(codesOf(again)).toEqual([code]);
	});

	test('the amount of the last time counts, and not that of the table, which is older', () => {
		const people = peopleIn([{ ...abebe, amountEtb: 1, userId: 'w1' }], now);
		const [checked] = check([row, ...others], { people, payments: paymentsIn([paid()]) });
		expect(checked?.known).toBe('same');
	});

	test('a row that was paid and cannot be read now is told as paid', () => {
		expect(against([paid(thisMonth)], { amountEtb: 'x' })?.status).toBe('paidBefore');
		const twice = check([row, row], { payments: paymentsIn([paid(thisMonth)]) });
		expect(twice.map(({ status }) => status)).toEqual(['problem', 'problem']);
	});

	test('the last time is that of the same purpose, in whichever order the rows are', () => {
		const payments = [
			paid({ reference: 'salary-2026-09-E1', period: '2026-09', amountEtb: 4000 }),
			paid(),
			paid({ reference: 'salary-2026-08-E1', period: '2026-08', amountEtb: 3000 }),
			paid({ reference: 'bonus-2026-11-E1', period: '2026-11', purpose: 'bonus', amountEtb: 1 }),
			paid({ reference: 'salary-2026-10-E2', person: 'E2', amountEtb: 9 }),
			paid({ reference: 'salary-2026-12-E1', period: '2026-12', outcome: 'notPaid' }),
		];
		const checked = against(payments);
		expect(checked?.lastTime).toEqual({
			...{ period: '2026-10', amountEtb: 5000, name: 'Abebe Kebede', phone: '0911000001' },
			toUserId: 'w1',
		});
		expect(checked?.known).toBe('same');
		// Another purpose tells of the person, but not of the amount.
		const bonus = against([paid({ purpose: 'bonus', reference: 'b', name: 'X', amountEtb: 1 })]);
		expect(codesOf(bonus)).toEqual(['changedName']);
		expect(bonus).not.toHaveProperty('lastTime');
	});

	test('rows without the columns of today are read by their reference', () => {
		const old = { reference: 'salary-2026-10-1-12', outcome: 'paid', askedEtb: '5000' };
		const checked = against([old], { employee: '1-12' });
		expect(checked?.lastTime).toMatchObject({ period: '2026-10', amountEtb: 5000 });
		expect(against([{}, { reference: '' }])?.known).toBe('new');
	});

	test.each([
		['2026-11-17T00:00:00Z', true],
		['2026-11-16T18:00:01Z', true],
		['2026-11-16T17:59:59Z', false],
		['', false],
	])('a payment for another period at %p is told: %p', (paidAt, isTold) => {
		const checked = against([paid({ paidAt })]);
		expect(codesOf(checked).includes('paidLately')).toBe(isTold);
		if (isTold) expect(textOf(checked, 'paidLately')).toMatch(/5,000 ETB for 2026-10 on 2026-11-1/);
	});

	test('a payment for another purpose is not told as one for another period', () => {
		const bonus = paid({
			purpose: 'bonus',
			reference: 'bonus-2026-10-E1',
			paidAt: now.toISOString(),
		});
		expect(codesOf(against([bonus]))).toEqual([]);
		const late = paid({ paidAt: '', createdAt: new Date(now.getTime() - 120_000) });
		expect(codesOf(against([late]))).toEqual(['paidLately']);
	});

	test('what is unknown in another workflow cannot be paid here; this workflow asks its record', () => {
		const unknown = paid({ ...thisMonth, outcome: 'unknown', workflow: 'Copy (abc)' });
		expect(against([unknown], {}, 'w')).toMatchObject({
			...{ status: 'problem', problem: expect.stringMatching(/Copy \(abc\)/) as unknown },
		});
		for (const [workflow, own] of [
			['Copy (abc)', 'abc'],
			['', 'w'],
		] as const) {
			const checked = against([{ ...unknown, workflow }], {}, own);
			expect(checked?.status).toBe('ready');
			expect(codesOf(checked)).toContain('unknownBefore');
		}
	});

	const numbersWrittenAnew = [
		['salary-2026-11-E-0701', 'E-0701'],
		['salary-2026-11-0042', '42'],
		['salary-2026-11-42.', '0042'],
		['salary-2026-11-0911234567', '+251 911 234 567'],
		['salary-2026-11-E-12', 'E-12'],
	];

	test.each(numbersWrittenAnew)(
		'%p is found for %p, whatever its columns say',
		(reference, employee) => {
			for (const columns of [{}, { purpose: 'SALARY', period: '2026/11', person: employee }]) {
				const row = { ...columns, reference };
				expect(against([{ ...row, outcome: 'paid' }], { employee })).toMatchObject({
					...{ status: 'paidBefore', problem: '' },
				});
				expect(against([{ ...row, outcome: 'notPaid' }], { employee })?.status).toBe('ready');
				// The record of this workflow knows it under that reference alone.
				expect(
					against([{ ...row, outcome: 'unknown', workflow: 'Pay (w)' }], { employee }, 'w'),
				).toMatchObject({
					...{ status: 'problem', problem: expect.stringMatching(/unknown whether/) as unknown },
				});
			}
		},
	);

	test('a reference of another kind is found by the columns', () => {
		const other = paid({ reference: 'INV-5', period: '2026-11', person: 'e 1' });
		expect(against([other])?.status).toBe('paidBefore');
		for (const more of [{ period: '2026-10' }, { purpose: 'bonus' }, { person: 'E-2' }])
			expect(against([{ ...other, ...more }])?.status).toBe('ready');
	});

	test.each(['paid', 'Paid', ' PAID ', 'alreadyPaid', 'Already paid', 'otherAmount', 'paidBefore'])(
		'the outcome %p is one of who was paid',
		(outcome) => {
			expect(against([paid({ ...thisMonth, outcome })])?.status).toBe('paidBefore');
		},
	);

	test('an unknown outcome is known in capital letters, and another workflow by its whole id', () => {
		const unknown = paid({ ...thisMonth, outcome: 'Unknown', workflow: 'Copy of w (abcw)' });
		for (const own of ['w', 'abc', 'Copy'])
			expect(against([unknown], {}, own)?.status).toBe('problem');
		expect(against([unknown], {}, 'abcw')?.status).toBe('ready');
	});

	test('is refused if it is no list', () => {
		expect(() => paymentsIn('x')).toThrow(/Known Payments is "x"/);
	});
});
