/** Each example, imported as a person would and run in the real n8n against the sandbox. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../../lab/n8n/api.mts';
import { readExample } from '../../../lab/n8n/examples.mts';
import type { PresetName } from '../../../sandbox/faults.mts';
import { chat, startChatModel } from '../../../lab/chat-model.mts';
import { unfitNodes } from './installed-nodes.mts';
import { eventually, executionsOf, startLab } from '../../../lab/lab.mts';
import type { Lab } from '../../../lab/lab.mts';
import { setPerson } from '../../../lab/people.mts';

let lab: Lab;
before(async () => {
	// Retries of events come at once instead of after 30 s.
	lab = await startLab({ sandbox: { timeFactor: 0.001 } });
});
after(async () => await lab.stop());

type Item = Record<string, unknown>;

/** n8n's own name for the start by hand. */
const START = 'When clicking ‘Execute workflow’';

/** What an Edit Fields node sets. */
const SetParameters = z.object({
	assignments: z.object({ assignments: z.array(z.object({ name: z.string() }).passthrough()) }),
});

/** n8n's answer to a form that is sent. */
const FormAnswer = z.object({ formWaitingUrl: z.string() });

/** A question in the chat. */
/** Items of the first run of a node. */
const itemsOf = (execution: Execution, node: string, output = 0): Item[] =>
	execution.nodes[node]?.[0]?.outputs[output] ?? [];

const reached = (execution: Execution, node: string): boolean => node in execution.nodes;

const only = (items: Item[]): Item => {
	assert.equal(items.length, 1);
	return items[0] ?? {};
};

async function importExample(file: string, change = (workflow: WorkflowFile) => workflow) {
	return await lab.add(change(await readExample(file)));
}

/** Publishes an example until the test ends, so that the next one can have the account's events. */
async function publishExample(test: TestContext, file: string): Promise<string> {
	const id = await importExample(file);
	test.after(async () => await lab.api.deactivate(id));
	await lab.api.activate(id);
	return id;
}

async function run(workflowId: string, trigger: string): Promise<Execution> {
	return await lab.api.endedExecution(await lab.api.run(workflowId, trigger));
}

/** Sets Mode and Finding of a node that pays, as a person does. Without any it pays. */
async function setMode(
	workflowId: string,
	chosen: { mode?: string; finding?: string },
	name = 'Pay salaries',
): Promise<void> {
	await lab.api.changeWorkflow(workflowId, ({ nodes }) => ({
		nodes: nodes.map((node) => {
			if (node.name !== name) return node;
			const rest = Object.entries(Object(node.parameters) as Item).filter(
				([field]) => field !== 'mode' && field !== 'finding',
			);
			return { ...node, parameters: { ...Object.fromEntries(rest), ...chosen } };
		}),
	}));
}

/** Each payment in the books but the first `since`, as "user amount", in order of user. */
const paid = (since: number): string[] =>
	lab.sandbox.books
		.disbursements()
		.slice(since)
		.map(({ toUserId, amountEtb }) => `${toUserId} ${amountEtb}`)
		.sort();

const payments = (): number => lab.sandbox.books.disbursements().length;

/** The user's id, as the service assigned it. */
function userId(externalId: string): string {
	const user = lab.sandbox.books.users().find((each) => each.externalId === externalId);
	assert.ok(user, `the sandbox has no user ${externalId}`);
	return user.id;
}

test('every example fits the installed nodes: each type and parameter is known, none is missing', async () => {
	assert.deepEqual(await unfitNodes(lab.api), []);
});

