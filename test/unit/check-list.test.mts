/** Lists of people to pay: what is read, what is refused, and what can never happen. */
import fc from 'fast-check';
import { checkList, type CheckedItem } from '../../nodes/EtbWallet/list/checkList.ts';
import { duePeriod, readPeriod } from '../../nodes/EtbWallet/list/period.ts';
import { peopleIn } from '../../nodes/EtbWallet/list/known.ts';
import { InvalidValueError } from '../../nodes/shared/invalidValue.ts';

const now = new Date('2026-10-26T08:00:00Z');
const settings = { purpose: 'salary', period: '2026-10', now };

type Fields = Record<string, unknown>;
const check = (items: Fields[]): CheckedItem[] => checkList(items, settings);
const sheet = (...rows: unknown[][]): CheckedItem[] => check(rows.map((row) => ({ row })));
const headings = ['employee', 'name', 'amountEtb'];

function refusalOf(action: () => unknown): string {
	try {
		action();
	} catch (error) {
		if (error instanceof InvalidValueError) return `${error.message}. ${error.remedy}`;
		throw error;
	}
	throw new Error('nothing was refused');
}

/** Two others, so that no amount is the sum of the rest. */
const others: Fields[] = [
	{ employee: 'other-1', name: 'Almaz', amountEtb: 7 },
	{ employee: 'other-2', name: 'Hirut', amountEtb: 11 },
];
const one = (row: Fields): CheckedItem['row'] => {
	const [item] = check([{ employee: 'E-1', name: 'Abebe', amountEtb: 100, ...row }, ...others]);
	if (item === undefined) throw new Error('there is no row');
	return item.row;
};

