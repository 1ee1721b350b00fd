/** The code in the Code nodes of the payroll examples, without n8n. */
import { DateTime } from 'luxon';
import { codeOf } from '../../lab/n8n/example-code.mts';

type Json = Record<string, unknown>;

/** What `$('a node')` gives: its items, as the node's code reads them. */
const node = (items: Json[]) => {
	const wrapped = items.map((json) => ({ json }));
	return { all: () => wrapped, first: () => wrapped[0], isExecuted: items.length > 0 };
};

/** Runs code as n8n's Code node does, and returns what it passes on. */
function run(
	files: string[],
	input: Json[],
	nodes: Record<string, Json[]>,
	mode: 'test' | 'production' = 'test',
): Json[] {
	const code = codeOf(...files);
	// The code comes from this repository, and n8n runs it the same way.
	// eslint-disable-next-line @typescript-eslint/no-implied-eval
	const main = new Function('$input', '$', '$now', '$execution', code) as (
		...context: unknown[]
	) => Array<{ json: Json }>;
	const $ = (name: string) => {
		const items = nodes[name];
		if (items === undefined) throw new Error(`no node ${name}`);
		return node(items);
	};
	const now = DateTime.fromISO('2026-11-02T09:00', { zone: 'Africa/Addis_Ababa' });
	return main(node(input), $, now, { mode }).map(({ json }) => json);
}

const HEADER = 'employee,name,email,salaryEtb,payroll';
const listed = (csv: string, inTable: Json[] = []) =>
	run(['amount.js', 'people-list.js'], inTable.length > 0 ? inTable : [{}], {
		'People (CSV)': [{ csv }],
	});

