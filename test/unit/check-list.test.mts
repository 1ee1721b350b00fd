/** Lists of people to pay: what is read, what is refused, and what can never happen. */
import fc from 'fast-check';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import type { ListSettings } from '../../nodes/EtbWallet/list/listSettings.ts';
import { columnNames, optionalColumns } from '../../nodes/EtbWallet/list/columns.ts';
import { duePeriod, readPeriod } from '../../nodes/EtbWallet/list/period.ts';
import { InvalidValueError } from '../../nodes/shared/invalidValue.ts';
import { cellText } from '../../nodes/EtbWallet/list/spreadsheet.ts';

const now = new Date('2026-10-26T08:00:00Z');
/** The lists here name no wallet. */
const settings: ListSettings = { purpose: 'salary', period: '2026-10', now, setsUpPeople: true };

type Fields = Record<string, unknown>;
type Row = ReturnType<typeof checkList>[number]['row'];
const check = (items: Fields[], more: Partial<ListSettings> = {}): Row[] =>
	checkList(items, { ...settings, ...more }).map(({ row }) => row);
const rowsOf = (rows: unknown[][]): Fields[] => rows.map((row) => ({ row }));
/** The rows of a CSV file, as n8n reads them. */
const csv = (text: string): Fields[] => rowsOf(text.split('\n').map((line) => line.split(',')));
const headings = ['employee', 'name', 'amountEtb'];
const top = headings.join();

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
function one(fields: Fields): Row {
	const [row] = check([{ employee: 'E-1', name: 'Abebe', amountEtb: 100, ...fields }, ...others]);
	if (row === undefined) throw new Error('there is no row');
	return row;
}

