/** The code of "Read the rows" in payroll-from-a-file.json, exactly as n8n runs it: what people write, and what is refused. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readExample } from '../../lab/n8n/examples.mts';
import { runCode } from './run-code.mts';

const Row = z.object({
	about: z
		.object({ period: z.string().optional(), unknownColumns: z.array(z.string()).optional() })
		.optional(),
	fileProblem: z.string().optional(),
	line: z.number().optional(),
	employee: z.string().optional(),
	name: z.string().optional(),
	email: z.string().optional(),
	phone: z.string().optional(),
	amountEtb: z.union([z.number(), z.string()]).optional(),
	finding: z.string().optional(),
	problem: z.string().optional(),
	mayBePaid: z.boolean().optional(),
	sentAt: z.string().optional(),
});
type Row = z.infer<typeof Row>;

type Cell = string | number;
/** What the node gives for these rows of a sheet. */
async function read(
	sheet: Cell[][],
	{
		period = '',
		now = '2026-10-26',
		submittedAt,
	}: { period?: string; now?: string; submittedAt?: string } = {},
): Promise<Row[]> {
	const nodes = {
		Settings: [{ payDay: 25 }],
		'Upload a list': [
			{ period, submittedAt: submittedAt ?? now, list: { filename: 'october.csv' } },
		],
	};
	const input = sheet.map((row) => ({ row }));
	return z
		.array(Row)
		.parse(await runCode('payroll-from-a-file.json', 'Read the rows', { input, nodes, now }));
}

const headings = ['employee', 'name', 'email', 'phone', 'amountEtb', 'userId', 'finding'];
const rowWith = (change: Partial<Record<string, Cell>>, columns = headings): Cell[] => {
	const row: Record<string, Cell> = {
		employee: 'E-1',
		name: 'Abebe',
		email: '',
		phone: '',
		amountEtb: 100,
		userId: '',
		...change,
	};
	return columns.map((heading) => row[heading] ?? '');
};
const one = async (change: Partial<Record<string, Cell>>): Promise<Row> =>
	(await read([headings, rowWith(change)]))[0] ?? {};

test.each<[Cell, number]>([
	[12400, 12400],
	[12400.5, 12400.5],
	[9500.500000000001, 9500.5],
	['12400', 12400],
	['12400.5', 12400.5],
	['12400.50', 12400.5],
	['12400,50', 12400.5],
	['12,400.50', 12400.5],
	['12.400,50', 12400.5],
	['1,234,567', 1234567],
	['1.234.567,8', 1234567.8],
	['12 400', 12400],
	['12\u00a0400,50', 12400.5],
	['12\u202f400', 12400],
	["12'400", 12400],
	['1.5', 1.5],
	['ETB 12,400.00', 12400],
	['12,400.00 Birr', 12400],
	['12400 ብር', 12400],
	[' 250 ', 250],
	['="250"', 250],
])('the amount %p is %p ETB', async (written, amountEtb) => {
	expect(await one({ amountEtb: written })).toMatchObject({ amountEtb, problem: '' });
});

test.each<[Cell, string]>([
	['12.400', 'The amount "12.400" can be 12400 or 12.4: write 12400.00 or 12.4'],
	['12,400', 'The amount "12,400" can be 12400 or 12.4: write 12400.00 or 12.4'],
	['1234.567', 'The amount "1234.567" has more than two decimals'],
	[1234.567, 'The amount 1234.567 has more than two decimals'],
	['1,23,456', 'The amount "1,23,456" is not a number'],
	['12,400,50', 'The amount "12,400,50" is not a number'],
	['1.24E+04', 'The amount "1.24E+04" is not a number'],
	['-5', 'The amount "-5" is not a number'],
	[-5, 'The amount is -5'],
	[0, 'The amount is 0'],
	['0.00', 'The amount is 0.00'],
	['', 'The amount is empty'],
	['$500', 'The amount "$500" is not a number'],
	['12 4', 'The amount "12 4" is not a number'],
	['O12', 'The amount "O12" is not a number'],
	['٣', 'The amount "٣" is not a number'],
	['#REF!', 'The amount "#REF!" is not a number'],
	['Infinity', 'The amount "Infinity" is not a number'],
	['9'.repeat(13), `The amount "${'9'.repeat(13)}" is not a number`],
])('the amount %p is refused', async (written, problem) => {
	expect((await one({ amountEtb: written })).problem).toBe(problem);
});