describe('the list', () => {
	test.each([
		['12400', '12400.00'],
		['12400.5', '12400.50'],
		['12400.50', '12400.50'],
		['12400,50', '12400.50'],
		['12 400', '12400.00'],
		['12\u00a0400,5', '12400.50'],
		['12,400.50', '12400.50'],
		['12.400,50', '12400.50'],
		['1,234,567', '1234567.00'],
		['1.234.567,8', '1234567.80'],
		['1.5', '1.50'],
	])('takes the salary %s as %s', (written, salaryEtb) => {
		expect(listed(`${HEADER}\nE-1,Abebe,a@example.com,"${written}",monthly`)).toEqual([
			expect.objectContaining({ problem: '', employee: 'E-1', salaryEtb }),
		]);
	});

	test.each([
		'12.400',
		'12,400',
		'1.250',
		'12400.505',
		'0',
		'0.00',
		'-5',
		'1e4',
		'12 40',
		'1234 567',
		'12.400.50',
		'1,23,456',
		'12400 ETB',
		'Infinity',
		'',
	])('refuses the salary %p and names the line', (written) => {
		const [{ problem } = {}] = listed(
			`${HEADER}\nE-1,Abebe,a@example.com,100,monthly\nE-2,Almaz,b@example.com,"${written}",monthly`,
		);
		expect(problem).toMatch(/^line 3 \(E-2 Almaz\): the salary /);
	});

	test('with semicolons, quotes, an empty line at the end and a byte order mark is read', () => {
		const csv =
			'\ufeffemployee;name;email;salaryEtb;payroll\r\nE-1;"Haile; ""Dawit""";;12.400,50;gate\r\n\r\n';
		expect(listed(csv)).toEqual([
			{
				...{ problem: '', employee: 'E-1', name: 'Haile; "Dawit"', email: '' },
				...{ salaryEtb: '12400.50', payroll: 'gate' },
			},
		]);
	});

	test.each([
		['another first line', 'E-1,Abebe,a@example.com,100,monthly', /the first line is not employee/],
		['nobody in it', HEADER, /the list is empty/],
		['a value too many', `${HEADER}\nE-1,Abebe,a@example.com,7,800,monthly`, /line 2.*6 values/],
		['a strange quote', `${HEADER}\nE-1,Ab"ebe",a@example.com,"7"800,monthly`, /line 2.*quote/],
		['no employee', `${HEADER}\n,Abebe,a@example.com,100,monthly`, /line 2.*no employee/],
		['another payroll', `${HEADER}\nE-1,Abebe,,100,weekly`, /the payroll is weekly instead of/],
		[
			'an employee twice',
			`${HEADER}\nE-1,Abebe,,100,monthly\ne-1 ,Abebe,,100,gate`,
			/line 3 \(e-1 Abebe\): the employee e-1 is that of E-1, too/,
		],
		[
			'an email twice',
			`${HEADER}\nE-1,A,a@example.com,100,monthly\nE-2,B,A@example.com,100,monthly`,
			/line 3 \(E-2 B\): the email A@example.com is that of E-1, too/,
		],
	])('with %s is refused', (_what, csv, problem) => {
		const rows = listed(csv);
		expect(rows).toHaveLength(1);
		expect(rows[0]?.problem).toMatch(problem);
	});

	test('a salary or payroll that differs from the table is said, and nobody new is set up', () => {
		const inTable = [
			{ id: 1, employee: 'E-1', email: 'a@example.com', salaryEtb: '100.00', payroll: 'monthly' },
			{ id: 2, employee: '007', name: 'Hanna', salaryEtb: '100.00', payroll: 'monthly' },
		];
		const both = `${HEADER}\nE-1,Abebe,a@example.com,100,monthly\nE-2,Almaz,,200,monthly`;
		expect(listed(both, inTable).map(({ employee }) => employee)).toEqual(['E-2']);
		const [{ problem } = {}] = listed(both.replace(',100,', ',120,'), inTable);
		expect(problem).toMatch(/line 2 .*: the salary is 120 here and 100.00 in the table/);
		const [moved] = listed(both.replace('100,monthly', '100,gate'), inTable);
		expect(moved?.problem).toMatch(/the payroll is gate here and monthly in the table/);
		const [zeros] = listed(`${HEADER}\n7,Hanna,,100,monthly`, inTable);
		expect(zeros?.problem).toMatch(
			/the table has Hanna as 007\. If that is this person, write 007/,
		);
		const [taken] = listed(`${HEADER}\nE-3,C,A@example.com,5,gate`, inTable);
		expect(taken?.problem).toMatch(/the email A@example.com is that of E-1 in the table/);
	});
});

const PERIOD = { period: '2026-10', payroll: 'monthly', payDay: 25 };
const person = (number: number, changes: Json = {}) => ({
	...{
		id: number,
		employee: `E-${number}`,
		name: `Name ${number}`,
		email: `${number}@example.com`,
	},
	...{ salaryEtb: '100.00', payroll: 'monthly', userId: `etbw_E-${number}`, ...changes },
});
const paymentsOf = (table: Json[], period: Json = PERIOD, mode?: 'test' | 'production') =>
	run(['amount.js', 'payments.js'], table, { Period: [period] }, mode);

