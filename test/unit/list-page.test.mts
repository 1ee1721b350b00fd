/** The page of a list that asks for approval, the decision about it, and the page at the end. */
import { z } from 'zod';
import { declineChoice, modeAfter } from '../../examples/code/approval.mts';
import type { PaymentRow } from '../../examples/code/payment-row.mts';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import { latelyDays } from '../../nodes/EtbWallet/list/remarks.ts';
import {
	approved,
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

describe('the page of a list', () => {
	const upload = { period, purpose, list: { filename: 'october.csv' }, user: user('first') };
	const runs = (payments: Rows, more: Record<string, Rows[]> = {}) => {
		const { rows, ready } = check(payments);
		return {
			'Upload a list': [[upload]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
			...more,
		};
	};
	const Page = z.object({
		asks: z.boolean(),
		approve: z.string(),
		page: z.string(),
		fields: z.tuple([
			z.unknown(),
			z.object({ fieldOptions: z.object({ values: z.array(z.object({ option: z.string() })) }) }),
		]),
	});
	const pageOf = (given: Record<string, Rows[]>, runIndex = 0) => {
		const [first, ...rows] = pageAndRows('payroll-from-a-file.json', given, runIndex);
		const { asks, approve, page, fields } = Page.parse(first);
		const choices = fields[1].fieldOptions.values.map(({ option }) => option);
		return { asks, approve, page, choices, rows };
	};
	const headline = (page: string): string => /<h2>(.*?)<\/h2>/.exec(page)?.[1] ?? '';

	test('asks with sum, people, purpose and period on the button, and writes nothing', () => {
		const approve = 'Approve: pay 6,000.00 ETB to 3 people, salary, 2026-10';
		const shown = pageOf(runs([]));
		expect(shown).toMatchObject({ asks: true, approve, rows: [] });
		expect(shown.choices).toEqual([approve, 'Decline: pay nobody']);
		expect(headline(shown.page)).toBe('6,000.00 ETB for 3 people: salary, 2026-10');
	});

	/** The register's rows of another payment to the first of the three people. */
	const others = (count: number, outcome: string, other: string, when: string): Rows =>
		[1, 2, 3].slice(0, count).map((number) => {
			const reference = `${other}-${when}-E${number}`;
			return registered(number, outcome, { reference, purpose: other, period: when });
		});

	test.each([
		['one is unknown for another purpose', 1, 'unknown', 'bonus', period, /UNKNOWN whether 1 of 3/],
		[
			'most were paid for the period',
			2,
			'paid',
			'bonus',
			period,
			/second payment .* Person 1 \(E-1\), Person 2 \(E-2\): 3,000/,
		],
		[
			'most were paid lately',
			2,
			'paid',
			purpose,
			'2026-09',
			new RegExp(`Paid for the same purpose in the last ${latelyDays} days: Person 1 .*, Person 2`),
		],
	])('puts a warning on top, and Decline first: %s', (_what, count, outcome, other, when, told) => {
		const { page, choices } = pageOf(runs(others(count, outcome, other, when)));
		expect(headline(page)).toMatch(told);
		expect(choices[0]).toBe('Decline: pay nobody');
		expect(choices[1]).toMatch(/^Approve: pay 6,000\.00 ETB to/);
	});

	test('of a 13th month asks on top whether it is one', () => {
		const month13 = { purpose: '13th month' };
		const payments = [1, 2, 3].map((number) => registered(number, 'paid'));
		const { rows, ready } = check(payments, month13);
		expect(ready).toHaveLength(3);
		const { page, choices, approve } = pageOf({
			'Upload a list': [[{ ...upload, purpose: '13th month' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
		});
		expect(headline(page)).toMatch(
			/Is this the 13th month.* 6,000.00 ETB for .*, on top of 6,000.00 ETB for 2026-10/,
		);
		expect(choices[0]).toBe(declineChoice);
		expect(choices[1]).toBe(approve);
	});

	test('of a 13th month warns on top that the last one was paid a few days ago', () => {
		const month13 = { purpose: '13th month' };
		const payments = [1, 2, 3].map((number) =>
			registered(number, 'paid', {
				...{ ...month13, period: '2026-09', reference: `13th month-2026-09-E${number}` },
			}),
		);
		const { rows, ready } = check(payments, month13);
		const { page, choices } = pageOf({
			'Upload a list': [[{ ...upload, purpose: '13th month' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
		});
		expect(headline(page)).toMatch(/A second 13th month\? .*Person 3 .* 6,000.00 ETB for 2026-09/);
		expect(choices[0]).toBe(declineChoice);
	});

	test('of a 13th month says nothing about that of the last year', () => {
		const month13 = { purpose: '13th month' };
		const payments = [registered(1, 'paid', { ...month13, period: '2025-12', reference: 'l' })];
		const { rows, ready } = check(payments, month13);
		const { page, choices, approve } = pageOf({
			'Upload a list': [[{ ...upload, purpose: '13th month' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
		});
		expect(page).not.toContain('second 13th month');
		expect(choices[0]).toBe(approve);
	});

	const pageOfCorrection2 = (payments: Rows) => {
		const { rows, ready } = check(payments, { purpose: 'correction 2' });
		return pageOf({
			'Upload a list': [[{ ...upload, purpose: 'correction 2' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
		});
	};

	test('of a second correction asks on top whether it is one more', () => {
		const payments = [
			registered(1, 'paid', { amountEtb: 20_000 }),
			registered(1, 'paid', { purpose: 'correction', reference: 'c', amountEtb: 500 }),
		];
		const { page, choices } = pageOfCorrection2(payments);
		expect(headline(page)).toMatch(/second correction .* Person 1 \(E-1\) had 500\.00 ETB before/);
		expect(choices[0]).toBe(declineChoice);
	});

	test('of a correction does not say that somebody had one that is unknown', () => {
		const unknown = { purpose: 'correction', reference: 'c', requestedAmountEtb: 500 };
		const payments = [registered(1, 'unknown', unknown)];
		const { page, choices } = pageOfCorrection2(payments);
		expect(page).not.toContain('second correction');
		expect(headline(page)).toMatch(/UNKNOWN whether 1 of 3/);
		expect(choices[0]).toBe(declineChoice);
	});

	test('of a correction says that the first payment was only recorded', () => {
		const recorded = { settledBy: 'first@example.com' };
		const payments = [registered(1, 'paid', recorded)];
		const { rows, ready } = check(payments, { purpose: 'correction' });
		const { page } = pageOf({
			'Upload a list': [[{ ...upload, purpose: 'correction' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
		});
		expect(headline(page)).toMatch(/1,000\.00 ETB was only recorded as paid by a person/);
		expect(page).toMatch(
			/first@example\.com recorded 1,000\.00 ETB for 2026-10 salary as paid, without a transaction/,
		);
	});

	test('says that another name was paid meanwhile under the number', () => {
		const { ready } = check([]);
		const { page } = pageOf(
			runs([], {
				...approved,
				'Pay salaries': [ready, ready.slice(1).map((row) => ({ ...row, outcome: 'paid' }))],
				'Payments now': [[registered(1, 'paid', { name: 'Kebede' })]],
			}),
			1,
		);
		expect(page).toMatch(/Another name than when it was paid.*Person 1 \(E-1\) was paid as Kebede/);
	});

	test('of a payment of another amount, which nobody knows, names neither amount nor time', () => {
		const unknown = {
			workflow: 'S (own)',
			requestedAmountEtb: null,
			amountEtb: null,
			paidAt: null,
		};
		for (const outcome of ['unknown', 'paid']) {
			const { page } = pageOf(runs([registered(1, outcome, unknown)]));
			const [, row] = /<b>Person 1<\/b>(.*?)<\/tr>/.exec(page) ?? [];
			expect(row).not.toMatch(/1,000|0\.00|\d\d:\d\d/);
		}
	});

	test('has one payment in two rows once in the file', () => {
		const payments = [registered(1, 'paid')];
		const { rows } = check(payments);
		const { rows: given } = pageOf({
			...runs(payments),
			'Check List': [[{ ...rows[0] }, { ...rows[0], line: 9 }]],
			'Pay salaries': [[]],
		});
		expect(given.filter(({ Result }) => Result === 'Paid')).toHaveLength(1);
	});

	test('names who was paid less once, also with two rows', () => {
		const payments = [registered(1, 'paid', { amountEtb: 400 })];
		const { rows, ready } = check(payments);
		const { page } = pageOf({
			...runs(payments),
			'Check List': [[...rows, { ...rows[0], line: 9 }]],
			'Pay salaries': [ready],
		});
		expect(page).toContain('Paid less than the list has, 600.00 ETB less: 1 person<');
	});

	test('counts one payment in two rows once', () => {
		for (const [outcome, title] of [
			['paid', 'Paid before, not again'],
			['unknown', 'UNKNOWN, see below'],
		] as const) {
			const payments = [registered(1, outcome, { workflow: 'S (own)' })];
			const { rows, ready } = check(payments);
			const { page } = pageOf({
				...runs(payments),
				'Check List': [[...rows, { ...rows[0], line: 9 }]],
				'Pay salaries': [ready],
			});
			expect(page).toContain(`${title}: 1 person, 1,000.00 ETB`);
		}
	});

	const paymentRows = (rows: Rows) => z.array(z.custom<PaymentRow>()).parse(rows);
	const elsewhere = [
		{ id: 70, workflow: 'Other (other)' },
		{ id: 70, reference: ' SALARY‐2026-10-e1', employeeKey: null },
	];
	const unapproved = { uploader: user('first'), choice: 'Approve', by: user('second') };
	/** The mode after the approval of a list, when the register has these payments then. */
	const modeWith = (before: Rows, now: Rows): string =>
		modeAfter(
			{ user: unapproved.by, decision: unapproved.choice },
			unapproved.uploader,
			unapproved.choice,
			{
				dryRun: paymentRows(check(before).ready),
				before: paymentRows(before),
				now: paymentRows(now),
			},
		);
	test.each([
		...elsewhere,
		{ id: 70, purpose: 'bonus', reference: 'b' },
		{ id: 70, purpose: null, period: null, reference: 'b', employeeKey: null },
	])('sends nobody if somebody was paid or left unknown meanwhile as %j', (more) => {
		for (const outcome of ['paid', 'unknown', 'Paid'])
			expect(modeWith([], [registered(1, outcome, more)])).toBe('dryRun');
		expect(modeWith([], [registered(1, 'notPaid', more)])).toBe('pay');
		const other = { ...more, userId: 'w9', employeeKey: 'E9', reference: 'x' };
		expect(modeWith([], [registered(9, 'paid', other)])).toBe('pay');
	});

	test.each([
		['paid', 'unknown'],
		['unknown', 'paid'],
		['paid', 'notPaid'],
		['Paid', 'notPaid'],
	])('sends nobody of whom another payment was %s, and is %s meanwhile', (...outcomes) => {
		const [before, now] = outcomes.map((outcome) =>
			registered(1, outcome, { period: '2026-09', reference: 's', settledBy: 'x' }),
		);
		const later = { ...now, updatedAt: '2026-10-26T09:00:00Z' };
		expect(modeWith([before ?? {}], [later])).toBe('dryRun');
	});

	test('sends who is written down as not paid, by whatever word, and whom the page told of', () => {
		const payments = [
			...['notPaid', 'rejected', 'Not paid'].map((outcome, index) =>
				registered(index + 1, 'notPaid', { outcome }),
			),
			registered(1, 'paid', { id: 9, purpose: 'bonus', reference: 'b' }),
		];
		expect(modeWith(payments, payments)).toBe('pay');
	});

	test.each([
		['of the list', {}],
		['that a person wrote', { reference: 'october E-1' }],
	])(
		'has as unknown whose payment, %s, somebody took back while the page was open',
		(_whose, more) => {
			const said = registered(1, 'paid', { settledBy: 'x@x.et', ...more });
			const takenBack = { ...said, outcome: 'unknown', updatedAt: '2026-10-26T09:00:00Z' };
			const { page } = pageOf(runs([said], { 'Payments now': [[takenBack]] }), 1);
			expect(page).toMatch(/UNKNOWN: 1 person/);
			expect(page).not.toContain('Paid before, not again');
		},
	);

	test('changes no record of somebody who was recorded as not paid while the page was open', () => {
		const said = registered(1, 'paid', { settledBy: 'x@x.et' });
		const freed = { ...said, outcome: 'notPaid', updatedAt: '2026-10-26T09:00:00Z' };
		const { page, rows } = pageOf(runs([said], { 'Payments now': [[freed]] }), 1);
		expect(page).toMatch(/not be paid: 1 person/);
		expect(rows.filter(({ id }) => id === said['id'])).toEqual([]);
	});

	test.each([
		['2020-01', 'period=2020-01&'],
		['2099-01', 'period=&'],
	])(
		'that cannot be used for %s leads to the form, without a period that is not due',
		(given, link) => {
			const error = { message: 'No', remedy: 'Yes' };
			const listed = [{ status: 'problem', error, period: given, purpose }];
			const { page, asks } = pageOf({ ...runs([]), 'Check List': [listed], 'Pay salaries': [[]] });
			expect(page).toContain(link);
			expect(asks).toBe(false);
		},
	);

	test('says who was paid less meanwhile by another list', () => {
		const less = registered(1, 'paid', { id: 9, amountEtb: 400 });
		const { ready } = check([]);
		const { page } = pageOf(
			runs([], {
				Ask: [[{ decision: 'Approve', user: user('second') }]],
				Decision: [[{ mode: 'dryRun' }]],
				'Pay salaries': [ready, ready],
				'Payments now': [[less]],
			}),
			1,
		);
		expect(headline(page)).toMatch(/Nobody was paid by this list\..*still to be paid\?/);
		expect(page).toMatch(/Paid less than the list has, 600\.00 ETB less/);
		expect(page).not.toContain('never paid before · Paid');
	});

	test('of which somebody got another payment meanwhile says whom and what, and asks no more', () => {
		const { ready } = check([]);
		for (const decision of ['Approve', 'x']) {
			const { page, asks, rows } = pageOf(
				runs([], {
					Ask: [[{ decision, user: user('second') }]],
					Decision: [[{ mode: 'dryRun' }]],
					'Pay salaries': [ready, ready],
					'Payments now': [[registered(1, 'paid', { id: 9, purpose: 'bonus', reference: 'b' })]],
				}),
				1,
			);
			expect(asks).toBe(false);
			expect(headline(page)).toMatch(
				/Nobody was paid by this list\. .*Person 1: 1,000\.00 ETB for 2026-10 bonus.*>Upload the list again</,
			);
			expect(rows.filter(({ createdAt }) => createdAt)).toMatchObject(
				ready.map(({ reference }) => ({ reference, outcome: 'notPaid' })),
			);
			expect(rows.filter(({ needsPerson }) => needsPerson)).toHaveLength(3);
		}
	});

	test.each(elsewhere)('says at the end that another list paid %j, also with a mistake', (more) => {
		const { rows, ready } = check([]);
		const problem = { status: 'problem', problem: 'No wallet', reference: undefined };
		for (const outcome of ['paid', 'unknown'] as const) {
			const { page } = pageOf(
				runs([], {
					...approved,
					'Check List': [rows.map((row, at) => (at === 0 ? { ...row, ...problem } : row))],
					'Pay salaries': [
						ready.slice(1),
						ready.slice(1).map((row) => ({ ...row, mode: 'pay', outcome: 'paid' })),
					],
					'Payments now': [[registered(1, outcome, more)]],
				}),
				1,
			);
			expect(page).toMatch(
				outcome === 'paid' ? /Paid before, not again: 1 person/ : /UNKNOWN: 1 person/,
			);
			expect(page).not.toContain('Not paid: ');
		}
	});

	test('has a warning about one of many, paid for the same purpose lately, below the sum', () => {
		const { page, choices, approve } = pageOf(runs(others(1, 'paid', purpose, '2026-09')));
		expect(headline(page)).toBe('6,000.00 ETB for 3 people: salary, 2026-10');
		expect(page).toMatch(/<h4>Paid for the same purpose .* days: Person 1 \(E-1\)\./);
		expect(choices[0]).toBe(approve);
	});

	test('has a large warning about one of many who seems to get a second payment', () => {
		const { page, choices } = pageOf(runs(others(1, 'paid', 'bonus', period)));
		expect(headline(page)).toMatch(
			/second payment for 2026-10\? It looks so for Person 1 \(E-1\): 1,000\.00 ETB on top of 1,000\.00 ETB for bonus/,
		);
		expect(choices[0]).toBe(declineChoice);
	});

	test('has no such warning about a salary after a small allowance', () => {
		const allowance = { purpose: 'allowance', reference: 'a', amountEtb: 50 };
		const { page, choices, approve } = pageOf(runs([registered(1, 'paid', allowance)]));
		expect(page).not.toContain('second payment');
		expect(choices[0]).toBe(approve);
	});

	test('has a large warning about two numbers with one name and telephone, and Decline first', () => {
		const { rows, ready } = check([]);
		const remarks = ['sameName', 'samePhone'].map((code) => ({ code, text: `${code}: E1` }));
		const doubted = rows.map((row, index) => (index < 2 ? { ...row, remarks } : row));
		const { page, choices } = pageOf({
			'Upload a list': [[upload]],
			'Check List': [doubted],
			'Pay salaries': [ready],
			Payments: [[]],
		});
		expect(headline(page)).toMatch(
			/same person under two numbers\? .*\(E-1\), .*\(E-2\): see below/,
		);
		expect(choices[0]).toBe('Decline: pay nobody');
	});

	test.each([
		['last time', registered(2, 'paid', { period: '2026-09', reference: 's', amountEtb: 4000 })],
		['in the table, before the first payment', undefined],
	])('has a large warning about half of the salary %s, and Decline first', (_when, last) => {
		const payments = last === undefined ? [] : [last];
		const { rows, ready } = check(payments);
		const People = [[{ employeeKey: 'E2', amountEtb: 4000, payroll: 'file' }]];
		const { page, choices } = pageOf({
			'Upload a list': [[upload]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [payments],
			People,
		});
		expect(headline(page)).toMatch(
			/Very different: Person 2 \(E-2\) 2,000\.00 ETB \(4,000\.00 ETB (last time|in the table)/,
		);
		expect(choices[0]).toBe('Decline: pay nobody');
	});

	test('has a large warning about ten times the amount of the others, at the first payment', () => {
		const amounts = [500, 5000, 500, 700];
		const given = amounts.map((amountEtb, index) => ({
			...people[0],
			...{ employee: `A-${index}`, name: `Name ${index}`, userId: `a${index}`, amountEtb },
		}));
		// They had a salary, so no row has a remark.
		const register = given.map(({ employee, name, userId }, index) =>
			registered(index + 1, 'paid', {
				...{ period: '2026-08', reference: `s${index}`, employee, name, userId },
				employeeKey: employee.replace('-', ''),
			}),
		);
		const settings = { purpose: 'allowance', period, now: new Date(), register };
		const rows = checkList(given, settings).map(({ row }) => ({ ...row }));
		const { page, choices } = pageOf({
			'Upload a list': [[{ ...upload, purpose: 'allowance' }]],
			'Check List': [rows],
			'Pay salaries': [rows.map((row) => ({ ...row, mode: 'dryRun', outcome: 'ready' }))],
			Payments: [[]],
		});
		expect(headline(page)).toMatch(
			/Very different: Name 1 \(A-1\) 5,000\.00 ETB \(others 500\.00 ETB\)\./,
		);
		expect(page).toMatch(
			/look at these: 1 person, 5,000\.00 ETB.*Name 1.*The others who will be paid: 3 people/,
		);
		expect(choices[0]).toBe(declineChoice);
	});

	test('says of an amount above the maximum what it was last time', () => {
		const payments = [registered(1, 'paid', { period: '2026-09', reference: 's', amountEtb: 900 })];
		const { rows, ready } = check(payments);
		const refused = { outcome: 'notPaid', code: 'aboveMaximum', message: 'Too much' };
		const { page } = pageOf({
			'Upload a list': [[upload]],
			'Check List': [rows],
			Payments: [payments],
			'Pay salaries': [ready.map((row, index) => (index === 0 ? { ...row, ...refused } : row))],
		});
		expect(page).toMatch(/Will not be paid: 1 person.*Too much.*900 ETB last time/);
	});

	test('of an earlier period, of whom all were paid, leads to the form of the period that is due', () => {
		const { page } = pageOf(runs([1, 2, 3].map((number) => registered(number, 'paid'))));
		expect(page).toMatch(
			/This is for 2026-10\. (\S+) is due\. .*period=\1&purpose=salary.*Upload it/,
		);
	});

	test.each(['S (own)', 'Other (other)'])(
		'forgets why somebody was unknown who was settled while it was open, by %s',
		(workflow) => {
			const why = { workflow, reason: 'The service answered 500' };
			const open = [registered(1, 'unknown', why)];
			const given = runs(open);
			const before = pageOf(given).page;
			expect(before).toMatch(
				workflow === 'S (own)' ? /The service answered 500/ : /by the workflow Other/,
			);
			for (const outcome of ['paid', 'notPaid']) {
				const changed = { outcome, workflow, reason: '', updatedAt: '2026-10-26T07:00:00Z' };
				const { page } = pageOf({ ...given, 'Payments now': [[registered(1, outcome, changed)]] });
				expect(page).not.toMatch(/answered 500|unknown whether|UNKNOWN: /);
				expect(page).toMatch(/: 1 person, 1,000\.00 ETB/);
			}
		},
	);

	test('of an earlier period, of whom somebody is unknown, leads to no other period', () => {
		const open = [1, 2, 3].map((number) =>
			registered(number, number > 2 ? 'unknown' : 'paid', { workflow: 'S (own)' }),
		);
		const { page } = pageOf(runs(open));
		expect(page).toMatch(/UNKNOWN: 1 person/);
		expect(page).not.toContain('is due.');
		const sent = ['paid', 'unknown'].map((outcome) => {
			const { ready } = check([]);
			return pageOf(
				runs([], {
					...approved,
					'Payments now': [[]],
					'Pay salaries': [ready, ready.map((row) => ({ ...row, mode: 'pay', outcome }))],
				}),
				1,
			).page;
		});
		for (const each of sent) expect(each).not.toContain('is due.');
	});

	test('says in red who was paid less than the list has, and somebody is left', () => {
		const less = [registered(1, 'paid', { amountEtb: 100 }), registered(2, 'paid')];
		const payments = [...less, registered(3, 'paid')];
		const { page, rows } = pageOf(runs(payments));
		expect(page).toContain('<em>Paid less than the list has, 900.00 ETB less: 1 person</em>');
		expect(page).toContain('Paid before, not again: 2 people, 5,000.00 ETB');
		expect(rows.filter((row) => row['needsPerson'])).toMatchObject([{ name: 'Person 1' }]);
		const corrected = [
			...payments,
			registered(1, 'paid', { reference: 'c', purpose: 'correction', amountEtb: 900 }),
		];
		const after = pageOf(runs(corrected));
		expect(after.page).not.toContain('Paid less');
		expect(after.page).toContain('Corrections for this period: 900.00 ETB. They count');
		expect(after.rows.filter((row) => row['needsPerson'])).toEqual([]);
		const { rows: checked, ready } = check([registered(1, 'paid', { amountEtb: 100 })]);
		const declined = pageOf(
			{
				'Upload a list': [[upload]],
				'Check List': [checked],
				Payments: [less],
				'Payments now': [less],
				Ask: [[{ decision: 'Decline: pay nobody', user: user('second') }]],
				'Pay salaries': [ready, ready],
			},
			1,
		);
		expect(declined.page).toContain('Paid less than the list has');
		expect(declined.rows.filter((row) => row['needsPerson'])).toEqual([]);
	});

	test('of an allowance does not count corrections of the salary', () => {
		const allowance = { purpose: 'allowance', reference: `allowance-${period}-E1`, amountEtb: 600 };
		const payments = [
			registered(1, 'paid', allowance),
			registered(1, 'paid', { reference: 'c', purpose: 'correction', amountEtb: 900 }),
		];
		const { rows, ready } = check(payments, { purpose: 'allowance' });
		const { page } = pageOf({
			'Upload a list': [[{ ...upload, purpose: 'allowance' }]],
			'Check List': [rows],
			Payments: [payments],
			'Pay salaries': [ready],
		});
		expect(page).toContain('Paid less than the list has, 400.00 ETB less: 1 person');
		expect(page).toContain('Corrections for this period: 900.00 ETB');
		expect(page).not.toContain('They count for the salary');
	});

	test('says on the button that all get a second payment', () => {
		const { approve } = pageOf(runs(others(3, 'paid', 'bonus', period)));
		expect(approve).toBe('Approve: pay 6,000.00 ETB on top to 3 people, salary, 2026-10');
	});

	test('names who is set up and not in a list of salaries, also one who was never paid', () => {
		const People = [
			[...people, { name: 'Forgotten' }].map((row, at) => ({
				...row,
				employeeKey: `E${at + 1}`,
				payroll: 'file',
			})),
		];
		expect(pageOf(runs([], { People })).page).toMatch(
			/<h4>Not in this list, see below: 1 person<.*not in this list and not paid for 2026-10 salary: 1 person<.*Forgotten/,
		);
		for (const outcome of ['paid', 'unknown'])
			expect(pageOf(runs([registered(4, outcome)], { People })).page).not.toContain(
				'Not in this list',
			);
		const later = [registered(4, 'paid', { period: '2026-11', reference: 'l' })];
		expect(pageOf(runs(later, { People })).page).toMatch(
			/not paid for 2026-10 salary: 1 person<.*Forgotten.*The first payment was for 2026-11/,
		);
		const last = registered(4, 'paid', { period: '2026-09', reference: 's', settledBy: 'a@b.et' });
		const { page } = pageOf(runs([last], { People }));
		expect(page).toMatch(
			/not in this list and not paid for 2026-10 salary: 1 person<.*Recorded as paid by a@b\.et/,
		);
		const correction = runs([registered(4, 'paid', { ...last, purpose: 'correction' })], {
			'Upload a list': [[{ ...upload, purpose: 'correction' }]],
			'Check List': [check([], { purpose: 'correction' }).rows],
		});
		expect(pageOf(correction).page).not.toContain('Not in this list');
	});

	test('has a large warning about a correction that looks like the whole amount again, with the name, first in the list', () => {
		const payments = [
			registered(2, 'paid'),
			...[1, 3].map((number) => registered(number, 'paid', { amountEtb: 20_000 })),
		];
		const { rows, ready } = check(payments, { purpose: 'correction' });
		const { page, choices } = pageOf({
			...runs(payments),
			'Upload a list': [[{ ...upload, purpose: 'correction' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
		});
		expect(headline(page)).toMatch(
			/second payment for 2026-10\? It looks so for Person 2 \(E-2\): /,
		);
		expect(choices[0]).toBe('Decline: pay nobody');
		expect(page).toMatch(/look at these: .*?<b>Person 2<\/b>.*<b>Person 1<\/b>/);
		expect(page.match(/Paid for (?:this period|2026-10) before: 2,000/g)).toHaveLength(1);
	});

	test('has a large warning about a correction for a period in which nothing was paid', () => {
		const payments = [1, 2].map((number) =>
			registered(number, 'paid', { amountEtb: 20_000, reference: `salary ${number}` }),
		);
		const { rows, ready } = check(payments, { purpose: 'correction' });
		const { page, choices } = pageOf({
			...runs(payments),
			'Upload a list': [[{ ...upload, purpose: 'correction' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
		});
		expect(headline(page)).toMatch(/Nothing was paid for 2026-10 before to Person 3 \(E-3\)/);
		expect(choices[0]).toBe(declineChoice);
	});

	test('says who was paid before under another name, or with another correction', () => {
		const renamed = pageOf(
			runs([1, 2, 3].map((number) => registered(number, 'paid', { name: 'Kebede' }))),
		);
		expect(renamed.page).toMatch(
			/<h4>Another name than when it was paid, .*: Person 1 \(E-1\) was paid as Kebede/,
		);
		expect(renamed.rows.filter((row) => 'Result' in row)[0]).toMatchObject({
			Name: 'Person 1',
			Reason: expect.stringContaining('Kebede') as unknown,
		});
		const earlier = { purpose: 'correction', reference: `correction-${period}-E1` };
		const later = ['correction 2', 'correction 3'];
		for (const [amountEtb, others, advice] of [
			[1000, [], undefined],
			// The list has 1000 before rounding.
			[1000.005, [], undefined],
			[
				2500,
				[],
				/Person 1 \(E-1\), 2,500\.00 ETB paid, 1,000\.00 ETB in this list.*the purpose <a [^>]*>correction 2</,
			],
			[2500, later.slice(0, 1), /the purpose <a [^>]*>correction 3</],
			[2500, later, /with the workflow Pay a user\./],
		] as const) {
			const payments = [
				registered(1, 'paid', { ...earlier, amountEtb }),
				...others.map((each) => registered(1, 'paid', { purpose: each, reference: each })),
			];
			const { page } = pageOf({
				...runs(payments),
				'Upload a list': [[{ ...upload, purpose: 'correction' }]],
				'Check List': [check(payments, { purpose: 'correction' }).rows],
				'Pay salaries': [[]],
			});
			const isOther = /with another amount, .*Person 1 /.test(page);
			expect(isOther).toBe(advice !== undefined);
			if (advice) expect(page).toMatch(advice);
			expect(page).not.toContain('Paid less');
		}
	});

	test('says with a correction what each was paid before', () => {
		const row = registered(1, 'paid', { amountEtb: 10_000, purpose: 'salary' });
		const { rows, ready } = check([row], { purpose: 'correction' });
		const { page } = pageOf({
			'Upload a list': [[{ ...upload, purpose: 'correction' }]],
			'Check List': [rows],
			'Pay salaries': [ready],
			Payments: [[row]],
		});
		expect(page).toContain('Paid for 2026-10 before: 10,000.00 ETB');
	});

	test('names who is unknown in another workflow as unknown, and leaves the register as it is', () => {
		const payments = [registered(1, 'unknown', { paidAt: '2026-10-24T06:00:00Z' })];
		const { page, rows } = pageOf(runs(payments));
		expect(page).toContain('UNKNOWN, see below: 1 person, 1,000.00 ETB');
		expect(page).toContain('Unknown since 2026-10-24 09:00');
		expect(rows).toEqual([]);
	});

	test('that was declined says so, and writes nothing', () => {
		const decided = [[{ decision: 'Decline: pay nobody', user: user('second') }]];
		const { ready } = check([]);
		const given = runs([], { Ask: decided, 'Pay salaries': [ready, ready], 'Payments now': [[]] });
		const { page, rows } = pageOf(given, 1);
		expect(headline(page)).toMatch(/Declined: 3 people, 6,000\.00 ETB/);
		expect(page).toMatch(/because of a mistake\? .*>Upload the list again</);
		expect(rows.filter(({ createdAt }) => createdAt === true)).toEqual([]);
		const declined = { Result: 'Not paid', Reason: 'Declined' };
		expect(rows.filter((row) => 'Result' in row)).toMatchObject([declined, declined, declined]);
	});

	test.each([
		{ by: 'first', mode: 'dryRun', asks: true, said: /tried to approve it/ },
		{ by: 'second', mode: 'dryRun', asks: true, said: /The list changed/ },
		{ by: 'second', mode: 'pay', asks: false, said: /Not paid, because nobody approved it/ },
	])('of which $by says yes, and nothing was sent, is paid to nobody ($mode)', (given) => {
		const { ready } = check([]);
		const shown = pageOf(
			runs([], {
				Ask: [[{ decision: 'Approve: pay', user: user(given.by) }]],
				Decision: [[{ mode: given.mode }]],
				'Pay salaries': [ready, ready],
				'Payments now': [[]],
			}),
			1,
		);
		expect(shown.asks).toBe(given.asks);
		expect(shown.page).toMatch(given.said);
	});

	const choice = 'Approve: pay 1,000.00 ETB to 1 person, salary, 2026-10';
	test.each([
		{ says: 'yes', by: user('second'), mode: 'pay' },
		{ says: 'yes', by: user('first'), mode: 'dryRun' },
		{ says: 'yes', by: undefined, mode: 'dryRun' },
		{ says: 'yes', by: user('second'), uploader: undefined, mode: 'dryRun' },
		{ says: 'no', by: user('second'), decision: declineChoice, mode: 'dryRun' },
		{ says: 'nothing', by: user('second'), decision: undefined, mode: 'dryRun' },
		{ says: 'yes to another sum', by: user('second'), decision: `${choice}!`, mode: 'dryRun' },
		{
			says: 'yes to a page that asks nothing',
			by: user('second'),
			shown: undefined,
			mode: 'dryRun',
		},
	])('is approved by words and person: $says, by $by.id of $uploader.id: $mode', (given) => {
		const { decision, uploader, shown } = {
			decision: choice,
			uploader: user('first'),
			shown: choice,
			...given,
		};
		const submitted = { user: given.by, ...(decision !== undefined && { decision }) };
		const unchanged = { dryRun: [], before: [], now: [] };
		expect(modeAfter(submitted, uploader, shown, unchanged)).toBe(given.mode);
		expect(modeAfter({ user: given.by }, uploader, undefined, unchanged)).toBe('dryRun');
	});

	test('says at the end who is unknown, then who was paid, then who was not, and whom another list paid', () => {
		const { rows: rowsOf, ready } = check([]);
		const [one, two] = ready.map((row) => ({ ...row, mode: 'pay' }));
		const sent = [
			{ ...one, outcome: 'unknown', message: 'No response' },
			{ ...two, outcome: 'paid', txHash: '0x2', paidAt: '2026-10-26T09:00:00Z' },
		];
		const now = [registered(3, 'paid')];
		const problem = {
			...rowsOf[0],
			line: 9,
			employeeKey: 'E9',
			status: 'problem',
			problem: 'No wallet',
			reference: undefined,
		};
		const numberless = {
			...problem,
			line: 10,
			employeeKey: undefined,
			employee: '',
			name: 'Nobody',
		};
		const given = runs([], {
			'Check List': [[...rowsOf, problem, numberless]],
			...approved,
			'Payments now': [now],
			'Pay salaries': [ready, sent],
		});
		const { page, rows } = pageOf(given, 1);
		expect(headline(page)).toMatch(
			/UNKNOWN: 1 person, 1,000.*Paid: 1 person, 2,000.*Paid before, not again: 1 person, 3,000/,
		);
		expect(rows.filter(({ createdAt }) => createdAt === true)).toMatchObject([
			{ reference: referenceOf(1), outcome: 'unknown', approvedBy: 'second@example.com' },
			{ reference: referenceOf(2), outcome: 'paid', approvedBy: 'second@example.com' },
			{ reference: referenceOf(9), outcome: 'notPaid', approvedBy: '' },
		]);
		const left = rows.filter((each) => each['needsPerson'] === true);
		expect(left.map(({ employeeKey }) => employeeKey)).toEqual(['E1', 'E9', undefined]);
		expect(page).toMatch(
			/Without an employee number, so only on this page and in its file: Nobody\./,
		);
	});
});