describe('a row', () => {
	test('has no field of a column that the list lacks, and as a total has a remark of its own', () => {
		for (const column of ['email', 'phone']) expect(one({})).not.toHaveProperty(column);
		expect(one({ name: 'Total Bekele' }).remarks.map(({ code }) => code)).toEqual(['total']);
	});

	test('becomes a payment, with its other columns as they came', () => {
		const [item] = checkList(
			[
				{
					'Employee ': ' E-0701 ',
					ＮＡＭＥ: 'Tsion  Abate',
					'Amount (ETB)': '12,400.50',
					'User ID': 'etbw_1',
					'E-mail': 'T@b.et',
					Phone: '‪+251911000701‬',
					Department: 'Sales',
					Level: 5,
					empty: ' ',
				},
			],
			settings,
		);
		expect(item).toEqual({
			itemIndex: 0,
			row: {
				status: 'ready',
				line: 1,
				employee: 'E-0701',
				employeeKey: 'E0701',
				name: 'Tsion Abate',
				toUserId: 'etbw_1',
				email: 'T@b.et',
				phone: '‪+251911000701‬',
				period: '2026-10',
				purpose: 'salary',
				problem: '',
				remarks: [],
				amountEtb: 12_400.5,
				reference: 'salary-2026-10-E0701',
				otherColumns: { Department: 'Sales', Level: 5 },
				notRead: ['Department', 'Level'],
			},
		});
	});

	test.each([...optionalColumns])('has what stands in its column %s', (column) => {
		const found = Object.entries(one({ [column]: 'value-1' }));
		const names = found.filter(([, value]) => value === 'value-1').map(([name]) => name);
		expect(names).toEqual([column === 'userId' ? 'toUserId' : column]);
	});

	test('of a sheet has the number that the spreadsheet shows, and blank rows are left out', () => {
		const list = csv(`Payroll of October\n\n,${top}\n1,E-1,Abebe,5\n,,, \n2,E-2,Almaz,pending`);
		const rows = checkList(list, settings);
		expect(rows.map(({ row, itemIndex }) => [row.line, itemIndex, row.status])).toEqual([
			[4, 3, 'ready'],
			[6, 5, 'problem'],
		]);
	});

	/** By column: what is refused, as texts between bars, or as other values. */
	const refused: Record<string, Array<[problem: RegExp, texts: string, ...values: unknown[]]>> = {
		amountEtb: [
			[/can mean 12400 or 12\.4/, '12,400'],
			[/can mean 124005 or 124\.005/, '124,005|124.005'],
			[/more than two decimals/, '1,24005|12,4000'],
			[/amountEtb is empty\. .*formula.*save it/, '', null],
			[/not above zero/, '0', 0, -5],
			[/below 0\.01/, '0.0041', 0.004],
			[/amountEtb is "pending", which is not a plain number/, 'pending'],
			[
				/not a plain number/,
				'5000\u00b9|10\u00b2|\u24605000|5\u2080|1\u2070|\u2167|5\u00bd|5\ufe52000.00',
			],
			[/not a plain number/, '\u0665\u0660|\uff0d5|\uff15|5\u33a1|\ud835\udfce|\u246950|\u2488'],
			[/nobody can see/, '12\u20624|5\u200b00|5\u00ad000|5\u200e,000.00|ETB\u200b 1\u200b2'],
			[/nobody can see/, '\u202e12\u202c5|\u202e125\u202c'],
			[/error of a formula/, '#REF!|#DIV/0!|#N/A|#NV|Err:502'],
		],
		employee: [
			[/employee is .*Write the employee/, '|-|–|—|.|?|nan|N/A|na|NULL|none|nil|undefined'],
			[/error of a formula/, '#N/A'],
			[
				/spreadsheet made of a date or another number/,
				'2.51911E+11|2,51911E+11|51,041|1,234,567|1234567890123450|12-Jan|Jan-12|2026-01-12T00:00:00.000Z|2026-01-12 00:00|1/12/26|1/12/2026',
				now,
				1041.5,
				-5,
				2 ** 51,
			],
			[
				/has a digit of another kind/,
				'E-1\u00b2|E-1\u2082|E-1\u2461|E-1\u00bd|E-1\ud835\udfd0|E-1\u2489',
			],
			[/nobody can see/, '\u202eE-12'],
			[/is a total/, 'TOTAL|TOTAL-014|Sub-Total|Finance Total|Total Finance|Sum|ጠቅላላ'],
		],
		name: [
			[/name is "?(empty|-|5)"?[,.].*Write the name/, '|-|5'],
			[/error of a formula/, '#N/A'],
			[/name is .*nobody can see/, 'Abebe\ue000|Abebe\u0378'],
			[/is a total/, 'ጠቅላላ ድምር|የፋይናንስ ድምር|ድምር፡|አጠቃላይ ክፍያ|ድምሩ|TOTALS|Finance Total|Grand Total:'],
			[
				/is a total/,
				'Finance total:|Department sum -|TTL|Page total A|Gross total A|Overall total A',
			],
			[/is a total/, 'Total Bekele|Total for Sales|Net total|Total employees 14|Sub-total Sales'],
		],
		userId: [[/userId is .*nobody can see/, 'etbw\u200b_1|etbw\ufe0f_1']],
	};

	const each = Object.entries(refused).flatMap(([column, rows]) =>
		rows.flatMap(([problem, texts, ...values]) =>
			[...texts.split('|'), ...values].map((value): [Fields, RegExp] => [
				{ [column]: value },
				problem,
			]),
		),
	);
	test.each<[Fields, RegExp]>([
		...each,
		...(['employee', 'name', 'amountEtb'] as const).flatMap((column) =>
			[{ is: 5 }, ['E-1'], true].map((value): [Fields, RegExp] => [
				{ [column]: value },
				/is not text/,
			]),
		),
		[{ employee: 'Total 14', name: '2 employees' }, /is a total/],
		[{ employee: '', name: 'Total Bekele' }, /is a total/],
		[{ employee: '14', name: 'Netsanet Total' }, /is a total/],
		[{ employee: '', name: '', 'No.': 'TOTAL' }, /is a total/],
		[{ employee: '', name: '', phone: 'TOTAL' }, /is a total/],
		[{ employee: 'Manager', name: '', amountEtb: '', phone: '0911000002' }, /name is empty/],
	])('with %p is refused, and cannot be paid', (fields, problem) => {
		const row = one(fields);
		expect([row.status, row.reference, row.amountEtb]).toEqual(['problem', undefined, undefined]);
		expect(row.problem).toMatch(problem);
	});

	test.each<Fields>([
		...['MARKETING-014', 'JANITOR-014', 'DECO-500', 'Maya-01'].map((employee) => ({ employee })),
		...['Ato', 'W/ro', 'W/rt', 'Dr.', 'አቶ', 'ወ/ሮ', 'ወ/ት'].map((title) => ({
			employee: '14',
			name: `${title} Total`,
		})),
		{ name: 'Abe\u200bbe' },
		...['2026.10', '2026_10', '2026 10', '2026 - 10', '2026-10-25'].map((period) => ({ period })),
	])('with %p can be paid', (fields) => {
		expect(one(fields)).toMatchObject({ status: 'ready', problem: '' });
	});

	test('without a wallet is refused, unless one is known or made', () => {
		const row = { employee: '1', name: 'Abebe', amountEtb: 5 };
		const known = { ...row, userId: 'w1' };
		const statusOf = (item: Fields, more: Partial<ListSettings>): string | undefined =>
			check([item], { setsUpPeople: false, ...more })[0]?.status;
		expect(statusOf(row, {})).toBe('problem');
		expect(statusOf(row, { setsUpPeople: true })).toBe('ready');
		expect(statusOf(row, { people: [known] })).toBe('ready');
		expect(statusOf(known, {})).toBe('ready');
	});

	test.each<[unknown, number, RegExp, number?]>([
		[8333.333333333334, 8333.33, /8333\.33333333333 to 8333\.33\.$/, 8333.33333333333],
		['9388.848', 9388.85, /Rounded to two/, 9388.848],
		['0,125', 0.13, /Rounded to two/, 0.125],
		['1.24005', 1.24, /Rounded to two/, 1.24005],
		[9500.500000000001, 9500.5, /^$/],
		['="250"', 250, /^$/],
		['\u200e 12,400.50\u200f', 12_400.5, /^$/],
		['\u202a500\u202c', 500, /^$/],
		['12400.0', 12_400, /^$/],
		['ETB 12,400.50', 12_400.5, /^$/],
	])('the amount %p is %p', (amountEtb, amount, remark, ...[listedAmountEtb]) => {
		const row = one({ amountEtb });
		expect(row).toMatchObject({ amountEtb: amount, problem: '' });
		expect(row.listedAmountEtb).toBe(listedAmountEtb);
		expect(row.remarks.map(({ text }) => text).join(' ')).toMatch(remark);
	});

	test.each([
		[{ employee: 'e 7' }, { employee: 'E-7' }, 'employee'],
		[{ userId: 'etbw_a' }, { userId: ' ETBW_A ' }, 'userId'],
	])('%p and %p are refused both', (first, second, column) => {
		const rows = check([
			{ employee: 'E-1', name: 'Abebe', amountEtb: 100, ...first },
			{ employee: 'E-2', name: 'Almaz', amountEtb: 'unreadable', ...second },
			...others,
		]);
		const [one = '', other = '', ...more] = rows.map(({ problem }) => problem);
		expect(one).toMatch(new RegExp(`^The same ${column} is in row 2 \\(Almaz\\)`));
		expect(other).toMatch(new RegExp(`The same ${column} is in row 1 \\(Abebe\\)`));
		expect(more).toEqual(['', '']);
	});

	test('has no field of the package or the register from a column, whatever its heading is', () => {
		// A value without a heading is a problem, so the row has the amount of the list too.
		const own = [...Object.keys(one({ email: 'a', phone: 'b' })), 'listedAmountEtb'];
		const meant = [
			'outcome code message remedy mode requestedAmountEtb httpCode error txHash paidAt requestedAmountEtb',
			'settledBy approvedBy decision workflow id reason known lastTime paid reference toUserId',
			'updatedAt __proto__',
		].flatMap((names) => names.split(' '));
		const heading = fc.oneof(fc.constantFrom(...own, ...meant), fc.string({ minLength: 1 }));
		// A heading is read also with signs before each capital letter of its column.
		const columns = columnNames.map((column) => column.replace(/[A-Z]/g, '[\\W_]*$&'));
		const isRead = new RegExp(`^[\\W_]*(${columns.join('|')})[\\W_]*$`, 'i');
		fc.assert(
			fc.property(heading, fc.constantFrom('5', 'unreadable'), (name, amountEtb) => {
				fc.pre(!isRead.test(name));
				const row = one({ ...Object.fromEntries([[name, 'x']]), amountEtb });
				expect(own).toEqual(expect.arrayContaining(Object.keys(row)));
				expect(Object.values(row)).not.toContain('x');
				expect(Object.values(row.otherColumns)).toEqual(['x']);
			}),
			{ numRuns: 1_000 },
		);
	});

	test('without a number and an amount is no person, and says what stands in it', () => {
		const titles =
			',Finance department,,\n1,E-1,Abebe,5\n,,Almaz Bekele,\n,E-3,,\n,,Bekele,7\n,,Sara,0\n,,,0';
		const rows = check(
			csv(
				`No.,${top}\n${titles}\nPrepared by: Hirut M.,,,-\n,,Checked by,\n,,Signed by,Hana\n,Prepared by:,Hana Wolde,`,
			),
		);
		expect(rows.map(({ status, problem }) => [status, problem])).toEqual([
			['noPerson', expect.stringMatching(/"Finance department"/)],
			['ready', ''],
			['noPerson', expect.stringMatching(/"Almaz Bekele"/)],
			['problem', expect.stringMatching(/name is empty.*amountEtb is empty.*formula.*save it/)],
			...Array<unknown[]>(2).fill(['problem', expect.stringMatching(/employee is empty/)]),
			['noPerson', expect.stringMatching(/"0"/)],
			['noPerson', expect.stringMatching(/"Prepared by: Hirut M\."/)],
			['noPerson', expect.stringMatching(/"Checked by"/)],
			['noPerson', expect.stringMatching(/"Signed by"/)],
			['noPerson', expect.stringMatching(/"Prepared by:"/)],
		]);
	});

	test.each([
		[{ name: 'Sara', phone: '0911000002', userId: 'etbw_2' }, /^Beside "Sara"/],
		[{ name: 'By: Sara', phone: 'Date', userId: 'Approved by: Hirut' }, /^Beside "By: Sara"/],
		[{ phone: '0911000002' }, /^Beside "0911000002"/],
		[{ employee: 'ያዘጋጀው፡', name: 'Hana' }, /^Beside "ያዘጋጀው፡"/],
	])('%p without a number and an amount is told as %p', (row, problem) => {
		expect(one({ employee: '', name: '', amountEtb: '', ...row }).problem).toMatch(problem);
	});

	test('names the columns that are not read and have something in them', () => {
		const names = ['', ...headings, 'currency', 'status', '', 'empty', 'phone'];
		const [row] = check(rowsOf([names, [1, 'E-1', 'Abebe', 5, 'USD', 'HOLD', 'x', '', '0911']]));
		expect(row?.notRead).toEqual(['column A', 'currency', 'status', 'column G']);
		expect(row?.otherColumns).toEqual({
			'column A': 1,
			currency: 'USD',
			status: 'HOLD',
			'column G': 'x',
		});
		const [wide] = check(
			rowsOf([headings, ['E-1', 'Abebe', 5, ...Array<string>(23).fill(''), 'x']]),
		);
		expect(wide?.notRead).toEqual(['column AA']);
	});

	test('with more values than headings is refused, but a column without a heading is none', () => {
		const [fine, tooLong] = check(
			csv(',employee,amountEtb,name\n1,E-1,5,Abebe Kebede\n2,E-2,7,Kebede, Abebe'),
		);
		expect(fine?.problem).toBe('');
		expect(tooLong?.problem).toMatch(/more values than headings/);
		const [moved] = check(csv('employee,amountEtb,name,\nE-2,7,Kebede, Abebe'));
		expect(moved?.problem).toMatch(/more values than headings/);
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
		const [row] = check(csv(bytes(`${top},ክፍል\nE-1,ጽዮን አባተ,11200,ሽያጭ`)));
		expect(row).toMatchObject({ name: 'ጽዮን አባተ', otherColumns: { ክፍል: 'ሽያጭ' } });
		expect(one({ name: 'Andr\u00e9' }).name).toBe('André');
	});
});

