/** Each example, imported as a person would and run in the real n8n against the sandbox. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { z } from 'zod';
import type { Execution, WorkflowFile } from '../../../demo/n8n-api.mts';
import { compareVersions, n8nVersion } from '../../support/n8n/version.mts';
import { readExample } from '../../../demo/examples.mts';
import { chat, startChatModel } from '../../support/chat-model.mts';
import { FormVisitor } from '../../support/form-visitor.mts';
import { unfitExamples } from './installed-nodes.mts';
import { executionsOf, paidSince, setFields, startLab } from '../../support/lab.mts';
import { itemsOf, type Item } from '../../support/payroll.mts';
import type { Lab } from '../../support/lab.mts';
import { PAYMENTS, addRows, rowsOf } from '../../support/people.mts';

let lab: Lab;
before(async () => {
	// Retries of events come at once instead of after 30 s.
	lab = await startLab({ sandbox: { timeFactor: 0.001 } });
});
after(async () => await lab.stop());

/** n8n's own name for the start by hand. */
const START = 'When clicking ‘Execute workflow’';

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

const paid = (since: number): string[] => paidSince(lab.sandbox, since);
const payments = (): number => lab.sandbox.books.disbursements().length;

/** The user's id, as the service assigned it. */
function userId(externalId: string): string {
	const user = lab.sandbox.books.users().find((each) => each.externalId === externalId);
	assert.ok(user, `the sandbox has no user ${externalId}`);
	return user.id;
}

test('every example fits the installed nodes, or says which n8n it needs, and cannot be published in this one', async (context) => {
	for (const [file, problems] of await unfitExamples(lab.api)) {
		context.diagnostic(`${file}: ${problems.join(', ')}`);
		const { needs } = /Needs n8n (?<needs>[\d.]+)\+/.exec(JSON.stringify(await readExample(file)))
			?.groups ?? { needs: '0' };
		assert.ok(compareVersions(n8nVersion(), needs ?? '0') < 0, `${file}: ${problems.join(', ')}`);
		const id = await importExample(file);
		await assert.rejects(lab.api.activate(id), (reason: Error) => {
			context.diagnostic(reason.message);
			return true;
		});
	}
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
	assert.deepEqual(
		(await rowsOf(lab.api, PAYMENTS)).map((row) => [
			row['reference'],
			row['outcome'],
			row['workflow'],
		]),
		[['welcome-employee-1042', 'paid', `Pay a user (${id})`]],
	);
	assert.equal(payments(), already + 1);
	assert.equal(lab.sandbox.books.users().length, users);
	// A payment that is refused or unknown stands in the register with the reason, and the execution is red.
	for (const [reference, fault, outcome, reason] of [
		[
			'refused',
			{ process: 'never', response: { status: 422, body: '{"message":"The wallet is closed"}' } },
			'notPaid',
			/The wallet is closed/,
		],
		['unknown', 'error500BeforePaying', 'unknown', /./],
	] as const) {
		await setFields(lab.api, id, 'Pay', { reference });
		lab.sandbox.faults.next('POST /disburse', fault);
		assert.match(
			(await run(id, START)).error ?? '',
			new RegExp(`Somebody needs you: .*${outcome}`),
		);
		const rows = (await rowsOf(lab.api, PAYMENTS)).filter((row) => row['reference'] === reference);
		assert.deepEqual(
			rows.map((row) => [row['outcome'], row['amountEtb'], row['requestedAmountEtb']]),
			[[outcome, null, 250.5]],
		);
		assert.match(String(rows[0]?.['reason']), reason);
	}
	// A Mode that stayed on Settle Unknown pays nobody: the execution is red, and the row keeps what it had.
	await setFields(lab.api, id, 'Pay', { mode: 'settle', wasPaid: 'unknown' });
	assert.match(
		(await run(id, START)).error ?? '',
		/Nothing was sent: in the node Pay set Mode back/,
	);
	const kept = (await rowsOf(lab.api, PAYMENTS)).find((row) => row['reference'] === 'unknown');
	assert.deepEqual([kept?.['outcome'], kept?.['requestedAmountEtb']], ['unknown', 250.5]);
	// The next run finds it settled, and says so in place of a time that nobody knows.
	await setFields(lab.api, id, 'Pay', { mode: 'pay' });
	await run(id, START);
	const settled = (await rowsOf(lab.api, PAYMENTS)).find((row) => row['reference'] === 'unknown');
	assert.deepEqual([settled?.['outcome'], settled?.['paidAt']], ['paid', null]);
	assert.match(String(settled?.['reason']), /settled as paid before/);
	const [event] = await executionsOf(lab, receiver, 1);
	assert.ok(event);
	assert.deepEqual(only(itemsOf(event, 'What happened')), {
		message: 'A payment was completed: 250.5 ETB',
	});
});