test.each([
	[
		['9,500.50', '12,400', '12.400'],
		[9500.5, 12400, '12.400'],
	],
	[
		['9.500,50', '12.400', '12,400'],
		[9500.5, 12400, '12,400'],
	],
	[
		['9.500,50', '9,500.50', '12,400'],
		[9500.5, 9500.5, '12,400'],
	],
])('of %p the rest of the file says which sign is for thousands', async (written, amounts) => {
	const rows = await read([
		headings,
		...written.map((amountEtb, index) => rowWith({ employee: `E-${index}`, amountEtb })),
	]);
	expect(rows.map(({ amountEtb }) => amountEtb)).toEqual(amounts);
});

test.each<[Cell]>([
	['0911223344'],
	['911223344'],
	[911223344],
	['+251911223344'],
	['251911223344'],
	['00251 911 22 33 44'],
	['+251-91-122-3344'],
	['="0911223344"'],
])('the telephone number %p is one number, also as the number of an employee', async (written) => {
	expect(await one({ phone: written, employee: written })).toMatchObject({
		phone: '+251911223344',
		employee: '+251911223344',
		problem: '',
	});
});

test.each([
	[{ phone: '0811223344' }, '"0811223344" is not a telephone number'],
	[
		{ employee: '' },
		'There is no employee number: if the row is nobody, such as a total, delete it',
	],
	[{ employee: 'E\u200b1' }, 'The row has an invisible character: type its values again'],
	[{ employee: 'x'.repeat(101) }, 'The employee number is longer than 100 letters'],
	[{ name: ' ' }, 'There is no name'],
	[{ email: 'abebe@example' }, '"abebe@example" is not an email address'],
	[
		{ email: 'a@example.com; b@example.com' },
		'"a@example.com; b@example.com" is not an email address',
	],
	[{ name: '', amountEtb: '' }, 'There is no name. The amount is empty'],
])('%p is refused', async (change, problem) => {
	expect((await one(change)).problem).toBe(problem);
});

test.each([
	['', 'unclear'],
	['2026-10 paid', 'paid'],
	['2026-10 notPaid', 'notPaid'],
	['2026-10 Not paid', 'notPaid'],
	['2026-10 recordPaid', 'recordPaid'],
])('the finding %p is %p', async (written, finding) => {
	expect(await one({ finding: written })).toMatchObject({ finding, problem: '' });
});

test.each(['paid', '2026-10', 'It was paid'])(
	'the finding %p goes on as a text that the node refuses: nobody is settled by a guess',
	async (finding) => {
		const expected = { finding: `${finding}, not like 2026-10 paid`, problem: '' };
		expect(await one({ finding })).toMatchObject(expected);
	},
);

test('a title, headings as people write them, other columns and empty lines are no problem', async () => {
	const rows = await read([
		['Salaries October', '', ''],
		['Full Name', 'Employee No.', 'Department', 'Net Salary (ETB)'],
		['Abebe', 'E-1', 'Sales', 100],
		['', ' ', '', ''],
		['Almaz', 'E-2', 'Sales', 200],
	]);
	expect(
		rows.map(({ line, employee, amountEtb, problem }) => [line, employee, amountEtb, problem]),
	).toEqual([
		[3, 'E-1', 100, ''],
		[5, 'E-2', 200, ''],
	]);
	expect(rows[0]?.about).toMatchObject({ period: '2026-10', unknownColumns: ['Department'] });
});

