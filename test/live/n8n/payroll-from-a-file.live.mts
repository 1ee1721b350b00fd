/** payroll-from-a-file.json in the real n8n: nobody is paid unapproved, nobody twice, and everybody at the page reads what happened. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../../lab/n8n/api.mts';
import { readExample } from '../../../lab/n8n/examples.mts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import { FormVisitor, type Upload } from '../../../lab/form-visitor.mts';
import { eventually, owner, startLab, type Lab } from '../../../lab/lab.mts';
import { faultFor } from './payroll.mts';

const FORM = 'c1a3c0de-0011-4000-8000-0000000000ff';
const TABLE = 'ETB payroll from a file';

let lab: Lab;
let accountant: FormVisitor;
let approver: FormVisitor;
const second = { email: 'hiwot@example.com', password: 'Second-person-1' };
before(async () => {
	lab = await startLab();
	accountant = await FormVisitor.logIn(lab.n8n.url, owner);
	approver = await accountant.invite(second, 'Hiwot', 'Alemu');
});
after(async () => await lab.stop());

type Item = Record<string, unknown>;

/** Publishes the example with these settings, until the next one takes its form. */
let published: string | undefined;
async function publish(
	settings: Record<string, unknown> = {},
	limits: object = {},
	mode?: string,
): Promise<string> {
	const workflow = await readExample('payroll-from-a-file.json');
	const WithAssignments = z
		.object({
			assignments: z.object({
				assignments: z.array(z.object({ name: z.string(), value: z.unknown() }).passthrough()),
			}),
		})
		.passthrough();
	const WithOptions = z.object({ options: z.object({}).passthrough() }).passthrough();
	const nodes = workflow.nodes.map((node) => {
		if (node.name === 'Settings') {
			const parameters = WithAssignments.parse(node['parameters']);
			const assignments = parameters.assignments.assignments.map((each) =>
				each.name in settings ? { ...each, value: settings[each.name] } : each,
			);
			return { ...node, parameters: { ...parameters, assignments: { assignments } } };
		}
		if (node.name === 'Pay salaries') {
			const parameters = WithOptions.parse(node['parameters']);
			return {
				...node,
				parameters: {
					...parameters,
					...(mode !== undefined && { mode }),
					options: { ...parameters.options, ...limits },
				},
			};
		}
		return node;
	});
	if (published) await lab.api.deactivate(published);
	published = await lab.add(WorkflowFile.parse({ ...workflow, nodes }));
	await lab.api.activate(published);
	return published;
}

const HEADINGS = 'employee,name,email,phone,amountEtb,userId';
const csv = (...rows: string[]): Upload => ({
	name: 'october.csv',
	content: [HEADINGS, ...rows].join('\n'),
});
let lists = 0;
/** Three people whom no other test knows, of whom the third is above the maximum. */
function newList(): { list: Upload; salaries: string[]; rows: string[] } {
	const number = `T${++lists}`;
	const rows = [
		`${number}-1,Abebe Kebede,,0911223344,12400,`,
		`${number}-2,Almaz Tesfaye,,,"9,500.50",`,
		`${number}-3,Marta <b>{{ 6 * 7 }}</b>,,,25000,`,
	];
	return { list: csv(...rows), salaries: [`${number}-1 12400`, `${number}-2 9500.5`], rows };
}

const payments = (): number => lab.sandbox.books.disbursements().length;
/** Each payment in the books but the first `since`, as "employee amount", in order. */
function paid(since: number): string[] {
	const users = new Map(lab.sandbox.books.users().map(({ id, externalId }) => [id, externalId]));
	return lab.sandbox.books
		.disbursements()
		.slice(since)
		.map(({ toUserId, amountEtb }) => `${users.get(toUserId)} ${amountEtb}`)
		.sort();
}

/** The newest execution of the form. */
async function executionAt(address: string): Promise<Execution> {
	const [, id = ''] = /form-waiting\/(\d+)/.exec(address) ?? [];
	return await lab.api.endedExecution(id);
}

/** Approves as the second person, and reads the page that follows. */
async function approve(address: string): Promise<string> {
	await approver.choose(address, 'Approve');
	return await approver.read(address);
}