void describe('wallet-from-a-form.json', () => {
	/** Fills in the published form; resolves to the page that follows with this text. */
	async function fillIn(name: string, memberNumber: string, expected: string): Promise<string> {
		const visitor = FormVisitor.stranger(lab.n8n.url);
		const path = 'c1a3c0de-0004-4000-8000-0000000000ff';
		const address = await visitor.fillIn(path, [name, 'person@example.com', memberNumber]);
		const page = await visitor.read(address);
		assert.ok(page.includes(expected), page);
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
		// A payment that the service refused can be sent again.
		const refused = { status: 422, body: '{"message":"The email is wrong"}' };
		lab.sandbox.faults.next('POST /users', { process: 'never', response: refused });
		await fillIn('Hirut Alemu', 'M-2003', 'That did not work');
		await fillIn('Hirut Alemu', 'M-2003', 'Welcome, Hirut Alemu!');
		lab.sandbox.faults.next('POST /users', {
			process: 'never',
			response: { status: 201, body: '{}' },
		});
		await fillIn('Meron Abate', 'M-2006', 'That did not work');
		await fillIn('Meron Abate', 'M\u20112006', 'That did not work');
		// No response came: the wallet may exist, so nobody asks for another one.
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
			response: { status: 200, body: '{"success":false,"message":"later"}' },
		});
		const without = await run(id, 'Every morning');
		assert.match(without.error ?? '', /answered 200 with success: "false"/);
	});
});

