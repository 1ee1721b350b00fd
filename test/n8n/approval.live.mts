/** payroll-with-approval.json in the real n8n: nobody is paid unapproved, and nobody twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../n8n/api.mts';
import { readExample } from '../../n8n/examples.mts';
import type { PresetName } from '../../sandbox/faults.mts';
import { eventually, startRealWorld } from './n8n-world.mts';
import { faultFor } from './payroll.mts';
import type { RealWorld } from './n8n-world.mts';

const ASK = 'Ask for approval';
const TABLE = 'ETB payroll to approve';
const approver = { user: 'approver', password: 'Only-the-2nd-person' };
const login = `Basic ${Buffer.from(`${approver.user}:${approver.password}`).toString('base64')}`;

let world: RealWorld;
let credentialId: string;
before(async () => {
	world = await startRealWorld();
	credentialId = await world.api.createCredential('The approver', 'httpBasicAuth', approver);
	await run(await importExample(), 'Set up people');
});
after(async () => await world.stop());

/** The example with a fourth person, whose salary is above the maximum and whose name is markup and an expression. */
async function importExample({ hoursToApprove = 24 } = {}): Promise<string> {
	const text = JSON.stringify(await readExample('payroll-with-approval.json'))
		.replace(/(E-1043[^"]*?)"/, '$1\\nE-1044,Marta <b>{{ 6 * 7 }}</b>,marta@example.com,25000"')
		.replace(/("name":"hoursToApprove","value":)24/, `$1${hoursToApprove}`);
	const workflow = WorkflowFile.parse(JSON.parse(text));
	const credentials = { httpBasicAuth: { id: credentialId, name: 'The approver' } };
	return await world.add({
		...workflow,
		nodes: workflow.nodes.map((node) => (node.name === ASK ? { ...node, credentials } : node)),
	});
}

async function run(workflowId: string, trigger: string): Promise<Execution> {
	const execution = await world.api.endedExecution(await world.api.run(workflowId, trigger));
	assert.equal(execution.status, 'success', execution.error);
	return execution;
}

/** An execution that waits for the second person. */
interface Request {
	executionId: string;
	/** Address of the page, from the message to the approver. */
	link: string;
	message: string;
	approveUntil: Date;
}

async function request(workflowId: string): Promise<Request> {
	const executionId = await world.api.run(workflowId, 'Every 25th');
	const { nodes } = await world.api.waitingExecution(executionId);
	const [told] = nodes['Tell the approver']?.[0]?.outputs[0] ?? [];
	const message = String(told?.message);
	const [link = ''] = /http\S+/.exec(message) ?? [];
	return { executionId, link, message, approveUntil: new Date(String(told?.approveUntil)) };
}

/** The page, as the approver's browser shows it after the login. */
async function pageAt(link: string): Promise<string> {
	const response = await fetch(link, { headers: { authorization: login } });
	assert.equal(response.status, 200);
	return await response.text();
}

/** ms. n8n never answers a form that is sent while its execution runs. */
const answersWithin = 10_000;

/** Sends the page's form as its script does. */
async function decide(link: string, decision: 'Approve' | 'Decline', page?: string): Promise<void> {
	const [, token = ''] = /const authToken = '([^']*)'/.exec(page ?? (await pageAt(link))) ?? [];
	const body = new FormData();
	body.set('field-0', decision);
	const headers = { 'x-auth-token': token };
	const signal = AbortSignal.timeout(answersWithin);
	try {
		await (await fetch(link, { method: 'POST', body, headers, signal })).arrayBuffer();
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}

const payments = (): number => world.sandbox.books.disbursements().length;

/** Each payment in the books but the first `since`, as "employee amount", in order. */
const paid = (since: number): string[] => {
	const users = new Map(world.sandbox.books.users().map(({ id, externalId }) => [id, externalId]));
	return world.sandbox.books
		.disbursements()
		.slice(since)
		.map(({ toUserId, amountEtb }) => `${users.get(toUserId)} ${amountEtb}`)
		.sort();
};

const salaries = ['E-1041 12400', 'E-1042 9500.5', 'E-1043 15250.75'];

/** What the execution said in the end. */
async function endOf({ executionId }: Request, withinMs?: number): Promise<string> {
	return (await world.api.endedExecution(executionId, withinMs)).error ?? '';
}

const WithOptions = z.object({
	parameters: z.object({ options: z.object({}).passthrough() }).passthrough(),
});

/** Sets the word about what is unknown in the node that pays; without one, takes it back. */
async function setWord(workflowId: string, ifUnknown?: string): Promise<void> {
	await world.api.changeWorkflow(workflowId, ({ nodes }) => ({
		nodes: nodes.map((node) => {
			if (node.name !== 'Pay salaries') return node;
			const { parameters } = WithOptions.parse(node);
			return {
				...node,
				parameters: { ...parameters, options: { ...parameters.options, ifUnknown } },
			};
		}),
	}));
}

/** One person is always refused, so an execution that paid ends in red. */
const PAID_THREE = /Salaries \d{4}-\d\d: 3 paid, 0 already paid, 1 not paid, 0 unknown/;

test('shows who gets how much and who would be refused, and pays exactly that after the approval', async () => {
	const workflowId = await importExample();
	const already = payments();
	const asked = await request(workflowId);
	assert.match(asked.message, /37,151\.25 ETB for 3 people wait for your approval/);
	const page = await pageAt(asked.link);
	for (const shown of [
		'37,151.25 ETB to 3 people',
		'Abebe Kebede',
		'12,400.00',
		'9,500.50',
		'15,250.75',
		'etbw_E-1041',
	])
		assert.ok(page.includes(shown), `${shown} is not on the page:\n${page}`);
	assert.match(
		page,
		/Marta &lt;b&gt;\{\{ 6 \* 7 \}\}&lt;\/b&gt;, 25,000\.00 ETB, notPaid: .*Maximum per Payment of 20000\. Check the amount/,
	);
	assert.deepEqual(paid(already), []);

	await decide(asked.link, 'Approve', page);
	assert.match(await endOf(asked), PAID_THREE);
	assert.deepEqual(paid(already), salaries);

	const nothingLeft = await world.api.endedExecution(await world.api.run(workflowId, 'Every 25th'));
	assert.match(nothingLeft.error ?? '', /0 paid, 3 already paid, 1 not paid/);
	assert.deepEqual(paid(already), salaries);
});

test('who declines pays nobody', async () => {
	const asked = await request(await importExample());
	const already = payments();
	await decide(asked.link, 'Decline');
	assert.match(await endOf(asked), /nobody was paid\. The list was declined\./);
	assert.deepEqual(paid(already), []);
});

test('a double click pays once', async () => {
	const asked = await request(await importExample());
	const already = payments();
	world.sandbox.setLatency(200);
	const page = await pageAt(asked.link);
	await Promise.all([1, 2, 3, 4].map(async () => await decide(asked.link, 'Approve', page)));
	await eventually('the first payments', () => (payments() > already ? true : undefined));
	await decide(asked.link, 'Approve', page);
	await endOf(asked);
	world.sandbox.setLatency(0);
	await decide(asked.link, 'Approve', page);
	// What else was started has ended when n8n has.
	await world.n8n.stop();
	assert.deepEqual(paid(already), salaries);
	await world.restartN8n();
});

test('a scanner that opens every link, and sends every form, pays nobody', async () => {
	const asked = await request(await importExample());
	const already = payments();
	const page = await pageAt(asked.link);
	const { origin } = new URL(asked.link);
	const linked = [...page.matchAll(/(?:href|src|action)="([^"]+)"/g)].map(
		([, target = '']) => new URL(target.replaceAll('&amp;', '&'), asked.link),
	);
	const links = [asked.link, `${asked.link}&approved=true`, ...linked.map(({ href }) => href)];
	for (const link of links.filter((each) => each.startsWith(origin))) {
		const logins: Array<Record<string, string>> = [{}, { authorization: login }];
		for (const headers of logins) {
			for (const agent of ['Mozilla/5.0 Chrome/140.0 Safari/537', 'Barracuda Link Protection'])
				await fetch(link, { headers: { ...headers, 'user-agent': agent } });
			await fetch(link, { method: 'HEAD', headers });
		}
	}
	const body = new FormData();
	body.set('field-0', 'Approve');
	const guesses: Array<Record<string, string>> = [
		{},
		{ authorization: 'Basic eDp5' },
		{ 'x-auth-token': 'guessed' },
	];
	for (const headers of guesses) {
		const { status } = await fetch(asked.link, { method: 'POST', body, headers });
		assert.ok(status === 401 || status === 403, `answered ${status}`);
	}
	const [path] = asked.link.split('?');
	assert.notEqual((await fetch(path ?? '', { method: 'POST', body })).status, 200);

	await world.api.waitingExecution(asked.executionId);
	assert.deepEqual(paid(already), []);
	await decide(asked.link, 'Approve');
	assert.match(await endOf(asked), PAID_THREE);
	assert.deepEqual(paid(already), salaries);
});