/** A file that the page at the end hands out. */
function fileOn(page: string, name: string): Buffer | undefined {
	const [, data] = new RegExp(`download="${name}" href="data:[^,]*,([^"]*)"`).exec(page) ?? [];
	return data === undefined ? undefined : Buffer.from(data, 'base64');
}

const reportOf = (execution: Execution): Item[] =>
	execution.nodes['What came of it']?.at(-1)?.outputs[0] ?? [];

test('shows what will be paid and what not, and pays exactly that after a second person approved', async () => {
	const id = await publish();
	const { list, salaries } = newList();
	const already = payments();
	const users = lab.sandbox.books.users().length;
	const address = await accountant.upload(FORM, list);
	const page = await approver.open(address);
	for (const shown of [
		'21,900.50 ETB',
		'for 2 people',
		'The treasury holds 1,000,000.00 ETB, and 978,099.50 ETB afterwards',
		'october.csv, uploaded by Workflow Builder (owner@example.com)',
		'Paid for the first time: 2 people',
		'Gets a new wallet',
		'12,400.00',
		'Will not be paid: 1 person',
		'Marta &lt;b&gt;{{ 6 * 7 }}&lt;/b&gt;',
		'Row 4: Amount (ETB) is 25000, which is above the Maximum per Payment of 20000',
	])
		assert.ok(page.includes(shown), `${shown} is not on the page:\n${page}`);
	assert.deepEqual(paid(already), []);
	assert.equal(lab.sandbox.books.users().length, users, 'nobody gets a wallet before the approval');

	const done = await approve(address);
	for (const shown of [
		'21,900.50 ETB paid',
		'approved by Hiwot Alemu',
		'Not paid: 1 person',
		'above the Maximum per Payment of 20000',
	])
		assert.ok(done.includes(shown), `${shown} is not on the page:\n${done}`);
	assert.deepEqual(paid(already), salaries);
	const execution = await executionAt(address);
	assert.equal(execution.status, 'success', execution.error);
	assert.deepEqual(
		reportOf(execution).map(({ line, outcome, approvedBy }) => [line, outcome, approvedBy]),
		[
			[2, 'paid', 'Hiwot Alemu'],
			[3, 'paid', 'Hiwot Alemu'],
			[4, 'notPaid', ''],
		],
	);
	// Who uploaded can read it later, as often as they like.
	assert.ok((await accountant.open(address)).includes('21,900.50 ETB paid'));

	// What calls for somebody is an execution in red, which names the people.
	const alarm = await eventually('the alarm', async () => {
		const ids = await lab.api.executionIds(id);
		return ids.length === 2 ? await lab.api.endedExecution(ids[0] ?? '') : undefined;
	});
	assert.match(alarm.error ?? '', /1 not paid, or unknown: Marta .* \(notPaid: Amount/);

	const again = await accountant.upload(FORM, list);
	const nothingLeft = await accountant.read(again);
	assert.match(nothingLeft, /Nobody was paid.*2 people had been paid before.*1 person not paid/s);
	assert.match(nothingLeft, /Paid before: 2 people.*0x[0-9a-f]{64}/s);
	assert.deepEqual(paid(already), salaries);
});

/** Two people who have a wallet, so that nothing but the approval keeps them from being paid. */
function withWallets(): { list: Upload; salaries: string[] } {
	const number = `W${++lists}`;
	const people = [1, 2].map((each) => ({
		employee: `${number}-${each}`,
		user: lab.sandbox.books.addUser({ externalId: `${number}-${each}` }),
	}));
	return {
		list: csv(...people.map(({ employee, user }) => `${employee},Abebe Kebede,,,100,${user.id}`)),
		salaries: people.map(({ employee }) => `${employee} 100`),
	};
}

for (const [mode, says] of [
	['pay', /Not paid: 2 people.*Nothing was tried: .*put the expression/s],
	["={{ 'pay' }}", /Not paid: 2 people.*Nothing was tried: .*put the expression/s],
	[
		'settle',
		/Not paid: 2 people.*Mode is on Settle Unknown\. Nothing was tried: .*put the expression/s,
	],
] as const) {
	test(`with Mode on ${mode} nobody is paid unapproved, and the page says what to do`, async () => {
		await publish({}, {}, mode);
		const already = payments();
		const page = await accountant.read(await accountant.upload(FORM, withWallets().list));
		assert.deepEqual(paid(already), []);
		assert.match(page, /Nobody was paid/);
		assert.match(page, says);
		assert.doesNotMatch(page, /Set Mode to Pay|Enter an amount/);
		// Who was unknown by the file is not told as not paid.
		const row = `Left-1,Abebe,,,100,etbw_left,payroll-2026-09-LEFT-1,unknown,2026-10-02 09:00`;
		const left = { name: 'left.csv', content: `${HEADINGS},reference,outcome,time\n${row}` };
		assert.match(
			await accountant.read(await accountant.upload(FORM, left, '2026-09')),
			/May have been paid: 1 person.*Sent at 2026-10-02 09:00/s,
		);
	});
}

test('with Mode on dryRun an approval pays nobody, and the page says what to do', async () => {
	await publish({}, {}, 'dryRun');
	const already = payments();
	const page = await approve(await accountant.upload(FORM, withWallets().list));
	assert.deepEqual(paid(already), []);
	assert.match(
		page,
		/Nobody was paid.*Not paid: 2 people.*put the expression \$json\.mode back into Mode/s,
	);
});

test('who declines pays nobody, and the page says who it was', async () => {
	await publish();
	const { list } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	await approver.choose(address, 'Decline');
	assert.match(await approver.read(address), /Nobody was paid.*Hiwot Alemu declined this list/s);
	assert.match(await accountant.open(address), /Hiwot Alemu declined this list/);
	assert.deepEqual(paid(already), []);
	assert.equal((await executionAt(address)).status, 'success');
});

test('who uploaded the list cannot approve it; somebody else still can', async () => {
	await publish();
	const { list, salaries } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	await accountant.choose(address, 'Approve');
	assert.match(
		await accountant.read(address),
		/Nobody was paid: Workflow Builder uploaded this list, so somebody else must approve it\./,
	);
	assert.deepEqual(paid(already), []);
	assert.match(await approve(address), /21,900\.50 ETB paid/);
	assert.deepEqual(paid(already), salaries);
});

test('only the people in "approvers" can approve, if there are any', async () => {
	await publish({ approvers: 'boss@example.com, CFO@example.com' });
	const cfo = await accountant.invite(
		{ email: 'cfo@example.com', password: 'Second-person-2' },
		'Sara',
		'Bekele',
	);
	const { list, salaries } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	assert.match(
		await approve(address),
		/Nobody was paid: hiwot@example\.com is not among those who may approve/,
	);
	assert.deepEqual(paid(already), []);
	await cfo.choose(address, 'Approve');
	assert.match(await cfo.read(address), /approved by Sara Bekele/);
	assert.deepEqual(paid(already), salaries);
});

test('a double click and two people at once pay once, and both read it', async () => {
	await publish();
	const { list, salaries } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	const third = await accountant.invite(
		{ email: 'third@example.com', password: 'Second-person-3' },
		'Third',
		'Person',
	);
	const pages = [await approver.open(address), await third.open(address)];
	lab.sandbox.setLatency(300);
	await Promise.all([
		approver.choose(address, 'Approve', pages[0]),
		approver.choose(address, 'Approve', pages[0]),
		third.choose(address, 'Approve', pages[1]),
	]);
	assert.match(await approver.read(address), /21,900\.50 ETB paid/);
	lab.sandbox.setLatency(0);
	assert.match(await third.open(address), /21,900\.50 ETB paid/);
	await third.choose(address, 'Approve', pages[1]);
	assert.match(await third.open(address), /21,900\.50 ETB paid/);
	assert.deepEqual(paid(already), salaries);
});

test('of two pages with the same people each person is paid once, and the second page says so', async () => {
	await publish();
	const { list, salaries } = newList();
	const already = payments();
	const [one, other] = [await accountant.upload(FORM, list), await accountant.upload(FORM, list)];
	assert.match(await approve(other), /21,900\.50 ETB paid/);
	assert.match(await approve(one), /Nobody was paid.*2 people had been paid before/s);
	assert.deepEqual(paid(already), salaries);
});

test('a scanner that opens every link, and sends every form, pays nobody', async () => {
	await publish();
	const { list, salaries } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	const page = await approver.open(address);
	const { origin } = new URL(address);
	const links = [...page.matchAll(/(?:href|src|action)=["']([^"']+)["']/g)].map(
		([, target = '']) => new URL(target.replaceAll('&amp;', '&'), address).href,
	);
	const scanner = FormVisitor.stranger(lab.n8n.url);
	for (const link of [address, ...links].filter((each) => each.startsWith(origin))) {
		for (const visitor of [scanner, approver]) {
			await visitor.request(link, { headers: { 'user-agent': 'Barracuda Link Protection' } });
			await visitor.request(link, { method: 'HEAD' });
		}
	}
	const body = new FormData();
	body.set('field-0', JSON.stringify(['Approve: pay 21,900.50 ETB to 2 people']));
	const guesses: Array<Record<string, string>> = [{}, { 'x-auth-token': 'guessed' }];
	for (const headers of guesses) {
		assert.equal((await scanner.request(address, { method: 'POST', body, headers })).status, 401);
	}
	assert.notEqual(
		(await scanner.request(address.split('?')[0] ?? '', { method: 'POST', body })).status,
		200,
	);
	assert.deepEqual(paid(already), []);
	assert.match(await approve(address), /21,900\.50 ETB paid/);
	assert.deepEqual(paid(already), salaries);
});

test('after its time a list cannot be approved, n8n ends the wait by itself, and the page says so', async () => {
	await publish({ hoursToApprove: 5 / 3600 });
	const already = payments();
	const [late, forgotten] = [
		await accountant.upload(FORM, newList().list),
		await accountant.upload(FORM, newList().list),
	];
	const pages = [await approver.open(late), await approver.open(forgotten)];
	const [, id = ''] = /form-waiting\/(\d+)/.exec(forgotten) ?? [];
	const { nodes } = await lab.api.waitingExecution(id);
	const until = new Date(String(nodes['What came of it']?.[0]?.outputs[0]?.[0]?.['approveUntil']));
	await eventually('the end of the time', () => (Date.now() > until.getTime() ? true : undefined));
	await approver.choose(late, 'Approve', pages[0]);
	assert.match(await approver.read(late), /Nobody was paid.*Nobody approved this list within/s);
	// n8n looks once a minute for what has waited long enough.
	await eventually(
		'the page after the time',
		async () =>
			(await approver.open(forgotten)).includes('Nobody approved this list within')
				? true
				: undefined,
		150_000,
	);
	await approver.choose(forgotten, 'Approve', pages[1]);
	assert.match(await approver.open(forgotten), /Nobody approved this list within/);
	assert.deepEqual(paid(already), []);
});

test('killed while waiting, n8n still waits after its start, and the approval pays once', async () => {
	await publish();
	const { list, salaries } = newList();
	const already = payments();
	const address = await accountant.upload(FORM, list);
	lab.n8n.kill();
	await lab.restartN8n();
	assert.deepEqual(paid(already), []);
	assert.match(await approve(address), /21,900\.50 ETB paid/);
	assert.deepEqual(paid(already), salaries);
});

/** Changes the wallet of somebody in the table, as a person does in the editor. */
async function setWallet(employee: string, userId: string): Promise<void> {
	const column = { id: 'userId', displayName: 'userId', type: 'string', display: true };
	const id = await lab.api.createWorkflow(
		WorkflowFile.parse({
			name: 'Change a wallet',
			nodes: [
				{
					id: 'start',
					name: 'Start',
					type: 'n8n-nodes-base.manualTrigger',
					typeVersion: 1,
					position: [0, 0],
					parameters: {},
				},
				{
					id: 'change',
					name: 'Change',
					type: 'n8n-nodes-base.dataTable',
					typeVersion: 1.1,
					position: [200, 0],
					parameters: {
						resource: 'row',
						operation: 'update',
						dataTableId: { __rl: true, mode: 'name', value: TABLE },
						matchType: 'allConditions',
						filters: { conditions: [{ keyName: 'employee', keyValue: employee }] },
						columns: { mappingMode: 'defineBelow', value: { userId }, schema: [column] },
					},
				},
			],
			connections: { Start: { main: [[{ node: 'Change', type: 'main', index: 0 }]] } },
		}),
	);
	const { nodes } = await lab.api.endedExecution(await lab.api.run(id, 'Start'));
	assert.equal(nodes['Change']?.[0]?.outputs[0]?.[0]?.['userId'], userId);
}

test('a wallet that was changed after the list was shown: nobody is paid, and the page says whose it was', async () => {
	await publish();
	const { list, rows } = newList();
	await approve(await accountant.upload(FORM, list, '2026-09'));
	const already = payments();
	const address = await accountant.upload(FORM, list);
	const [employee = ''] = (rows[1] ?? '').split(',');
	const other = lab.sandbox.books.addUser({ externalId: `other-${employee}` });
	await setWallet(employee, other.id);
	assert.match(
		await approve(address),
		/Nobody was paid.*The table of people was changed after this list was shown: Almaz Tesfaye/s,
	);
	assert.deepEqual(paid(already), []);
	const anew = await accountant.upload(FORM, list);
	assert.match(await approve(anew), /21,900\.50 ETB paid/);
	assert.deepEqual(paid(already), [
		`${employee.replace('-2', '-1')} 12400`,
		`other-${employee} 9500.5`,
	]);
});

test('says who differs from the last period, by how much, and who has another name', async () => {
	await publish();
	const { list, rows } = newList();
	await approve(await accountant.upload(FORM, list, '2026-09'));
	const [abebe = '', almaz = ''] = rows;
	const address = await accountant.upload(
		FORM,
		csv(
			abebe.replace('12400', '16120'),
			almaz.replace('Almaz Tesfaye', 'Almaz Hailu').replace('9,500.50', '9,600.50'),
		),
	);
	const page = await approver.open(address);
	assert.match(
		page,
		/More than 20 % difference: 1 person.*Abebe Kebede.*12,400\.00 in 2026-09, \+30 %.*16,120\.00/s,
	);
	assert.match(
		page,
		/Another amount than the last time: 1 person.*Almaz Hailu.*9,500\.50 in 2026-09, \+1 %/s,
	);
	assert.match(page, /Another name in the table: 1 person.*There: Almaz Tesfaye/s);
	assert.ok(!page.includes('Paid for the first time'));
	assert.ok(!page.includes('is not the period that is due'));
});

test('says that a new number may be a person whom the table knows, and that another period is due', async () => {
	await publish();
	const { list, rows } = newList();
	await approve(await accountant.upload(FORM, list, '2026-09'));
	const [, almaz = ''] = rows;
	const renumbered = csv(almaz.replace(/^(T\d+)-2,Almaz Tesfaye/, '$1-9,almaz  tesfaye'));
	const page = await approver.open(await accountant.upload(FORM, renumbered, '2026-08'));
	assert.match(page, /2026-08 is not the period that is due, which is 20\d\d-\d\d\./);
	assert.match(
		page,
		/first time: 1 person.*Same name or telephone as [^<]*T\d+-2[^<]*: is it the same person\?/s,
	);
});

test('somebody who may have been paid is named with what to do, and put in again is not paid again', async () => {
	await publish();
	const { list, rows, salaries } = newList();
	await approve(await accountant.upload(FORM, list, '2026-09'));
	const already = payments();
	const [employee = ''] = (rows[1] ?? '').split(',');
	const user = lab.sandbox.books.users().find(({ externalId }) => externalId === employee);
	const closed: Fault = {
		process: 'never',
		answer: { status: 422, body: '{"message":"The wallet is closed"}' },
	};
	faultFor(
		lab,
		new Map<string, Fault | PresetName>([
			[user?.id ?? '', 'error500AfterPaying'],
			[user?.id.replace('-2', '-1') ?? '', closed],
		]),
	);
	const page = await approve(await accountant.upload(FORM, list));
	lab.sandbox.faults.clear();
	assert.match(page, /It is unknown whether somebody was paid/);
	assert.match(page, /1 person may have been paid: do not pay them in another way/);
	assert.match(page, /May have been paid: 1 person.*Almaz Tesfaye.*Settle Unknown/s);
	assert.match(page, /Not paid: 2 people.*Abebe Kebede.*The wallet is closed/s);
	const left = fileOn(page, 'still-to-pay.xlsx');
	assert.ok(left && fileOn(page, 'result.xlsx'));
	const address = await accountant.upload(FORM, { name: 'still-to-pay.xlsx', content: left });
	assert.match(
		await approver.open(address),
		/12,400\.00 ETB.*Will not be paid: 2 people.*May have been paid/s,
	);
	assert.match(await approve(address), /12,400\.00 ETB paid/);
	assert.deepEqual(paid(already), salaries);
	const again = { name: 'still-to-pay.xlsx', content: left };
	assert.match(
		await accountant.read(await accountant.upload(FORM, again, '2026-09')),
		/Nobody was paid.*is about (\d{4}-\d{2}), and this upload is for 2026-09\. For \1, write that into Period/s,
	);
});

test('who may have been paid stays so, with the time, when something else in the row is wrong', async () => {
	await publish();
	const row = (columns: string) => `Kept-1,Abebe,,,${columns}`;
	const list: Upload = {
		name: 'list.csv',
		content: [
			`${HEADINGS},reference,outcome,time`,
			row('12.400,,payroll-2026-09-KEPT-1,unknown,2026-10-02 09:00'),
			row('12400,,,,'),
		].join('\n'),
	};
	assert.match(
		await accountant.read(await accountant.upload(FORM, list, '2026-09')),
		/May have been paid: 2 people.*Sent at 2026-10-02 09:00.*Row 2: The amount [^<]*12\.400[^<]*Correct this before you settle.*Row 3: Kept-1 is in the list more than once.*Settle Unknown/s,
	);
});

test('the approver reads what the file says of somebody whom this workflow does not know', async () => {
	await publish();
	const list = (reference: string): Upload => ({
		name: 'list.csv',
		content: `${HEADINGS},reference,outcome,time\nCopy-1,Abebe,,,100,,${reference},unknown,2026-10-02 09:00`,
	});
	const of = async (reference: string) =>
		await approver.open(await accountant.upload(FORM, list(reference), '2026-09'));
	assert.match(
		await of('payroll-2026-09-COPY-1'),
		/Unknown before: 1 person.*Sent at 2026-10-02 09:00.*Approve only if the partner service said that it was not paid/s,
	);
	assert.match(
		await of('payroll-2026-09-COPY-2'),
		/The row has the reference payroll-2026-09-COPY-2, which is not that of employee Copy-1/,
	);
	assert.ok(!(await of('HR-7')).includes('Unknown before'));
});

test('an employee number that lost its zeros is the same person, also while the payment is unknown', async () => {
	await publish();
	const already = payments();
	const { id } = lab.sandbox.books.addUser({ externalId: '00991' });
	const list = (employee: string): Upload => csv(`${employee},Hanna Girma,,,300,${id}`);
	faultFor(lab, new Map<string, PresetName>([[id, 'error500AfterPaying']]));
	assert.match(
		await approve(await accountant.upload(FORM, list('00991'))),
		/May have been paid: 1 person/,
	);
	lab.sandbox.faults.clear();
	assert.match(
		await accountant.read(await accountant.upload(FORM, list('991'))),
		/May have been paid: 1 person/,
	);
	// Under another number the approver is told: who was approved is in the table, whatever became of them.
	const other = csv(`E-991,Hanna Girma,,,300,${id}`);
	assert.match(
		await approver.open(await accountant.upload(FORM, other)),
		/first time: 1 person.*Same name or telephone as [^<]*00991[^<]*: is it the same person\?/s,
	);
	assert.deepEqual(paid(already), ['00991 300']);
});

/** Sets fields of "Pay salaries" as a person does in the editor, without publishing them. */
async function setInEditor(workflowId: string, fields: object): Promise<void> {
	await lab.api.changeWorkflow(workflowId, (saved) => ({
		nodes: saved.nodes.map((node) =>
			node.name === 'Pay salaries'
				? { ...node, parameters: { ...Object(node['parameters']), ...fields } }
				: node,
		),
		connections: saved.connections,
	}));
}

test('who is unknown is settled by the findings in the file, as the page says, and the rest is paid then', async () => {
	const id = await publish();
	const already = payments();
	const numbers = ['paid', 'done', 'lost', 'closed'].map((what) => `Settle-${what}`);
	const users = numbers.map((externalId) => lab.sandbox.books.addUser({ externalId }));
	const rowsOf = (findings: string[] = []) =>
		numbers.map(
			(employee, index) =>
				`${employee},Abebe Kebede,,,${100 + index},${users[index]?.id},${findings[index] ?? ''}`,
		);
	const listOf = (rows: string[]): Upload => ({
		name: 'list.csv',
		content: [`${HEADINGS},finding`, ...rows].join('\n'),
	});
	const answer = (status: number): Fault => ({ process: 'never', answer: { status, body: '{}' } });
	const faults: Array<Fault | PresetName> = ['error500AfterPaying', answer(500), answer(422)];
	faultFor(lab, new Map(faults.map((fault, index) => [users[index + 1]?.id ?? '', fault])));
	const page = await approve(await accountant.upload(FORM, listOf(rowsOf())));
	lab.sandbox.faults.clear();
	const [, period = ''] = /<i>(\d{4}-\d{2}) notPaid<\/i>/.exec(page) ?? [];
	const right = ['Settle-done 101', 'Settle-paid 100'];
	assert.deepEqual(paid(already), right);

	const left = listOf(rowsOf(['', `${period} paid`, `${period} notPaid`, '']).slice(1));
	await setInEditor(id, { mode: 'settle', finding: 'fromItem' });
	await lab.api.listenForTestEvent(id, 'Upload a list', 'Pay salaries');
	const test = await executionAt(await accountant.upload(FORM, left, '', 'form-test'));
	assert.deepEqual(
		test.nodes['Pay salaries']?.[0]?.outputs[0]?.map(({ outcome, message }) => [
			outcome,
			/^Settled as (not )?paid/.exec(String(message))?.[0],
		]),
		[
			['alreadyPaid', 'Settled as paid'],
			['ready', 'Settled as not paid'],
			['ready', undefined],
		],
	);
	assert.deepEqual(paid(already), right);

	const tried = await accountant.read(await accountant.upload(FORM, left));
	assert.match(tried, /because the field finding of this payment is .*notPaid/);
	assert.deepEqual(paid(already), right);
	const done = await approve(await accountant.upload(FORM, listOf(rowsOf().slice(1))));
	assert.match(done, /205\.00 ETB paid.*to 2 people.*1 person had been paid before/s);
	assert.deepEqual(paid(already), ['Settle-closed 103', ...right, 'Settle-lost 102'].sort());
});

test('who gets no wallet is not paid and named, with the reason; with the wallet in the list they are paid', async () => {
	await publish();
	const { rows, salaries } = newList();
	const [abebe = '', almaz = ''] = rows;
	const [employee = ''] = almaz.split(',');
	const user = lab.sandbox.books.addUser({ externalId: employee });
	const already = payments();
	assert.match(
		await approve(await accountant.upload(FORM, csv(abebe, almaz))),
		/12,400\.00 ETB paid.*Not paid: 1 person.*Almaz Tesfaye.*No wallet could be made: .*409/s,
	);
	const address = await accountant.upload(FORM, csv(abebe, almaz + user.id));
	assert.match(await approve(address), /9,500\.50 ETB paid.*Paid before: 1 person/s);
	assert.deepEqual(paid(already), salaries);
});

test('a person is the same one with another spelling, and not paid again under another number', async () => {
	await publish();
	const already = payments();
	await approve(
		await accountant.upload(
			FORM,
			csv(
				'Sp-1,Abebe Kebede,abebe@example.com,,100,',
				'0977665544,Almaz,,,200,',
				'778,Hanna Girma,,,300,',
			),
		),
	);
	const page = await accountant.read(
		await accountant.upload(
			FORM,
			csv(
				'SP-1,Abebe Kebede,,,100,',
				'+251 97 766 55 44,Almaz,,,200,',
				'E-other,Abebe Kebede,Abebe@example.com,,100,',
				'00778,Hanna Girma,,,300,',
			),
		),
	);
	assert.match(page, /Paid before: 2 people/);
	assert.match(page, /abebe@example\.com belongs to Sp-1 in the table/);
	assert.match(
		page,
		/The table of people has Hanna Girma as 778, paid for 20\d\d-\d\d\. If that is this person, write 778\./,
	);
	assert.deepEqual(paid(already), ['+251977665544 200', '778 300', 'Sp-1 100']);
});

test('wallets that differ in zeros are two wallets', async () => {
	await publish();
	const list = csv('Wallet-1,Sara Bekele,,,400,00778', 'Wallet-2,Lidya Assefa,,,500,778');
	assert.match(await approver.open(await accountant.upload(FORM, list)), /Will be paid: 2 people/);
});

for (const [what, upload, reason] of [
	[
		'a picture',
		{ name: 'list.xlsx', content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]) },
		/list\.xlsx is not an Excel, LibreOffice or CSV file, or is damaged/,
	],
	['no headings', { name: 'list.csv', content: 'E-1,Abebe,100\n' }, /list\.csv has no headings/],
	['nobody in it', csv(), /october\.csv has nobody in it/],
	[
		'only bad rows',
		csv('E-1,Abebe,,,12.400,'),
		/Nobody was paid.*Not paid: 1 person.*can be 12400 or 12\.4/s,
	],
] as const) {
	test(`a file with ${what} pays nobody, and the page says why`, async () => {
		const already = payments();
		assert.match(await accountant.read(await accountant.upload(FORM, upload)), reason);
		assert.deepEqual(paid(already), []);
	});
}

