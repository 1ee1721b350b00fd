/** Lists of people to pay: what is read, what is refused, and what can never happen. */
import fc from 'fast-check';
import { textOf } from '../../nodes/EtbWallet/list/cells.ts';
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
		...[
			...[
				'5000\u00b9',
				'10\u00b2',
				'\u24605000',
				'5\u2080',
				'12\u20624',
				'5\u200b00',
				'\u202e12\u202c5',
				'\u202e125\u202c',
			],
			...[
				'5\u00ad000',
				'1\u2070',
				'\u2167',
				'5\u00bd',
				'\u0665\u0660',
				'\uff0d5',
				'5\u33a1',
				'\ud835\udfce',
			],
			...['\u246950', 'ETB\u200b 1\u200b2', '5\u200e,000.00', '\u2488', '5\ufe52' + '000.00'],
		].map((amountEtb): [Fields, RegExp] => [{ amountEtb }, /is not a plain number|nobody can see/]),
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
		...['\u00b2', '\u2082', '\u2461', '\u00bd', '\ud835\udfd0', '\u2489'].map(
			(digit): [Fields, RegExp] => [
				{ employee: `E-1${digit}` },
				new RegExp(`employee is .*has the character "${digit}"`),
			],
		),
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
		...[
			...['ጠቅላላ ድምር', 'የፋይናንስ ድምር', 'ድምር፡', 'አጠቃላይ ክፍያ', 'ድምሩ', 'Finance Total', 'Grand Total:'],
			...['Total for Sales', 'Total employees 14', 'Sub-total Sales', 'TOTALS', 'Net total'],
		].map((name): [Fields, RegExp] => [{ name }, /is a total/]),
		...['Finance Total', 'Total Finance', 'Sum', 'ጠቅላላ', 'Total 14'].map(
			(employee): [Fields, RegExp] => [{ employee, name: '2 employees' }, /is a total/],
		),
		[{ employee: '', name: 'Total Bekele' }, /is a total/],
		[{ employee: '', name: '', 'No.': 'TOTAL' }, /is a total/],
		[{ employee: true }, /employee is true, which is not text/],
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
		['\u200e 12,400.50\u200f', 12_400.5, /^$/],
		['\u202a500\u202c', 500, /^$/],
		['１２，４００．５０', 12_400.5, /^$/],
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

	test('what a list says that was checked before does not come along', () => {
		const before = {
			...{ reference: 'salary-2026-10-E1', line: 9, status: 'ready', remarks: [], notRead: [] },
			...{ known: 'same', lastTime: {}, paid: {}, person: 'E9', purpose: 'bonus', problem: '' },
		};
		const row = { employee: 'E-1', name: 'Abebe', amountEtb: 'x', ...before };
		const [item] = check([row, ...others]);
		expect(item?.others).toEqual({});
		expect(item?.row).toMatchObject({
			line: 1,
			status: 'problem',
			person: 'E1',
			purpose: 'salary',
		});
		for (const name of ['reference', 'known', 'lastTime', 'paid'])
			expect(item?.row).not.toHaveProperty(name);
	});

	test('passes nothing through that would be taken for the state of a payment', () => {
		const old = {
			...{ outcome: 'paid', code: 'paid', message: 'Paid', remedy: 'None', mode: 'pay' },
			...{ requestedAmountEtb: 5, httpCode: 200, txHash: '0xold', paidAt: '2026-10-25' },
			...{ error: 'x', toUserId: 'etbw_1', ['__proto__']: 'x' },
		};
		const row = { employee: 'E-1', name: 'Abebe', amountEtb: 'x', ...old, Department: 'Sales' };
		const [item] = check([row, ...others]);
		expect(item?.others).toEqual({ Department: 'Sales' });
		expect(item?.row.notRead).toEqual(expect.arrayContaining(['outcome', 'txHash', 'Department']));
		const checkedHeadings = Object.keys(old);
		const [ofSheet] = sheet(
			[...headings, ...checkedHeadings.filter((name) => name !== 'toUserId')],
			['E-1', 'Abebe', 'x', ...checkedHeadings.slice(1)],
		);
		expect(ofSheet?.others).toEqual({});
	});

	test('without a number and an amount is no person, and says what stands in it', () => {
		const rows = sheet(
			['No.', ...headings],
			['', 'Finance department'],
			[1, 'E-1', 'Abebe', 5],
			['', '', 'Almaz Bekele'],
			['', 'E-3'],
			['', '', 'Bekele', 7],
			['', '', '', 0],
			['Prepared by: Hirut M.', '', '', '-'],
			['', '', 'Checked by', ''],
		);
		expect(rows.map(({ row }) => row.status)).toEqual([
			...[
				'noPerson',
				'ready',
				'noPerson',
				'problem',
				'problem',
				'noPerson',
				'noPerson',
				'noPerson',
			],
		]);
		expect(rows.map(({ row }) => row.problem)).toEqual([
			expect.stringMatching(/"Finance department"/),
			'',
			expect.stringMatching(/"Almaz Bekele"/),
			expect.stringMatching(/name is empty.*amountEtb is empty.*formula.*save it/),
			expect.stringMatching(/employee is empty/),
			expect.stringMatching(/"0"/),
			expect.stringMatching(/"Prepared by: Hirut M\."/),
			expect.stringMatching(/"Checked by"/),
		]);
	});

	test.each([
		[{ name: 'Sara', userId: 'etbw_2' }, 'problem'],
		[{ name: 'Sara', phone: '0911000002' }, 'problem'],
		[{ name: 'Sara', phone: '-', userId: 'N/A' }, 'noPerson'],
		[{ name: 'Prepared by: Sara', phone: 'Date', userId: 'Approved by: Hirut' }, 'noPerson'],
		[{ phone: '0911000002' }, 'noPerson'],
	])('%p without a number and an amount is a %s', (row, status) => {
		const checked = one({ employee: '', name: '', amountEtb: '', ...row });
		expect(checked.status).toBe(status);
		if (status === 'problem')
			expect(checked.problem).toMatch(/employee is empty.*amountEtb is empty/);
	});

	test('names the columns that are not read and have something in them', () => {
		const [item] = sheet(
			['', ...headings, 'currency', 'status', '', 'empty', 'phone'],
			[1, 'E-1', 'Abebe', 5, 'USD', 'HOLD', 'x', '', '0911'],
		);
		expect(item?.row.notRead).toEqual(['column A', 'currency', 'status', 'column G']);
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

	// A way of reading that tries a run of characters from each of them does not come to an end.
	test.each(['\t', '\r', '\ufeff', ' ', '\u00a0', '\u200b', '\u2800', '-', '. ', '0', 'a', '"'])(
		'may have a very long run of %j within each cell',
		(character) => {
			const cell = `E${character.repeat(300_000)}1`;
			for (const column of ['employee', 'name', 'amountEtb', 'userId', 'phone', 'email', 'x']) {
				const read = (): unknown => one({ [column]: cell });
				if (character === '\r') expect(refusalOf(read)).toMatch(/several lines/);
				else expect(read()).toMatchObject({ line: 1 });
			}
		},
	);

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
			'a second table, whose net is in another column',
			[
				...[headings, ['E-1', 'A', 5], ['employee', 'name', 'gross', 'amountEtb']].map((row) => ({
					row,
				})),
			],
			/Row 3 of the list has headings again: "employee", "name", "gross", "amountEtb"/,
		],
		[
			'headings of a second table in another order',
			[...[headings, ['E-1', 'A', 5], ['Name', 'Staff', 'Employee']].map((row) => ({ row }))],
			/Row 3 of the list has headings again/,
		],
		[
			'one heading again, in its column',
			[...[headings, ['E-1', 'A', 5], ['Staff', 'NAME', 'Gross']].map((row) => ({ row }))],
			/Row 3 of the list has headings again/,
		],
		[
			'other headings for the same columns',
			[
				...[
					[...headings, 'userId'],
					['E-1', 'A', 5, 'w1'],
					['Staff', 'Full name', 'Gross', 'Wallet'],
				],
				['E-2', 'B', 900, 'w2'],
			].map((row) => ({ row })),
			/Row 3 of the list has words alone.*: "Staff", "Full name", "Gross", "Wallet"/,
		],
		[
			'other headings in another language, of some columns',
			[...[headings, ['E-1', 'A', 5], ['', 'ሙሉ ስም', 'ደመወዝ']].map((row) => ({ row }))],
			/Row 3 of the list has words alone/,
		],
		[
			'headings again among fields',
			[
				{ employee: 'E-1', name: 'A', amountEtb: 5 },
				{ employee: 'employee', name: 'name', amountEtb: 'amountEtb' },
			],
			/Row 2 of the list has headings again/,
		],
		...['utf16le', 'utf16be'].map((encoding): [string, Fields[], RegExp] => {
			const bytes = Buffer.from('employee,name,amountEtb\nE-1,ጽዮን,5', 'utf16le');
			const text = (encoding === 'utf16le' ? bytes : bytes.swap16()).toString('latin1');
			return [
				`a file in ${encoding} without a mark`,
				text.split('\n').map((line) => ({ row: line.split(',') })),
				/letters that cannot be read in .*UTF-16 without a mark.*CSV UTF-8/,
			];
		}),
		[
			'letters that another encoding lost',
			[{ employee: 'E-1', name: 'Andr\ufffd', amountEtb: 5 }],
			/Row 1 of the list has letters that cannot be read in "name"/,
		],
		[
			'something behind the columns that are read',
			[{ row: [...headings, ...Array<string>(97).fill(''), 'net'] }, { row: ['E-1', 'A', 5] }],
			/goes on behind column CV/,
		],
		[
			'a title above headings that a node took for headings',
			[{ Tana: 'employee', __EMPTY: 'name' }],
			/switch Header Row off/,
		],
		[
			'a period of the Ethiopian calendar',
			[{ employee: 'E-1', name: 'A', amountEtb: 5, period: '2018-13' }],
			/for "2018-13".*2018 is a year of the Ethiopian calendar/,
		],
		[
			'a month of the Ethiopian calendar',
			[{ employee: 'E-1', name: 'A', amountEtb: 5, period: 'ጥቅምት 2019' }],
			/2019 is a year of the Ethiopian calendar/,
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

	test('may have a column that is the hundredth, and a period beside no person', () => {
		const rows = sheet(
			['employee', 'name', ...Array<string>(97).fill('allowance'), 'amountEtb', ''].map(
				(text, index) => (text === 'allowance' ? `allowance ${index}` : text),
			),
			['E-1', 'A', ...Array<number>(97).fill(1), 5],
		);
		expect(rows[0]?.row).toMatchObject({ status: 'ready', amountEtb: 5 });
		const signed = sheet(
			[...headings, 'period'],
			['E-1', 'A', 5, '2026/10'],
			['', '', '', 'Approved'],
		);
		expect(signed.map(({ row }) => row.status)).toEqual(['ready', 'noPerson']);
	});

	test('may have words for amounts beside a digit, and a title or a formula that fails among the amounts', () => {
		const rows = sheet(
			headings,
			['E-1', 'A', 'pending'],
			['', '', 'Finance department'],
			['Sumeya', 'B', '#REF!'],
			['Sumeyu', 'C', 'n/a'],
			['', 'Checked by', ''],
		);
		expect(rows.map(({ row }) => row.status)).toEqual([
			...['problem', 'problem', 'problem', 'problem', 'noPerson'],
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
					remarks: expect.arrayContaining([
						expect.objectContaining({ code: 'sumOfOthers' }),
					]) as unknown,
				});
			}),
		);
	});
});