describe('the payments', () => {
	test('are for the people of this payroll, with the period in the reference', () => {
		expect(paymentsOf([person(1), person(2, { payroll: 'gate' })])).toEqual([
			{
				...{ employee: 'E-1', name: 'Name 1', toUserId: 'etbw_E-1', amountEtb: '100.00' },
				...{ reference: 'payroll-2026-10-E-1', finding: 'unclear', written: '', problem: '' },
			},
		]);
	});

	test.each(['e-1041', 'E- 1041', ' E-1041 ', 'E\u20111041', 'Ｅ-1041', "'E-1041"])(
		'of %p have the reference of E-1041',
		(employee) => {
			expect(paymentsOf([person(1, { employee })])[0]?.reference).toBe('payroll-2026-10-E-1041');
		},
	);

	test('of 007 and 7 have one reference: a spreadsheet drops the zeros', () => {
		const of = (employee: string) => paymentsOf([person(1, { employee })])[0]?.reference;
		expect(of('007')).toBe('payroll-2026-10-7');
		expect(of('7')).toBe(of('007'));
		expect(of('E-07')).not.toBe(of('E-7'));
	});

	test('have what a person found out about this period, and of no other', () => {
		const written = ['2026-10 paid', ' 2026-10  RECORDPAID ', '2026-09 notPaid', '', null];
		const found = written.map((finding, index) => person(index, { finding }));
		expect(paymentsOf(found).map(({ finding }) => finding)).toEqual([
			'paid',
			'recordPaid',
			'unclear',
			'unclear',
			'unclear',
		]);
	});

	test('with a finding are not handed to the pay gate, which reads none', () => {
		const GATE = { ...PERIOD, payroll: 'gate' };
		for (const finding of ['2026-10 paid', '2026-10 notPaid', 'It was paid']) {
			const [payment] = paymentsOf([person(1, { payroll: 'gate', finding })], GATE);
			expect(payment?.toUserId).toBe('');
			expect(payment?.problem).toMatch(/^The finding in the table is/);
		}
		const [old] = paymentsOf([person(1, { payroll: 'gate', finding: '2026-09 paid' })], GATE);
		expect(old).toMatchObject({ toUserId: 'etbw_E-1', problem: '' });
	});

	test.each([
		'2026-10recordPaid',
		'paid',
		'2026-10 yes',
		'It was paid',
		'2026-11 paid',
		'2026-00 paid',
		'2026-10 unclear',
	])('with the finding %p go on with a text that the node refuses and shows', (finding) => {
		const [payment] = paymentsOf([person(1, { finding })]);
		const refused = `${finding}, not like 2026-10 paid`;
		expect(payment).toMatchObject({ toUserId: 'etbw_E-1', finding: refused, problem: '' });
	});

	test.each([
		['an amount that is not clear', [person(1, { salaryEtb: '12.400' })], /salary 12\.400 is not/],
		['no user ID', [person(1, { userId: null })], /no userId/],
		['a payroll that does not exist', [person(1, { payroll: 'montly' })], /payroll is montly/],
		[
			'a number of two',
			[person(7, { employee: '007' }), person(8, { employee: '7' })],
			/same employee/,
		],
		['a wallet of two', [person(1), person(2, { userId: 'etbw_E-1' })], /same userId/],
		[
			'an email of two payrolls',
			[person(1), person(2, { payroll: 'gate', email: '1@EXAMPLE.com' })],
			/same email/,
		],
	])('with %s gets no user ID, and says why', (_what, table, problem) => {
		const payments = paymentsOf(table);
		expect(payments.map(({ toUserId }) => toUserId)).toEqual(payments.map(() => ''));
		expect(payments[0]?.problem).toMatch(problem);
	});

	test('of an empty table are one problem', () => {
		const [{ toUserId, problem } = {}] = paymentsOf([{}]);
		expect(toUserId).toBe('');
		expect(problem).toMatch(/Run Set up people to pay first/);
	});

	test.each([0, 29, 1.5, '25', undefined])('need a pay day from 1 to 28, not %p', (payDay) => {
		expect(() => paymentsOf([person(1)], { ...PERIOD, payDay })).toThrow(/payDay in Period/);
	});

	test.each(['2026-9', '2026/10', '2026-13', '2026-11', '2025-09', 'October', undefined])(
		'need a period of the last year, not %p',
		(period) => {
			expect(() => paymentsOf([person(1)], { ...PERIOD, period })).toThrow(
				`Nobody was paid, because period in Period is ${period} instead of a month from 2025-10 to 2026-10.`,
			);
		},
	);

	test('run by the schedule only for the month that is due: one that was left there by hand is said', () => {
		const byHand = { ...PERIOD, period: '2026-09' };
		expect(paymentsOf([person(1)], byHand)).toHaveLength(1);
		expect(paymentsOf([person(1)], PERIOD, 'production')).toHaveLength(1);
		expect(() => paymentsOf([person(1)], byHand, 'production')).toThrow(
			/^Nobody was paid, because this run is for 2026-09, and 2026-10 is due/,
		);
	});
});