void describe('a list of 500 people with 20 kinds of mistakes', () => {
	const folder = join(import.meta.dirname, 'fixtures', 'lists');
	const Lists = z.array(
		z.object({ file: z.string(), paid: z.record(z.number()), problems: z.record(z.string()) }),
	);
	before(async () => {
		lab.sandbox.books.setTreasuryBalance(10_000_000);
		// n8n gives out a cookie for each page that somebody opens, for an hour, and refuses (431) who has 16 KB of them.
		approver = await FormVisitor.logIn(lab.n8n.url, second);
		await publish({}, { maxTotalEtb: 2_000_000 });
	});

	async function upload(name: string) {
		const lists = Lists.parse(JSON.parse(await readFile(join(folder, 'lists.json'), 'utf8')));
		const expected = lists.find(({ file }) => file === name);
		assert.ok(expected);
		const content = await readFile(join(folder, name));
		const address = await accountant.upload(FORM, { name, content });
		const right = Object.entries(expected.paid).map(
			([employee, amount]) => `${employee} ${amount}`,
		);
		return { address, right: right.sort(), problems: Object.entries(expected.problems) };
	}

	/** Each bad row is not paid, with its reason, also on the page; no other row is. */
	function assertProblems(rows: Item[], page: string, problems: Array<[string, string]>): void {
		assert.equal(rows.length, 500);
		for (const [line, problem] of problems) {
			const row = rows.find((each) => each['line'] === Number(line));
			assert.equal(row?.['outcome'], 'notPaid', `line ${line}`);
			assert.ok(
				String(row['reason']).includes(problem),
				`line ${line}: ${String(row['reason'])}, not ${problem}`,
			);
			assert.ok(page.includes(`Row ${line}: `), `row ${line} is not on the page`);
		}
		assert.equal(rows.filter(({ outcome }) => outcome === 'notPaid').length, problems.length);
	}

	test('libreoffice.xlsx: each good row is paid once, each bad one is named', async () => {
		const already = payments();
		const { address, right, problems } = await upload('libreoffice.xlsx');
		const page = await approve(address);
		assert.deepEqual(paid(already), right);
		assertProblems(reportOf(await executionAt(address)), page, problems);
	});

	// Payments do not depend on the kind of file: these lists go as far as the page that asks for the approval.
	for (const name of ['libreoffice.ods', 'excel-utf8.csv', 'excel-1252.csv', 'by-hand.csv']) {
		test(`${name}: the approver is asked for each good row, each bad one is named`, async () => {
			const already = payments();
			const { address, right, problems } = await upload(name);
			const page = await approver.open(address);
			const [, id = ''] = /form-waiting\/(\d+)/.exec(address) ?? [];
			const [asked] = reportOf(await lab.api.waitingExecution(id));
			const rows = z.array(z.record(z.unknown())).parse(asked?.['rows']);
			const ready = rows.filter(({ outcome }) => outcome === 'ready');
			assert.deepEqual(
				ready.map(({ employee, amountEtb }) => `${String(employee)} ${String(amountEtb)}`).sort(),
				right,
			);
			assertProblems(rows, page, problems);
			assert.deepEqual(paid(already), []);
		});
	}
});