describe('the headings of one’s own', () => {
	const columns = {
		employee: 'Staff No',
		name: 'Full name',
		amountEtb: 'Net to pay',
		phone: 'Mobile',
	};
	const own = (rows: unknown[][], more: Fields = columns): CheckedItem[] =>
		checkList(
			rows.map((row) => ({ row })),
			{ ...settings, columns: more },
		);
	const letterhead = [
		['Tana Textile', 'Name', 'Tana'],
		['Prepared by: Hirut M. (bookkeeper)', 'TIN 0012345678'],
		[],
		['No.', 'Staff No', 'Full name', 'Mobile', 'Gross', 'Net\n to pay', 'name'],
	];
	const person = [1, 'TT-001', 'Abebe', '0911000001', 9000, 7297.12, 'x'];

	test('are written once, and a column with a standard name is then another one', () => {
		const [item] = own([...letterhead, person]);
		expect(item).toMatchObject({
			row: { line: 5, person: 'TT001', name: 'Abebe', amountEtb: 7297.12, problem: '' },
			others: { phone: '0911000001' },
		});
		expect(item?.row.notRead).toEqual(['No.', 'Gross', 'name']);
	});

	test('are what problems speak of', () => {
		const [item] = own([...letterhead, [1, '12-Jan', '', '', 9000, 'x']]);
		expect(item?.row.problem).toMatch(
			/Full name is empty.*Staff No is "12-Jan".*Net to pay is "x"/,
		);
	});

	test('may be one for two columns, and differ in a sign alone', () => {
		const both = { employee: 'Mobile', phone: 'Mobile', amountEtb: 'Salary %' };
		const [item] = own(
			[
				['Mobile', 'name', 'Salary', 'Salary %'],
				['0911000001', 'A', 5, 6],
			],
			both,
		);
		expect(item).toMatchObject({ row: { person: '911000001', amountEtb: 6 } });
	});

	test.each<[Fields, RegExp]>([
		[{}, /no column employee and no column amountEtb.*\(row 4\).*Columns.*employee, amountEtb/],
		[{ ...columns, amountEtb: 'Net' }, /no column Net\. Its columns are "No\.", .*"Net to pay"/],
		[{ ...columns, userId: 'Wallet' }, /no column Wallet/],
	])('%p that are not there are refused, with the row of the headings', (more, refusal) => {
		expect(refusalOf(() => own([...letterhead, person], more))).toMatch(refusal);
	});

	test('that are there twice are refused', () => {
		const rows = [
			['employee', 'name', 'Net', 'Net'],
			['E-1', 'A', 5, 6],
		];
		expect(refusalOf(() => own(rows, { amountEtb: 'Net' }))).toMatch(/2 columns for "Net"/);
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

	test('no row with something in it is lost, and each says why it cannot be paid', () => {
		fc.assert(
			fc.property(lists, (rows) => {
				const found = checked(rows);
				if (found === undefined) return;
				const filled = rows.flatMap((each, index) =>
					Object.values(each).some((value) => textOf(value) !== '') ? [index] : [],
				);
				expect(found.map(({ itemIndex }) => itemIndex)).toEqual(filled);
				for (const { row: each } of found)
					expect(each.status === 'ready').toBe(each.problem === '');
			}),
			{ numRuns: 1_000 },
		);
	});

	test('nobody is refused for an amount alone that can be read', () => {
		const cents = fc.array(fc.integer({ min: 1, max: 10_000_000 }), {
			minLength: 1,
			maxLength: 12,
		});
		const written = fc.constantFrom<(amount: number) => unknown>(
			(amount) => amount,
			(amount) => amount.toFixed(2),
			(amount) => `ETB ${amount.toFixed(2)}`,
			(amount) => amount.toLocaleString('en', { minimumFractionDigits: 2 }),
			(amount) => amount + 0.001,
			(amount) => Math.ceil(amount),
		);
		fc.assert(
			fc.property(cents, written, (amounts, write) => {
				const rows = amounts.map((each, index) => ({
					...{ employee: index + 45_900, name: 'Abebe', amountEtb: write(each / 100) },
				}));
				const sum = amounts.reduce((total, each) => total + each, 0) / 100;
				const manager = { employee: 'M', name: 'Sara', amountEtb: sum };
				for (const { row: each } of check([...rows, manager])) expect(each.problem).toBe('');
			}),
			{ numRuns: 500 },
		);
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
		...['2018-13', '2019-03', '2017-13', 'Hidar 2019', '2019'].map(
			(period): [unknown, object, RegExp] => [
				...([
					period,
					{ isChosen: true },
					/is a year of the Ethiopian calendar.*such as 2026-10/,
				] as const),
			],
		),
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