describe('a list', () => {
	const below = (rows: string): Fields[] => csv(`${top}\nE-1,A,5\n${rows}`);
	const utf16 = (order: 'le' | 'be'): Fields[] => {
		const bytes = Buffer.from(`${top}\nE-1,ጽዮን,5`, 'utf16le');
		return csv((order === 'le' ? bytes : bytes.swap16()).toString('latin1'));
	};
	const ofPeriod = (period: unknown): Fields => ({
		employee: 'E-1',
		name: 'A',
		amountEtb: 5,
		period,
	});
	const ofPeriods = (periods: unknown[], refusal: RegExp): typeof whole =>
		Object.fromEntries(
			periods.map((each) => [`the period ${String(each)}`, [[ofPeriod(each)], refusal]]),
		);

	const whole: Record<string, [items: Fields[], refusal: RegExp]> = {
		nobody: [[{}], /nobody in it/],
		'an error': [[{ error: 'password-protected' }], /could not be read: password-protected/],
		'an error with more': [[{ error: { message: 'no file' } }], /could not be read: no file/],
		'only headings': [csv(top), /nobody in it/],
		'no headings': [csv('E-1,Abebe,5'), /no column employee.*"E-1", "Abebe", "5"/],
		'gross beside net': [
			[{ 'Employee ID': 'E-1', Name: 'Abebe', Salary: 10, 'Net Pay (ETB)': 8 }],
			/no column employee and no column amountEtb.*"Employee ID", "Name", "Salary", "Net Pay \(ETB\)"/,
		],
		'other headings below a title': [
			csv('Blue Nile\nNo,Full Name,Amount (ETB)\n1,A,5,6,7,8,9'),
			/no column employee and no column name\. Its columns are "No", "Full Name", "Amount \(ETB\)" \(row 2\)/,
		],
		'Amharic headings': [csv('ተ.ቁ,ሙሉ ስም\n1,ጽዮን'), /Its columns are "ተ\.ቁ", "ሙሉ ስም" \(row 1\)/],
		'two amounts': [
			csv(`${top},Amount ETB\nE-1,A,5,6`),
			/2 columns for "amountEtb": "amountEtb", "Amount/,
		],
		'two amounts, as n8n tells them': [
			[{ employee: 'E-1', name: 'A', amountEtb: 5, amountEtb_1: 6 }],
			/2 columns for "amountEtb"/,
		],
		'a quote without its partner': [
			rowsOf([headings, ['E-1', '"Tsion,11200\nE-2,Henok,9800.50\n']]),
			/Row 2 of the list has several lines in "name"/,
		],
		'a second table': [
			below('employee,name,gross,amountEtb'),
			/Row 3 .*again.*: "employee", "name", "gross",/,
		],
		'a second table without an amount there': [below('name,employee,'), /Row 3 .*headings again/],
		'a second table in another order': [below('Name,Staff 1,Employee'), /Row 3 .*headings again/],
		'one heading again, in its column': [below('Staff 1,NAME,Gross 2'), /Row 3 .*headings again/],
		'other headings': [
			below('Staff,Full name,Gross,Wallet\nE-2,B,6,etbw_1'),
			/Row 3 .*words alone: "Staff", "Full name"/,
		],
		'other headings of some columns': [below(',ሙሉ ስም,ደመወዝ\n2,B,6'), /Row 3 .*words alone/],
		'another period below the right one': [
			[ofPeriod('2026-10'), { ...ofPeriod('2026-09'), employee: 'E-2' }],
			/Row 2 of the list is for/,
		],
		'another period below none': [
			[ofPeriod(''), { ...ofPeriod('2026-09'), employee: 'E-2' }],
			/Row 2 /,
		],
		'headings again among fields': [
			[ofPeriod(''), { employee: 'employee', name: 'name', amountEtb: 'amountEtb' }],
			/Row 2 of the list has headings again/,
		],
		'UTF-16 without a mark': [utf16('le'), /letters that cannot be read in .*UTF-16.*CSV UTF-8/],
		'UTF-16 in the other order': [
			utf16('be'),
			/letters that cannot be read in .*UTF-16.*CSV UTF-8/,
		],
		'letters that are lost in a heading': [
			csv(`${top},R\ufffdle\nE-1,A,5,x`),
			/letters that cannot be read in its headings/,
		],
		'letters that are lost': [
			below('E-2,Andr\ufffd,5'),
			/Row 3 .*letters that cannot be read in "name"/,
		],
		'its headings below that': [csv(`${'Title\n'.repeat(20)}${top}\nE-1,A,5`), /no column/],
		'a column too many': [csv(`${top}${','.repeat(98)}net\nE-1,A,5`), /goes on behind column CV/],
		'a row too many': [csv(`${top}${'\nE-1,A,5'.repeat(5_000)}`), /goes on .*below row 5000/],
		...ofPeriods(
			['2018-13', 'ጥቅምት 2019'],
			/Row 1 of the list is for .*20\d\d is a year of the Ethiopian calendar/,
		),
		...ofPeriods(
			['2026-09', new Date('2026-09-01'), 46_266, 'Sep-26', '09/2026', '\u200b2026-09'],
			/Row 1 of the list is for .*, and this run is for 2026-10\. To pay/,
		),
	};
	test.each(Object.entries(whole))('with %s is refused as a whole', (_, [items, refusal]) => {
		expect(refusalOf(() => check(items))).toMatch(refusal);
	});

	const hundred = Array.from({ length: 97 }, (_, index) => `allowance ${index}`).join();
	const read: Record<string, [items: Fields[], statuses: string[]]> = {
		'a hundredth column': [
			csv(`employee,name,${hundred},amountEtb,\nE-1,A,${hundred},5`),
			['ready'],
		],
		'a period beside a person and a word beside none': [
			csv(`${top},period\nE-1,A,5,2026/10\n,,,Approved`),
			['ready', 'noPerson'],
		],
		'words for amounts beside a digit': [below('E-2,B,pending'), ['ready', 'problem']],
		'one person and a column error': [[{ ...ofPeriod(''), error: 'x' }], ['ready']],
		'a signature below the last amount': [below(',Signed by,Hana'), ['ready', 'noPerson']],
		'a title among the amounts': [below(',,Finance department'), ['ready', 'problem']],
		'a formula that fails': [
			below('Sumeya,B,#REF!\nSumeyu,C,n/a'),
			['ready', 'problem', 'problem'],
		],
		'its headings in the twentieth row': [csv(`${'Title\n'.repeat(19)}${top}\nE-1,A,5`), ['ready']],
		'its last person in row 5,000': [csv(`${top}${'\n'.repeat(4_999)}E-1,A,5`), ['ready']],
		'a million empty rows': [[...below(''), ...rowsOf(Array<[]>(4_990).fill([]))], ['ready']],
		'a title that a node took for headings': [
			[
				{ Tana: 'employee', __EMPTY: 'name', __EMPTY_1: 'amountEtb' },
				{ Tana: 'E-1', __EMPTY: 'A', __EMPTY_1: 5 },
			],
			['ready'],
		],
	};
	test.each(Object.entries(read))('may have %s', (_, [items, statuses]) => {
		expect(check(items).map(({ status }) => status)).toEqual(statuses);
	});

	test('of two sheets, whose rows have the same numbers, names who is in both', () => {
		const rows = ['E-1', 'E 1', 'E-2'].map((employee, index) => ({
			row_number: index < 2 ? 2 : 3,
			employee,
			name: 'A',
			amountEtb: index + 5,
		}));
		const told = check(rows).map(({ problem }) => /row 2 \(A\)/.exec(problem)?.[0]);
		expect(told).toEqual(['row 2 (A)', 'row 2 (A)', undefined]);
	});
});