test('pay-a-user.json pays a new user, and receive-events.json gets the event of it', async (t) => {
	const receiver = await publishExample(t, 'receive-events.json');
	const already = payments();
	const id = await importExample('pay-a-user.json');
	const execution = await run(id, START);
	assert.equal(execution.error, undefined);
	assert.deepEqual(paid(already), [`${userId('employee-1042')} 250.5`]);
	assert.equal(only(itemsOf(execution, 'Pay')).reference, 'welcome-employee-1042');

	const users = lab.sandbox.books.users().length;
	const again = await run(id, START);
	assert.equal(again.error, undefined);
	assert.equal(only(itemsOf(again, 'Pay')).outcome, 'alreadyPaid');
	assert.equal(payments(), already + 1);
	assert.equal(lab.sandbox.books.users().length, users);
	const [event] = await executionsOf(lab, receiver, 1);
	assert.ok(event);
	assert.deepEqual(only(itemsOf(event, 'What happened')), {
		message: 'A payment was completed: 250.5 ETB',
	});
});

test('pay-a-user.json settles by the field finding of its list, which then keeps the person from being paid', async () => {
	const already = payments();
	const id = await importExample('pay-a-user.json');
	/** Writes the finding into the list of people, as a field more. */
	const write = async (value: string, name = 'finding') =>
		await lab.api.changeWorkflow(id, ({ nodes }) => ({
			nodes: nodes.map((node) => {
				if (node.name !== 'Who to pay') return node;
				const { assignments } = SetParameters.parse(node.parameters).assignments;
				const others = assignments.filter((each) => !/finding/i.test(each.name));
				const finding = { id: 'a5', name, value, type: 'string' };
				return { ...node, parameters: { assignments: { assignments: [...others, finding] } } };
			}),
		}));
	const pay = async () => only(itemsOf(await run(id, START), 'Pay')).outcome;

	lab.sandbox.faults.plan('POST /disburse', () => 'error500BeforePaying');
	assert.match((await run(id, START)).error ?? '', /It is unknown whether/);
	lab.sandbox.faults.clear();
	assert.match(
		(await run(id, START)).error ?? '',
		/^Ask the service: Not sent again: .*Settle Unknown/s,
	);
	await write('notPaid');
	assert.equal(await pay(), 'unknown');
	await setMode(id, { mode: 'settle', finding: 'fromItem' }, 'Pay');
	assert.equal(await pay(), 'ready');
	await setMode(id, {}, 'Pay');
	const left = await run(id, START);
	assert.match(left.error ?? '', /because the field finding of this payment is "notPaid"/);
	assert.equal(payments(), already);
	await setMode(id, { mode: 'settle', finding: 'fromItem' }, 'Pay');
	await write('paid', 'Finding');
	assert.match(
		(await run(id, START)).error ?? '',
		/The item has "Finding" where this node takes "finding"/,
	);
	await setMode(id, {}, 'Pay');
	await write('');
	assert.equal(await pay(), 'paid');
	assert.equal(payments(), already + 1);
});

/** The example that sets people up, with another list. */
async function importPeople(change: (list: string) => string): Promise<string> {
	return await importExample('people-to-pay.json', (workflow) => {
		const text = JSON.stringify(workflow).replace(/(?<="value":")employee,name[^"]*/, change);
		return WorkflowFile.parse(JSON.parse(text));
	});
}

void describe('people-to-pay.json', () => {
	test('gives each person a wallet once, and names who gets none', async () => {
		lab.sandbox.books.addUser({ externalId: 'E-1066' });
		const id = await importPeople(
			(list) =>
				`${list}\\nE-1066,Sara Bekele,,8000,monthly\\nE-1044,Marta Girma,marta@example.com,25000,monthly`,
		);
		const first = await run(id, 'Set up people');
		assert.match(first.error ?? '', /No wallet for E-1066 \(.*409.*\)\. The others are set up/);
		assert.equal(itemsOf(first, 'Add to the table').length, 7);
		assert.equal(new Set(itemsOf(first, 'Add to the table').map(({ userId }) => userId)).size, 7);

		const again = await run(await importExample('people-to-pay.json'), 'Set up people');
		assert.equal(again.status, 'success');
		assert.equal(reached(again, 'Create wallets'), false);
	});

	test('a list that cannot be used, or differs from the table, sets nobody up', async () => {
		const users = lab.sandbox.books.users().length;
		for (const [change, problem] of [
			[
				(list: string) => `${list}\\nE-1055,Hirut,,12.400,monthly`,
				/line 8 \(E-1055 Hirut\): .*12\.400/,
			],
			[
				(list: string) => `${list.replace('12400', '12500')}\\nE-1055,Hirut,,100,monthly`,
				/line 2 \(E-1041 Abebe Kebede\): the salary is 12500 here and 12400\.00 in the table/,
			],
		] as const) {
			const { error } = await run(await importPeople(change), 'Set up people');
			assert.match(error ?? '', /^Not set up: Nobody was set up: /);
			assert.match(error ?? '', problem);
		}
		assert.equal(lab.sandbox.books.users().length, users);
	});
});