test('after its time a list cannot be approved, and n8n ends the execution by itself', async () => {
	const workflowId = await importExample({ hoursToApprove: 5 / 3600 });
	const already = payments();
	const asked = await request(workflowId);
	const forgotten = await request(workflowId);
	const page = await pageAt(asked.link);
	await eventually('the end of the time', () =>
		Date.now() > asked.approveUntil.getTime() ? true : undefined,
	);
	await decide(asked.link, 'Approve', page);
	assert.match(await endOf(asked), /nobody was paid\. Nobody approved it in time\./);
	// n8n looks once a minute for what has waited long enough.
	assert.match(await endOf(forgotten, 150_000), /nobody was paid\. Nobody approved it in time\./);
	await decide(forgotten.link, 'Approve', page);
	await decide(asked.link, 'Approve', page);
	assert.deepEqual(paid(already), []);
});

test('killed while waiting, n8n still waits after its start, and the approval pays once', async () => {
	const asked = await request(await importExample());
	const already = payments();
	world.n8n.kill();
	await world.restartN8n();
	await world.api.waitingExecution(asked.executionId);
	assert.deepEqual(paid(already), []);
	await decide(asked.link, 'Approve');
	assert.match(await endOf(asked), PAID_THREE);
	assert.deepEqual(paid(already), salaries);
});