test('every column of still-to-pay.xlsx is known: it is put in again', async () => {
	const folder = 'examples/code/payroll-from-a-file';
	const code = readFileSync(`${folder}/what-came-of-it.cjs`, 'utf8');
	const columns = /const COLUMNS =\s*'([^']+)'/.exec(code)?.[1]?.split(' ') ?? [];
	expect(columns).toEqual(expect.arrayContaining(['employee', 'name', 'amountEtb', 'reason']));
	const rows = await read([
		[...columns, 'approvedBy', 'finding'],
		columns.map((column) => (column === 'amountEtb' ? 100 : column)),
	]);
	expect(rows[0]?.about).toMatchObject({ unknownColumns: [] });
});

/** These columns come with still-to-pay.xlsx. */
const ofStillToPay = ['finding', 'outcome', 'reference', 'time'];

const names = [...headings, ...ofStillToPay.slice(1)];
const problemOf = async (...rows: Array<Partial<Record<string, string>>>): Promise<unknown> => {
	const list = [
		names,
		...rows.map((values, index) => rowWith({ employee: `E-${index}`, ...values }, names)),
	];
	return (await read(list, { now: '2026-11-02' }))[0]?.fileProblem;
};

test.each([
	{ finding: '2026-09 paid' },
	{ finding: '2026-9 paid' },
	{ finding: '2026/09 paid' },
	{ finding: '2026-09paid' },
	{ finding: 'paid (2026\u201109)' },
	{ reference: 'payroll-2026-09-E-1' },
	{ reference: '"Payroll\u20132026\u201309\u2013E-1"' },
])('a list with %p, and another Period in the form, is refused as a whole', async (values) => {
	expect(await problemOf({}, values)).toBe(
		'october.csv is about 2026-09, and this upload is for 2026-10. For 2026-09, write that into Period. For 2026-10, empty the columns finding and reference',
	);
});

test('a list about a period that cannot be settled says so, and one about several is to be divided', async () => {
	expect(await problemOf({ finding: '2026-11  notPaid' })).toMatch(
		/is about 2026-11, and this upload is for 2026-10\. The period 2026-11 has not begun: .* For 2026-10, empty/,
	);
	const several = [{ finding: '2026-10 paid' }, { reference: 'payroll-2026-09-E-1' }];
	expect(await problemOf(...several)).toBe(
		'october.csv is about several periods, 2026-09 and 2026-10: make a file for each of them, or empty what is old in the columns finding and reference',
	);
	expect(await problemOf({ finding: 'October paid' }, { reference: '2026-09 HR-7' })).toBe(
		undefined,
	);
});

const reference = 'payroll-2026-10-E-1';
test.each<[Record<string, string>, boolean]>([
	[{ reference, outcome: 'unknown', time: '2026-10-25 09:00' }, true],
	[{ reference, outcome: 'Paid ', time: '2026-10-25 09:00' }, true],
	[{ reference, outcome: 'notPaid', finding: '2026-10 notPaid' }, true],
	[{ reference, outcome: 'notPaid' }, false],
	[{ outcome: 'unknown' }, false],
	[{}, false],
])('somebody with %p may have been paid: %p', async (values, mayBePaid) => {
	const [row] = await read([names, rowWith({ amountEtb: '12.400', ...values }, names)]);
	expect(row).toMatchObject({ mayBePaid, sentAt: values['time'] ?? '' });
	expect(row?.problem).not.toBe('');
});

test('what a file keeps of another month is not told of this one', async () => {
	const left = { outcome: 'unknown', time: '2026-09-25 09:00' };
	const [row] = await read([names, rowWith(left, names)]);
	expect(row).toMatchObject({ mayBePaid: false, sentAt: '' });
});

test('a column that is almost named finding is refused: what stands there would be read by nobody', async () => {
	const rows = await read([[...headings.slice(0, -1), 'Findings (bank)'], rowWith({})]);
	expect(rows[0]?.fileProblem).toBe(
		'october.csv has a column "Findings (bank)": its name must be "finding"',
	);
});

