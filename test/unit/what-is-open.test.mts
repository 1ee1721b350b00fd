/** The page *What is open*, and the statements that it gives to the node that settles. */
import { z } from 'zod';
import type { RegisterRow } from '../../examples/code/payment-row.mts';
import { wasNotPaid, wasPaid, type Asked } from '../../examples/code/settling.mts';
import type { Submitted } from '../../examples/code/workflow.mts';
import {
	check,
	pageAndRows,
	period,
	purpose,
	referenceOf,
	registered,
	user,
	type Rows,
} from '../support/example-code.mts';

describe('an answer about a payment that another page recorded as paid', () => {
	const open = [registered(1, 'unknown', { workflow: 'S (own)' })];
	const after = (answered: object, now: Rows = open): string => {
		const [shown] = pageAndRows(
			'payroll-from-a-file.json',
			{
				'What is open': [[{}]],
				Payments: [open],
				'Payments now': [now],
				Ask: [[{ ...answered, user: user('second') }]],
				'Pay salaries': [
					[
						{
							outcome: 'alreadyPaid',
							code: 'paidBefore',
							mode: 'settle',
							reference: referenceOf(1),
						},
					],
				],
			},
			1,
		);
		return JSON.stringify(shown);
	};

	test('changes nothing in the register', () => {
		const settledBy = 'first@example.com';
		for (const more of [{ settledBy }, { txHash: '0x1' }]) {
			const rows = pageAndRows(
				'payroll.json',
				{
					'What is open': [[{}]],
					Payments: [open],
					'Payments now': [[registered(1, 'paid', { workflow: 'S (own)', ...more })]],
					Ask: [[{ [referenceOf(1)]: 'It was not paid', user: user('second') }]],
					'Pay salaries': [
						[
							{
								...{ outcome: 'alreadyPaid', code: 'paidBefore', mode: 'settle' },
								reference: referenceOf(1),
							},
						],
					],
				},
				1,
			);
			expect(rows.filter(({ createdAt }) => createdAt === true)).toEqual([]);
		}
	});

	test('says in red that it contradicts, whose answer counts, and what to do', () => {
		const answered = { [referenceOf(1)]: 'It was not paid' };
		const settled = registered(1, 'paid', { workflow: 'S (own)', settledBy: 'first@example.com' });
		expect(after(answered, [settled])).toMatch(
			/<h4>It stays recorded as paid: Person 1 .*said that it was not paid, but first@example.com recorded it as paid at .*etb-file-open.* this record is wrong/,
		);
		const sent = registered(1, 'paid', { workflow: 'S (own)', txHash: '0x1' });
		expect(after(answered, [sent])).toMatch(/It stays recorded as paid: .*0x1.*purpose=correction/);
		expect(after(answered)).toMatch(
			/<h4>It stays recorded as paid: .* but somebody else recorded it as paid/,
		);
	});
});