/** Changes a person's salary in the table, as somebody does in the editor. */
async function setSalary(employee: string, salaryEtb: number): Promise<void> {
	const column = { id: 'salaryEtb', displayName: 'salaryEtb', type: 'number', display: true };
	const id = await world.api.createWorkflow({
		name: 'Change a salary',
		nodes: [
			{ id: 'start', name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1 },
			{
				id: 'change',
				name: 'Change',
				type: 'n8n-nodes-base.dataTable',
				typeVersion: 1.1,
				parameters: {
					resource: 'row',
					operation: 'update',
					dataTableId: { __rl: true, mode: 'name', value: TABLE },
					matchType: 'allConditions',
					filters: { conditions: [{ keyName: 'employee', keyValue: employee }] },
					columns: { mappingMode: 'defineBelow', value: { salaryEtb }, schema: [column] },
				},
			},
		].map((node) => ({ parameters: {}, position: [0, 0], ...node })),
		connections: { Start: { main: [[{ node: 'Change', type: 'main', index: 0 }]] } },
	});
	const { nodes } = await run(id, 'Start');
	assert.equal(nodes.Change?.[0]?.outputs[0]?.[0]?.salaryEtb, salaryEtb);
}

test('a list that was changed after it was shown is not paid, and needs a new approval', async () => {
	const workflowId = await importExample();
	const already = payments();
	const old = await request(workflowId);
	await setSalary('E-1042', 9600);
	await decide(old.link, 'Approve');
	assert.match(await endOf(old), /nobody was paid, because people in the table were changed/);
	assert.deepEqual(paid(already), []);

	const changed = await request(workflowId);
	assert.ok((await pageAt(changed.link)).includes('9,600.00'));
	await decide(old.link, 'Approve');
	assert.deepEqual(paid(already), []);
	await decide(changed.link, 'Approve');
	assert.match(await endOf(changed), PAID_THREE);
	assert.deepEqual(paid(already), ['E-1041 12400', 'E-1042 9600', 'E-1043 15250.75']);
	await setSalary('E-1042', 9500.5);
});