describe('a row', () => {
	test('becomes a payment, with its other columns as they came', () => {
		const [item] = check([
			{
				'Employee ': ' E-0701 ',
				NAME: 'Tsion  Abate',
				'Amount (ETB)': '12,400.50',
				'User ID': 'etbw_1',
				'E-mail': 'T@b.et',
				Phone: '‪+251911000701‬',
				Department: 'Sales',
			},
		]);
		expect(item).toEqual({
			itemIndex: 0,
			row: {
				line: 1,
				employee: 'E-0701',
				person: 'E0701',
				name: 'Tsion Abate',
				toUserId: 'etbw_1',
				amountEtb: 12_400.5,
				period: '2026-10',
				reference: 'salary-2026-10-E0701',
				purpose: 'salary',
				status: 'ready',
				problem: '',
				remarks: [],
				notRead: ['Department'],
			},
			others: { email: 'T@b.et', phone: '‪+251911000701‬', Department: 'Sales' },
		});
	});

	test('of a sheet has the number that the spreadsheet shows, and blank rows are left out', () => {
		const rows = sheet(
			['Payroll of October'],
			[],
			['', ...headings],
			[1, 'E-1', 'Abebe', 5],
			['', '', '', ' '],
			[2, 'E-2', 'Almaz', 'pending'],
		);
		expect(rows.map(({ row, itemIndex }) => [row.line, itemIndex, row.problem !== ''])).toEqual([
			[4, 3, false],
			[6, 5, true],
		]);
	});

	test.each([
		[{ amountEtb: 'pending' }, /amountEtb is "pending", which is not a plain number/],
		[{ amountEtb: '12,400' }, /can mean 12400 or 12\.4/],
		[{ amountEtb: '' }, /amountEtb is empty/],
		[{ amountEtb: 0 }, /not above zero/],
		[{ amountEtb: -5 }, /not above zero/],
		[{ amountEtb: 0.004 }, /below 0\.01/],
		[{ amountEtb: '#REF!' }, /error of a formula/],
		[{ amountEtb: '#N/A' }, /error of a formula/],
		[{ amountEtb: 'Err:502' }, /error of a formula/],
		[{ employee: '#N/A' }, /error of a formula/],
		[{ name: '#N/A' }, /error of a formula/],
		[{ name: '-' }, /name is "-"/],
		[{ employee: 'nan' }, /employee is "nan"/],
		[{ employee: '' }, /employee is empty/],
		[{ employee: '-' }, /employee is "-"/],
		[{ employee: '2.51911E+11' }, /what a spreadsheet made of another number/],
		[{ employee: '12-Jan' }, /which is a date/],
		[{ employee: 'Jan-12' }, /which is a date/],
		[{ employee: '2026-01-12T00:00:00.000Z' }, /which is a date/],
		[{ employee: '1/12/26' }, /which is a date/],
		[{ employee: new Date() }, /which is a date/],
		[{ employee: 1041.5 }, /what a spreadsheet made of another number/],
		[{ employee: '51,041' }, /what a spreadsheet made of another number/],
		[{ employee: '1234567890123450' }, /what a spreadsheet made of another number/],
		[{ employee: 1234567890123456 }, /what a spreadsheet made of another number/],
		[{ employee: -5 }, /what a spreadsheet made of another number/],
		[{ name: 'Abebe\ue000' }, /name has a letter that nobody can see/],
		[{ userId: 'etbw\u200b_1' }, /userId has a letter that nobody can see/],
		[{ userId: 'etbw\ufe0f_1' }, /userId has a letter that nobody can see/],
		[{ name: '' }, /name is empty/],
		[{ name: { first: 'Abebe' } }, /name is \{"first":"Abebe"\}, which is not text/],
		[{ employee: ['E-1'] }, /employee is \["E-1"\], which is not text/],
		[{ employee: 'x'.repeat(101) }, /longer than 100/],
		[{ employee: 'TOTAL', name: '2 employees' }, /is a total/],
		[{ employee: '', name: 'Grand total:' }, /is a total/],
		[{ employee: 'Sub-Total' }, /is a total/],
		[{ name: 'ጠቅላላ ድምር' }, /is a total/],
	])('%p is refused, and cannot be paid', (row, problem) => {
		const refused = one(row);
		expect(refused.problem).toMatch(problem);
		expect(Object.keys(refused)).not.toEqual(expect.arrayContaining(['reference']));
		expect(Object.keys(refused)).not.toEqual(expect.arrayContaining(['amountEtb']));
	});

	test.each([
		['E-701', 'E701'],
		['e 701', 'E701'],
		['E‑701', 'E701'],
		['E–701', 'E701'],
		['0042', '42'],
		[42, '42'],
		['42.0', '42'],
		['="0042"', '42'],
		["'0042", '42'],
		['000', '0'],
		['51041.00', '51041'],
		[51_041, '51041'],
		['46034', '46034'],
		['0911 00 07 04', '911000704'],
		[911_000_704, '911000704'],
		['911000704.0', '911000704'],
		['+251911000704', '911000704'],
		['00251-911-000704', '911000704'],
		['12E3', '12E3'],
		['MAY-1A', 'MAY1A'],
		['Sumeya', 'SUMEYA'],
		['2024/7', '2024/7'],
	])('the employee number %p is that of %p', (employee, person) => {
		expect(one({ employee })).toMatchObject({
			person,
			reference: `salary-2026-10-${person}`,
			problem: '',
		});
	});

	test.each([
		[8333.333333333334, 8333.33, /8333\.33333333333 to 8333\.33\.$/],
		['9388.848', 9388.85, /Rounded to two/],
		['0,125', 0.13, /Rounded to two/],
		[9500.500000000001, 9500.5, /^$/],
		['="250"', 250, /^$/],
		['12400.0', 12_400, /^$/],
		['ETB 12,400.50', 12_400.5, /^$/],
	])('the amount %p is %p', (amountEtb, amount, remark) => {
		const row = one({ amountEtb });
		expect(row).toMatchObject({ amountEtb: amount, problem: '' });
		expect(row.remarks.map(({ text }) => text).join(' ')).toMatch(remark);
	});

	test.each([
		[{ employee: 'e 7' }, { employee: 'E-7' }, 'employee'],
		[{ employee: '007' }, { employee: '7.0' }, 'employee'],
		[{ userId: 'etbw_a' }, { userId: ' ETBW_A ' }, 'userId'],
	])('%p and %p are refused both', (first, second, column) => {
		const rows = check([
			{ employee: 'E-1', name: 'Abebe', amountEtb: 100, ...first },
			{ employee: 'E-2', name: 'Almaz', amountEtb: 'unreadable', ...second },
			...others,
		]);
		expect(rows.map(({ row }) => row.problem.includes(`same ${column}`))).toEqual([
			...[true, true],
			...[false, false],
		]);
		expect(rows[0]?.row).not.toHaveProperty('reference');
	});

	test('signs for nothing are no email address that two people have', () => {
		const rows = check(
			['N/A', 'N/A', '-', '-', ''].map((email, index) => ({
				...{ employee: `E-${index}`, name: 'Abebe', amountEtb: 10 ** index, email },
			})),
		);
		expect(rows.map(({ row }) => row.problem)).toEqual(['', '', '', '', '']);
	});

	test('an old reference of a list that was checked before does not come along', () => {
		const [item] = check([
			{ employee: 'E-1', name: 'Abebe', amountEtb: 'x', reference: 'salary-2026-10-E1', line: 9 },
			...others,
		]);
		expect(item?.others).toEqual({});
		expect(item?.row).toMatchObject({ line: 1 });
	});

	test('with more values than headings is refused, but a column without a heading is none', () => {
		const rows = sheet(
			['', 'employee', 'amountEtb', 'name'],
			[1, 'E-1', 5, 'Abebe Kebede'],
			[2, 'E-2', 7, 'Kebede', ' Abebe'],
		);
		expect(rows.map(({ row }) => row.problem)).toEqual([
			'',
			expect.stringMatching(/more values than headings/),
		]);
	});

	test('of a CSV file without a mark of its encoding has its letters', () => {
		const bytes = (text: string): string => Buffer.from(text).toString('latin1');
		const [item] = sheet(
			[...headings, bytes('ክፍል')],
			['E-1', bytes('ጽዮን አባተ'), '11200', bytes('ሽያጭ')],
		);
		expect(item?.row.name).toBe('ጽዮን አባተ');
		expect(item?.others).toEqual({ ክፍል: 'ሽያጭ' });
		expect(one({ name: 'Andr\u00e9' }).name).toBe('André');
	});
});