describe('the answers of the page What is open', () => {
	const own = { workflow: 'S (own)' };
	const settledBy = 'first@example.com';
	const named = (outcomes: string[], more: object[] = []): Rows =>
		outcomes.map((outcome, index) =>
			registered(index, outcome, { ...own, reference: `r ${index}`, name: 'Sara', ...more[index] }),
		);
	const Asking = z.object({ asked: z.custom<Asked>() });
	/** The statements that the node records after this answer to the page of these payments. */
	function statements(answer: Submitted, payments: Rows, later = payments) {
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const { asked } = Asking.parse(pageAndRows('payroll.json', runs)[0]);
		const [before, now] = [payments, later].map((rows) =>
			z.array(z.custom<RegisterRow>()).parse(rows),
		);
		const given = [answer, asked, before ?? [], now ?? []] as const;
		return { wasPaid: wasPaid(...given), wasNotPaid: wasNotPaid(...given) };
	}

	test('name the unknown payments, and the time at which each was sent', () => {
		const payments = named(['unknown', 'paid']);
		const paid = { 'r%200': 'It was paid', 'r%201': 'It was paid' };
		expect(statements(paid, payments)).toMatchObject({ wasPaid: ['r 0'], wasNotPaid: [] });
		const notPaid = { 'r%200': 'It was not paid', 'r%201': 'It was not paid' };
		const sent = { reference: 'r 0', sentAt: '2026-10-25T08:00:00.000Z' };
		expect(statements(notPaid, payments)).toMatchObject({ wasPaid: [], wasNotPaid: [sent] });
		const nothing = { wasPaid: [], wasNotPaid: [] };
		expect(statements({ 'r%200': 'Not known yet' }, payments)).toEqual(nothing);
	});

	test.each([
		['sent again', { updatedAt: '2026-10-25T09:00:00Z' }, 0],
		['written anew', { id: 9 }, 0],
		['recorded as paid', { outcome: 'paid', updatedAt: '2026-10-25T09:00:00Z' }, 1],
		['recorded as not paid', { outcome: 'notPaid', updatedAt: '2026-10-25T09:00:00Z' }, 1],
		['the same', { updatedAt: new Date('2026-10-25T08:00:00Z') }, 1],
	])('are about the payment that the page showed: it is %s by then', (_how, more, count) => {
		const payments = named(['unknown']);
		const [later = {}] = named(['unknown'], [more]);
		for (const answer of ['It was paid', 'It was not paid']) {
			const said = statements({ 'r%200': answer }, payments, [later]);
			expect([...said.wasPaid, ...said.wasNotPaid]).toHaveLength(count);
		}
		expect(statements({ 'r%200': 'It was not paid' }, payments, [])['wasNotPaid']).toEqual([]);
	});

	/** The page and the written row after an answer about one payment, and the result of the node. */
	function answered(answer: object, before: object, result: object, others: Rows = []) {
		const reference = referenceOf(1);
		const row = registered(1, 'paid', { ...own, settledBy, ...before });
		const runs = {
			'What is open': [[{}]],
			Payments: [[registered(1, 'unknown', own)]],
			'Payments now': [[row, ...others]],
			Ask: [[{ ...answer, user: user('second') }]],
			'Pay salaries': [[{ reference, ...result, mode: 'settle' }]],
		};
		const items = pageAndRows('payroll.json', runs, 1);
		const [written] = items.filter(({ createdAt }) => createdAt === true);
		return { page: JSON.stringify(items[0]), written };
	}
	const isPaid = { outcome: 'alreadyPaid', code: 'paidBefore' };

	const wasNotPaidAfterAll = {
		mistake: `Person 1 (${referenceOf(1)}): recorded as paid, but it was not`,
	};
	const wasPaidAfterAll = {
		mistake: `Person 1 (${referenceOf(1)}): recorded as not paid, but it was paid`,
	};
	const correction = (amountEtb: number) =>
		registered(1, 'paid', { ...own, purpose: 'correction', reference: 'c', amountEtb });
	/** The page *What is open*, or that of another workflow, after a record was taken back. */
	const voided = {
		...own,
		outcome: 'voided',
		settledBy,
		leftToDo: 'missing',
		reason: 'b@x.et said that it was not paid',
	};
	const openPageOf = (...payments: Rows): string =>
		JSON.stringify(
			pageAndRows('payroll.json', { 'What is open': [[{}]], Payments: [payments] })[0],
		);

	test('take back that one was paid, so that it has no amount, and lead to a correction', () => {
		const { page, written } = answered(wasNotPaidAfterAll, {}, isPaid);
		expect(written).toMatchObject({ outcome: 'voided', amountEtb: null, requestedAmountEtb: 1000 });
		expect(written).toMatchObject({ settledBy, leftToDo: 'missing' });
		expect(page).toContain('Recorded as paid by first@example.com');
		expect(written?.['reason']).toMatch(/^second@.* said at [-\d]+ [:\d]+ that it was not paid$/);
		expect(page).toMatch(/<h4>Not paid, but was recorded as paid: Person 1.*purpose=correction/);
		// The node can have lost its record: then it has the payment as paid from now on.
		const settled = { outcome: 'alreadyPaid', code: 'settledPaid' };
		expect(answered(wasNotPaidAfterAll, {}, settled).written).toMatchObject({ outcome: 'voided' });
	});

	test.each([
		['has a transaction', wasNotPaidAfterAll, { txHash: '0x1' }],
		['was taken back before', wasNotPaidAfterAll, voided],
		['counts again already', wasPaidAfterAll, {}],
	])('do not take back a record that %s', (_why, answer, before) => {
		expect(answered(answer, before, isPaid).written).toBeUndefined();
	});

	test('take back that a record was wrong, and say that a correction may be too much', () => {
		const { page, written } = answered(wasPaidAfterAll, voided, isPaid);
		expect(written).toMatchObject({ outcome: 'paid', amountEtb: 1000 });
		expect(written?.['reason']).toMatch(/it was not paid\. second@.* that it was paid after all$/);
		expect(page).toMatch(/<h4>Perhaps paid twice: Person 1.*Was it also paid in another way/);
	});

	test('of an old page agree with a record that was taken back, or take that back', () => {
		const answer = (choice: string) => answered({ [referenceOf(1)]: choice }, voided, isPaid);
		const agreed = answer('It was not paid');
		expect(agreed.written).toBeUndefined();
		expect(agreed.page).toMatch(/<h3>Not paid, but was recorded as paid: 1 person/);
		expect(agreed.page).not.toContain('stays');
		const again = answered(wasNotPaidAfterAll, voided, isPaid).page;
		expect(again).not.toContain('stays paid');
		expect(answer('It was paid').written).toMatchObject({ outcome: 'paid', amountEtb: 1000 });
	});

	test('say that one may be paid twice that was freed, and paid before the register had it', () => {
		const freed = { outcome: 'notPaid', amountEtb: null };
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, but perhaps it was`;
		const { page, written } = answered({ mistake }, freed, isPaid);
		expect(page).toMatch(/Perhaps paid twice: Person 1/);
		expect(written).toMatchObject({ outcome: 'paid', settledBy: '', leftToDo: 'perhapsTwice' });
		expect(openPageOf({ ...written, ...own })).toMatch(/<h4>Perhaps paid twice: Person 1/);
	});

	test('count for each of two rows that two lists wrote of one payment', () => {
		const copies = [1, 2].map((id) => registered(1, 'unknown', { ...own, id }));
		const notPaid = { [referenceOf(1)]: 'It was not paid' };
		expect(statements(notPaid, copies)['wasNotPaid']).toHaveLength(1);
		const runs = {
			'What is open': [[{}]],
			Payments: [copies],
			'Payments now': [copies],
			Ask: [[{ ...notPaid, user: user('second') }]],
			'Pay salaries': [
				[{ reference: referenceOf(1), outcome: 'ready', code: 'settledNotPaid', mode: 'settle' }],
			],
		};
		const written = pageAndRows('payroll.json', runs, 1).filter(({ createdAt }) => createdAt);
		expect(written.map(({ id, outcome }) => [id, outcome]).sort()).toEqual([
			[1, 'notPaid'],
			[2, 'notPaid'],
		]);
	});

	test('leave a wrong record on the page, with the corrections, until a person ends it', () => {
		const row = registered(1, 'voided', voided);
		const isAsked = /<h4>Not paid, but was recorded as paid: Person 1/;
		expect(openPageOf(row)).toMatch(/<h4>Not paid, but was.*Still to be paid.*Was it paid since/);
		// No sum can tell for which payment a correction was.
		for (const amountEtb of [400, 1000, 2000])
			expect(openPageOf(row, correction(amountEtb))).toMatch(isAsked);
		expect(openPageOf(row, correction(400))).toMatch(
			/Corrections that were paid, or may have been, for 2026-10: 400\.00 ETB\. Was it paid since.*Still to be paid.*purpose=correction%202\\"/,
		);
		expect(openPageOf({ ...row, requestedAmountEtb: null })).toMatch(
			/unknown ETB for 2026-10 salary.*Still to be paid/,
		);
		const refused = { ...correction(1000), outcome: 'notPaid', amountEtb: null };
		expect(openPageOf(row, refused)).toMatch(/Still to be paid.*purpose=correction\\"/);
	});

	test('can be given on the page of any workflow if they change only the register', () => {
		const elsewhere = { ...voided, workflow: 'Gone (gone)' };
		const row = registered(1, 'voided', elsewhere);
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, and nothing is missing any more`;
		expect(openPageOf(row)).toContain(mistake);
		const { written } = answered({ mistake }, elsewhere, isPaid);
		expect(written).toMatchObject({ leftToDo: 'nothing', workflow: 'Gone (gone)' });
	});

	test.each([
		['recorded as paid, but it was not', { outcome: 'voided', leftToDo: 'missing' }],
		['recorded as not paid, but it was paid', undefined],
	])('about a record that is paid (%s) need no result of the node', (words, expected) => {
		// The node got no reference, and answers with one item without any.
		const nothing = {
			reference: undefined,
			outcome: 'unknown',
			code: 'notSettled',
			message: 'Empty',
		};
		const mistake = `Person 1 (${referenceOf(1)}): ${words}`;
		expect(statements({ mistake }, [registered(1, 'paid', { ...own, settledBy })])).toEqual({
			wasPaid: [],
			wasNotPaid: [],
		});
		const { page, written } = answered({ mistake }, {}, nothing);
		if (expected) expect(written).toMatchObject(expected);
		else {
			expect(written).toBeUndefined();
			expect(page).toMatch(/Not recorded: Person 1 .*It changed after the page was opened/);
		}
		expect(page).not.toContain('Recorded as paid:');
	});

	test('offer that only one was made unless a correction counts beside it', () => {
		const only = 'but only this one was made';
		const row = registered(1, 'paid', { ...own, settledBy, leftToDo: 'perhapsTwice' });
		expect(openPageOf(row)).toContain(only);
		expect(openPageOf(row, correction(1000))).not.toContain(only);
		expect(openPageOf({ ...row, txHash: '0x1' }, correction(1000))).toContain(only);
		const mistake = `Person 1 (${referenceOf(1)}): perhaps paid twice, but one came back`;
		const { written } = answered({ mistake }, row, isPaid);
		expect(written?.['reason']).toMatch(/one came back$/);
	});

	test('open a record again that somebody ended by mistake', () => {
		const closed = { ...voided, leftToDo: 'nothing' };
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, and it is still missing`;
		expect(openPageOf(registered(1, 'voided', closed))).toContain(mistake);
		expect(openPageOf(registered(1, 'voided', voided))).not.toContain(mistake);
		const { page, written } = answered({ mistake }, closed, isPaid);
		expect(written).toMatchObject({ outcome: 'voided', leftToDo: 'missing' });
		expect(page).toMatch(/<h4>Not paid, but was recorded as paid: Person 1/);
	});

	test('end a wrong record if a person says that nothing is missing any more', () => {
		const row = registered(1, 'voided', voided);
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, and nothing is missing any more`;
		expect(openPageOf(row)).toContain(mistake);
		expect(statements({ mistake }, [row])['wasPaid']).toEqual([]);
		const { page, written = {} } = answered({ mistake }, voided, isPaid);
		expect(written).toMatchObject({ outcome: 'voided', leftToDo: 'nothing' });
		expect(page).toMatch(/<h3>Nothing is left to do: 1 person/);
		const after = openPageOf({ ...written, ...own });
		expect(after).not.toContain('<h4>Not paid, but was recorded as paid');
		expect(after).not.toContain(mistake);
		expect(answered({ mistake }, written, isPaid).written).toBeUndefined();
	});

	test('say of one that was sent again, on a fresh page, that it had been paid before', () => {
		const again = { ...own, settledBy, txHash: '0x7', reason: 'First recorded as not paid' };
		const row = registered(1, 'paid', again);
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid and paid again, but it was paid before`;
		expect(openPageOf(row)).toContain(mistake);
		expect(openPageOf(row)).not.toContain('recorded as paid, but it was not');
		expect(statements({ mistake }, [row])['wasPaid']).toEqual([
			{ reference: referenceOf(1), takesBack: true },
		]);
		const { page, written } = answered({ mistake }, again, isPaid);
		expect(written).toMatchObject({ outcome: 'paid', txHash: '0x7', leftToDo: 'perhapsTwice' });
		expect(page).toMatch(/<h4>Perhaps paid twice: Person 1/);
	});

	test('leave a wrong record alone if nobody said anything about it', () => {
		expect(answered({}, voided, isPaid).written).toBeUndefined();
	});

	test('take back each row that two workflows wrote of one payment', () => {
		const copy = registered(1, 'unknown', { ...own, id: 9 });
		const runs = {
			'What is open': [[{}]],
			'Payments now': [[registered(1, 'paid', { ...own, settledBy }), copy]],
			Ask: [[{ ...wasNotPaidAfterAll, user: user('second') }]],
			'Pay salaries': [[{ reference: referenceOf(1), ...isPaid, mode: 'settle' }]],
		};
		const written = pageAndRows('payroll.json', runs, 1).filter(({ createdAt }) => createdAt);
		expect(written.map(({ id, outcome }) => [id, outcome])).toEqual([
			[1, 'voided'],
			[9, 'voided'],
		]);
	});

	test('a wrong record counts as nothing, also if a person wrote it into the table', () => {
		const written = registered(1, 'voided', { ...own, amountEtb: 1000 });
		expect(openPageOf(written)).toMatch(/Not paid, but was recorded as paid: 1 person</);
	});

	test('name who had a salary the last time, and has none for the newest period', () => {
		const last = [1, 2].map((number) =>
			registered(number, 'paid', { ...own, period: '2026-09', reference: `s${number}` }),
		);
		const left = 'and not in those of 2026-10: Person 2.';
		expect(openPageOf(...last, registered(1, 'paid', own))).toContain(left);
		expect(openPageOf(...last, ...[1, 2].map((one) => registered(one, 'paid', own)))).not.toContain(
			'and not in those of',
		);
	});

	test('keep a wrong record out of the sums, and the list says who is paid less', () => {
		const row = registered(1, 'voided', voided);
		const month = pageAndRows(
			'payments-of-a-period.json',
			{
				'Which period?': [[{ period, user: user('first') }]],
				Payments: [[row, correction(1000)]],
			},
			0,
			'One row for each payment',
		);
		const told = JSON.stringify(month[0]);
		expect(told).toMatch(
			/Not paid, but was recorded as paid: 1 person<.*Paid: 1 person, 1,000\.00 ETB</,
		);
		expect(told).not.toContain('not known');
		const pageAfter = (...payments: Rows): string => {
			const { rows, ready } = check(payments);
			const list = {
				'Upload a list': [[{ period, purpose, list: { filename: 'x' }, user: user('first') }]],
				'Check List': [rows],
				'Pay salaries': [ready],
				Payments: [payments],
			};
			return JSON.stringify(pageAndRows('payroll-from-a-file.json', list)[0]);
		};
		const isAsked = /<h4>Not paid, but was recorded as paid: Person 1.*purpose=correction/;
		expect(pageAfter(row)).toMatch(isAsked);
		expect(pageAfter(row)).toMatch(/<h3><em>Not paid, but was recorded as paid: 1 person/);
		const bonus = registered(1, 'voided', { ...voided, purpose: 'bonus', reference: 'b' });
		expect(pageAfter(row, bonus, correction(1000))).toMatch(isAsked);
		expect(pageAfter(row)).not.toContain('Paid less than');
		expect(pageAfter(row)).not.toContain('Paid before, not again');
		const closed = { ...row, leftToDo: 'nothing' };
		expect(pageAfter(closed, correction(1000))).toMatch(
			/and nothing is missing any more: 1 person</,
		);
		expect(pageAfter(closed, correction(1000))).not.toMatch(isAsked);
		expect(pageAfter(closed, correction(1000))).not.toContain('Paid less than');
	});

	test('say that a payment may be paid twice that was sent again, until somebody settles that', () => {
		const paid = { amountEtb: 1777, txHash: '0x7', settledBy: '' };
		for (const choice of ['It was paid', 'It was not paid']) {
			const late = answered({ [referenceOf(1)]: choice }, paid, isPaid);
			expect(late.written).toBeUndefined();
			expect(late.page).not.toContain('Perhaps paid twice');
		}
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, but perhaps it was`;
		const { page, written = {} } = answered({ mistake }, paid, isPaid);
		expect(page).toMatch(/Perhaps paid twice: Person 1/);
		expect(written).toMatchObject({
			amountEtb: 1777,
			txHash: '0x7',
			leftToDo: 'perhapsTwice',
		});
		expect(answered({ mistake }, written, isPaid).written).toBeUndefined();
		const isRed = /<h4>Perhaps paid twice: Person 1.*second@example\.com said/;
		expect(openPageOf({ ...written, ...own })).toMatch(isRed);
		const asked = [[{ period, user: user('first') }]];
		const runs = { 'Which period?': asked, Payments: [[written]] };
		const [month] = pageAndRows('payments-of-a-period.json', runs, 0, 'One row for each payment');
		expect(JSON.stringify(month)).toMatch(isRed);
		const settled = {
			mistake: `Person 1 (${referenceOf(1)}): perhaps paid twice, but one came back`,
		};
		const payments = [{ ...written, ...own }];
		expect(statements(settled, payments)['wasPaid']).toEqual([]);
		const end = answered(settled, written, isPaid);
		const only = `Person 1 (${referenceOf(1)}): perhaps paid twice, but only this one was made`;
		expect(openPageOf({ ...written, ...own })).toContain(only);
		expect(end.written).toMatchObject({ amountEtb: 1777, leftToDo: 'nothing' });
		expect(end.page).toMatch(/Nothing is left to do: 1 person, 1,777\.00 ETB/);
		expect(end.page).not.toMatch(isRed);
	});

	test('keep it in red that one was restored and corrected, until somebody settles that', () => {
		const { written } = answered(wasPaidAfterAll, voided, isPaid, [correction(1000)]);
		const restored = { ...written, ...own };
		const isRed =
			/<h4>Perhaps paid twice: Person 1.*Was it also paid in another way.*Was this one not made/;
		expect(openPageOf(restored, correction(1000))).toMatch(isRed);
		const settled = {
			mistake: `Person 1 (${referenceOf(1)}): perhaps paid twice, but one came back`,
		};
		const end = answered(settled, restored, isPaid, [correction(1000)]);
		expect(end.written).toMatchObject({ amountEtb: 1000, settledBy, leftToDo: 'nothing' });
		expect(end.page).not.toMatch(isRed);
	});

	test('never end by themselves: a record that is taken back twice is missing again', () => {
		const { page, written } = answered(wasPaidAfterAll, voided, isPaid, [correction(50)]);
		expect(written).toMatchObject({ outcome: 'paid', leftToDo: 'perhapsTwice' });
		expect(page).not.toContain('<h3>Recorded as paid');
		const again = answered(wasNotPaidAfterAll, { ...written, ...own }, isPaid, [correction(50)]);
		expect(again.written).toMatchObject({ outcome: 'voided', leftToDo: 'missing' });
		expect(again.page).toMatch(/<h4>Not paid, but was recorded as paid: Person 1/);
	});

	test('of an old page end no other question than theirs', () => {
		const notMissing = `Person 1 (${referenceOf(1)}): recorded as not paid, and nothing is missing any more`;
		const notTwice = `Person 1 (${referenceOf(1)}): perhaps paid twice, but one came back`;
		const twice = { ...own, leftToDo: 'perhapsTwice' };
		expect(answered({ mistake: notMissing }, twice, isPaid).written).toBeUndefined();
		expect(answered({ mistake: notTwice }, voided, isPaid).written).toBeUndefined();
	});

	test('name several wrong records of a person once, and each amount', () => {
		const salary = registered(1, 'voided', voided);
		const bonus = registered(1, 'voided', {
			...voided,
			...{ purpose: 'bonus', reference: 'b', requestedAmountEtb: 500 },
		});
		const page = openPageOf(salary, bonus, correction(1000));
		expect(page.match(/<h4>Not paid, but was recorded as paid/g)).toHaveLength(1);
		expect(page).toMatch(
			/1,000\.00 ETB for 2026-10 salary.*500\.00 ETB for 2026-10 bonus.*or may have been, for 2026-10: 1,000\.00 ETB/,
		);
	});

	test('of a payment that the node has as paid, and the register as unknown, can be taken back', () => {
		const before = { outcome: 'unknown', settledBy: null, amountEtb: null, txHash: null };
		const denied = answered({ [referenceOf(1)]: 'It was not paid' }, before, isPaid);
		expect(denied.written).toMatchObject({ outcome: 'paid', settledBy: 'the node' });
		const runs = { 'What is open': [[{}]], Payments: [[{ ...denied.written, ...own }]] };
		const [fresh] = pageAndRows('payroll.json', runs);
		expect(fresh).toMatchObject({ asked: { saidPaid: [{ reference: referenceOf(1) }] } });
		const said = answered({ [referenceOf(1)]: 'It was paid' }, before, isPaid);
		expect(said.written).toMatchObject({ outcome: 'paid', settledBy: 'second@example.com' });
	});

	test('do not ask about a transaction that somebody wrote into the table', () => {
		const written = registered(1, 'paid', { ...own, settledBy, txHash: '0x1' });
		expect(openPageOf(written)).not.toContain('Perhaps paid twice');
	});

	test('keep the amount that was recorded, if there is no other', () => {
		const before = { amountEtb: 900, requestedAmountEtb: null };
		const { written = {} } = answered(wasNotPaidAfterAll, before, isPaid);
		expect(written).toMatchObject({ outcome: 'voided', requestedAmountEtb: 900 });
		expect(answered(wasPaidAfterAll, written, isPaid).written).toMatchObject({ amountEtb: 900 });
	});

	test('are told as not recorded if the payment was sent again, and is unknown', () => {
		const again = { outcome: 'unknown', settledBy: '', updatedAt: '2026-10-26T08:00:00Z' };
		const nothing = { outcome: 'unknown', code: 'notSettled', message: 'Empty' };
		const answer = { [referenceOf(1)]: 'It was paid' };
		const { page, written } = answered(answer, again, { ...nothing, reference: undefined });
		expect(written).toBeUndefined();
		expect(page).toMatch(/Not recorded: Person 1 .*it may have been sent again/);
	});

	test('say whose mistake is taken back by whom', () => {
		const freed = { outcome: 'notPaid' };
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid, but perhaps it was`;
		const contradicted = { outcome: 'unknown', code: 'contradicted', message: 'Differs' };
		const { written } = answered({ mistake }, freed, contradicted);
		expect(written?.['reason']).toMatch(
			/^first@.* recorded it as not paid, and second@.* took that back/,
		);
	});

	test('take back that one was not paid, if a person said so', () => {
		const outcomes = ['unknown', 'notPaid', 'notPaid', 'paid', 'paid'];
		const payments = named(outcomes, [{ settledBy }, { settledBy }, {}, { settledBy }, voided]);
		const takenBack = outcomes.map(
			(_, index) =>
				statements(
					{ mistake: `Sara (r ${index}): recorded as not paid, but perhaps it was` },
					payments,
				)['wasPaid'],
		);
		const taken = (index: number) => [{ reference: `r ${index}`, takesBack: true }];
		expect(takenBack).toEqual([[], taken(1), [], [], []]);
		const mistake = 'Sara (r 4): recorded as not paid, but it was paid';
		expect(statements({ mistake }, payments)['wasPaid']).toEqual([]);
	});

	test.each(['Unknown', '', 'refunded', null])(
		'are asked of a payment with the outcome %j, and recorded',
		(outcome) => {
			const payments = [registered(1, 'unknown', { ...own, outcome })];
			const said = statements({ [referenceOf(1)]: 'It was paid' }, payments);
			expect(said).toMatchObject({ wasPaid: [referenceOf(1)] });
		},
	);

	test('show with an unknown payment nothing of one with another reference', () => {
		const settled = { reference: `${referenceOf(1)}-x`, settledBy };
		const unknown = registered(1, 'unknown', { ...own, settledBy: '', paidAt: '' });
		const payments = [unknown, registered(1, 'paid', { ...own, ...settled, id: 2 })];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const [, shown] =
			/<h3><em>UNKNOWN(.*?)<\/table>/.exec(
				JSON.stringify(pageAndRows('payroll-from-a-file.json', runs)[0]),
			) ?? [];
		expect(shown).toContain('Unknown since 2026-10-25 11:00');
		expect(shown).not.toContain(settledBy);
	});

	test('say how the workflow pays only of payments of its own', () => {
		for (const [workflow, says] of [
			['S (own)', true],
			['Other (other)', false],
		] as const) {
			const runs = { 'What is open': [[{}]], Payments: [[registered(1, 'notPaid', { workflow })]] };
			const shown = JSON.stringify(pageAndRows('payroll.json', runs)[0]);
			expect(shown.includes('older period')).toBe(says);
			expect(shown.includes('Not paid by another workflow')).toBe(!says);
		}
	});

	test('show a payment that nobody has for a period, also if the person was paid another one', () => {
		const loose = { ...own, purpose: null, period: null };
		const payments = [
			registered(1, 'paid', { ...loose, reference: 'a' }),
			registered(1, 'notPaid', { ...loose, reference: 'b' }),
		];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const shown = JSON.stringify(pageAndRows('payroll.json', runs)[0]);
		expect(shown).toContain('Not paid: 1 person');
	});

	test('count a payment once that two lists wrote, one of them without its transaction', () => {
		const sent = registered(1, 'paid', { ...own, id: 1, txHash: '0x1' });
		const without = registered(1, 'paid', { ...own, id: 2, settledBy });
		for (const rows of [
			[sent, without],
			[without, sent],
		]) {
			const runs = { 'What is open': [[{}]], Payments: [rows] };
			const [shown] = pageAndRows('payroll.json', runs);
			expect(JSON.stringify(shown)).toContain('Paid: 1 person, 1,000.00 ETB');
			expect(shown).toMatchObject({ asked: { saidPaid: [] } });
		}
	});

	test('are not asked of an empty row', () => {
		const empty = { id: 5, reference: null, outcome: null };
		const payments = [empty, registered(1, 'notPaid', { ...own, reference: '5' })];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const shown = JSON.stringify(pageAndRows('payroll-from-a-file.json', runs)[0]);
		expect(shown).toMatch(/Nothing is UNKNOWN.*Not paid: 1 person/);
	});

	test('are not asked of a payment that another row has as Paid', () => {
		const payments = ['notPaid', 'Paid', 'unknown'].map((outcome, id) =>
			registered(1, outcome, { ...own, id }),
		);
		const [shown] = pageAndRows('payroll.json', { 'What is open': [[{}]], Payments: [payments] });
		expect(shown).toMatchObject({ asked: { unknown: [], saidNotPaid: [] } });
		expect(JSON.stringify(shown)).not.toContain('Not paid');
	});

	test('are asked of what is unknown and of what a person recorded as not paid', () => {
		const payments = [
			registered(1, 'unknown', own),
			registered(2, 'notPaid', { ...own, settledBy }),
			registered(3, 'notPaid', own),
			registered(4, 'unknown'),
			registered(5, 'notPaid', { settledBy }),
			registered(6, 'paid', { ...own, settledBy }),
			registered(7, 'paid', { ...own, txHash: '0x7' }),
			registered(8, 'voided', { ...own, settledBy }),
		];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const [{ fields = [] } = {}] = pageAndRows('payroll-from-a-file.json', runs);
		const shown = JSON.stringify(fields);
		expect(shown).toMatch(/Not paid by another workflow: Person 5\. /);
		expect(shown.match(/Upload the list of/g)).toHaveLength(1);
		const asked = z.array(z.record(z.unknown())).parse(fields).slice(1);
		const mistake = [
			'No',
			`Person 2 (${referenceOf(2)}): recorded as not paid, but perhaps it was`,
			`Person 8 (${referenceOf(8)}): recorded as not paid, and nothing is missing any more`,
			`Person 8 (${referenceOf(8)}): recorded as not paid, but it was paid`,
			`Person 6 (${referenceOf(6)}): recorded as paid, but it was not`,
		].map((option) => ({ option }));
		expect(asked).toMatchObject([
			{ fieldName: referenceOf(1) },
			{ fieldName: 'mistake', fieldOptions: { values: mistake } },
		]);
	});
});
