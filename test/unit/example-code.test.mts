/**
 * The code of the payroll examples, with n8n's own `$`: the rows of the register, and the pages that a person
 * decides by.
 */
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import {
	Workflow,
	WorkflowDataProxy,
	createRunExecutionData,
	type INode,
	type INodeExecutionData,
	type IRunData,
} from 'n8n-workflow';
import { z } from 'zod';
import { readExample, tablesOf } from '../../demo/examples.mts';
import { declineChoice, modeAfter } from '../../examples/code/approval.mts';
import type { PaymentRow, RegisterRow } from '../../examples/code/payment-row.mts';
import { wasNotPaid, wasPaid, type Asked } from '../../examples/code/settling.mts';
import type { Submitted } from '../../examples/code/workflow.mts';
import { checkList } from '../../nodes/EtbWallet/list/checkList.ts';
import { latelyDays } from '../../nodes/EtbWallet/list/remarks.ts';

type Rows = Array<Record<string, unknown>>;

const Nodes = z.object({ nodes: z.array(z.custom<INode>()) });
const Item = z.custom<INodeExecutionData>();
const Output = z.array(z.object({ json: z.record(z.unknown()) }));

/**
 * Runs the Code node of an example, usually *Page and rows*, after other nodes.
 * @param runs the items of the first output in each run of a node, by its name; a node without them did not run
 * @param runIndex the number of earlier runs of *Page and rows*
 */
function pageAndRows(
	example: string,
	runs: Record<string, Rows[]>,
	runIndex = 0,
	name = 'Page and rows',
): Rows {
	const text = readFileSync(`examples/${example}`, 'utf8');
	const nodes = Nodes.parse(JSON.parse(text)).nodes.map((node) => ({ ...node, id: node.name }));
	const noType = (): never => {
		throw new Error('no node is run');
	};
	const nodeTypes = { getByName: noType, getByNameAndVersion: noType, getKnownTypes: noType };
	const workflow = new Workflow({
		id: 'own',
		name: 'Salaries',
		active: true,
		nodes: [],
		connections: {},
		nodeTypes,
	});
	workflow.setNodes(nodes);
	const runData: IRunData = Object.fromEntries(
		Object.entries(runs).map(([node, all]) => [
			node,
			all.map((rows, executionIndex) => ({
				startTime: 0,
				executionTime: 0,
				executionIndex,
				source: [],
				data: { main: [z.array(Item).parse(rows.map((json) => ({ json })))] },
			})),
		]),
	);
	const data = createRunExecutionData({ resultData: { runData } });
	const resumeUrl = 'http://n8n.test/form-waiting/1';
	const execution = { id: '1', mode: 'production', resumeUrl, resumeFormUrl: resumeUrl } as const;
	const keys = { $execution: execution };
	const proxy = new WorkflowDataProxy(workflow, data, runIndex, 0, name, [], {}, 'trigger', keys);
	const code = z.string().parse(nodes.find((node) => node.name === name)?.parameters['jsCode']);
	const names = ['$', '$workflow', '$execution', 'DateTime', '$runIndex'];
	const input = { all: () => (runs['Check List']?.[0] ?? []).map((json) => ({ json })) };
	const values = [...names.map((each): unknown => proxy.getDataProxy()[each]), input];
	const run: unknown = Reflect.apply(
		vm.compileFunction(code, [...names, '$input']),
		undefined,
		values,
	);
	return Output.parse(run).map(({ json }) => json);
}