describe('the headings of one’s own', () => {
	const columns = {
		employee: 'Staff No',
		name: 'Full name',
		amountEtb: 'Net to pay',
		phone: 'Mobile',
	};
	const own = (rows: unknown[][], more: Fields = columns): Row[] =>
		check(rowsOf(rows), { ownHeadings: more });
	const letterhead = [
		...[
			['Tana Textile', 'Name', 'Tana'],
			['Prepared by: Hirut M. (bookkeeper)', 'TIN 0012345678'],
		],
		...[[], ['No.', 'Staff No', 'Full name', 'Mobile', 'Gross', 'Net\n to pay', 'name']],
	];
	const person = [1, 'TT-001', 'Abebe', '0911000001', 9000, 7297.12, 'x'];

	test('are written once; a column with a standard name is then another one, and problems speak of them', () => {
		const [row, spoiled] = own([...letterhead, person, [2, '12-Jan', '', '', 9000, 'x']]);
		expect(row).toMatchObject({
			line: 5,
			employeeKey: 'TT001',
			name: 'Abebe',
			amountEtb: 7297.12,
			problem: '',
			phone: '0911000001',
			notRead: ['No.', 'Gross', 'name'],
		});
		expect(spoiled?.problem).toMatch(/Staff No is "12-Jan".*Full name is empty.*Net to pay is "x"/);
		const [twice] = own([...letterhead, person, person]);
		expect(twice?.problem).toMatch(/^The same Staff No is in row 6/);
	});

	test('may be one for two columns, and differ in a sign alone', () => {
		const both = { employee: 'Mobile', phone: 'Mobile', amountEtb: 'Salary %' };
		const list = csv('Mobile,name,Salary,Salary %\n0911000001,A,5,6');
		const [row] = check(list, { ownHeadings: both });
		expect(row).toMatchObject({ employeeKey: '911000001', amountEtb: 6 });
		const signs = check(csv('#,name,amountEtb\n1,A,5\n,B,'), { ownHeadings: { employee: '#' } });
		expect(signs.map(({ status }) => status)).toEqual(['ready', 'noPerson']);
	});

	test.each<[Fields, RegExp]>([
		[{}, /no column employee and no column amountEtb.*\(row 4\).*Columns.*employee, amountEtb/],
		[{ ...columns, amountEtb: 'Net' }, /no column Net\. Its columns are "No\.", .*"Net to pay"/],
		[{ ...columns, userId: 'Wallet' }, /no column Wallet/],
		[{ ...columns, name: 'Twice' }, /2 columns for "Twice"/],
	])(
		'%p that are not there, or twice, are refused with the row of the headings',
		(more, refusal) => {
			const twice = letterhead.map((row) => row.concat(row.length > 3 ? ['Twice', 'Twice'] : []));
			expect(refusalOf(() => own([...twice, person], more))).toMatch(refusal);
		},
	);
});