test('the form and the first note name every column that a list can have', async () => {
	const code = readFileSync('examples/code/payroll-from-a-file/read-the-rows.cjs', 'utf8');
	const [, columns = ''] = /const HEADINGS = \{([^}]*)\}/.exec(code) ?? [];
	const written = [...columns.matchAll(/(\w+): \[([^\]]*)\]/g)]
		.filter(([, column = '']) => !ofStillToPay.includes(column))
		.map(([, , ways = '']) => [...ways.matchAll(/\w+/g)].map(String));
	expect(written.length).toBeGreaterThan(5);
	const { nodes } = await readExample('payroll-from-a-file.json');
	for (const name of ['Upload a list', 'About this workflow']) {
		const text = JSON.stringify(nodes.find((each) => each.name === name));
		const bold = [...text.matchAll(/(?:<b>|\*\*)([\w ]+)(?:<\/b>|\*\*)/g)].map(([, words = '']) =>
			words.toLowerCase().replace(/[^a-z]/g, ''),
		);
		const missing = written.filter((ways) => !ways.some((way) => bold.includes(way)));
		expect([name, missing]).toEqual([name, []]);
	}
});

test('bytes without a mark are UTF-8 if they can be, else Windows-1252', async () => {
	const asBytes = (text: string) => Buffer.from(text).toString('latin1');
	const names = [asBytes('አበበ'), 'Zo\u00e9 D\u0092Abbadie \u0080', 'ሰላም'];
	const rows = await read([
		headings,
		...names.map((name, index) => rowWith({ employee: `${index}`, name })),
	]);
	expect(rows.map(({ name }) => name)).toEqual(['አበበ', 'Zoé D’Abbadie €', 'ሰላም']);
});

test.each([
	[
		[
			['a', 'b'],
			['1', '2'],
		],
		'october.csv has no headings: one row must have at least "employee", "name" and "amountEtb"',
	],
	[
		[
			['employee', 'name', 'amount', 'salary'],
			['1', '2', '3', '4'],
		],
		'october.csv has two columns for "amountEtb"',
	],
	[
		[
			['employee', 'amount'],
			['1', '2'],
		],
		'october.csv has no column "name"',
	],
	[[headings, ['', '', '', '', '', '']], 'october.csv has nobody in it'],
	[
		[['']],
		'october.csv has no headings: one row must have at least "employee", "name" and "amountEtb"',
	],
])('a file that cannot be used says why: %#', async (sheet, problem) => {
	expect((await read(sheet))[0]?.fileProblem).toBe(problem);
});

test.each([
	['', '2026-10-25', '2026-10'],
	['', '2026-10-24', '2026-09'],
	['', '2026-11-02', '2026-10'],
	['', '2026-11-24', '2026-10'],
	['', '2026-11-25', '2026-11'],
	['', '2027-01-03', '2026-12'],
	['2026-9', '2026-11-02', '2026-09'],
	['2026/10', '2026-11-02', '2026-10'],
])('the period %p on %s is %s', async (period, now, expected) => {
	expect((await read([headings, rowWith({})], { period, now }))[0]?.about?.period).toBe(expected);
});

test('a list whose execution is retried after the next pay day stays of the period of its upload', async () => {
	const rows = await read([headings, rowWith({})], {
		submittedAt: '2026-11-24T23:50:00+03:00',
		now: '2026-11-26',
	});
	expect(rows[0]?.about?.period).toBe('2026-10');
});

test('an upload that does not say when it was made is no list: its period would be a guess', async () => {
	await expect(read([headings, rowWith({})], { submittedAt: '' })).rejects.toThrow(
		'The upload does not say when it was made',
	);
});

test.each([
	['2026-11', 'The period 2026-11 has not begun: its pay day is 25 November 2026'],
	['October', 'The period "October" cannot be read: write it like 2026-10'],
	['2026-13', 'The period "2026-13" cannot be read: write it like 2026-10'],
	['2016-10', 'The period 2016-10 is more than a year ago'],
])('the period %p is refused', async (period, problem) => {
	expect((await read([headings, rowWith({})], { period, now: '2026-11-02' }))[0]?.fileProblem).toBe(
		problem,
	);
});