void describe('payroll.json', () => {
	const period = (execution: Execution) => String(only(itemsOf(execution, 'Period')).period);
	const summary = (execution: Execution) => only(itemsOf(execution, 'Summary'));
	const employees = ['E-1041', 'E-1042', 'E-1043'];
	const salaries = () => [
		`${userId('E-1041')} 12400`,
		`${userId('E-1042')} 9500.5`,
		`${userId('E-1043')} 15250.75`,
	];
	/** Chooses Mode and Finding in the node that pays, as a person does in the editor. */
	// Marta's salary is above the maximum.
	before(async () => await setPerson(lab.api, 'E-1044', 'payroll', 'gate'));

	test('pays each salary once in a period, and reports it as a table', async () => {
		const id = await importExample('payroll.json');
		const already = payments();
		const first = await run(id, 'Every 25th');
		assert.equal(first.error, undefined);
		assert.deepEqual(paid(already), salaries());
		assert.deepEqual(
			itemsOf(first, 'Report').map(({ name, outcome, reference, userId: to, amountEtb }) =>
				[name, outcome, reference, to, amountEtb].join(' '),
			),
			[
				`Abebe Kebede paid payroll-${period(first)}-E-1041 etbw_E-1041 12400`,
				`Almaz Tesfaye paid payroll-${period(first)}-E-1042 etbw_E-1042 9500.5`,
				`Dawit Haile paid payroll-${period(first)}-E-1043 etbw_E-1043 15250.75`,
			],
		);
		const books = lab.sandbox.books.disbursements().slice(already);
		assert.deepEqual(
			itemsOf(first, 'Report').map(({ txHash }) => txHash),
			books.map(({ txHash }) => txHash),
		);
		assert.equal(
			summary(first).message,
			`Salaries ${period(first)}: 3 paid (37,151.25 ETB), 0 paid before, 0 not paid, 0 unknown.`,
		);

		const second = await run(id, 'Every 25th');
		assert.equal(second.error, undefined);
		assert.match(String(summary(second).message), /0 paid \(0\.00 ETB\), 3 paid before/);
		assert.deepEqual(paid(already), salaries());
	});

	test('ends in red and names who was not paid and who may have been, and pays neither again by itself', async () => {
		await setPerson(lab.api, 'E-1044', 'payroll', 'monthly');
		const id = await importExample('payroll.json');
		const already = payments();
		const uncertain = userId('E-1042');
		lab.sandbox.faults.plan('POST /disburse', ({ body }) =>
			JSON.stringify(body).includes(uncertain) ? 'error500AfterPaying' : undefined,
		);
		const first = await run(id, 'Every 25th');
		const second = await run(id, 'Every 25th');
		lab.sandbox.faults.clear();
		await setPerson(lab.api, 'E-1044', 'payroll', 'gate');
		assert.match(first.error ?? '', /2 paid .*, 0 paid before, 1 not paid, 1 unknown/);
		assert.match(second.error ?? '', /0 paid .*, 2 paid before, 1 not paid, 1 unknown/);
		for (const { error = '' } of [first, second]) {
			assert.match(
				error,
				/Not paid: Marta Girma, 25,000\.00 ETB \(.*above the Maximum per Payment of 20000/,
			);
			assert.match(error, /Unknown: Almaz Tesfaye, 9,500\.50 ETB \(/);
		}
		assert.deepEqual(paid(already), salaries());
	});

	test('who is unknown is settled from the table, and paid by the next run if it was not paid', async () => {
		const id = await importExample('payroll.json');
		const already = payments();
		const ends: Record<string, PresetName> = {
			'E-1041': 'error500AfterPaying',
			'E-1042': 'error500BeforePaying',
		};
		lab.sandbox.faults.plan(
			'POST /disburse',
			({ bodyText }) => Object.entries(ends).find(([employee]) => bodyText.includes(employee))?.[1],
		);
		const first = await run(id, 'Every 25th');
		lab.sandbox.faults.clear();
		assert.match(first.error ?? '', /1 paid .*, 0 not paid, 2 unknown/);
		assert.match(first.error ?? '', /What to do stands in the note The report/);

		await setPerson(lab.api, 'E-1041', 'finding', `${period(first)} paid`);
		await setPerson(lab.api, 'E-1042', 'finding', `${period(first)} notPaid`);
		await setMode(id, { mode: 'settle', finding: 'fromItem' });
		const settled = await run(id, 'Every 25th');
		assert.equal(settled.error, undefined);
		assert.match(
			String(summary(settled).message),
			/settled, nobody was paid; 1 ready \(9,500\.50 ETB\), 2 paid before/,
		);
		assert.equal(payments(), already + 2);

		await setMode(id, {});
		const tooEarly = await run(id, 'Every 25th');
		assert.match(tooEarly.error ?? '', /because the field finding of this payment is "notPaid"/);
		assert.equal(payments(), already + 2);
		for (const employee of ['E-1041', 'E-1042']) await setPerson(lab.api, employee, 'finding', '');
		const last = await run(id, 'Every 25th');
		assert.match(String(summary(last).message), /1 paid \(9,500\.50 ETB\), 2 paid before/);
		assert.deepEqual(paid(already), salaries());
	});

	test('a finding of the table that was not recorded ends in red, and recorded in a copy nobody is paid again', async () => {
		const id = await importExample('payroll.json');
		const already = payments();
		const month = period(await run(id, 'Every 25th'));
		const copy = await importExample('payroll.json');
		const everybody = ['E-1041', 'E-1042', 'E-1043'];
		for (const employee of everybody)
			await setPerson(lab.api, employee, 'finding', `${month} recordPaid`);
		await setMode(copy, { mode: 'settle' });
		const forgotten = await run(copy, 'Every 25th');
		assert.match(forgotten.error ?? '', /3 unknown.*which was not recorded/s);

		await setMode(copy, { mode: 'settle', finding: 'fromItem' });
		assert.equal((await run(copy, 'Every 25th')).error, undefined);
		await setMode(copy, {});
		assert.match(
			String(summary(await run(copy, 'Every 25th')).message),
			/0 paid \(0\.00 ETB\), 3 paid before/,
		);
		assert.deepEqual(paid(already), salaries());
		for (const employee of everybody) await setPerson(lab.api, employee, 'finding', '');
	});

	test('a dry run says who would be paid, and ends well', async () => {
		const id = await importExample('payroll.json');
		const already = payments();
		await setMode(id, { mode: 'dryRun' });
		const tried = await run(id, 'Every 25th');
		assert.equal(tried.error, undefined);
		assert.match(
			String(summary(tried).message),
			/dry run, nobody was paid; 3 ready \(37,151\.25 ETB\)/,
		);
		assert.equal(payments(), already);
	});

	test('who cannot be paid is named, and the others are paid', async () => {
		await setPerson(lab.api, 'E-1042', 'salaryEtb', '9.500');
		await setPerson(lab.api, 'E-1043', 'userId', 'etbw_E-3041');
		const already = payments();
		const { error } = await run(await importExample('payroll.json'), 'Every 25th');
		assert.match(error ?? '', /1 paid .*, 2 not paid, 0 unknown/);
		assert.match(error ?? '', /Almaz Tesfaye, .* \(In the table the salary 9\.500 is not clear/);
		assert.match(error ?? '', /Dawit Haile, .* \(Yonas Tadesse has the same userId in the table/);
		assert.deepEqual(paid(already), [`${userId('E-1041')} 12400`]);
		await setPerson(lab.api, 'E-1042', 'salaryEtb', '9500.50');
		await setPerson(lab.api, 'E-1043', 'userId', 'etbw_E-1043');
	});

	test('with nobody in the table, a pay day that does not exist or a wrong period, pays nobody and says why', async () => {
		const already = payments();
		for (const employee of employees) await setPerson(lab.api, employee, 'payroll', 'gate');
		const nobody = await run(await importExample('payroll.json'), 'Every 25th');
		for (const employee of employees) await setPerson(lab.api, employee, 'payroll', 'monthly');
		assert.match(nobody.error ?? '', /Nobody in the table .* Run Set up people to pay first/);
		const expression = /"={{ \$now\.setZone[^"]*"/;
		for (const [written, byMistake, problem] of [
			['"payDay","value":25', '"payDay","value":31', /Nobody was paid, because payDay .* 31/],
			[expression, '"2026-9"', /Nobody was paid, because period in Period is 2026-9 /],
			[expression, '"2099-01"', /Nobody was paid, because period in Period is 2099-01 /],
			[expression, '"2019-01"', /Nobody was paid, because period in Period is 2019-01 /],
		] as const) {
			const id = await importExample('payroll.json', (workflow) => {
				const changed = JSON.stringify(workflow).replace(written, byMistake);
				assert.ok(changed.includes(byMistake));
				return WorkflowFile.parse(JSON.parse(changed));
			});
			assert.match((await run(id, 'Every 25th')).error ?? '', problem);
		}
		assert.deepEqual(paid(already), []);
	});
});

void describe('wallet-from-a-form.json', () => {
	/** Fills in the published form, as a browser does; resolves to the page that follows with this text. */
	async function fillIn(name: string, memberNumber: string, expected: string): Promise<string> {
		const form = `${lab.n8n.url}/form/c1a3c0de-0004-4000-8000-0000000000ff`;
		const fields = new FormData();
		fields.set('field-0', name);
		fields.set('field-1', 'person@example.com');
		fields.set('field-2', memberNumber);
		const answer = await fetch(form, { method: 'POST', body: fields });
		const { formWaitingUrl } = FormAnswer.parse(await answer.json());
		const status = new URL(formWaitingUrl);
		status.pathname += '/n8n-execution-status';
		await eventually('the page after the form', async () =>
			(await (await fetch(status)).text()) === 'form-waiting' ? true : undefined,
		);
		const page = await (await fetch(formWaitingUrl)).text();
		assert.ok(page.includes(expected), page);
		// The page itself ends the execution.
		await fetch(formWaitingUrl, { method: 'POST' });
		return page;
	}

	test('gives a new member one wallet, and says so', async (t) => {
		const id = await publishExample(t, 'wallet-from-a-form.json');
		const welcome = await fillIn('Selam Bekele', 'M-2001', 'Welcome, Selam Bekele!');
		const { walletAddress } =
			lab.sandbox.books.users().find(({ externalId }) => externalId === 'M-2001') ?? {};
		assert.ok(walletAddress);
		assert.ok(welcome.includes(walletAddress));

		const users = lab.sandbox.books.users().length;
		await fillIn('Selam Bekele', ' m-2001 ', 'You have a wallet already');
		lab.sandbox.books.addUser({ externalId: 'M-2002' });
		// Whether it is theirs cannot be told, so it is left to a person.
		await fillIn('Somebody else', 'M-2002', 'That did not work');
		await fillIn('Somebody else', 'M-2002', 'That did not work');
		assert.equal(lab.sandbox.books.users().length, users + 1);
		// What the service refused can be sent again.
		const refused = { status: 422, body: '{"message":"The email is wrong"}' };
		lab.sandbox.faults.next('POST /users', { process: 'never', answer: refused });
		await fillIn('Hirut Alemu', 'M-2003', 'That did not work');
		await fillIn('Hirut Alemu', 'M-2003', 'Welcome, Hirut Alemu!');
		lab.sandbox.faults.next('POST /users', {
			process: 'never',
			answer: { status: 201, body: '{}' },
		});
		await fillIn('Meron Abate', 'M-2006', 'That did not work');
		await fillIn('Meron Abate', 'M\u20112006', 'That did not work');
		// No answer came: the wallet may exist, so nobody asks for another one.
		lab.sandbox.faults.next('POST /users', 'error500AfterPaying');
		await fillIn('Lemma Tola', 'M-2004', 'That did not work');
		const requests = lab.sandbox.requests.length;
		await fillIn('Lemma Tola', 'M-2004', 'That did not work');
		assert.equal(lab.sandbox.requests.length, requests);
		// Two at the same moment.
		const before = lab.sandbox.books.users().length;
		await Promise.all([
			fillIn('Alem Haile', 'M-2005', ''),
			fillIn('Alem Haile', 'M-2005', ''),
			fillIn('Alem Haile', 'M-2005', ''),
		]);
		assert.equal(lab.sandbox.books.users().length, before + 1);
		const executions = await executionsOf(lab, id, 13);
		assert.deepEqual(
			executions.map(({ status }) => status),
			executions.map(() => 'success'),
		);
	});
});

void describe('low-treasury-alert.json', () => {
	test('is quiet with enough in the treasury, and ends in red when it is low or cannot be read', async () => {
		const id = await importExample('low-treasury-alert.json');
		const { books } = lab.sandbox;
		const before = books.balance().treasuryBalance;
		const enough = await run(id, 'Every morning');
		assert.equal(enough.error, undefined);
		assert.ok(reached(enough, 'Enough') && !reached(enough, 'Tell your team'));

		books.setTreasuryBalance(49_000.5);
		const low = await run(id, 'Every morning');
		const message = 'The treasury holds 49000.5 ETB, 999.5 ETB less than the limit of 50000 ETB';
		assert.ok(String(only(itemsOf(low, 'Tell your team')).message).startsWith(message));
		assert.ok(low.error?.startsWith(`Treasury is low: ${message}`));
		books.setTreasuryBalance(before);

		lab.sandbox.refuseApiKey(true);
		const refused = await run(id, 'Every morning');
		lab.sandbox.refuseApiKey(false);
		assert.match(refused.error ?? '', /^Read the balance: /);
		lab.sandbox.faults.next('GET /balance', {
			process: 'never',
			answer: { status: 200, body: '{"success":false,"message":"later"}' },
		});
		const without = await run(id, 'Every morning');
		assert.match(without.error ?? '', /answered 200 with no treasuryBalance in its body/);
	});
});

void describe('deposit-and-transfer-notifications.json', () => {
	test('each event takes its own branch, and others start nothing', async (t) => {
		const id = await publishExample(t, 'deposit-and-transfer-notifications.json');
		const transfer = lab.sandbox.transfer({ amountEtb: 320.5 });
		await lab.sandbox.deliverySettled(transfer.deliveryId);
		const other = lab.sandbox.emit('disburse.completed', { id: 'other' });
		await lab.sandbox.deliverySettled(other.deliveryId);
		const deposit = lab.sandbox.deposit({ amountEtb: 1000 });
		await lab.sandbox.deliverySettled(deposit.deliveryId);

		const executions = await executionsOf(lab, id, 2);
		assert.deepEqual(
			executions.map(({ status }) => status),
			['success', 'success'],
		);
		const [first, second] = executions;
		assert.ok(first && second);
		assert.deepEqual(
			only(itemsOf(first, 'Tell the bookkeeper')).message,
			`A transfer of 320.5 ETB completed. Transaction: ${transfer.txHash}`,
		);
		assert.match(
			String(only(itemsOf(second, 'Tell the treasurer')).message),
			new RegExp(`^A deposit is on its way .*${deposit.id}`),
		);
		assert.ok(!reached(first, 'Tell the treasurer') && !reached(second, 'Tell the bookkeeper'));
	});
});

void describe('reconcile-payments.json', () => {
	let id: string;
	before(async () => {
		// The wallet is that of Pay a user.
		id = await importExample('reconcile-payments.json');
		await lab.api.activate(id);
	});
	after(async () => await lab.api.deactivate(id));

	/** Pays the next invoice: the same one would not be paid again. */
	let invoices = 0;
	async function payInvoice(): Promise<Execution> {
		invoices += 1;
		await lab.api.changeWorkflow(id, ({ nodes }) => {
			const text = JSON.stringify(nodes).replace(/"invoice-[^"]*"/, `"invoice-${invoices}"`);
			return { nodes: JSON.parse(text) as unknown };
		});
		return await run(id, 'Pay');
	}

	/** Executions of the event's branch, once there are that many. */
	const closings = async (count: number): Promise<Execution[]> =>
		await eventually(`${count} events handled`, async () => {
			const all = await executionsOf(lab, id, 1);
			const handled = all.filter((execution) => reached(execution, 'ETB Wallet Trigger'));
			return handled.length >= count ? handled : undefined;
		});

	const stillOpen = async (): Promise<unknown[]> =>
		itemsOf(await run(id, 'Every morning'), 'Still open').map(({ reference }) => reference);

	test('a payment is closed by its event, whichever of them is recorded first', async () => {
		const already = payments();
		// The event is on its way while the service still keeps its answer back.
		lab.sandbox.faults.next('POST /disburse', 'slow');
		const late = await payInvoice();
		assert.equal(late.error, undefined);
		assert.equal(itemsOf(late, 'Close it').length, 1, 'the event should have been first');
		assert.equal(payments(), already + 1);
		await closings(1);
		assert.deepEqual(await stillOpen(), []);

		lab.sandbox.books.setWebhookUrl('http://127.0.0.1:9/nobody');
		const early = await payInvoice();
		const { reference, txHash, toUserId } = only(itemsOf(early, 'Record the payment'));
		assert.deepEqual(paid(already + 1), [`${String(toUserId)} 750.25`]);
		assert.deepEqual(await stillOpen(), [reference]);
		await lab.api.deactivate(id);
		await lab.api.activate(id); // sets the URL again
		const { deliveryId } = lab.sandbox.emit('disburse.completed', { txHash });
		assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'delivered');
		const closed = (await closings(2)).at(-1);
		assert.ok(closed);
		assert.equal(only(itemsOf(closed, 'Close its payment')).reference, reference);
		assert.deepEqual(await stillOpen(), []);
	});

	test('what may have been paid stays open, what was not paid is not recorded', async () => {
		lab.sandbox.faults.next('POST /disburse', 'error500BeforePaying');
		const unknown = await payInvoice();
		const { reference, outcome } = only(itemsOf(unknown, 'Record the payment'));
		assert.equal(outcome, 'unknown');
		const { treasuryBalance } = lab.sandbox.books.balance();
		lab.sandbox.books.setTreasuryBalance(1);
		const refused = await payInvoice();
		lab.sandbox.books.setTreasuryBalance(treasuryBalance);
		assert.equal(only(itemsOf(refused, 'Not recorded')).outcome, 'notPaid');

		const list = await run(id, 'Every morning');
		assert.deepEqual(
			itemsOf(list, 'Still open').map((payment) => payment.reference),
			[reference],
		);
		assert.ok(list.error?.includes(`Still open: ${String(reference)} (1 in all)`), list.error);
	});

	test('what cannot be read does not hide what was paid, and a payment that n8n forgot to record is recorded', async () => {
		const already = payments();
		await lab.api.changeWorkflow(id, ({ nodes }) => ({
			nodes: nodes.map((node) => {
				if (node.name !== 'Who to pay') return node;
				const list = ['1,200.00', '20', '30'].map((amountEtb, index) => ({
					...{ toUserId: lab.sandbox.books.users()[0]?.id, amountEtb },
					reference: `forgotten-${index}`,
				}));
				return {
					...node,
					...{ type: 'n8n-nodes-base.code', typeVersion: 2 },
					parameters: { jsCode: `return ${JSON.stringify(list.map((json) => ({ json })))}` },
				};
			}),
		}));
		const recorded = async () =>
			itemsOf(await run(id, 'Pay'), 'Record the payment').map(({ reference }) => reference);
		assert.deepEqual(await recorded(), ['forgotten-1', 'forgotten-2']);
		assert.equal(payments(), already + 2);
		assert.deepEqual(await recorded(), []);
	});

	test('an event without a transaction hash closes nothing and ends in red', async () => {
		const open = await stillOpen();
		const { deliveryId } = lab.sandbox.emit('disburse.completed', { id: 'no-hash' });
		// The service is told that it failed, and gives up after its three retries.
		assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'failed');
		const failed = (await closings(3)).at(-1);
		assert.match(failed?.error ?? '', /^Event without a hash: The event has no data.txHash/);
		assert.deepEqual(await stillOpen(), open);
	});
});

void describe('agent-with-approval.json', () => {
	let model: Awaited<ReturnType<typeof startChatModel>>;
	let workflowId: string;
	let toUserId: string;
	before(async () => {
		model = await startChatModel();
		const example = await readExample('agent-with-approval.json');
		const withModel = await model.inWorkflow(lab.api, example);
		workflowId = await importExample('agent-with-approval.json', () => withModel);
		toUserId = lab.sandbox.books.addUser({ externalId: 'agent-test' }).id;
	});
	after(async () => await model.close());

	/** What was asked and done, and the agent's answer. */
	async function ask(chatInput: string, ...choices: string[]) {
		const { questions, execution } = await chat(lab, workflowId, chatInput, choices);
		assert.equal(questions.length, choices.length);
		return { questions, execution, answer: String(only(itemsOf(execution, 'Agent')).output) };
	}

	test('reads the balance without asking', async () => {
		const { answer } = await ask('What does the treasury hold?');
		assert.ok(answer.includes(`"treasuryBalance":${lab.sandbox.books.balance().treasuryBalance}`));
	});

	test('pays only after a person approved', async () => {
		const already = payments();
		const declined = await ask(`Pay 50 ETB to ${toUserId}`, 'Decline');
		assert.match(declined.questions[0] ?? '', new RegExp(`50 ETB.*${toUserId}`));
		assert.equal(payments(), already);
		assert.ok(!reached(declined.execution, 'Pay a user'));

		const { answer } = await ask(`Pay 75 ETB to ${toUserId}`, 'Approve');
		assert.match(answer, /"outcome":"paid"/);
		assert.deepEqual(paid(already), [`${toUserId} 75`]);
	});

	test('an approved payment above the limit is not made', async () => {
		const already = payments();
		const { answer } = await ask(`Pay 501 ETB to ${toUserId}`, 'Approve');
		assert.match(answer, /Maximum per Payment of 500/);
		assert.equal(payments(), already);
	});

	test('a payment whose answer was lost is told to the agent as unknown', async () => {
		const already = payments();
		lab.sandbox.faults.next('POST /disburse', 'error500AfterPaying');
		const { answer } = await ask(`Pay 65 ETB to ${toUserId}`, 'Approve');
		assert.match(answer, /"outcome":"unknown"/);
		assert.deepEqual(paid(already), [`${toUserId} 65`]);
	});

	test('a second call for the same person in the same message pays nothing more', async () => {
		const already = payments();
		const { answer } = await ask(`Pay 60 ETB to ${toUserId} twice`, 'Approve', 'Approve');
		assert.match(answer, /"outcome":"alreadyPaid"/);
		assert.deepEqual(paid(already), [`${toUserId} 60`]);
	});
});
