/** Disbursement → Check List in n8n's engine: what its fields do, without a credential and without a request. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { NodeRun, RunResult } from '../support/engine/engine.mts';
import { credentialFor, loadPackage, runNode } from '../support/engine/engine.mts';
import { payInEachTest, sandbox } from '../support/engine/paying.mts';

payInEachTest();

const people: IDataObject[] = [
	{ employee: 'E-1', name: 'Abebe', amountEtb: 12_400, userId: 'etbw_1', Department: 'Sales' },
	{ employee: 'E-2', name: 'Almaz', amountEtb: 'pending', userId: 'etbw_2', Department: 'IT' },
];

/** A pay day on which the period that is due is the month of this day, in Addis Ababa. */
const local = new Date(Date.now() + 3 * 3_600_000);
const payDay = 1;
const due = local.toISOString().slice(0, 7);
const before = new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() - 1))
	.toISOString()
	.slice(0, 7);

async function checkList(
	fields: INodeParameters = {},
	items: IDataObject[] = people,
	options: Partial<NodeRun> = {},
): Promise<RunResult> {
	return await runNode({
		credential: credentialFor(sandbox),
		parameters: {
			resource: 'disbursement',
			operation: 'checkList',
			purpose: 'salary',
			payDay,
			...fields,
		},
		items,
		...options,
	});
}

test('makes payments of the rows, in order, each paired with its row, and asks nobody', async () => {
	const { output } = await checkList();
	const reference = `salary-${due}-E1`;
	expect(output).toEqual([
		{
			json: expect.objectContaining({
				status: 'ready',
				toUserId: 'etbw_1',
				amountEtb: 12_400,
				reference,
				otherColumns: { Department: 'Sales' },
			}) as unknown,
			pairedItem: { item: 0 },
		},
		{
			json: expect.objectContaining({
				status: 'problem',
				problem: expect.stringMatching(/^amountEtb is "pending"/) as unknown,
			}) as unknown,
			pairedItem: { item: 1 },
		},
	]);
	expect(sandbox.requests).toEqual([]);
	const { types } = await loadPackage();
	const { credentials } = types.get('n8n-nodes-etb-wallet.etbWallet')?.description ?? {};
	expect(credentials).toMatchObject([{ displayOptions: { hide: { operation: ['checkList'] } } }]);
});

test('a row below an empty one is paired with its own item', async () => {
	const { output } = await checkList({}, [{ employee: '', name: '', amountEtb: '' }, ...people]);
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 2 }]);
});

const rowOf = (json: IDataObject): string => `={{ [{ json: ${JSON.stringify(json)} }] }}`;
const withoutWallet = [{ 'Staff No': 'E-1', 'Full name': 'Abebe', 'Net to pay': 5, name: 'other' }];
const payment = (row: IDataObject): INodeParameters => ({
	knownPayments: rowOf({ reference: `salary-${due}-E1`, ...row }),
});

test.each<[INodeParameters, IDataObject, IDataObject[]]>([
	[
		{ knownPeople: rowOf({ employee: 'e1', name: 'Abebe', userId: 'etbw_7' }) },
		{ status: 'ready', toUserId: 'etbw_7', known: 'same' },
		[{ employee: 'E-1', name: 'Abebe', amountEtb: 5 }],
	],
	[
		{ knownPeople: '={{ [] }}', setsUpPeople: true },
		{ status: 'ready', known: 'new' },
		[{ employee: 'E-1', name: 'Abebe', amountEtb: 5 }],
	],
	[
		{
			columns: { employee: 'Staff No', name: ' Full  name ', amountEtb: 'Net to pay', email: '' },
			setsUpPeople: true,
		},
		{ status: 'ready', name: 'Abebe', amountEtb: 5, notRead: ['name'] },
		withoutWallet,
	],
	[payment({ outcome: 'paid', amountEtb: 12_400 }), { status: 'paidBefore' }, people],
	[payment({ outcome: 'unknown', workflow: 'A copy (wf2)' }), { status: 'problem' }, people],
	[payment({ outcome: 'unknown', workflow: 'test (wf1)' }), { status: 'problem' }, people],
])('with %p the first row is %p', async (fields, expected, items) => {
	const { output } = await checkList(fields, items);
	expect(output[0]?.json).toMatchObject(expected);
});