void describe('deposit-and-transfer-notifications.json', () => {
	test('each event takes its own branch, and others start nothing', async (t) => {
		const id = await publishExample(t, 'deposit-and-transfer-notifications.json');
		const transfer = lab.sandbox.transfer({ amountEtb: 320.5 });
		await lab.sandbox.deliveryEnded(transfer.deliveryId);
		const other = lab.sandbox.emit('disburse.completed', { id: 'other' });
		await lab.sandbox.deliveryEnded(other.deliveryId);
		const deposit = lab.sandbox.deposit({ amountEtb: 1000 });
		await lab.sandbox.deliveryEnded(deposit.deliveryId);

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

test('reconcile-payments.json names each payment that has no event with its hash, user and amount', async (t) => {
	const user = lab.sandbox.books.addUser({ externalId: 'reconciled' }).id;
	const id = await publishExample(t, 'reconcile-payments.json');
	const hashes = ['0xright', '0xother-amount', '0xother-user', '0xtwo', '0xnone', '0xyoung'];
	await addRows(lab.api, PAYMENTS, [
		...hashes.map((txHash) => ({
			reference: txHash,
			name: txHash,
			userId: user,
			amountEtb: 100,
			outcome: 'paid',
			txHash,
			paidAt: txHash === '0xyoung' ? new Date().toISOString() : '2026-01-01T09:00:00Z',
		})),
		// Two payments of one transaction: the event of one closes only that one.
		{
			reference: '0xtwo-other',
			name: '0xtwo-other',
			userId: user,
			amountEtb: 200,
			outcome: 'paid',
			txHash: '0xtwo',
			paidAt: '2026-01-01T09:00:00Z',
		},
		{ reference: 'settled', userId: user, amountEtb: 100, outcome: 'paid' },
	]);
	const events = [
		{ txHash: '0xright', amountEtb: 100, toUserId: user },
		{ txHash: '0xright', amountEtb: 100, toUserId: user },
		{ txHash: '0xother-amount', amountEtb: 1, toUserId: user },
		{ txHash: '0xother-user', amountEtb: 100, toUserId: 'etbw_somebody' },
		{ txHash: '0xtwo', amountEtb: 100, toUserId: user },
		{ id: 'without a hash' },
	];
	for (const data of events) {
		const { deliveryId } = lab.sandbox.emit('disburse.completed', data);
		assert.equal((await lab.sandbox.deliveryEnded(deliveryId)).state, 'delivered');
	}
	const morning = await run(id, 'Every morning');
	assert.deepEqual(
		itemsOf(morning, 'After an hour')
			.map(({ reference }) => reference)
			.sort(),
		['0xnone', '0xother-amount', '0xother-user', '0xtwo-other'],
	);
	assert.match(morning.error ?? '', /^Payments are open: 4 payments have no event: /);
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
		await lab.api.activate(workflowId);
		toUserId = lab.sandbox.books.addUser({ externalId: 'agent-test' }).id;
	});
	after(async () => await model.close());

	/** The outcome and the amount of each payment to this person in the register. */
	const registered = async () =>
		(await rowsOf(lab.api, PAYMENTS))
			.filter((row) => row['userId'] === toUserId)
			.map((row) => [row['outcome'], row['amountEtb']]);

	/** The questions, the calls of the tools, and the agent's output. */
	async function ask(chatInput: string, ...choices: string[]) {
		const { questions, execution } = await chat(lab, workflowId, chatInput, choices);
		assert.equal(questions.length, choices.length);
		return { questions, execution, output: String(only(itemsOf(execution, 'Agent')).output) };
	}

	test('pays only after a person approved', async () => {
		const already = payments();
		const declined = await ask(`Pay 50 ETB to ${toUserId}`, 'Decline');
		assert.match(declined.questions[0] ?? '', new RegExp(`50 ETB.*${toUserId}`));
		assert.equal(payments(), already);
		assert.ok(!reached(declined.execution, 'Pay a user'));
		assert.deepEqual(await registered(), []);

		const { output } = await ask(`Pay 75 ETB to ${toUserId}`, 'Approve');
		assert.match(output, /outcome\W+paid/);
		assert.deepEqual(paid(already), [`${toUserId} 75`]);
		assert.deepEqual(await registered(), [['paid', 75]]);
	});

	test('a second call for the same person in the same message pays nothing more', async () => {
		const already = payments();
		const { output } = await ask(`Pay 60 ETB to ${toUserId} twice`, 'Approve', 'Approve');
		assert.match(output, /outcome\W+alreadyPaid/);
		assert.deepEqual(paid(already), [`${toUserId} 60`]);
	});

	test('a payment that is refused or above the maximum stands in the register with the reason', async () => {
		const refused = { status: 422, body: '{"message":"The wallet is closed"}' };
		lab.sandbox.faults.next('POST /disburse', { process: 'never', response: refused });
		await ask(`Pay 55 ETB to ${toUserId}`, 'Approve');
		await ask(`Pay 501 ETB to ${toUserId}`, 'Approve');
		assert.deepEqual((await registered()).slice(-2), [
			['notPaid', null],
			['notPaid', null],
		]);
	});

	test('the node itself is a tool, which pays after the approval', async () => {
		const Inputs = z.object({ workflowInputs: z.object({ value: z.record(z.string()) }) });
		const example = await readExample('agent-with-approval.json');
		const asTool = (node: (typeof example.nodes)[number]) =>
			node.name === 'Pay a user'
				? {
						...node,
						type: 'n8n-nodes-etb-wallet.etbWalletTool',
						typeVersion: 1,
						parameters: {
							resource: 'disbursement',
							operation: 'create',
							options: {},
							descriptionType: 'manual',
							toolDescription: 'Pays one user',
							...Inputs.parse(node.parameters).workflowInputs.value,
						},
					}
				: node;
		const withTool = { ...example, nodes: example.nodes.map(asTool) };
		const id = await lab.add(await model.inWorkflow(lab.api, withTool));
		const already = payments();
		const { execution } = await chat(lab, id, `Pay 65 ETB to ${toUserId}`, ['Approve']);
		assert.match(String(only(itemsOf(execution, 'Agent')).output), /outcome\W+paid/);
		assert.deepEqual(paid(already), [`${toUserId} 65`]);
	});
});