describe('with known people, a row', () => {
	const people = [
		{ json: { employee: 'E-0701', name: 'Tsion Abate', userId: 'etbw_1', amountEtb: 100 } },
		{ employee: 'e 702', name: 'Henok Lemma', userId: 'etbw_2', amountEtb: 100 },
		...['703', '0703'].map((employee) => ({ employee, name: 'Twice', userId: `etbw_${employee}` })),
		{ employee: 'E-705', name: 'No wallet', userId: '' },
		{ employee: 'E-706', name: 'Sara', userId: 'etbw_6' },
		{ employee: 'E-707', name: 'Liya', userId: 'ETBW_6' },
		...[{}, null],
	];

	test.each([
		[{ employee: 'e 0701' }, 'etbw_1', []],
		[{ employee: 'e 0701', userId: '–' }, 'etbw_1', []],
		[{ employee: 'E0701', userId: 'ETBW_1' }, 'etbw_1', []],
		[{ employee: 'E-702' }, 'etbw_2', ['Another name: Henok Lemma in the table of people.']],
		[{ employee: 'E-9', userId: 'etbw_9' }, 'etbw_9', ['The wallet stands in this list alone.']],
		[
			{ employee: 'E-705', name: 'No wallet', userId: 'etbw_5' },
			'etbw_5',
			['The wallet stands in this list alone.', 'Another amount: none in the table of people.'],
		],
	])('%p is paid into %p', (fields, toUserId, remarks) => {
		const [row] = check([{ name: 'Tsion Abate', amountEtb: 100, ...fields }, ...others], {
			people,
		});
		expect(row).toMatchObject({ toUserId, problem: '' });
		const told = row?.remarks.filter(({ code }) => !['new', 'sameName'].includes(code)) ?? [];
		expect(told.map(({ text }) => text)).toEqual(remarks);
	});

	test.each([
		[{ employee: 'E-9' }, /no wallet yet. Run Set up people to pay/],
		[{ employee: 'E-705' }, /no wallet/],
		[{ employee: '0703' }, /employee number twice/],
		[{ employee: 'E0701', userId: 'etbw_9' }, /another wallet, etbw_1/],
		[{ employee: 'E0701', userId: 'etbw_2' }, /that of e 702 \(Henok Lemma\)/],
		[{ employee: 'E-9', userId: 'etbw_1' }, /that of E-0701 \(Tsion Abate\)/],
		[{ employee: 'E-706' }, /that of E-707 \(Liya\)/],
		[{ employee: 'E-707', userId: 'etbw_6' }, /that of E-706 \(Sara\)/],
	])('%p is refused', (fields, problem) => {
		for (const setsUpPeople of String(problem).includes('no wallet') ? [false] : [false, true]) {
			const list = [{ name: 'Tsion', amountEtb: 100, ...fields }, ...others];
			const [row] = check(list, { people, setsUpPeople });
			const known = fields.employee === 'E-9' ? 'new' : 'changed';
			expect([row?.status, row?.known]).toEqual(['problem', known]);
			expect(row?.problem).toMatch(problem);
		}
	});

	test.each([
		['etbw_1', /Known People is "etbw_1"/],
		// Else its person would get a second wallet.
		[[{ employee: '12-Jan', name: 'Sara', userId: 'etbw_2' }], /Known People .*"12-Jan".* date/],
	])('is not looked for in %p', (given, refusal) => {
		expect(refusalOf(() => check(others, { people: given }))).toMatch(refusal);
	});
});