test('what it refuses cannot be paid, and the others are', async () => {
	const behind = {
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			reference: '={{ $json.reference }}',
			toUserId: '={{ $json.toUserId }}',
			amountEtb: '={{ $json.amountEtb }}',
		},
		onError: 'continueRegularOutput' as const,
	};
	const { id } = sandbox.books.addUser({ externalId: 'E-1' });
	const items = people.map((person) => ({ ...person, userId: id, email: '' }));
	await checkList({}, [{ ...items[0] }, { ...items[1], userId: 'another' }], { behind });
	expect(sandbox.books.disbursements()).toMatchObject([{ toUserId: id, amountEtb: 12_400 }]);
});

test('a list that cannot be used is one error, or one item', async () => {
	const wrong = [{ Salary: 1 }, { Salary: 2 }];
	const { error, output } = await checkList({}, wrong);
	expect(output).toEqual([]);
	expect(error?.message).toContain('no column employee and no column name and no column amountEtb');
	expect(error?.message).toContain('"Salary"');
	const { errorOutput } = await checkList({}, wrong, { onError: 'continueErrorOutput' });
	expect(errorOutput).toHaveLength(1);
	expect(errorOutput[0]?.json.error).toMatchObject({ code: 'invalid' });
});

test.each<[INodeParameters, string]>([
	[{ purpose: "={{ '' }}" }, 'Purpose is empty'],
	[{ purpose: 'a/b' }, 'Purpose is "a/b"'],
	[{ purpose: 'x'.repeat(51) }, 'Purpose is "xxx'],
	[{ purpose: '={{ $json.employee }}' }, 'Purpose is "E-1" for item 0, and "E-2" for item 1'],
	[{ purpose: "={{ $('Start').item.json.employee }}" }, 'Purpose is "E-1" for item 0, and'],
	[{ purpose: '={{ $itemIndex === 0 ? "bonus" : undefined }}' }, 'Purpose is "bonus" for item 0'],
	[{ period: '={{ $json.employee }}' }, 'Period is "E-1" for item 0'],
	[{ columns: { name: 'Full name' } }, 'no column Full name'],
	// An expression with a mistake in it would compare with nobody.
	[{ knownPayments: '={{ $json.payments }}' }, 'Known Payments is'],
	[{ knownPeople: '={{ $json.people }}' }, 'Known People is'],
	[{ knownPayments: rowOf({ Reference: 'salary-2026-10-E1' }) }, 'has no rows with reference'],
	[{ columns: { name: '={{ 5 }}' } }, 'The heading of name in Columns is 5'],
	[{ knownPayments: '={{ 5 }}' }, 'Known Payments is 5'],
])('%p is refused', async (fields, message) => {
	expect((await checkList(fields)).error?.message).toContain(message);
});

test('an empty row before the others gives no value of the whole list', async () => {
	const rows = [{}, ...people.map((row) => ({ ...row, purpose: 'bonus' }))];
	const { output } = await checkList({ purpose: '={{ $json.purpose }}' }, rows);
	expect(output[0]?.json).toMatchObject({ purpose: 'bonus' });
});

describe('another period than the one that is due', () => {
	const taken = { period: `={{ '${before}' }}` };

	test.each<[string, INodeParameters, Partial<NodeRun>]>([
		['that a person wrote, who started the execution', { period: before }, {}],
		['that a form gave', taken, { mode: 'webhook' }],
		['that a sub-workflow was called with', taken, { calledIn: 'webhook' }],
	])('%s is taken', async (_, fields, options) => {
		const { output } = await checkList(fields, people, options);
		expect(output[0]?.json).toMatchObject({ period: before, reference: `salary-${before}-E1` });
	});

	test.each<[string, INodeParameters, Partial<NodeRun>]>([
		['that was left in a form', { period: before }, { mode: 'webhook' }],
		['that was left in a schedule', { period: before }, { mode: 'trigger' }],
		['by an expression in a schedule', taken, { mode: 'trigger' }],
		['by an expression behind a schedule', taken, { calledIn: 'trigger' }],
	])('%s is refused', async (_, fields, options) => {
		const { error } = await checkList(fields, people, options);
		expect(error?.message).toBe(`Period is "${before}", which is not due: ${due} is`);
	});

	test('is not guessed when n8n repeats an execution', async () => {
		const { error } = await checkList({}, people, { mode: 'retry' });
		expect(error?.message).toMatch(/which period was meant/);
	});
});
