/** The page *What is open*, and the statements that it gives to the node that settles. */
import { z } from 'zod';
import type { RegisterRow } from '../../examples/code/payment-row.mts';
import { takeBack, wasNotPaid, wasPaid, type Asked } from '../../examples/code/settling.mts';
import type { Submitted } from '../../examples/code/workflow.mts';
import { pageAndRows, referenceOf, registered, user, type Rows } from '../support/example-code.mts';

describe('an answer about a payment that another page recorded as paid', () => {
	const open = [registered(1, 'unknown', { workflow: 'S (own)' })];

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
		return {
			wasPaid: wasPaid(...given),
			wasNotPaid: wasNotPaid(...given),
			takeBack: takeBack(...given),
		};
	}

	test('name the unknown payments, and the time at which each was sent', () => {
		const payments = named(['unknown', 'paid']);
		const paid = { 'r%200': 'It was paid', 'r%201': 'It was paid' };
		expect(statements(paid, payments)).toMatchObject({ wasPaid: ['r 0'], wasNotPaid: [] });
		const notPaid = { 'r%200': 'It was not paid', 'r%201': 'It was not paid' };
		const sent = { reference: 'r 0', sentAt: '2026-10-25T08:00:00.000Z' };
		expect(statements(notPaid, payments)).toMatchObject({ wasPaid: [], wasNotPaid: [sent] });
		const nothing = { wasPaid: [], wasNotPaid: [], takeBack: [] };
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

	const record = (said: string) => ({
		takeBack: [`Person 1, 1,000.00 ETB (${referenceOf(1)}): recorded as ${said}`],
	});
	const perhapsNotPaid = record('paid, but perhaps it was not');
	const perhapsPaid = record('not paid, but perhaps it was');
	const differs = { outcome: 'unknown', code: 'contradicted', message: 'Differs' };
	/** The page *What is open* of these payments. */
	const openPageOf = (...payments: Rows): string =>
		JSON.stringify(
			pageAndRows('payroll.json', { 'What is open': [[{}]], Payments: [payments] })[0],
		);

	test.each([
		['paid', perhapsNotPaid],
		['not paid', perhapsPaid],
	])('take back that one was %s, so that it is unknown again', (was, answer) => {
		const outcome = was === 'paid' ? 'paid' : 'notPaid';
		const payments = [registered(1, outcome, { ...own, settledBy })];
		expect(statements(answer, payments)).toEqual({
			wasPaid: [],
			wasNotPaid: [],
			takeBack: [referenceOf(1)],
		});
		const before = { outcome, amountEtb: 900, requestedAmountEtb: null };
		const { page, written } = answered(answer, before, differs);
		expect(written).toMatchObject({ outcome: 'unknown', settledBy: '', requestedAmountEtb: 900 });
		expect(written?.['amountEtb']).toBeNull();
		expect(written?.['reason']).toMatch(
			new RegExp(`^first@.* recorded it as ${was}, and second@.* took that back`),
		);
		expect(page).toMatch(/The record is taken back, so it is unknown again: Person 1/);
		expect(JSON.stringify(openPageOf({ ...written, ...own }))).toContain('It was not paid');
	});

	test.each([
		['first@example.com', 'second@example.com as not paid'],
		['second@example.com', 'second@example.com took that back'],
	])('contradict that one was paid, which %s said: then it is unknown again', (said, denied) => {
		const answer = { [referenceOf(1)]: 'It was not paid' };
		const { page, written } = answered(answer, { settledBy: said }, differs);
		expect(written).toMatchObject({ outcome: 'unknown', settledBy: '' });
		expect(written?.['reason']).toMatch(`${said} recorded it as paid, and ${denied}. Ask`);
		expect(page).toMatch(/The answers differ, so it is unknown again: Person 1/);
	});

	test('take back a record that the node lost, or knows as unknown: then the register has it as unknown', () => {
		const unknown = { outcome: 'unknown', code: 'inDoubt', message: 'It stays unknown' };
		expect(answered(perhapsNotPaid, {}, unknown).written).toMatchObject({ outcome: 'unknown' });
		const free = { outcome: 'ready', code: 'ready', message: 'It was not unknown' };
		const contradiction = { [referenceOf(1)]: 'It was not paid' };
		for (const [answer, before] of [
			[perhapsNotPaid, {}],
			[contradiction, {}],
			[perhapsPaid, { outcome: 'notPaid' }],
		] as const)
			expect(answered(answer, before, free).written).toMatchObject({
				outcome: 'unknown',
				settledBy: '',
			});
		const before = { outcome: 'unknown', settledBy: '' };
		expect(answered(contradiction, before, free).written).toMatchObject({ outcome: 'notPaid' });
	});

	test('do not take back what the service gave a transaction for, or nobody recorded', () => {
		const rows = [
			registered(1, 'paid', { ...own, settledBy, txHash: '0x1' }),
			registered(1, 'paid', own),
			registered(1, 'notPaid', own),
			registered(1, 'unknown', { ...own, settledBy }),
			registered(1, 'paid', { settledBy }),
		];
		for (const row of rows)
			for (const answer of [perhapsNotPaid, perhapsPaid])
				expect(statements(answer, [row])['takeBack']).toEqual([]);
		expect(answered(perhapsNotPaid, { txHash: '0x1' }, differs).written).toBeUndefined();
		const free = { outcome: 'ready', code: 'ready' };
		const contradiction = { [referenceOf(1)]: 'It was not paid' };
		expect(answered(contradiction, { txHash: '0x1' }, free).written).toBeUndefined();
	});

	test.each([
		['notPaid', 'paid', perhapsPaid],
		['paid', 'notPaid', perhapsNotPaid],
	])('take back no other record than the page showed: it was %s, and is %s', (was, is, answer) => {
		const [before, now] = [was, is].map((outcome) => registered(1, outcome, { ...own, settledBy }));
		const later = { ...now, updatedAt: '2026-10-26T09:00:00Z' };
		expect(statements(answer, [before ?? {}], [later])['takeBack']).toEqual([]);
		const runs = {
			'What is open': [[{}]],
			Payments: [[before ?? {}]],
			'Payments now': [[later]],
			Ask: [[{ ...answer, user: user('second') }]],
			'Pay salaries': [
				[{ outcome: 'unknown', code: 'notSettled', message: 'Both are empty', mode: 'settle' }],
			],
		};
		expect(JSON.stringify(pageAndRows('payroll.json', runs, 1))).toMatch(
			/Not recorded: Person 1 .*it changed after the page was opened/,
		);
	});

	test('say of a payment that was sent again after a not paid, and is paid, to ask for one back', () => {
		const before = { outcome: 'unknown', settledBy, amountEtb: null };
		const end = { outcome: 'alreadyPaid', code: 'settledPaid' };
		const { page, written } = answered({ [referenceOf(1)]: 'It was paid' }, before, end);
		expect(page).toMatch(/Sent again since, and paid: Person 1.*one of the two back/);
		expect(written).toMatchObject({ outcome: 'paid', settledBy: 'second@example.com' });
		expect(written?.['reason']).toMatch(`First recorded as not paid by ${settledBy}`);
		const open = registered(1, 'unknown', { ...own, settledBy });
		expect(openPageOf(open)).toMatch(`First recorded as not paid by ${settledBy}`);
	});

	test('say of no payment that it was sent again, if the register has it as not paid', () => {
		const end = { outcome: 'alreadyPaid', code: 'settledPaid' };
		const { page, written } = answered(
			{ [referenceOf(1)]: 'It was paid' },
			{ outcome: 'notPaid' },
			end,
		);
		expect(page).not.toContain('Sent again');
		expect(written?.['reason']).toBe(`First recorded as not paid by ${settledBy}.`);
	});

	test('keep who said not paid, if the payment was sent again and stays unknown', () => {
		const stays = { outcome: 'unknown', code: 'inFlight', message: 'It is being sent' };
		const before = { outcome: 'notPaid', settledAt: '2026-10-25T08:00:00Z' };
		expect(answered({ [referenceOf(1)]: 'It was not paid' }, before, stays).written).toMatchObject({
			outcome: 'unknown',
			settledBy,
			settledAt: '2026-10-25T08:00:00Z',
		});
	});

	test.each([
		['It was not paid', 'notPaid', 'Somebody recorded it as paid, and second@'],
		['It was paid', 'paid', 'Somebody recorded it as not paid, and second@'],
	])('name nobody for the contrary of their words: %s', (said, outcome, reason) => {
		const { written } = answered({ [referenceOf(1)]: said }, { outcome }, differs);
		expect(written?.['reason']).toMatch(reason);
	});

	test('take back no hand-written record that was settled the other way', () => {
		const before = registered(1, 'Paid', { ...own, settledBy });
		const later = registered(1, 'notPaid', {
			...own,
			settledBy,
			updatedAt: '2026-10-26T09:00:00Z',
		});
		expect(statements(perhapsNotPaid, [before], [later])['takeBack']).toEqual([]);
	});

	test('of an old page say that the payment was sent again since, and ask for one back', () => {
		for (const before of [{ txHash: '0x7' }, { outcome: 'notPaid', amountEtb: null }]) {
			const { page } = answered(perhapsPaid, before, isPaid);
			expect(page).toMatch(/<h4>Sent again since, and paid: Person 1.*one of the two back/);
		}
		const { page, written } = answered(
			{ [referenceOf(1)]: 'It was not paid' },
			{ txHash: '0x7', settledBy: '' },
			isPaid,
		);
		expect(written).toBeUndefined();
		expect(page).toMatch(/<h3>Paid before, and it stays paid: 1 person.*0x7/);
	});

	test('take back each row that two workflows wrote of one payment', () => {
		const copy = registered(1, 'unknown', { ...own, id: 9 });
		const runs = {
			'What is open': [[{}]],
			'Payments now': [[registered(1, 'paid', { ...own, settledBy }), copy]],
			Ask: [[{ ...perhapsNotPaid, user: user('second') }]],
			'Pay salaries': [[{ reference: referenceOf(1), ...differs, mode: 'settle' }]],
		};
		const written = pageAndRows('payroll.json', runs, 1).filter(({ createdAt }) => createdAt);
		expect(written.map(({ id, outcome }) => [id, outcome])).toEqual([
			[1, 'unknown'],
			[9, 'unknown'],
		]);
	});

	test('of a payment that was settled in the node are recorded', () => {
		const before = { outcome: 'unknown', settledBy: null, amountEtb: null, txHash: null };
		const said = answered({ [referenceOf(1)]: 'It was paid' }, before, isPaid);
		expect(said.written).toMatchObject({ outcome: 'paid', settledBy: 'second@example.com' });
		const freed = { outcome: 'ready', code: 'ready' };
		const denied = answered({ [referenceOf(1)]: 'It was not paid' }, before, freed);
		expect(denied.written).toMatchObject({ outcome: 'notPaid', settledBy: 'second@example.com' });
	});

	test('are told as not recorded if the payment was sent again, and is unknown', () => {
		const again = { outcome: 'unknown', settledBy: '', updatedAt: '2026-10-26T08:00:00Z' };
		const answer = { [referenceOf(1)]: 'It was paid' };
		// The node got no statement.
		const nothing = { outcome: 'unknown', code: 'notSettled', message: 'Both are empty' };
		const { page, written } = answered(answer, again, { ...nothing, reference: undefined });
		expect(written).toBeUndefined();
		expect(page).toMatch(/Not recorded: Person 1 .*it changed after the page was opened/);
	});

	test('are told as not recorded, with the reason of the node, if it could settle nothing', () => {
		const failed = {
			outcome: 'unknown',
			code: 'noRecord',
			message: 'The database failed',
			remedy: 'Settle it again',
		};
		for (const [answer, before] of [
			[{ [referenceOf(1)]: 'It was paid' }, { outcome: 'unknown', settledBy: '' }],
			[perhapsPaid, { outcome: 'notPaid' }],
		] as const) {
			const { page, written } = answered(answer, before, { ...failed, reference: undefined });
			expect(written).toBeUndefined();
			expect(page).toMatch(/Not recorded: Person 1 .*The database failed. Settle it again/);
		}
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
			expect(shown).toMatchObject({ asked: { settled: [] } });
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
		expect(shown).toMatchObject({ asked: { unknown: [], settled: [] } });
		expect(JSON.stringify(shown)).not.toContain('Not paid');
	});

	test('are asked of what is unknown and of what a person recorded', () => {
		const payments = [
			registered(1, 'unknown', own),
			registered(2, 'notPaid', { ...own, settledBy }),
			registered(3, 'notPaid', own),
			registered(4, 'unknown'),
			registered(5, 'notPaid', { settledBy }),
			registered(6, 'paid', { ...own, settledBy }),
			registered(7, 'paid', { ...own, txHash: '0x7' }),
		];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const [{ fields = [] } = {}] = pageAndRows('payroll-from-a-file.json', runs);
		const shown = JSON.stringify(fields);
		expect(shown).toMatch(/Not paid by another workflow: Person 5\. /);
		expect(shown.match(/Upload the list of/g)).toHaveLength(1);
		const asked = z.array(z.record(z.unknown())).parse(fields).slice(1);
		const takenBack = [
			`Person 2, 2,000.00 ETB (${referenceOf(2)}): recorded as not paid, but perhaps it was`,
			`Person 6, 6,000.00 ETB (${referenceOf(6)}): recorded as paid, but perhaps it was not`,
		].map((option) => ({ option }));
		expect(asked).toMatchObject([
			{ fieldName: referenceOf(1) },
			{ fieldName: 'takeBack', fieldOptions: { values: takenBack } },
		]);
	});
});