describe('whatever is in a list', () => {
	const cell = fc.oneof(
		fc.constantFrom<unknown>(
			...['', null, undefined, 'E-1', 'E 1', '0001', 1, '1.0', 100, '12,400.50', 'TOTAL'],
		),
		...[fc.string({ unit: 'binary' }), fc.double(), fc.anything()],
	);
	const row = fc.record({
		employee: cell,
		name: fc.oneof(fc.constant('Abebe'), cell),
		amountEtb: fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), cell),
		userId: fc.oneof(fc.constant(''), cell),
		email: fc.oneof(fc.constant(''), cell),
	});
	const lists = fc.array(row, { minLength: 1, maxLength: 12 });
	const checked = (rows: Fields[]): ReturnType<typeof checkList> => {
		try {
			return checkList(rows, settings);
		} catch (error) {
			if (error instanceof InvalidValueError) return [];
			throw error;
		}
	};

	test('no row is lost, and each has either a problem, or an amount and a reference of its own', () => {
		let payable = 0;
		fc.assert(
			fc.property(lists, (rows) => {
				const found = checked(rows);
				const filled = rows.flatMap((each, index) =>
					Object.values(each).some((value) => cellText(value) !== '') ? [index] : [],
				);
				if (found.length > 0) expect(found.map(({ itemIndex }) => itemIndex)).toEqual(filled);
				const ready = found.filter(({ row: each }) => each.status === 'ready');
				for (const { row: each } of found) {
					const isReady = each.status === 'ready';
					expect([each.problem === '', each.reference !== undefined]).toEqual([isReady, isReady]);
					expect(each.amountEtb === undefined).toBe(!isReady);
					if (isReady) expect(String(each.amountEtb)).toMatch(/^(?!0$)\d+(\.\d{1,2})?$/);
				}
				payable += ready.length;
				expect(new Set(ready.map(({ row: each }) => each.reference)).size).toBe(ready.length);
			}),
			{ numRuns: 2_000 },
		);
		expect(payable).toBeGreaterThan(300);
	});

	test('nobody is refused for an amount alone that can be read', () => {
		const cents = fc.array(fc.integer({ min: 1, max: 10_000_000 }), {
			minLength: 1,
			maxLength: 12,
		});
		const written = fc.constantFrom<(amount: number) => unknown>(
			...[(amount: number) => amount, (amount: number) => amount.toFixed(2)],
			(amount) => `ETB ${amount.toFixed(2)}`,
			(amount) => amount.toLocaleString('en', { minimumFractionDigits: 2 }),
			...[(amount: number) => amount + 0.001, (amount: number) => Math.ceil(amount)],
		);
		fc.assert(
			fc.property(cents, written, (amounts, write) => {
				const rows = amounts.map((each, index) => ({
					employee: index + 45_900,
					name: 'Abebe',
					amountEtb: write(each / 100),
				}));
				const sum = amounts.reduce((total, each) => total + each, 0) / 100;
				const manager = { employee: 'M', name: 'Sara', amountEtb: sum };
				for (const { problem } of check([...rows, manager])) expect(problem).toBe('');
			}),
			{ numRuns: 500 },
		);
	});
});