/** The report and the sentence about these people, with what the next node said of each. */
function reportOf(people: Json[], answers: Json[]) {
	const nodes = { Period: [PERIOD], Payments: people };
	const rows = run(['report.js'], answers, nodes);
	const [summary] = run(['summary.js'], rows, nodes);
	return { rows, summary };
}

describe('the report', () => {
	const payment = (number: number, problem = '') => ({
		...{ employee: `E-${number}`, name: `Name ${number}`, toUserId: `etbw_E-${number}` },
		...{ amountEtb: '100.00', reference: `payroll-2026-10-E-${number}`, problem },
		...{ finding: 'unclear', written: '' },
	});
	const answer = (number: number, outcome: string, more: Json = {}) => ({
		...{ outcome, reference: `payroll-2026-10-E-${number}`, amountEtb: 100, ...more },
	});

	test('calls for somebody if the table says paid and the node did not record it', () => {
		const { rows, summary } = reportOf(
			[
				{ ...payment(1), finding: 'recordPaid' },
				{ ...payment(2), finding: 'notPaid' },
			],
			[
				answer(1, 'ready', { mode: 'settle', message: 'A run with Mode on Pay sends it' }),
				answer(2, 'ready', { mode: 'settle' }),
			],
		);
		expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'ready']);
		expect(summary).toMatchObject({ ready: 1, unknown: 1, needsYou: 1 });
		expect(summary?.message).toMatch(
			/The table says recordPaid, which was not recorded\. The next run with Pay would pay it\. Write 2026-10 recordPaid into finding/,
		);
		expect(rows[0]?.reason).not.toMatch(/A run with Mode on Pay sends it/);
	});

	test('of a run that settles calls for somebody if people are still to be paid, and says no time', () => {
		const unused =
			'This node knows no unknown payment under this reference, so nothing was settled';
		const { rows, summary } = reportOf(
			[payment(1), payment(2), payment(3)],
			[
				answer(1, 'ready', { mode: 'settle', message: unused }),
				answer(2, 'ready', { mode: 'settle', message: 'Settled as not paid' }),
				{ error: { ...answer(3, 'unknown', { mode: 'settle' }), message: 'Finding is "x"' } },
			],
		);
		expect(rows.map(({ time }) => time)).toEqual(['', '', '']);
		expect(summary).toMatchObject({ ready: 2, unknown: 1, needsYou: 2 });
		expect(summary?.message).toMatch(/Still to be paid, with Mode .* on Pay: Name 1, 100\.00 ETB/);
	});

	test('says so if the table has a finding and the node got none', () => {
		const messages = [
			'Finding is "unclear", and the field finding of the item is "notPaid"',
			'Not settled, because its Finding is empty or Not Clear Yet: it stays unknown. Ask the partner service whether it was paid, and settle it then.',
		];
		const { rows } = reportOf(
			[
				{ ...payment(1), finding: 'notPaid' },
				{ ...payment(2), finding: 'unclear' },
			],
			messages.map((message, index) => ({
				error: { ...answer(index + 1, 'unknown', { mode: 'settle' }), message },
			})),
		);
		expect(rows[0]?.reason).toMatch(
			/^The table says notPaid, which was not recorded\. Set Finding in Pay salaries to From Each Item/,
		);
		expect(rows[1]?.reason).toMatch(/^Not settled, because its Finding is empty/);
		expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
	});

	test('calls for somebody if the finding of the table is about another period, and leads to that period', () => {
		const message = 'Not settled, because its Finding is empty or Not Clear Yet: it stays unknown';
		const old = { ...payment(1), written: '2026-09 paid' };
		const itsPeriod =
			'The table says 2026-09 paid, which is about another period: to settle that, write 2026-09 into period of the node Period. Is it settled? Then empty it';
		const ofThis =
			'Write 2026-10 paid or 2026-10 notPaid only if the partner service said so about payroll-2026-10-E-1';
		const unknown = answer(1, 'unknown', { mode: 'settle', message });
		expect(reportOf([old], [unknown]).rows[0]?.reason).toBe(`${itsPeriod}. ${ofThis}. ${message}`);
		// Nothing is unknown of this period: a finding about it would be invented. Or somebody chose one for all.
		for (const [outcome, told] of [
			['ready', 'This node knows no unknown payment under this reference, so nothing was settled'],
			['ready', 'Settled as not paid, nothing was sent. A run with Mode on Pay sends it'],
			['alreadyPaid', 'Settled as paid, nothing was sent'],
			['alreadyPaid', 'Nothing here was unknown. Paid or settled as paid before'],
		] as const) {
			const free = answer(1, outcome, { mode: 'settle', message: told });
			const { rows, summary } = reportOf([old], [free]);
			expect(rows[0]?.reason).toBe(`${itsPeriod}. ${told}`);
			expect(summary?.needsYou).toBe(1);
			expect(summary?.message).toContain(itsPeriod);
		}
		// Paid for this period; what is still in the table is to be done.
		const paid = reportOf([old], [answer(1, 'paid')]);
		expect(paid.rows[0]).toMatchObject({ outcome: 'paid', reason: itsPeriod });
		expect(paid.summary).toMatchObject({ paid: 1, needsYou: 1 });
	});

	test.each(['It was paid', '2026-10paid', '2026/10 paid', '2026-13 paid', '2026-12 paid'])(
		'proposes no word that invents a finding where the table says %p',
		(written) => {
			const person = { ...payment(1), finding: `${written}, not like 2026-10 paid`, written };
			const words = `The table says ${written}, which cannot be used: correct it, or empty it. Write 2026-10 paid or 2026-10 notPaid only if the partner service said so about payroll-2026-10-E-1`;
			const message = `The field finding is "${person.finding}"`;
			for (const [outcome, mode, description] of [
				['unknown', 'settle', 'Write paid, notPaid or nothing into that field of your list.'],
				['notPaid', undefined, 'Was it paid? Then write recordPaid into that field. Otherwise'],
			] as const) {
				const refused = { error: { ...answer(1, outcome, { mode }), message, description } };
				const { rows, summary } = reportOf([person], [refused]);
				expect(rows[0]?.reason).toBe(`${words}. ${message}`);
				expect(summary?.needsYou).toBe(1);
			}
		},
	);

	test('of a run that settles calls for somebody whose finding contradicts what the node knows', () => {
		const message = 'Its Finding is notPaid, but this node knows it as paid, maybe since you asked';
		const person = { ...payment(1), finding: 'notPaid', written: '2026-10 notPaid' };
		const { summary } = reportOf([person], [answer(1, 'alreadyPaid', { mode: 'settle', message })]);
		expect(summary?.needsYou).toBe(1);
		expect(summary?.message).toContain(`Finding not recorded: Name 1, 100.00 ETB (${message})`);
	});

	test('does not say not paid of somebody with a finding whom the gate was not asked about', () => {
		const found = { ...payment(1, 'The finding in the table is 2026-10 paid.'), finding: 'paid' };
		const { rows, summary } = reportOf(
			[found, payment(2, 'No userId.')],
			[{ error: 'To User ID is empty' }, { error: 'To User ID is empty' }],
		);
		expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'notPaid']);
		expect(summary).toMatchObject({ unknown: 1, notPaid: 1 });
	});

	test('names what to write with its period, as the table has it', () => {
		const message = 'Not sent, because the field finding of this payment is "paid"';
		const description = 'Was it paid? Then write recordPaid into that field';
		const refused = { error: { ...answer(1, 'notPaid'), message, description } };
		expect(reportOf([payment(1)], [refused]).rows[0]?.reason).toBe(
			`${message}. Was it paid? Then write 2026-10 recordPaid into that field`,
		);
		const unread = { message: 'Write paid, notPaid or nothing into that field of your list' };
		const [row] = reportOf([payment(1)], [{ error: { ...answer(1, 'unknown'), ...unread } }]).rows;
		expect(row?.reason).toBe(
			'Write 2026-10 paid, 2026-10 notPaid or nothing into that field of your list',
		);
	});

	test('has the steps of this workflow instead of those of the node', () => {
		const { rows } = reportOf(
			[payment(1)],
			[
				{
					error: {
						...answer(1, 'unknown'),
						message: 'The service failed (500)',
						description:
							'It may have been paid. Ask the partner service whether it was paid, while no execution of this workflow is running. Then set Mode.',
					},
				},
			],
		);
		expect(rows[0]?.reason).toBe(
			'The service failed (500). It may have been paid. What to do stands in the note The report',
		);
	});

	test('of a run that settles does not say not paid of a row that it could not use', () => {
		const { rows, summary } = reportOf(
			[payment(1, 'The finding in the table is paid.')],
			[{ error: { ...answer(1, 'unknown', { mode: 'settle' }), message: 'To User ID is empty' } }],
		);
		expect(rows).toMatchObject([
			{ outcome: 'unknown', reason: 'The finding in the table is paid.' },
		]);
		expect(summary).toMatchObject({ unknown: 1, needsYou: 1 });
	});

	test('names everybody who was not paid, with the reason, and counts the others', () => {
		const { rows, summary } = reportOf(
			[payment(1), payment(2), payment(3), payment(4, 'No userId.')],
			[
				answer(1, 'paid', { txHash: '0xabc' }),
				{ error: { ...answer(2, 'notPaid'), message: 'Too much', description: 'Check it.' } },
				answer(3, 'unknown', { message: 'Ask' }),
				{ error: 'To User ID is empty' },
			],
		);
		expect(rows[0]).toEqual({
			...{ period: '2026-10', name: 'Name 1', employee: 'E-1', amountEtb: 100, outcome: 'paid' },
			...{ userId: 'etbw_E-1', reference: 'payroll-2026-10-E-1', time: '2026-11-02 09:00' },
			...{ txHash: '0xabc', reason: '' },
		});
		expect(summary).toMatchObject({ paid: 1, paidEtb: 100, notPaid: 2, unknown: 1, needsYou: 3 });
		expect(summary?.message).toBe(
			'Salaries 2026-10: 1 paid (100.00 ETB), 0 paid before, 2 not paid, 1 unknown.' +
				' Not paid: Name 2, 100.00 ETB (Too much. Check it); Name 4, 100.00 ETB (No userId. Whether it was paid before was not asked.).' +
				' Unknown: Name 3, 100.00 ETB (Ask).',
		);
	});

	test('a person without an answer, or with that of another payment, is unknown', () => {
		const { rows } = reportOf([payment(1), payment(2)], [answer(2, 'paid')]);
		expect(rows.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
	});

	test('a run that sent nothing says so, and is no failure', () => {
		const { summary } = reportOf(
			[payment(1), payment(2)],
			[answer(1, 'ready', { mode: 'dryRun' }), answer(2, 'ready', { mode: 'dryRun' })],
		);
		expect(summary).toMatchObject({ needsYou: 0, ready: 2, readyEtb: 200 });
		expect(summary?.message).toBe(
			'Salaries 2026-10: dry run, nobody was paid; 2 ready (200.00 ETB), 0 paid before, 0 not paid, 0 unknown.',
		);
	});

	test('a sentence names 20 people at most', () => {
		const people = Array.from({ length: 25 }, (_, index) => payment(index + 1));
		const { summary } = reportOf(
			people,
			people.map((_, index) => answer(index + 1, 'unknown', { message: '?' })),
		);
		expect(summary?.message).toMatch(
			/Name 1, 100\.00 ETB \(\?\); Name 2, .*Name 20, 100\.00 ETB \(the same\); and 5 more\.$/,
		);
	});
});