describe('a list', () => {
	test.each<[string, Fields[], RegExp]>([
		['nobody', [{}], /nobody in it/],
		[
			'what n8n could not read',
			[{ error: 'File is password-protected' }],
			/could not be read: File is password-protected/,
		],
		['only headings', [{ row: headings }], /nobody in it/],
		['no headings', [{ row: ['E-1', 'Abebe', 5] }], /no column employee.*"E-1", "Abebe", "5"/],
		[
			'gross beside net',
			[{ 'Employee ID': 'E-1', Name: 'Abebe', Salary: 10, 'Net Pay (ETB)': 8 }],
			/no column employee and no column amountEtb.*"Employee ID", "Name", "Salary", "Net Pay \(ETB\)"/,
		],
		[
			'other headings below a title',
			[{ row: ['Blue Nile'] }, { row: ['No', 'Full Name', 'Amount (ETB)'] }, { row: [1, 'A', 5] }],
			/no column employee and no column name\. Its columns are "No", "Full Name", "Amount \(ETB\)" \(row 2\)/,
		],
		[
			'headings in another language',
			[{ row: ['ተ.ቁ', 'ሙሉ ስም'] }, { row: [1, 'ጽዮን'] }],
			/Its columns are "ተ\.ቁ", "ሙሉ ስም" \(row 1\)/,
		],
		[
			'two columns of a name',
			[{ row: [...headings, 'Amount ETB'] }, { row: ['E-1', 'A', 5, 6] }],
			/2 columns for "amountEtb": "amountEtb", "Amount ETB"/,
		],
		[
			'two columns of a name, as n8n tells them',
			[{ employee: 'E-1', name: 'A', amountEtb: 5, amountEtb_1: 6 }],
			/2 columns for "amountEtb"/,
		],
		[
			'a quote without its partner',
			[{ row: headings }, { row: ['E-1', '"Tsion,11200\nE-2,Henok,9800.50\n'] }],
			/Row 2 of the list has several lines in "name"/,
		],
		[
			'rows that the range cuts off',
			[{ row: headings }, ...Array.from({ length: 5_000 }, () => ({ row: ['E-1', 'A', 5] }))],
			/goes on below row 5000/,
		],
		[
			'the result of another period',
			[{ employee: 'E-1', name: 'A', amountEtb: 5, Period: '2026-09' }],
			/Row 1 of the list is for "2026-09", and this run is for 2026-10/,
		],
		...[new Date('2026-09-01'), 46_266, 'Sep-26', 'September 2026', '09/2026', '\u200b2026-09'].map(
			(period): [string, Fields[], RegExp] => [
				`the period ${String(period)}`,
				[{ employee: 'E-1', name: 'A', amountEtb: 5, period }],
				/Row 1 of the list is for .* (The node cannot read it|To pay 2026-09)/,
			],
		),
	])('with %s is refused as a whole', (_, items, refusal) => {
		expect(refusalOf(() => check(items))).toMatch(refusal);
	});

	test('may have its headings in the twentieth row, and not below it', () => {
		const titles = (rows: number): unknown[][] => Array.from({ length: rows }, () => ['Title']);
		expect(sheet(...titles(19), headings, ['E-1', 'A', 5])[0]?.row.line).toBe(21);
		expect(refusalOf(() => sheet(...titles(20), headings, ['E-1', 'A', 5]))).toMatch(/no column/);
	});

	test('of two sheets, whose rows have the same numbers, names who is in both', () => {
		const items = check([
			{ row_number: 2, employee: 'E-1', name: 'A', amountEtb: 5 },
			{ row_number: 2, employee: 'E 1', name: 'A', amountEtb: 6 },
			{ row_number: 3, employee: 'E-2', name: 'B', amountEtb: 7 },
		]);
		expect(items.map(({ row: { problem } }) => problem.slice(0, 30))).toEqual([
			'Row 2 (A) has the same employe',
			'Row 2 (A) has the same employe',
			'',
		]);
	});

	test('may have a sheet with a million empty rows', () => {
		const blank = Array.from({ length: 5_000 }, () => []);
		expect(sheet(headings, ['E-1', 'A', 5], ...blank)).toHaveLength(1);
	});

	test('of two may have the same amount twice, and so may one of any number', () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 9_999 }),
				fc.integer({ min: 1, max: 9 }),
				(amount, size) => {
					const rows = check(
						Array.from({ length: size }, (_, index) => ({
							...{ employee: `E-${index}`, name: 'Abebe', amountEtb: amount },
						})),
					);
					expect(rows.filter(({ row }) => row.problem !== '')).toEqual([]);
				},
			),
		);
	});

	test('has its total told, whatever is in it', () => {
		const amounts = fc.array(fc.integer({ min: 1, max: 10_000_000 }), {
			minLength: 2,
			maxLength: 30,
		});
		fc.assert(
			fc.property(amounts, fc.boolean(), (cents, isFirst) => {
				const rows = cents.map((each, index) => ({
					...{ employee: `E-${index}`, name: 'Abebe', amountEtb: each / 100 },
				}));
				const sum = cents.reduce((total, each) => total + each, 0) / 100;
				const total = { employee: '14', name: 'people', amountEtb: sum };
				const all = check(isFirst ? [total, ...rows] : [...rows, total]);
				expect(all.at(isFirst ? 0 : -1)?.row).toMatchObject({
					status: 'ready',
					remarks: expect.arrayContaining([expect.objectContaining({ code: 'sumOfOthers' })]),
				});
			}),
		);
	});
});