const [period, purpose] = ['2026-10', 'salary'];
const people = [1, 2, 3].map((number) => ({
	employee: `E-${number}`,
	name: `Person ${number}`,
	userId: `w${number}`,
	amountEtb: 1000 * number,
}));
/** The rows of *Check List*, and those of its dry run, which are ready. */
function check(payments?: Rows, more: Partial<Parameters<typeof checkList>[1]> = {}) {
	const now = new Date('2026-10-26T08:00:00Z');
	const settings = { purpose, period, now, people, register: payments, workflowId: 'own', ...more };
	const rows = checkList(people, settings).map(({ row }) => ({ ...row }));
	const toPay = rows.filter(({ status }) => status === 'ready');
	return { rows, ready: toPay.map((row) => ({ ...row, mode: 'dryRun', outcome: 'ready' })) };
}
const referenceOf = (number: number): string => `${purpose}-${period}-E${number}`;
/** A row of the register. */
const registered = (number: number, outcome: string, more: object = {}) => ({
	id: number,
	reference: referenceOf(number),
	period,
	purpose,
	employeeKey: `E${number}`,
	name: `Person ${number}`,
	requestedAmountEtb: 1000 * number,
	outcome,
	userId: `w${number}`,
	...(outcome === 'paid' && { amountEtb: 1000 * number, paidAt: '2026-10-25T08:00:00Z' }),
	workflow: 'Other (other)',
	updatedAt: '2026-10-25T08:00:00Z',
	...more,
});
const user = (id: string) => ({ id, firstName: id, lastName: 'X', email: `${id}@example.com` });
const approved = {
	Ask: [[{ decision: 'Approve: pay', user: user('second') }]],
	Decision: [[{ mode: 'pay' }]],
};