describe('the period', () => {
	test('that is due lasts from each pay day to the next one, in Addis Ababa, without a gap', () => {
		const days = fc.date({
			min: new Date('2020-01-01'),
			max: new Date('2040-01-01'),
			noInvalidDate: true,
		});
		const turns = ['2026-10-24T20:59:59Z', '2026-10-24T21:00:00Z', '2027-01-01T00:00:00Z'];
		fc.assert(
			fc.property(days, fc.integer({ min: 1, max: 28 }), (day, payDay) => {
				const local = new Date(day.getTime() + 3 * 3_600_000);
				const months = local.getUTCFullYear() * 12 + local.getUTCMonth();
				const due = months - (local.getUTCDate() < payDay ? 1 : 0);
				const name = `${Math.floor(due / 12)}-${String((due % 12) + 1).padStart(2, '0')}`;
				expect(duePeriod(day, payDay)).toBe(name);
			}),
			{ numRuns: 1_000, examples: turns.map((turn) => [new Date(turn), 25]) },
		);
		const told = turns.map((turn) => duePeriod(new Date(turn), 25));
		expect(told).toEqual(['2026-09', '2026-10', '2026-12']);
	});

	type Given = Partial<Parameters<typeof readPeriod>[0]>;
	const read = (period: unknown, more: Given): string =>
		readPeriod({ payDay: 25, period, now, isChosen: true, isRetryExecution: false, ...more });
	const left = { isChosen: false };

	test.each<[unknown, Given, string]>([
		['', left, '2026-10'],
		[undefined, left, '2026-10'],
		[' 2026-10 ', left, '2026-10'],
		['2026-09', {}, '2026-09'],
		['2025-10', {}, '2025-10'],
		['2026-10', { ...left, isRetryExecution: true }, '2026-10'],
		['2026-10', { payDay: 1 }, '2026-10'],
		['2026-09', { payDay: 28 }, '2026-09'],
	])('%p with %p is %s', (period, more, expected) => {
		expect(read(period, more)).toBe(expected);
	});

	test.each<[unknown, Given, RegExp]>([
		['2026-09', left, /Period is "2026-09", which is not due: 2026-10 is/],
		['2026-11', {}, /has not begun, or .* Due is 2026-10/],
		['2025-09', {}, /is more than a year ago\. Due is 2026-10/],
		['October', {}, /Write the month .* such as 2026-10, which is due/],
		['2026-13', {}, /Period is "2026-13"/],
		...['2018-13', '2019-03', '2017-13', 'Hidar 2019', '2019'].map(
			(period): [unknown, Given, RegExp] => [period, {}, /is a year of the Ethiopian calendar/],
		),
		[202610, {}, /Period is 202610/],
		['', { isRetryExecution: true }, /Retry execution/],
		...[29, 0, '"25"', undefined].map((payDay): [unknown, Given, RegExp] => [
			...(['', { payDay }, /^Pay Day is (29|0|"\\"25\\""|empty)\. Enter the day/] as const),
		]),
	])('%p with %p is refused', (period, more, refusal) => {
		expect(refusalOf(() => read(period, more))).toMatch(refusal);
	});
});
