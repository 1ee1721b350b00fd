/**
 * Lists beside what is known: who is the same, who is new, what changed, what was paid; and what whoever
 * approves is told.
 */
import fc from 'fast-check';
import { outcomeByCode } from '../../nodes/EtbWallet/codes.ts';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import type { ListSettings } from '../../nodes/EtbWallet/list/listSettings.ts';
import type { RemarkCode } from '../../nodes/EtbWallet/list/remarks.ts';
import { employeeKeyOf } from '../../nodes/EtbWallet/list/employeeNumber.ts';
import { normalizeText } from '../../nodes/shared/normalizeText.ts';

const now = new Date('2026-11-26T18:00:00Z');
/** Most lists here name no wallet. */
const settings: ListSettings = { purpose: 'salary', period: '2026-11', now, setsUpPeople: true };

type Fields = Record<string, unknown>;
type CheckedRow = ReturnType<typeof checkList>[number]['row'];
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
		'1-12|11-2|1 12|11 2|1/12|1.12|11.2|112',
		'A-B1|AB-1',
		'፩ ፪፫|፩፪ ፫',
		'٠٧١ ١|٠٧ ١١',
		'E-0701|E-701',
		'ሰ-12|ሠ-12',
		'7-2024-0001|72-024-0001|72 024 0001',
		'70-2024-001|702-024-001',
		'70 2024 001|702 024 001',
		'911-23-45-67|911-234-567|911 234 567',
		'070-2024-001|07-02-024-001|0702-024-001|07-0202-4001|070202-4001',
		'25-1702-024-001|251-702-024-001',
		'00-2517-02024001|00251702024001',
	])('none of %p and the others', (numbers) => {
		const people = numbers.split('|').map((employee) => ({ ...abebe, employee }));
		const rows = check([...people, ...others]);
		expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 'ready'));
		expect(new Set(rows.map(({ reference = '' }) => normalizeText(reference))).size).toBe(
			rows.length,
		);
	});

	test.each([
		['E701', 'E-701|e 701|E/701|Ｅ７０１|E\u200b-701|E‑701|E–701'],
		['1-12', '1-12|1\u2013\u200b12'],
		['1 12', '1 12|1\u00a0 12'],
		['7', '007|7.0'],
		['701', '#0701|701|- 0701'],
		['42', '0042|42.0|42,00|="0042"|\'0042'],
		['51041', '51041.00|51041'],
		['711000701', '0711 000 701|0711000701|+251711000701|711000701|(0711) 000-701'],
		['711000701', '251 711 00 07 01|251-711-000701|+251-71-1000-701|0711-00-0701'],
		[
			'911234567',
			'0911-23-45-67|09 11 23 45 67|09-11-23-45-67|(09)11234567|0911 234567|0911 234 567|(0911) 23 45 67|911234567.0',
		],
		['911234567', '091 123 4567|911 23 45 67|911 234 567|91 123 4567|0911-23-4567'],
		['911234567', '+251 (0)911 234567|00251-911-234-567'],
		...['0', '46034', '12E3', 'MAY1A', 'SUMEYA', '2024/7'].map((same) => [same, same]),
	])('%p is all of %p', (person, numbers = '') => {
		const written: unknown[] = numbers.split('|');
		if (/^\d+$/.test(person ?? '')) written.push(Number(person));
		for (const employee of written) {
			const [row] = check([{ ...abebe, employee }, ...others]);
			const reference = `salary-2026-11-${person}`;
			expect(row).toMatchObject({ employeeKey: person, reference, problem: '' });
		}
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

	test('two numbers with other digits, or other signs between digits, are never one person', () => {
		const moved = fc
			.tuple(digits, separators, separators)
			.map(([parts, ...signs]) =>
				signs.map((each) =>
					parts.map((part, index) => (index > 0 ? each[index - 1] : '') + part).join(''),
				),
			)
			.filter(([text = '']) => text.replace(/\D/g, '').length < 9);
		const pairs = fc.oneof(
			moved,
			fc.tuple(numbers, numbers).map((two) => two.map(({ text }) => text)),
		);
		fc.assert(
			fc.property(pairs, ([one = '', other = '']) => {
				fc.pre(plain(one) !== plain(other));
				expect(employeeKeyOf(one)).not.toBe(employeeKeyOf(other));
			}),
			{ numRuns: 10_000 },
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
			(text) => employeeKeyOf(text),
		];
		fc.assert(
			fc.property(numbers, fc.constantFrom(...ways), ({ text }, way) => {
				expect(employeeKeyOf(way(text))).toBe(employeeKeyOf(text));
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
				const [first, second] = [employeeKeyOf(one), employeeKeyOf(other)];
				const isOne =
					normalizeText(`salary-2026-11-${first}`) === normalizeText(`salary-2026-11-${second}`);
				expect(isOne).toBe(normalizeText(first) === normalizeText(second));
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
		[{ amountEtb: '0.50' }, []],
		// Of this, the last and the next year, but of no other one.
		[{ employee: 46_034 }, ['numberIsDay']],
		[{ employee: 45_669 }, ['numberIsDay']],
		[{ employee: 46_399 }, ['numberIsDay']],
		[{ employee: 45_657 }, []],
		[{ employee: 46_753 }, []],
		[{ employee: '46034' }, []],
		[{ amountEtb: 18 }, ['sumOfOthers']],
		[{ name: 'Sumeya Ali' }, []],
	])('on %p is %p, and the row is ready', (row, codes) => {
		expect(remarked(row)).toEqual(codes);
		expect(check([{ ...abebe, ...row }, ...others])[0]?.status).toBe('ready');
	});

	test('tells the sum of all others as near as rounding makes it, and no nearer', () => {
		const amounts = (last: number): boolean[] =>
			check(
				[4500, 5500, last].map((amountEtb, index) => ({
					employee: `E-${index}`,
					name: 'Abebe',
					amountEtb,
				})),
			).map((row) => codesOf(row).includes('sumOfOthers'));
		const two = [1, 2].map((index) => ({ ...abebe, employee: `E-${index}`, name: `A${index}` }));
		expect(check(two).flatMap(codesOf)).not.toContain('sumOfOthers');
		expect(amounts(10_000)).toEqual([false, false, true]);
		expect(amounts(10_000.01)).toEqual([false, false, true]);
		expect(amounts(10_000.03)).toEqual([false, false, false]);
	});

	test('names the other numbers with the same name, telephone or email', () => {
		const rows = check([
			{ ...abebe, email: 'No_Email@supplied.com' },
			{ employee: 'HR-9', name: 'ABEBE  kebede', amountEtb: 9, phone: '251911000001.0' },
			{ employee: 'HR-8', name: 'Sara', amountEtb: 8, email: 'no_email@supplied.com' },
			...['-', '-', 'N/A', 'N/A', ''].map((none, index) => {
				const person = { employee: `x${index}`, name: `A${index}`, amountEtb: 10 ** index };
				return { ...person, phone: none, email: none };
			}),
		]);
		expect(rows.map(codesOf)).toEqual([
			...[['sameName', 'samePhone', 'sameEmail'], ['sameName', 'samePhone'], ['sameEmail']],
			...Array<[]>(5).fill([]),
		]);
		expect(textOf(rows[0], 'samePhone')).toMatch(/: HR-9\.$/);
	});

	test('and a problem name the first three others', () => {
		const rows = check(
			Array.from({ length: 20_000 }, (_, index) => ({
				employee: `E-${index + 1}`,
				name: 'Abebe',
				amountEtb: 5 + index / 100,
				userId: 'w',
			})),
		);
		for (const [at, named] of Object.entries({ 0: [2, 3, 4], 2: [1, 2, 4], 19_999: [1, 2, 3] })) {
			const lines = named.map((line) => `row ${line} (Abebe)`).join(', ');
			const numbers = named.map((line) => `E-${line}`).join(', ');
			expect(rows[Number(at)]?.problem).toContain(`The same userId is in ${lines}.`);
			expect(textOf(rows[Number(at)], 'sameName')).toContain(`: ${numbers}.`);
		}
		const two = [abebe, { ...abebe, employee: 'E-2' }].map((each) => ({ ...each, userId: 'w' }));
		expect(check(two)[0]?.problem).toContain('The same userId is in row 2 (Abebe Kebede)');
	});

	test('names a number of the table, or of the payments, that is not in the list', () => {
		const phone = '0911000824';
		const earlier = { employee: 'E-824', name: 'Lulit Tadesse', phone, userId: 'etbw_1' };
		const renamed = {
			...earlier,
			employee: 'HR-0924',
			phone: '+251911000824',
			userId: '',
			// A doubled letter counts once.
			name: 'Lulit Tadese',
		};
		const row = { ...renamed, amountEtb: 4000 };
		const [inTable] = check([row], { people: [earlier], setsUpPeople: true });
		expect(codesOf(inTable)).toEqual(['new', 'sameName', 'samePhone']);
		expect(textOf(inTable, 'new')).toBe('New: not in the table of people.');
		expect(textOf(inTable, 'samePhone')).toMatch(/: E-824\.$/);
		const paid = { ...earlier, employee: '', reference: 'salary-2026-10-E824', outcome: 'paid' };
		const [inRegister] = check([{ ...row, userId: 'ETBW_1' }], { register: [paid] });
		expect(codesOf(inRegister)).toEqual(['new', 'sameName', 'samePhone', 'sameUserId']);
		// Also beside a table of people, in which nobody has the number any more.
		const [inBoth] = check([{ ...row, userId: '' }], { people: [abebe], register: [paid] });
		expect(codesOf(inBoth)).toEqual(['new', 'sameName', 'samePhone']);
		const [unpaid] = check([{ ...row, userId: 'w2' }], {
			register: [{ ...paid, outcome: 'unknown' }],
		});
		expect(codesOf(unpaid)).toEqual(['new']);
		expect(textOf(inRegister, 'new')).toBe('New: never paid before.');
	});

	test('names a number with the telephone that the table has and the list lacks', () => {
		const phone = '0911000824';
		const table = ['E-1', 'E-2'].map((employee, index) => ({
			...{ employee, name: 'Lulit Tadesse', phone },
			userId: `w${index}`,
			amountEtb: 4000,
		}));
		const list = table.map(({ employee, name, amountEtb }) => ({ employee, name, amountEtb }));
		const [first] = check(list, { people: table });
		expect(codesOf(first)).toEqual(['sameName', 'samePhone']);
		expect(textOf(first, 'samePhone')).toMatch(/: E-2\.$/);
		// A telephone of the list is the newer one.
		const [changed] = check(
			list.map((row, index) => ({ ...row, phone: `091100082${index}` })),
			{ people: table },
		);
		expect(codesOf(changed)).toEqual(['changedPhone', 'sameName']);
	});
});

describe('with Known People', () => {
	const people = [
		{ ...abebe, employee: 'e 1', userId: 'w1', phone: '+251911000001' },
		{ employee: 'E-2', name: 'Sara Tesfaye', userId: 'w2', phone: '', amountEtb: null },
	];
	const liya = { employee: 'E-3', name: 'Liya', amountEtb: 1 };

	test.each<[Fields, CheckedRow['known'], RemarkCode[]]>([
		[abebe, 'same', []],
		[{ ...abebe, amountEtb: 5500 }, 'changed', ['changedAmount']],
		[{ ...abebe, name: 'Abebe Bekele' }, 'changed', ['changedName']],
		[{ ...abebe, phone: '0911000002' }, 'changed', ['changedPhone']],
		[{ ...abebe, phone: '０９１１０００００２' }, 'changed', ['changedPhone']],
		// A telephone of another kind, and an extension.
		[{ ...abebe, phone: '+49 30 1234567' }, 'changed', ['changedPhone']],
		[{ ...abebe, phone: '123' }, 'same', []],
		[{ employee: 'E2', name: 'sara tesfaye', amountEtb: 1 }, 'changed', ['changedAmount']],
		[
			{ ...people[1], amountEtb: 1, phone: '0911000003' },
			'changed',
			['changedAmount', 'changedPhone'],
		],
		[liya, 'new', ['new']],
		[{ ...liya, userId: 'w3' }, 'new', ['userIdInListOnly', 'new']],
	])('%p is %p, with %p, when people are set up', (row, known, codes) => {
		const [checked] = check([row], { people, setsUpPeople: true });
		expect(checked).toMatchObject({ status: 'ready', known });
		expect(codesOf(checked)).toEqual(codes);
	});

	test('a cent more is another amount, also where binary makes it less', () => {
		const table = [{ ...people[0], amountEtb: 0.05 }];
		const [checked] = check([{ ...abebe, amountEtb: 0.06 }], { people: table, setsUpPeople: true });
		expect(codesOf(checked)).toContain('changedAmount');
	});

	test('an amount is compared with the last one for the same purpose if there are Known Payments', () => {
		const list = [{ ...abebe, amountEtb: 500, userId: 'w1' }];
		const table = [{ ...people[0], amountEtb: 5000 }];
		const earlier = { purpose: 'salary', period: '2026-11', employeeKey: 'E1', amountEtb: 5000 };
		const salary = { ...earlier, reference: 'salary-2026-11-E1', outcome: 'paid' };
		const codes = (more: Partial<ListSettings>): unknown =>
			codesOf(check(list, { people: table, purpose: 'bonus', ...more })[0]);
		expect(codes({})).toEqual(['changedAmount']);
		expect(codes({ register: [salary] })).toEqual([]);
	});
});

describe('with Known Payments', () => {
	const paid = (more: Fields = {}): Fields => ({
		reference: 'salary-2026-10-E1',
		period: '2026-10',
		purpose: 'salary',
		employeeKey: 'E1',
		name: 'Abebe Kebede',
		phone: '0911000001',
		userId: 'w1',
		amountEtb: 5000,
		outcome: 'paid',
		paidAt: '2026-10-25T10:00:00.000Z',
		txHash: '0x1',
		workflow: 'Pay (w)',
		...more,
	});
	const thisMonth = { reference: 'Salary-2026-11-e1', period: '2026-11' };
	const row = { ...abebe, userId: 'w1' };
	const shown = {
		reference: 'salary-2026-10-E1',
		period: '2026-10',
		amountEtb: 5000,
		name: 'Abebe Kebede',
		phone: '0911000001',
		toUserId: 'w1',
		paidAt: '2026-10-25T10:00:00.000Z',
		txHash: '0x1',
		workflow: 'Pay (w)',
	};
	const paidAt = now.toISOString();
	const against = (payments: Fields[], more: Fields = {}, of: Partial<ListSettings> = {}) => {
		const known = payments.map((json) => ({ json }));
		const [checked] = check([{ ...row, ...more }, ...others], { register: known, ...of });
		if (checked === undefined) throw new Error('there is no row');
		return checked;
	};
	/** The status of a row, and the reason if it is not paid. */
	const statusOf = (...given: Parameters<typeof against>): string => {
		const { status, problem } = against(...given);
		return /unknown whether/.test(problem) ? 'unknown' : status;
	};

	test('who was paid under the same reference is told with the proof, and cannot be paid', () => {
		const checked = against([paid(), paid({ ...thisMonth, txHash: '0x2' })]);
		expect(checked).toMatchObject({ status: 'paidBefore', problem: '', known: 'same' });
		expect(checked.lastTime).toMatchObject(shown);
		expect(checked.paid).toEqual({ ...shown, ...thisMonth, txHash: '0x2' });
		expect([checked.reference, checked.amountEtb]).toEqual([undefined, undefined]);
		expect(checked.listedAmountEtb).toBe(5000);
		expect(against([paid(thisMonth)], { amountEtb: 5000.1234 }).listedAmountEtb).toBe(5000.1234);
	});

	test.each<[Fields, RemarkCode]>([
		[{ amountEtb: 5500 }, 'changedAmount'],
		[{ name: 'Sara Tesfaye' }, 'changedName'],
		[{ userId: 'w2' }, 'changedUserId'],
		[{ phone: '0911 00 00 02' }, 'changedPhone'],
	])('%p is told of who was paid, and of who is paid again', (more, code) => {
		const before = against([paid(thisMonth)], more);
		expect(before).toMatchObject({ status: 'paidBefore', known: 'changed' });
		expect(codesOf(before)).toEqual([code]);
		const again = against([paid()], more);
		expect(again).toMatchObject({ status: 'ready', known: 'changed' });
		expect(codesOf(again)).toEqual([code]);
	});

	test.each([
		['abebe@example.org', 'changed', ['changedEmail']],
		['Abebe@Example.com', 'same', []],
		['', 'same', []],
	])('beside the email address of the table %p is %s', (email, known, codes) => {
		const people = [{ ...abebe, userId: 'w1', email: 'abebe@example.com' }];
		const [row] = check([{ ...abebe, email }], { people });
		expect([row?.status, row?.known, codesOf(row)]).toEqual(['ready', known, codes]);
	});

	test('the amount of the last time counts, and not that of the table, which is older', () => {
		const people = [{ ...abebe, amountEtb: 1, userId: 'w1' }];
		expect(against([paid()], {}, { people }).known).toBe('same');
		const [raised] = against([paid()], { amountEtb: 5500 }).remarks;
		expect(raised?.text).toBe(
			'Another amount: 5,000 ETB last time (2026-10), now 5,500 ETB, +10.0 %.',
		);
		// A text that is no number is no amount.
		const asText = against([paid({ amountEtb: '12,400.50' })]);
		expect(asText.lastTime).not.toHaveProperty('amountEtb');
		const first = against([], {}, { people: [{ ...abebe, amountEtb: 500, userId: 'w1' }] });
		expect(textOf(first, 'changedAmount')).toContain('500 ETB in the table of people');
		expect(textOf(first, 'new')).toBe('New: never paid before.');
		const lower = against([paid()], { amountEtb: 4500 });
		expect(textOf(lower, 'changedAmount')).toMatch(/ -10\.0 %\.$/);
		expect(codesOf(against([paid()], { amountEtb: 'x' }))).toEqual([]);
		const named = [{ ...abebe, name: 'Ali', userId: 'w1' }];
		const renamed = against([paid({ name: 'Sara' })], {}, { people: named });
		expect(textOf(renamed, 'changedName')).toContain('Sara last time (2026-10)');
	});

	test('a first telephone is a change of the person, and no doubt about a payment', () => {
		const people = [{ ...abebe, phone: '', userId: 'w1' }];
		const [added] = check([abebe], { people, setsUpPeople: true });
		expect([added?.known, codesOf(added)]).toEqual(['changed', ['changedPhone']]);
		const without = [{ ...abebe, userId: 'w1', email: 'no email' }];
		const withEmail = { ...abebe, email: 'abebe@example.com' };
		expect(codesOf(check([withEmail], { people: without })[0])).toEqual(['changedEmail']);
		const [none] = check([{ ...abebe, phone: '-' }], { people, setsUpPeople: true });
		expect(none?.known).toBe('same');
		const paying = { people, register: [paid()], setsUpPeople: false };
		expect(codesOf(check([abebe], paying)[0])).toEqual([]);
	});

	test('a name that somebody confirmed in the table of people is not asked about again', () => {
		const renamed = { ...abebe, name: 'Abebe B. Kebede' };
		const people = [{ ...renamed, userId: 'w1' }];
		expect(codesOf(check([renamed], { people, register: [paid()] })[0])).not.toContain(
			'changedName',
		);
		const [other] = check([{ ...abebe, name: 'Sara' }], { people, register: [paid()] });
		expect(codesOf(other)).toContain('changedName');
	});

	test('a payment without an employee number is one of the person with its wallet', () => {
		const now = new Date();
		const more = { reference: 'welcome-1', purpose: null, period: null, employeeKey: null };
		const own = paid({ ...more, employee: null, paidAt: now.toISOString() });
		const [checked] = check([row], { register: [own], now });
		expect(textOf(checked, 'sameAmountLately')).toContain('welcome-1');
		expect(codesOf(checked)).toEqual(['new', 'sameAmountLately']);
		const sameMonth = [{ ...own, purpose: 'salary', period: thisMonth.period, amountEtb: 4900 }];
		const again = check([row], { register: sameMonth, now })[0];
		expect(textOf(again, 'paidLately')).toContain('salary');
		const [unknown] = check([row], { register: [{ ...own, outcome: 'unknown' }], now });
		expect(textOf(unknown, 'otherUnknown')).toContain('welcome-1');
		const [other] = check([row], { register: [{ ...own, userId: 'w9' }], now });
		expect(codesOf(other)).toEqual(['new']);
		const [none] = check([{ ...row, userId: undefined }], {
			register: [{ ...own, userId: null }],
			now,
		});
		expect(codesOf(none)).not.toContain('sameAmountLately');
	});

	test('a row that was paid and cannot be read now is told as paid', () => {
		expect(statusOf([paid(thisMonth)], { amountEtb: 'x' })).toBe('paidBefore');
		const twice = check([row, row], { register: [paid(thisMonth)] });
		expect(twice.map(({ status }) => status)).toEqual(['paidBefore', 'paidBefore']);
	});

	test('a payment that is paid in one row and unknown in another is paid, and nothing is said', () => {
		for (const workflow of ['', 'Other (other)']) {
			const unknown = { ...paid(thisMonth), outcome: 'unknown', workflow };
			const [checked] = check([row], { register: [paid(thisMonth), unknown] });
			expect(checked).toMatchObject({ status: 'paidBefore', problem: '', remarks: [] });
		}
	});

	test('the last time is that of the same purpose, in whichever order the rows are', () => {
		const checked = against([
			...[paid({ reference: 'salary-2026-09-E1', period: '2026-09', amountEtb: 4000 }), paid()],
			// An older period can be paid later.
			paid({ reference: 'salary-2026-08-E1', period: '2026-08', amountEtb: 3000, paidAt }),
			paid({ reference: 'bonus-2026-11-E1', period: '2026-11', purpose: 'bonus', amountEtb: 1 }),
			paid({ reference: 'salary-2026-10-E2', employeeKey: 'E2', amountEtb: 9 }),
			paid({ reference: 'salary-2026-12-E1', period: '2026-12', outcome: 'notPaid' }),
		]);
		expect([checked.lastTime, checked.known]).toEqual([shown, 'same']);
		// The list of an earlier period can come later.
		const later = paid({ reference: 'salary-2026-12-E1', period: '2026-12', amountEtb: 9 });
		expect(against([paid(), later]).lastTime).toEqual(shown);
		expect(against([later]).lastTime).toMatchObject({ period: '2026-12', amountEtb: 9 });
		const latest = paid({ reference: 'salary-2027-01-E1', period: '2027/1', amountEtb: 8 });
		expect(against([later, latest]).lastTime?.period).toBe('2027-01');
		expect(against([paid({ purpose: 'SALARY' })], {}, { purpose: 'Salary' }).lastTime).toEqual(
			shown,
		);
		// Of two payments for one period the later one counts.
		const second = paid({ reference: 'INV-5', paidAt, amountEtb: 6 });
		expect(against([second, paid()]).lastTime?.amountEtb).toBe(6);
		const other = paid({ purpose: 'bonus', reference: 'b', period: '2026-11', name: 'X' });
		expect(codesOf(against([paid(), other]))).not.toContain('changedName');
		// Another purpose tells of the person, but not of the amount.
		const bonus = against([
			paid({ purpose: 'bonus', reference: 'b', name: 'X', amountEtb: 1 }),
			paid({ purpose: 'bonus', reference: 'a', period: '2026-09' }),
		]);
		expect([codesOf(bonus), bonus.lastTime]).toEqual([['changedName'], undefined]);
	});

	test('rows without columns are read by their reference, as the purpose of the list begins it', () => {
		const payments = [{ reference: 'salary-2026-10-1-12', outcome: 'paid', amountEtb: '5000' }];
		const { lastTime } = against(payments, { employee: '1-12' });
		expect(lastTime).toMatchObject({ period: '2026-10', amountEtb: 5000 });
		for (const empty of [[{}], [{}, { reference: '' }]]) expect(against(empty).known).toBe('new');
		const other = against([paid({ reference: 'salary-2026-09-E1' })]);
		expect(other.lastTime?.period).toBe('2026-10');
	});

	test.each([
		['bonus-2026-03-late', '2026-11', 'E-1', 'paidBefore'],
		['bonus', '2026-03', 'late-2026-11-E-1', 'paidBefore'],
		['bonus-2026-03-late', '2026-10', 'E-1', 'ready'],
		['bonus', '2026-11', 'E-1', 'ready'],
		['late', '2026-11', 'E-1', 'ready'],
		['fines', '2026-03', 'late-2026-11-E-1', 'ready'],
	])(
		'a payment of %p for %p to %p that has a period in its purpose is %p',
		(purpose, period, employee, status) => {
			const payments = [{ reference: 'Bonus-2026-03-late-2026-11-e 1', outcome: 'paid' }];
			expect(statusOf(payments, { employee }, { purpose, period })).toBe(status);
		},
	);

	const otherPurpose = { purpose: 'bonus', reference: 'bonus-2026-10-E1', paidAt };
	test.each([
		[{ paidAt: '2026-11-17T00:00:00Z' }, ['paidLately']],
		[{ paidAt: '2026-11-16T18:00:01Z' }, ['paidLately']],
		[{ paidAt: '2026-11-16T17:59:59Z' }, []],
		[{ paidAt: '' }, []],
		[{ paidAt: '', createdAt: new Date(now.getTime() - 120_000) }, ['paidLately']],
		[{ paidAt: '2026-11-16T17:59:59Z', createdAt: now }, []],
		[otherPurpose, ['sameAmountLately']],
		[{ ...otherPurpose, amountEtb: 4999 }, []],
		[{ paidAt, amountEtb: 4000 }, ['changedAmount', 'paidLately']],
	])('a payment with %p has the remarks %p', (more, codes) => {
		const checked = against([paid(more)]);
		expect(codesOf(checked)).toEqual(codes);
		const text =
			textOf(checked, 'paidLately') ??
			textOf(checked, 'sameAmountLately') ??
			'5,000 ETB for salary, 2026-10, on 2026-11-1';
		expect(text).toMatch(
			/[45],000 ETB for (?:salary|bonus), 2026-10, on 2026-11-(1|2[67])(?:\d? \d\d:\d\d\.)?$/,
		);
	});

	// Two lists at once can write one payment twice: the newest row counts.
	const ofPeriod = [
		paid({ ...thisMonth, amountEtb: 3000, paidAt: '2026-10-24T10:00:00.000Z' }),
		paid({ ...thisMonth, amountEtb: 4000 }),
	];
	const bonusOfPeriod = paid({ ...thisMonth, purpose: 'bonus', reference: 'b', amountEtb: 1000 });
	test.each([
		['correction', 4000, true],
		['Correction', 2500.01, true],
		['correction', 2500, false],
		['bonus-2', 4000, true],
		['bonus-2', 1000, true],
		['bonus-2', 2500, false],
		['bonus-2', 4500, true],
		['salary', 4000, false],
	])(
		'as %p of %p ETB beside 5,000 of other purposes has a remark: %p',
		(purpose, amountEtb, told) => {
			const checked = against([...ofPeriod, bonusOfPeriod], { amountEtb }, { purpose });
			expect(textOf(checked, 'paidForPeriod')).toEqual(
				told ? expect.stringMatching(/: 4,000 ETB for salary, 1,000 ETB for bonus\.$/) : undefined,
			);
			expect(codesOf(against([paid()], { amountEtb }, { purpose }))).not.toContain('paidForPeriod');
		},
	);

	test('an unknown payment for another purpose or period is told, until one of its rows is paid', () => {
		const unknown = { ...otherPurpose, reference: 'b', outcome: 'unknown' };
		const told = 'It is unknown whether another payment was made: bonus, 2026-10.';
		const codes = codesOf(against([paid(unknown), paid(unknown)]));
		expect(codes.filter((code) => code === 'otherUnknown')).toHaveLength(1);
		expect(textOf(against([paid(unknown)]), 'otherUnknown')).toBe(told);
		const settled = paid({ ...unknown, outcome: 'paid' });
		for (const rows of [[paid(unknown), settled], [paid({ ...unknown, employeeKey: 'E999' })]])
			expect(codesOf(against(rows))).not.toContain('otherUnknown');
		expect(statusOf([paid(unknown)])).toBe('ready');
		const ofThis = against([paid({ ...thisMonth, outcome: 'unknown', workflow: '' })]);
		expect(codesOf(ofThis)).not.toContain('otherUnknown');
	});

	test('the problem of an unknown payment names its workflow, if the register does', () => {
		const unknown = { ...thisMonth, outcome: 'unknown' };
		const elsewhere = against([paid({ ...unknown, workflow: 'Copy (abc)' })]);
		expect(elsewhere.unknown).toMatchObject({ ...thisMonth, workflow: 'Copy (abc)' });
		expect(elsewhere.problem).toMatch(
			/paid as Salary-2026-11-e1 by the workflow Copy \(abc\): settle/,
		);
		const otherForm = { ...unknown, reference: 'INV-5', workflow: '' };
		expect(against([paid(otherForm)]).problem).toMatch(/paid as INV-5: settle/);
	});

	test('who was paid is never told as not paid, although the row has a mistake', () => {
		const known = [{ json: paid(thisMonth) }];
		const list = [row, row, { ...row, employee: 'E-9', name: 'Else' }, ...others];
		const [first, second, other] = check(list, { register: known, people: undefined });
		const proof = { status: 'paidBefore', problem: '', paid: { txHash: shown.txHash } };
		expect([first, second]).toMatchObject([proof, proof]);
		expect(other).toMatchObject({ status: 'problem' });
		expect(other).not.toHaveProperty('paid');
	});

	test('a row whose number cannot be read is nobody who is known', () => {
		const people = [{ ...abebe, userId: 'w1' }];
		const list = [{ ...abebe, employee: '12-Jan' }, abebe];
		const [unread, read] = check(list, { people, setsUpPeople: false });
		expect([unread?.known, codesOf(unread)]).toEqual([undefined, ['sameName', 'samePhone']]);
		expect(unread?.problem).not.toMatch(/wallet/);
		expect(codesOf(read)).toEqual([]);
		const ofNobody = paid({ ...thisMonth, reference: 'INV-5', employeeKey: '' });
		expect(statusOf([ofNobody], { employee: '-' })).toBe('problem');
	});

	test.each(['Copy (abc)', 'Pay (w)', ''])(
		'what %p left unknown is settled before it is paid',
		(workflow) => {
			expect(statusOf([paid({ ...thisMonth, outcome: 'Unknown', workflow })])).toBe('unknown');
		},
	);

	test.each([null, '', true, 'ተከፍሏል', 'paid.', 5])(
		'the outcome %p is none, so it is unknown whether it was paid',
		(outcome) => {
			expect(statusOf([paid({ ...thisMonth, outcome })])).toBe('unknown');
		},
	);

	test.each([
		[[{ reference: 'a', Outcome: 'paid' }], 'no rows with reference and outcome'],
		[[{ outcome: 'paid' }], 'no rows with reference'],
		[['{"reference":"a","outcome":"paid"}'], 'no rows with'],
		[[{ json: 'text' }], 'no rows with'],
		[[5], 'no rows with'],
		[[[paid()]], 'no rows with'],
	])('the table %j is refused: %s', (payments, message) => {
		expect(() => check([row], { register: payments })).toThrow(message);
	});

	test.each([[], [{}], [null], [{ json: {} }], [null, paid(thisMonth)]])(
		'the table %j is read',
		(...payments) => {
			expect(check([row], { register: payments })).toHaveLength(1);
		},
	);

	test('a payment without the key of its person has that of the employee number', () => {
		const ofForeign = { ...thisMonth, reference: 'INV-5', employeeKey: null };
		expect(statusOf([paid({ ...ofForeign, employee: String(row.employee) })])).toBe('paidBefore');
	});

	test('a day in the column of the period is one of Addis Ababa', () => {
		const began = new Date('2026-10-31T21:00:00Z');
		const payment = { ...thisMonth, reference: 'INV-5', employeeKey: String(row.employee) };
		expect(statusOf([paid({ ...payment, period: began })])).toBe('paidBefore');
	});

	test('the amount that was asked for counts where that which was paid is not known', () => {
		const payment = { ...thisMonth, amountEtb: null, requestedAmountEtb: 777 };
		expect(against([paid(payment)]).paid).toMatchObject({ amountEtb: 777 });
	});

	test.each([
		['salary-2026-11-E-0701', 'E-0701'],
		['salary-2026-11-0042', '42'],
		['salary-2026-11-42.', '0042'],
		['salary-2026-11-0911234567', '+251 911 234 567'],
		['salary-2026-11-E-12', 'E-12'],
	])('%p is found for %p, whatever its columns say', (reference, employee) => {
		for (const columns of [{}, { purpose: 'SALARY', period: '2026/11', employeeKey: employee }]) {
			const status = (outcome: string): string => {
				const payment = { ...columns, reference, outcome, workflow: 'Pay (w)' };
				return statusOf([payment], { employee });
			};
			const told = ['paid', 'notPaid', 'unknown'].map(status);
			expect(told).toEqual(['paidBefore', 'ready', 'unknown']);
		}
	});

	test.each([
		[{}, 'paidBefore'],
		[{ period: '2026-10' }, 'ready'],
		[{ purpose: 'bonus' }, 'ready'],
		[{ purpose: '' }, 'ready'],
		[{ employeeKey: 'E-2' }, 'ready'],
	])('a reference of another kind is found by the columns: with %p it is %p', (more, status) => {
		expect(
			statusOf([paid({ reference: 'INV-5', period: '2026-11', employeeKey: 'e 1', ...more })]),
		).toBe(status);
	});

	test.each<[outcome: string, status: string]>([
		...Object.entries(outcomeByCode).map(([code, outcome]): [string, string] => [
			code,
			{ paid: 'paidBefore', alreadyPaid: 'paidBefore', unknown: 'unknown' }[String(outcome)] ??
				'ready',
		]),
		[' PAID ', 'paidBefore'],
		['Already paid', 'paidBefore'],
		['UNKNOWN', 'unknown'],
	])('the outcome %p makes a row %p', (outcome, status) => {
		expect(statusOf([paid({ ...thisMonth, outcome, workflow: 'Other (other)' })])).toBe(status);
	});

	test('is refused if it is no list', () => {
		expect(() => check([row], { register: 'x' })).toThrow(/Known Payments is "x"/);
	});
});