describe('the register after a payroll', () => {
	test.each([
		{ has: [], ends: 'paid', written: 'new paid', needsPerson: false },
		{ has: [], ends: 'notPaid', written: 'new notPaid', needsPerson: true },
		{ has: [], ends: 'unknown', written: 'new unknown', needsPerson: true },
		{ has: ['notPaid'], ends: 'paid', written: 'changed paid', needsPerson: false },
		{ has: ['notPaid'], ends: 'unknown', written: 'changed unknown', needsPerson: true },
		{ has: ['unknown'], ends: 'paid', written: 'changed paid', needsPerson: false },
		{ has: ['unknown'], ends: 'notPaid', written: undefined, needsPerson: true },
		{ has: ['paid'], ends: 'notPaid', written: undefined, needsPerson: false },
		{ has: ['paid'], ends: 'unknown', written: undefined, needsPerson: false },
		{ has: ['paid', 'unknown'], ends: 'notPaid', written: undefined, needsPerson: false },
		{ has: ['unknown', 'paid'], ends: 'notPaid', written: undefined, needsPerson: false },
	])(
		'that had $has, when a payment ends as $ends: $written',
		({ has, ends, written, needsPerson }) => {
			const [row] = check().rows;
			const paid = { amountEtb: 1000, txHash: '0x1', paidAt: '2026-10-26T08:00:00Z' };
			const result = { ...row, mode: 'pay', outcome: ends, ...(ends === 'paid' ? paid : {}) };
			const rows = pageAndRows('payroll.json', {
				'Check List': [[{ ...row }]],
				'Pay salaries': [[{ ...result, message: 'Refused' }]],
				Payments: [has.map((outcome, index) => registered(1, outcome, { id: index + 7 }))],
			});
			const [one, ...more] = rows.filter(({ createdAt }) => createdAt === true);
			expect(more).toEqual([]);
			expect(one && `${one['id'] ? 'changed' : 'new'} ${String(one['outcome'])}`).toBe(written);
			if (one)
				expect(one).toMatchObject({
					reference: referenceOf(1),
					purpose,
					period,
					employeeKey: 'E1',
					requestedAmountEtb: 1000,
					workflow: 'Salaries (own)',
					reason: ends === 'paid' ? '' : 'Refused',
					...(ends === 'paid' && { amountEtb: 1000, txHash: '0x1' }),
				});
			expect(rows.some((each) => each['needsPerson'] === true)).toBe(needsPerson);
		},
	);

	test('says of a payment with another amount than last time what it was', () => {
		const last = { period: '2026-09', reference: `${purpose}-2026-09-E1`, amountEtb: 40_000 };
		const payments = [registered(1, 'paid', last)];
		const [row] = check(payments).rows;
		const runs = { 'Check List': [[{ ...row }]], 'Pay salaries': [[{ ...row, outcome: 'paid' }]] };
		const [written] = pageAndRows('payroll.json', { ...runs, Payments: [payments] });
		expect(written?.['outcome']).toBe('paid');
		expect(written?.['reason']).toContain('40,000');
	});

	test('a monthly payroll names who was paid less than the table has, but for a correction', () => {
		const salary = registered(1, 'paid', { amountEtb: 400 });
		const correction = { reference: 'c', purpose: 'correction', amountEtb: 600 };
		for (const [payments, needsPerson] of [
			[[salary], true],
			[[salary, registered(1, 'paid', correction)], false],
			// Advice to pay the difference would be false: it may have been paid.
			[[salary, registered(1, 'unknown', { ...correction, requestedAmountEtb: 600 })], false],
			[[salary, registered(1, 'notPaid', { ...correction, requestedAmountEtb: 600 })], true],
		] as const) {
			const [row] = check([...payments]).rows;
			const runs = { 'Check List': [[{ ...row }]], Payments: [[...payments]] };
			expect(pageAndRows('payroll.json', runs)).toEqual(
				needsPerson
					? [expect.objectContaining({ needsPerson, name: 'Person 1', requestedAmountEtb: 1000 })]
					: [],
			);
		}
	});

	test('gets each of its columns, and no other field', async () => {
		const columns = tablesOf(await readExample('people-to-pay.json')).get('ETB payments') ?? [];
		const [row] = check().rows;
		const runs = { 'Check List': [[{ ...row }]], 'Pay salaries': [[{ ...row, outcome: 'paid' }]] };
		const [written = {}] = pageAndRows('payroll.json', { ...runs, Payments: [[]] });
		const names = [...columns.map(({ name }) => name), 'createdAt'];
		expect(Object.keys(written).toSorted()).toEqual(names.toSorted());
	});

	test('who was recorded as not paid, sent again and paid is not recorded by that person', () => {
		const freed = registered(1, 'notPaid', { settledBy: 'first@example.com' });
		const result = { outcome: 'alreadyPaid', code: 'paidBefore', txHash: undefined };
		expect(ended([freed], result)[0]).toMatchObject([
			{ outcome: 'paid', settledBy: '', reason: 'First recorded as not paid by first@example.com' },
		]);
	});

	test('a payment that another payroll made before is not written again, and nobody is left', () => {
		const payments = [registered(1, 'paid')];
		const { rows } = check(payments);
		const runs = { 'Check List': [rows.slice(0, 1)], Payments: [payments] };
		expect(pageAndRows('payroll.json', runs)).toEqual([]);
	});

	/** The rows that are written, and the people who are left, after a monthly run that pays who is ready. */
	function ended(payments: Rows, more: object = {}, given: Rows = people.slice(0, 1)) {
		const rows = checkList(given, {
			...{ purpose, period, now: new Date('2026-10-26T08:00:00Z'), people, register: payments },
		}).map(({ row }) => ({ ...row }));
		const ready = rows.filter(({ status }) => status === 'ready');
		const paid = ready.map((row) => ({ ...row, mode: 'pay', outcome: 'paid', ...more }));
		const runs = { 'Check List': [rows], 'Pay salaries': [paid], Payments: [payments] };
		const items = pageAndRows('payroll.json', runs);
		const isWritten = ({ createdAt }: Rows[number]) => createdAt === true;
		return [items.filter(isWritten), items.filter(({ needsPerson }) => needsPerson === true)];
	}

	test.each([
		['under another reference', { reference: 'Lohn-77' }],
		['in other letters', { reference: 'SALARY-2026-10-E1' }],
		['with an amount that is not known', { amountEtb: null }],
		['with its amount as text', { amountEtb: '1,000.00' }],
	])('who was paid %s is not written again, and not left', (_how, more) => {
		expect(ended([registered(1, 'paid', more)])).toEqual([[], []]);
	});

	test.each([
		['under another reference', { reference: 'Lohn-77' }],
		['in other letters', { reference: 'SALARY-2026-10-E1' }],
		['by nobody knows which workflow', { workflow: null }],
	])('who was left unknown %s stays unknown, and is not paid', (_how, more) => {
		const unknown = registered(1, 'unknown', more);
		const [written, left] = ended([unknown]);
		expect(written).toEqual([]);
		expect(left).toMatchObject([{ reference: unknown.reference, outcome: 'unknown' }]);
	});

	test('what another person or amount was paid before is unknown, and its amount and time too, also once it is settled', () => {
		const other = { outcome: 'notPaid', code: 'otherPayment', message: 'No' };
		for (const before of [[], [registered(1, 'notPaid', { requestedAmountEtb: 700 })]]) {
			const [written, left] = ended(before, other);
			const unknown = { amountEtb: undefined, requestedAmountEtb: null, paidAt: undefined };
			expect(written).toMatchObject([{ ...unknown, outcome: 'unknown', reason: 'No' }]);
			expect(left).toMatchObject([{ outcome: 'unknown' }]);
			const open = [
				registered(1, 'unknown', { ...written?.[0], id: 7, createdAt: null, workflow: 'S (own)' }),
			];
			const reference = referenceOf(1);
			const [settled] = pageAndRows(
				'payroll.json',
				{
					'What is open': [[{}]],
					Payments: [open],
					Ask: [[{ [reference]: 'It was paid', user: user('second') }]],
					'Pay salaries': [
						[{ outcome: 'alreadyPaid', code: 'paidBefore', mode: 'settle', reference }],
					],
				},
				1,
			).filter(({ createdAt }) => createdAt === true);
			expect(settled).toMatchObject({ outcome: 'paid', amountEtb: null, paidAt: undefined });
		}
	});

	test('a monthly payroll names a person with the number of somebody who was paid', () => {
		const [written, left] = ended([registered(1, 'paid', { name: 'Kebede' })]);
		expect(written).toEqual([]);
		expect(left).toMatchObject([{ name: 'Person 1', outcome: 'paid' }]);
		expect(left?.[0]?.['reason']).toContain('Kebede');
	});

	test('fields of the response replace none of the list', () => {
		const response = { remarks: 'x', line: 7, paid: true, purpose: 'x', name: 'x', period: null };
		const [written, left] = ended([], response);
		expect(written).toMatchObject([{ purpose, period, name: 'Person 1', outcome: 'paid' }]);
		expect(left).toEqual([]);
	});

	test('two rows of one line, from two sheets, are both written', () => {
		const [written] = ended(
			[],
			{},
			people.slice(0, 2).map((row) => ({ ...row, row_number: 2 })),
		);
		expect(written).toMatchObject([{ name: 'Person 1' }, { name: 'Person 2' }]);
	});

	test.each([{ employeeKey: 'E-1' }, { purpose: 'Correction' }])(
		'a correction counts with %j',
		(more) => {
			const correction = { reference: 'c', purpose: 'correction', amountEtb: 600, ...more };
			const payments = [
				registered(1, 'paid', { amountEtb: 400 }),
				registered(1, 'paid', correction),
			];
			expect(ended(payments)).toEqual([[], []]);
		},
	);

	test.each(['inDoubt', 'inFlight'])('what is taken back and %s is unknown again', (code) => {
		const freed = { workflow: 'S (own)', settledBy: 'first@example.com' };
		const payments = [registered(1, 'notPaid', freed)];
		const rows = pageAndRows(
			'payroll-from-a-file.json',
			{
				'What is open': [[{}]],
				Payments: [payments],
				Ask: [[{ mistake: `Person 1 (${referenceOf(1)})`, user: user('second') }]],
				'Pay salaries': [[{ outcome: 'unknown', code, mode: 'settle', reference: referenceOf(1) }]],
			},
			1,
		);
		const written = rows.filter(({ createdAt }) => createdAt === true);
		expect(written).toMatchObject([{ id: 1, outcome: 'unknown' }]);
		expect(JSON.stringify(rows)).not.toMatch(/Nothing is UNKNOWN|Not paid: 1/);
	});

	test('what somebody settles is written with who did it, if nobody did before', () => {
		const codes = [
			...['settledPaid', 'settledNotPaid', 'paidBefore', 'notSettled', 'notSettled'],
			// Somebody settled the last two in the node.
			...['ready', 'ready'],
		];
		const open = codes.map((_, index) =>
			registered(index + 1, 'unknown', {
				workflow: 'S (own)',
				settledBy: '',
				paidAt: '2026-10-25T07:00:00Z',
			}),
		);
		const ended = codes.map((code, index) => ({
			outcome:
				{ settledNotPaid: 'ready', ready: 'ready', notSettled: 'unknown' }[code] ?? 'alreadyPaid',
			code,
			mode: 'settle',
			reference: referenceOf(index + 1),
		}));
		const said = codes.map((_, index): [string, string] => [
			referenceOf(index + 1),
			[1, 4, 5].includes(index) ? 'It was not paid' : 'It was paid',
		]);
		const answer = { ...Object.fromEntries(said), user: user('second') };
		const rows = pageAndRows(
			'payroll-from-a-file.json',
			{
				'What is open': [[{}]],
				Payments: [open],
				'Payments now': [open],
				Ask: [[answer]],
				'Pay salaries': [ended],
			},
			1,
		);
		expect(rows.filter(({ createdAt }) => createdAt === true)).toMatchObject([
			{ id: 1, outcome: 'paid', amountEtb: 1000, settledBy: 'second@example.com' },
			{ id: 2, outcome: 'notPaid', amountEtb: undefined },
			{ id: 3, outcome: 'paid', amountEtb: 3000, settledBy: undefined },
			// An answer that differs from an earlier one.
			{ id: 4, outcome: 'unknown', settledBy: '', paidAt: '2026-10-25T07:00:00Z' },
			{ id: 6, outcome: 'notPaid', settledBy: 'second@example.com' },
		]);
		expect(rows.some((each) => each['needsPerson'] === true)).toBe(false);
	});
});

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

	test('say that one was recorded as paid by mistake', () => {
		const payments = named(['paid', 'paid'], [{ settledBy, amountEtb: 9 }, { txHash: '0x1' }]);
		const said = [0, 1].map((index) =>
			statements({ mistake: `Sara (r ${index}): recorded as paid` }, payments),
		);
		expect(said).toMatchObject([
			{ wasPaid: ['r 0'], wasNotPaid: [] },
			{ wasPaid: [], wasNotPaid: [] },
		]);
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

	const wasNotPaidAfterAll = { mistake: `Person 1 (${referenceOf(1)}): recorded as paid` };
	const wasPaidAfterAll = { mistake: `Person 1 (${referenceOf(1)}): recorded as not paid` };
	const correction = (amountEtb: number) =>
		registered(1, 'paid', { ...own, purpose: 'correction', reference: 'c', amountEtb });
	/** The page *What is open*, or that of another workflow, after a record was taken back. */
	const voided = { ...own, settledBy, amountEtb: 0, reason: 'b@x.et said that this is wrong' };
	const openPageOf = (...payments: Rows): string =>
		JSON.stringify(
			pageAndRows('payroll.json', { 'What is open': [[{}]], Payments: [payments] })[0],
		);

	test('take back that one was paid, so that it has no amount, and lead to a correction', () => {
		const { page, written } = answered(wasNotPaidAfterAll, {}, isPaid);
		expect(written).toMatchObject({ outcome: 'paid', amountEtb: 0, requestedAmountEtb: 1000 });
		expect(written).toMatchObject({ settledBy });
		expect(written?.['reason']).toMatch(/^second@.* said at [-\d]+ [:\d]+ that this is wrong$/);
		expect(page).toMatch(/<h4>Recorded as paid by mistake: Person 1.*purpose=correction/);
		// The node can have lost its record: then it has the payment as paid from now on.
		const settled = { outcome: 'alreadyPaid', code: 'settledPaid' };
		expect(answered(wasNotPaidAfterAll, {}, settled).written).toMatchObject({ amountEtb: 0 });
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
		expect(written?.['reason']).toMatch(/this is wrong\. second@.* that it was paid after all$/);
		expect(page).not.toContain('Perhaps paid twice');
		expect(answered(wasPaidAfterAll, voided, isPaid, [correction(1000)]).page).toMatch(
			/Perhaps paid twice: Person 1.*A correction was paid/,
		);
	});

	test('of an old page agree with a record that was taken back, or take that back', () => {
		const answer = (choice: string) => answered({ [referenceOf(1)]: choice }, voided, isPaid);
		const agreed = answer('It was not paid');
		expect(agreed.written).toBeUndefined();
		expect(agreed.page).toMatch(/<h3>Recorded as paid by mistake: 1 person/);
		expect(agreed.page).not.toContain('stays');
		const again = answered(wasNotPaidAfterAll, voided, isPaid).page;
		expect(again).not.toContain('stays paid');
		expect(answer('It was paid').written).toMatchObject({ outcome: 'paid', amountEtb: 1000 });
	});

	test('say that one may be paid twice that was freed, and paid before the register had it', () => {
		const freed = { outcome: 'notPaid', amountEtb: null };
		const { page, written } = answered(wasPaidAfterAll, freed, isPaid);
		expect(page).toMatch(/Perhaps paid twice: Person 1/);
		expect(written).toMatchObject({ outcome: 'paid', settledBy: '' });
		expect(written?.['reason']).toBe('First recorded as not paid by first@example.com');
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

	test('leave a wrong record on the page until corrections of its amount were paid', () => {
		const row = registered(1, 'paid', voided);
		const isAsked = /<h4>Recorded as paid by mistake: Person 1/;
		expect(openPageOf(row)).toMatch(isAsked);
		expect(openPageOf(row, correction(400))).toMatch(/Corrections for 2026-10: 400\.00 ETB/);
		expect(openPageOf(row, correction(1000))).not.toMatch(isAsked);
		// One correction does not stand for two payments.
		const bonus = registered(1, 'paid', { ...voided, purpose: 'bonus', reference: 'b' });
		expect(openPageOf(row, bonus, correction(1000))).toMatch(isAsked);
		expect(openPageOf({ ...row, requestedAmountEtb: null }, correction(1000))).toMatch(isAsked);
	});

	test('keep a wrong record out of the sums, and the list says who is paid less', () => {
		const row = registered(1, 'paid', voided);
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
		expect(told).toMatch(/Recorded as paid by mistake: 1 person<.*Paid: 1 person, 1,000\.00 ETB</);
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
		expect(pageAfter(row)).toMatch(/Paid less than the list has, 1,000\.00 ETB less/);
		// A correction counts for one of the two: then the other one is missing.
		const bonus = registered(1, 'paid', { ...voided, purpose: 'bonus', reference: 'b' });
		expect(pageAfter(row, bonus, correction(1000))).toMatch(/list has, 1,000\.00 ETB less/);
		const paidSalary = registered(1, 'paid', { amountEtb: 600 });
		expect(pageAfter(paidSalary, bonus, correction(1000))).toMatch(/list has, 400\.00 ETB less/);
		expect(pageAfter(paidSalary, bonus, correction(1400))).not.toContain('Paid less than');
		expect(pageAfter(row, correction(1000))).toMatch(
			/Paid before, not again: 1 person, 0\.00 ETB</,
		);
		expect(pageAfter(row, correction(1000))).not.toContain('Paid less than');
	});

	test('leave a payment that was sent again and paid as it is, and say that it may be paid twice', () => {
		const paid = { amountEtb: 1777, txHash: '0x7', settledBy: '' };
		const said = answered({ [referenceOf(1)]: 'It was paid' }, paid, isPaid);
		expect(said.written).toMatchObject({ amountEtb: 1777, txHash: '0x7' });
		expect(said.written?.['reason']).toMatch(
			/second@.* paid before this, so perhaps it was paid twice/,
		);
		expect(said.page).toMatch(/Perhaps paid twice: Person 1/);
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid`;
		expect(answered({ mistake }, paid, isPaid).page).toMatch(/Perhaps paid twice: Person 1/);
		const denied = answered({ [referenceOf(1)]: 'It was not paid' }, paid, isPaid);
		expect(denied.written).toBeUndefined();
		expect(denied.page).not.toContain('Perhaps paid twice');
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
		const mistake = `Person 1 (${referenceOf(1)}): recorded as not paid`;
		const contradicted = { outcome: 'unknown', code: 'notSettled', message: 'Differs' };
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
				statements({ mistake: `Sara (r ${index}): recorded as not paid` }, payments)['wasPaid'],
		);
		const taken = (index: number) => [{ reference: `r ${index}`, takesBack: true }];
		expect(takenBack).toEqual([[], taken(1), [], [], taken(4)]);
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
			registered(8, 'paid', { ...own, settledBy, amountEtb: 0 }),
		];
		const runs = { 'What is open': [[{}]], Payments: [payments] };
		const [{ fields = [] } = {}] = pageAndRows('payroll-from-a-file.json', runs);
		const shown = JSON.stringify(fields);
		expect(shown).toMatch(/Not paid by another workflow: Person 5\. /);
		expect(shown.match(/Upload the list of/g)).toHaveLength(1);
		const asked = z.array(z.record(z.unknown())).parse(fields).slice(1);
		const mistake = [
			'No',
			`Person 2 (${referenceOf(2)}): recorded as not paid`,
			`Person 8 (${referenceOf(8)}): recorded as not paid`,
			`Person 6 (${referenceOf(6)}): recorded as paid`,
		].map((option) => ({ option }));
		expect(asked).toMatchObject([
			{ fieldName: referenceOf(1) },
			{ fieldName: 'mistake', fieldOptions: { values: mistake } },
		]);
	});
});

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
		const recorded = { settledBy: 'first@example.com', reason: 'second@example.com said no' };
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
			/first@example\.com recorded 1,000\.00 ETB for 2026-10 salary as paid.*second@example\.com said no/,
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
		expect(page).toContain('Paid less than the list has, 600.00 ETB less: 1 person, 400.00 ETB');
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

	test('sends people of whom a record was taken back meanwhile, and nobody if one counts again', () => {
		const [earlier, voided] = [1000, 0].map((amountEtb) =>
			registered(1, 'paid', { period: '2026-09', reference: 's', amountEtb, settledBy: 'x' }),
		);
		expect(modeWith([earlier ?? {}], [{ ...voided, updatedAt: '2026-10-26T09:00:00Z' }])).toBe(
			'pay',
		);
		expect(modeWith([voided ?? {}], [{ ...earlier, updatedAt: '2026-10-26T09:00:00Z' }])).toBe(
			'dryRun',
		);
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
		expect(headline(page)).toContain(
			'Very different from before, or from the others: Person 2 (E-2).',
		);
		expect(choices[0]).toBe('Decline: pay nobody');
	});

	test('has a large warning about ten times the amount of the others, at the first payment', () => {
		const amounts = [500, 5000, 500, 700];
		const given = amounts.map((amountEtb, index) => ({
			...people[0],
			...{ employee: `A-${index}`, name: `Name ${index}`, userId: `a${index}`, amountEtb },
		}));
		const settings = { purpose: 'allowance', period, now: new Date(), register: [] };
		const rows = checkList(given, settings).map(({ row }) => ({ ...row }));
		const { page, choices } = pageOf({
			'Upload a list': [[{ ...upload, purpose: 'allowance' }]],
			'Check List': [rows],
			'Pay salaries': [rows.map((row) => ({ ...row, mode: 'dryRun', outcome: 'ready' }))],
			Payments: [[]],
		});
		expect(headline(page)).toMatch(/Very different from .*: Name 1 \(A-1\)\./);
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
		expect(page).toContain(
			'<em>Paid less than the list has, 900.00 ETB less: 1 person, 100.00 ETB</em>',
		);
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
		expect(page).toContain('900.00 ETB. They count for the salary');
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
				/Person 1 \(E-1\), 2,500\.00 ETB paid, 1,000\.00 ETB in this list.*the purpose correction 2\./,
			],
			[2500, later.slice(0, 1), /the purpose correction 3\./],
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

describe('the page of people to set up', () => {
	/** The page and its choices after this list, with these people in the table. */
	function pageOfPeople(list: Rows, known: Rows) {
		const settings = { purpose, period, now: new Date(), people: known, setsUpPeople: true };
		const rows = checkList(list, settings).map(({ row }) => ({ ...row }));
		const runs = {
			'Set up people': [[{ payroll: 'monthly' }]],
			People: [known],
			'Check List': [rows],
		};
		const [shown] = pageAndRows('people-to-pay.json', runs, 0, 'Page');
		const { page, fields } = z.object({ page: z.string(), fields: z.unknown() }).parse(shown);
		return {
			page,
			isDeclineFirst: JSON.stringify(fields).includes('[{"option":"Change nothing"}'),
		};
	}
	const known = { ...people[0], employeeKey: 'E1', payroll: 'monthly', phone: '0911000001' };

	test('has a large warning about an amount that is very different, and changes nothing first', () => {
		const { page, isDeclineFirst } = pageOfPeople([{ ...known, amountEtb: 10_000 }], [known]);
		expect(page).toMatch(/<h2><em>Very different from before: Person 1 \(E-1\)/);
		expect(isDeclineFirst).toBe(true);
		const usual = pageOfPeople([{ ...known, amountEtb: 1100 }], [known]);
		expect(usual.page).not.toContain('Very different');
		expect(usual.isDeclineFirst).toBe(false);
	});

	test('names in red who has the telephone of another number', () => {
		const other = { ...people[1], employeeKey: 'E2', phone: known.phone };
		expect(pageOfPeople([other], [known]).page).toMatch(
			/<h4>With the telephone or wallet of another number, see below: Person 2 \(E-2\)/,
		);
	});
});