describe('with known people, a row', () => {
	const table = [
		{ json: { employee: 'E-0701', name: 'Tsion Abate', userId: 'etbw_1' } },
		{ employee: 'e 702', name: 'Henok Lemma', userId: 'etbw_2' },
		{ employee: '703', name: 'Twice', userId: 'etbw_3' },
		{ employee: '0703', name: 'Twice', userId: 'etbw_4' },
		{ employee: 'E-705', name: 'No wallet', userId: '' },
		{ employee: 'E-706', name: 'Sara', userId: 'etbw_6' },
		{ employee: 'E-707', name: 'Liya', userId: 'ETBW_6' },
		{},
		null,
	];
	const people = peopleIn(table, now);
	const wallet = (row: Fields): CheckedItem['row'] => {
		const list = [{ name: 'Tsion Abate', amountEtb: 100, ...row }, ...others];
		const [first] = checkList(list, { ...settings, people });
		if (first === undefined) throw new Error('there is no row');
		return first.row;
	};

	test.each([
		[{ employee: 'e 0701' }, 'etbw_1', ''],
		[{ employee: 'E0701', userId: 'ETBW_1' }, 'etbw_1', ''],
		[{ employee: 'E-702' }, 'etbw_2', 'Another name: Henok Lemma in Known People.'],
		[{ employee: 'E-9', userId: 'etbw_9' }, 'etbw_9', 'The wallet stands in this list alone.'],
	])('%p is paid into %p', (row, toUserId, remark) => {
		const { remarks, ...checked } = wallet(row);
		expect(checked).toMatchObject({ toUserId, problem: '' });
		expect(
			remarks.filter(({ code }) => !['new', 'sameName'].includes(code)).map(({ text }) => text),
		).toEqual(remark === '' ? [] : [remark]);
	});

	test.each([
		[{ employee: 'E-9' }, /no wallet for this person/],
		[{ employee: 'E-705' }, /no wallet for this person/],
		[{ employee: '0703' }, /employee number twice/],
		[{ employee: 'E0701', userId: 'etbw_9' }, /another wallet, etbw_1/],
		[{ employee: 'E0701', userId: 'etbw_2' }, /that of e 702 \(Henok Lemma\)/],
		[{ employee: 'E-9', userId: 'etbw_1' }, /that of E-0701 \(Tsion Abate\)/],
		[{ employee: 'E-706' }, /that of E-707 \(Liya\)/],
		[{ employee: 'E-707', userId: 'etbw_6' }, /that of E-706 \(Sara\)/],
	])('%p is refused', (row, problem) => {
		expect(wallet(row).problem).toMatch(problem);
	});

	test('is refused if its wallet is that of another row', () => {
		const rows = checkList(
			[
				{ employee: 'E-0701', name: 'Tsion', amountEtb: 5 },
				{ employee: 'e0701', name: 'T', amountEtb: 6 },
			],
			{ ...settings, people },
		);
		expect(rows.map(({ row }) => row.problem !== '')).toEqual([true, true]);
	});

	test('cannot be found in what is no list', () => {
		expect(refusalOf(() => peopleIn('etbw_1', now))).toMatch(/Known People is "etbw_1"/);
		// Else its person would get a second wallet.
		const spoiled = [{ employee: '12-Jan', name: 'Sara', userId: 'etbw_2' }];
		expect(refusalOf(() => peopleIn(spoiled, now))).toMatch(/Known People .*"12-Jan".* date/);
	});
});