test('what a person found out about an unknown payment is on the page, and is recorded or paid after the approval', async () => {
	const workflowId = await importExample();
	const already = payments();
	const faults = new Map<string, PresetName>([
		['etbw_E-1041', 'error500AfterPaying'],
		['etbw_E-1042', 'error500BeforePaying'],
	]);
	faultFor(world, faults);
	const first = await request(workflowId);
	await decide(first.link, 'Approve');
	assert.match(await endOf(first), /1 paid, 0 already paid, 1 not paid, 2 unknown/);
	world.sandbox.faults.clear();

	await setWord(workflowId, "={{ $json.reference.endsWith('E-1041') ? 'paid' : 'report' }}");
	const recorded = await request(workflowId);
	const page = await pageAt(recorded.link);
	assert.match(page, /Will be paid: 0\.00 ETB to 0 people/);
	assert.match(
		page,
		/recorded as paid before, nothing is sent: 1<\/h3><ul><li>Abebe Kebede, 12,400\.00 ETB/,
	);
	assert.match(page, /Almaz Tesfaye, 9,500\.50 ETB, unknown/);
	await decide(recorded.link, 'Approve', page);
	assert.match(await endOf(recorded), /0 paid, 2 already paid, 1 not paid, 1 unknown/);

	await setWord(workflowId, "={{ $json.reference.endsWith('E-1042') ? 'notPaid' : 'report' }}");
	const paidNow = await request(workflowId);
	assert.match(await pageAt(paidNow.link), /Will be paid: 9,500\.50 ETB to 1 person/);
	await decide(paidNow.link, 'Approve');
	assert.match(await endOf(paidNow), /1 paid, 2 already paid, 1 not paid, 0 unknown/);

	await setWord(workflowId);
	const nothingLeft = await world.api.endedExecution(await world.api.run(workflowId, 'Every 25th'));
	assert.match(nothingLeft.error ?? '', /0 paid, 3 already paid, 1 not paid, 0 unknown/);
	assert.deepEqual(paid(already), salaries);
});

for (const word of ['paid', 'notPaid'] as const) {
	test(`of two pages only the first that is approved counts, also with the word ${word}`, async () => {
		const workflowId = await importExample();
		const already = payments();
		await setWord(workflowId, word);
		const [one, other] = [await request(workflowId), await request(workflowId)];
		const lost = word === 'paid' ? 'error500BeforePaying' : 'error500AfterPaying';
		faultFor(world, new Map<string, PresetName>([['etbw_E-1042', lost]]));
		await decide(other.link, 'Approve');
		assert.match(await endOf(other), /2 paid, 0 already paid, 1 not paid, 1 unknown/);
		world.sandbox.faults.clear();
		const before = paid(already);

		await decide(one.link, 'Approve');
		assert.match(await endOf(one), /nobody was paid, because .* or another list was approved/);
		assert.deepEqual(paid(already), before);
		await setWord(workflowId);
		const left = await world.api.endedExecution(await world.api.run(workflowId, 'Every 25th'));
		assert.match(left.error ?? '', /0 paid, 2 already paid, 1 not paid, 1 unknown/);
	});
}

/** The example with another list of people. */
async function importWithList(change: (list: string) => string): Promise<string> {
	const workflow = await readExample('payroll-with-approval.json');
	const text = JSON.stringify(workflow).replace(/employee,name,email,salaryEtb\\n[^"]*/, change);
	return await world.add(WorkflowFile.parse(JSON.parse(text)));
}

for (const [what, change, problem] of [
	[
		'a comma in a salary',
		'$&\\nE-1055,Hirut,h@example.com,7,800',
		/line 5 has 5 values instead of 4/,
	],
	[
		'a salary without an end',
		'$&\\nE-1055,Hirut,h@example.com,Infinity',
		/in line 5 the salary is Infinity/,
	],
	[
		'no first line',
		'E-1055,Hirut,h@example.com,7800',
		/the first line is not employee,name,email,salaryEtb/,
	],
	['nobody in it', 'employee,name,email,salaryEtb', /the list is empty/],
] as const) {
	test(`a list with ${what} sets nobody up`, async () => {
		const workflowId = await importWithList((list) => change.replace('$&', list));
		const users = world.sandbox.books.users().length;
		const execution = await world.api.endedExecution(
			await world.api.run(workflowId, 'Set up people'),
		);
		assert.match(execution.error ?? '', /Nobody was set up: /);
		assert.match(execution.error ?? '', problem);
		assert.equal(world.sandbox.books.users().length, users);
	});
}

test('who gets no wallet is named, with the reason', async () => {
	world.sandbox.books.addUser({ externalId: 'E-1066' });
	const workflowId = await importWithList(
		(list) =>
			`${list}\\nE-1066,Sara Bekele,sara@example.com,8000\\nE-1067,Yonas Tadesse,yonas@example.com,8100`,
	);
	const execution = await world.api.endedExecution(
		await world.api.run(workflowId, 'Set up people'),
	);
	assert.match(execution.error ?? '', /No wallet for E-1066 \(.*409.*\)/);
	const added = execution.nodes['Add to the table']?.[0]?.outputs[0] ?? [];
	assert.deepEqual(
		added.map(({ employee }) => employee),
		['E-1067'],
	);
});