describe('whatever is in a list', () => {
	const cell = fc.oneof(
		fc.constantFrom<unknown>(
			'',
			null,
			undefined,
			'E-1',
			'E 1',
			'0001',
			1,
			'1.0',
			100,
			'12,400.50',
			'TOTAL',
		),
		fc.string({ unit: 'binary' }),
		fc.double(),
		fc.anything(),
	);
	const row = fc.record({
		employee: cell,
		name: fc.oneof(fc.constant('Abebe'), cell),
		amountEtb: fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), cell),
		userId: fc.oneof(fc.constant(''), cell),
		email: fc.oneof(fc.constant(''), cell),
	});
	const lists = fc.array(row, { minLength: 1, maxLength: 12 });

	const checked = (rows: Fields[]): CheckedItem[] | undefined => {
		try {
			return check(rows);
		} catch (error) {
			if (error instanceof InvalidValueError) return undefined;
			throw error;
		}
	};

	test('a row has either a problem, or an amount and a reference of its own', () => {
		let payable = 0;
		fc.assert(
			fc.property(lists, (rows) => {
				const references = (checked(rows) ?? []).flatMap(
					({ row: { problem, reference, amountEtb } }) => {
						expect(problem === '').toBe(reference !== undefined);
						expect(problem === '').toBe(amountEtb !== undefined);
						if (amountEtb !== undefined) {
							payable++;
							expect(amountEtb).toBeGreaterThan(0);
							expect(String(amountEtb)).toMatch(/^\d+(\.\d{1,2})?$/);
						}
						return reference === undefined ? [] : [reference];
					},
				);
				expect(new Set(references).size).toBe(references.length);
			}),
			{ numRuns: 2_000 },
		);
		expect(payable).toBeGreaterThan(300);
	});

	test('what it gives, checked again, gives the same', () => {
		fc.assert(
			fc.property(lists, (rows) => {
				const first = checked(rows);
				if (first === undefined) return;
				const again = checked(first.map(({ row, others: rest }) => ({ ...rest, ...row }))) ?? [];
				const byReference = new Map(again.map(({ row }) => [row.reference, row.amountEtb]));
				for (const { row } of first)
					if (row.reference !== undefined && again.length > 0)
						expect([undefined, row.amountEtb]).toContain(byReference.get(row.reference));
			}),
			{ numRuns: 500 },
		);
	});

	test('the way in which a person is written does not make another one', () => {
		const number = fc.stringMatching(/^[A-Za-z]{0,3}[1-9]\d{0,4}$/);
		const ways: Array<(text: string) => unknown> = [
			(text) => text,
			(text) => text.toLowerCase(),
			(text) => ` ${text} `,
			(text) => text.replace(/(?<=[A-Za-z])(?=\d)/, '-'),
			(text) => text.replace(/(?<=[A-Za-z])(?=\d)/, '\u00a0\u2011 '),
			(text) => (/^\d/.test(text) ? `00${text}` : text),
			(text) => (/^\d/.test(text) ? `${text}.0` : text),
		];
		fc.assert(
			fc.property(number, fc.constantFrom(...ways), (text, way) => {
				// Such as MAY12, which with a dash is a date.
				fc.pre(!/^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i.test(text));
				const [plain, other] = [one({ employee: text }), one({ employee: way(text) })];
				expect(other.reference).toBe(plain.reference);
				expect(plain.reference).toBeDefined();
			}),
		);
	});
});

describe('the period', () => {
	const at = (time: string, payDay = 25): string => duePeriod(new Date(time), payDay);

	test.each([
		['2026-10-24T20:59:59Z', '2026-09'],
		['2026-10-24T21:00:00Z', '2026-10'],
		['2026-10-31T09:00:00Z', '2026-10'],
		['2026-11-02T09:00:00Z', '2026-10'],
		['2026-11-24T20:59:59Z', '2026-10'],
		['2026-11-24T21:00:00Z', '2026-11'],
		['2027-01-01T00:00:00Z', '2026-12'],
		['2027-03-01T00:00:00Z', '2027-02'],
	])('that is due at %s is %s', (time, period) => {
		expect(at(time)).toBe(period);
	});

	test('lasts from each pay day to the next one, without a gap', () => {
		const days = fc.date({
			min: new Date('2020-01-01'),
			max: new Date('2040-01-01'),
			noInvalidDate: true,
		});
		fc.assert(
			fc.property(days, fc.integer({ min: 1, max: 28 }), (day, payDay) => {
				const local = new Date(day.getTime() + 3 * 3_600_000);
				const months = local.getUTCFullYear() * 12 + local.getUTCMonth();
				const due = months - (local.getUTCDate() < payDay ? 1 : 0);
				const name = `${Math.floor(due / 12)}-${String((due % 12) + 1).padStart(2, '0')}`;
				expect(duePeriod(day, payDay)).toBe(name);
			}),
			{ numRuns: 1_000 },
		);
	});

	const read = (period: unknown, more: Partial<Parameters<typeof readPeriod>[0]> = {}): string =>
		readPeriod({ payDay: 25, period, now, isChosen: false, isRetryExecution: false, ...more });

	test('is the one that is due, or the one that a person chose', () => {
		expect(read('')).toBe('2026-10');
		expect(read(undefined)).toBe('2026-10');
		expect(read(' 2026-10 ')).toBe('2026-10');
		expect(read('2026-09', { isChosen: true })).toBe('2026-09');
		expect(read('2025-10', { isChosen: true })).toBe('2025-10');
		expect(read('2026-10', { isRetryExecution: true })).toBe('2026-10');
	});

	test.each<[unknown, Partial<Parameters<typeof readPeriod>[0]>, RegExp]>([
		['2026-09', {}, /Period is 2026-09, and 2026-10 is due/],
		['2026-11', { isChosen: true }, /has not begun: its pay day is 2026-11-25/],
		['2025-09', { isChosen: true }, /more than a year ago/],
		['October', { isChosen: true }, /Write it like 2026-10, which is due/],
		['2026-13', { isChosen: true }, /Period is "2026-13"/],
		[202610, { isChosen: true }, /Period is 202610/],
		['', { isRetryExecution: true }, /Retry execution/],
		['', { payDay: 29 }, /Pay Day is 29/],
		['', { payDay: 0 }, /Pay Day is 0/],
		['', { payDay: '25' }, /Pay Day is "25"/],
		['', { payDay: undefined }, /Pay Day is empty/],
	])('%p with %p is refused', (period, more, refusal) => {
		expect(refusalOf(() => read(period, more))).toMatch(refusal);
	});
});
