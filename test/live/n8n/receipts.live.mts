/** receipt-to-payee.json in the real n8n: one message for each payment, in two languages, with the date in both calendars. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WorkflowFile } from '../../../lab/n8n/api.mts';
import { readExample } from '../../../lab/n8n/examples.mts';
import { startMailServer, type MailServer } from '../../../lab/mail-server.mts';
import { eventually, executionsOf, startLab, type Lab } from '../../../lab/lab.mts';

const SMTP = 'Our mail server';
/** Payees of the test. */
const COUNT = 50;

let lab: Lab;
let mail: MailServer;
let workflowId: string;
before(async () => {
	// Retries of events come at once instead of after 30 s.
	lab = await startLab({ sandbox: { timeFactor: 0.01 } });
	mail = await startMailServer();
	const smtp = {
		host: '127.0.0.1',
		port: mail.port,
		secure: false,
		user: '',
		password: '',
		disableStartTls: true,
	};
	const credentials = {
		smtp: { id: await lab.api.createCredential(SMTP, 'smtp', smtp), name: SMTP },
	};
	const workflow = await readExample('receipt-to-payee.json');
	const nodes = workflow.nodes.map((node) =>
		node.name === 'Send the receipt' ? { ...node, credentials } : node,
	);
	workflowId = await lab.add({ ...workflow, nodes });
	await lab.api.activate(workflowId);
	await addPayees();
});
after(async () => {
	await mail.close();
	await lab.stop();
});

const node = (name: string, type: string, typeVersion: number, parameters: object) => ({
	id: name,
	name,
	type,
	typeVersion,
	position: [0, 0],
	parameters,
});

/** Users of the sandbox, with their addresses in the data table of the payroll; the last one has none. */
async function addPayees(): Promise<void> {
	const payees = Array.from({ length: COUNT + 1 }, (_, index) => {
		const { id } = lab.sandbox.books.addUser({ externalId: `R-${index}` });
		return {
			userId: id,
			name: `Payee ${index}`,
			email: index === COUNT ? '' : `payee${index}@example.com`,
		};
	});
	const columns = ['userId', 'name', 'email'];
	const table = { __rl: true, mode: 'name', value: 'ETB payroll from a file' };
	await lab.api.createDataTable(
		'ETB payroll from a file',
		columns.map((name) => ({ name, type: 'string' })),
	);
	const id = await lab.api.createWorkflow(
		WorkflowFile.parse({
			name: 'Add payees',
			nodes: [
				node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
				node('Payees', 'n8n-nodes-base.code', 2, {
					jsCode: `return ${JSON.stringify(payees)}.map((json) => ({ json }))`,
				}),
				node('Add', 'n8n-nodes-base.dataTable', 1.1, {
					resource: 'row',
					operation: 'insert',
					dataTableId: table,
					columns: {
						mappingMode: 'defineBelow',
						value: Object.fromEntries(columns.map((name) => [name, `={{ $json.${name} }}`])),
						schema: columns.map((name) => ({
							id: name,
							displayName: name,
							type: 'string',
							display: true,
						})),
					},
				}),
			],
			connections: {
				Start: { main: [[{ node: 'Payees', type: 'main', index: 0 }]] },
				Payees: { main: [[{ node: 'Add', type: 'main', index: 0 }]] },
			},
		}),
	);
	assert.equal((await lab.api.endedExecution(await lab.api.run(id, 'Start'))).status, 'success');
}

const userId = (index: number): string =>
	lab.sandbox.books.users().find(({ externalId }) => externalId === `R-${index}`)?.id ?? '';
/** What a payment's event says of it. */
const payment = (index: number) => ({
	id: `d-${index}`,
	toUserId: userId(index),
	amountEtb: 1000 + index,
	txHash: `0x${String(index).padStart(64, '0')}`,
});
const sentTo = (index: number) =>
	mail.mails.filter(({ to }) => to.includes(`payee${index}@example.com`));

test('50 payments, events sent twice, a restart in between: 50 messages, one each', async () => {
	const { sandbox } = lab;
	const events = Array.from({ length: COUNT }, (_, index) => payment(index));
	const half = events.slice(0, COUNT / 2);
	const settled = half.map((data) => sandbox.emit('disburse.completed', data));
	for (const { deliveryId } of settled) await sandbox.deliverySettled(deliveryId);
	await lab.n8n.stop();
	await lab.restartN8n();
	// Both halves again: the service sends each event under a new delivery, as after an answer that was lost.
	const all = [...events, ...half].map((data) => sandbox.emit('disburse.completed', data));
	for (const { deliveryId } of all)
		assert.equal((await sandbox.deliverySettled(deliveryId)).state, 'delivered');
	assert.deepEqual(
		events.map((_, index) => sentTo(index).length),
		events.map(() => 1),
	);
	assert.equal(mail.mails.length, COUNT);
});

test('one message says what was paid, in two languages', () => {
	const [received] = sentTo(7);
	assert.equal(received?.subject, 'የክፍያ ደረሰኝ / Receipt: 1,007.00 ETB');
	assert.match(
		received.text,
		/^Payee 7፣\n1,007\.00 ብር ተከፍሎዎታል።\nቀን፦ .* ዓ\.ም\. \(.*\)\nየግብይት መለያ፦ 0x0{63}7\n\nPayee 7,\nYou were paid 1,007\.00 ETB\.\nDate: .*\nTransaction: 0x0{63}7$/,
	);
});

test('a payee without an address gets nothing, and nothing fails', async () => {
	const already = mail.mails.length;
	const { deliveryId } = lab.sandbox.emit('disburse.completed', payment(COUNT));
	assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'delivered');
	assert.equal(mail.mails.length, already);
});

test('a message that the mail server refuses ends in red, and is sent when the event comes again', async () => {
	const data = { ...payment(3), txHash: '0xrefused' };
	const already = sentTo(3).length;
	mail.refuse(true);
	const { deliveryId } = lab.sandbox.emit('disburse.completed', data);
	const failed = await eventually('the execution in red', async () => {
		const [newest] = await lab.api.executionIds(workflowId);
		const execution = await lab.api.endedExecution(newest ?? '');
		return execution.status === 'error' ? execution : undefined;
	});
	assert.match(failed.error ?? '', /No receipt was sent to Payee 3 \(payee3@example\.com\): /);
	mail.refuse(false);
	const { state } = await lab.sandbox.deliverySettled(deliveryId);
	assert.equal(state, 'delivered');
	assert.equal(sentTo(3).length, already + 1);
});

for (const [field, data] of [
	['txHash', { amountEtb: 5 }],
	['amountEtb', { txHash: '0xamount', amountEtb: '12,400.50' }],
	['amountEtb', { txHash: '0xamount', amountEtb: null }],
] as const) {
	test(`an event with ${JSON.stringify(data)} sends nothing and ends in red`, async () => {
		const already = mail.mails.length;
		const { deliveryId } = lab.sandbox.emit('disburse.completed', { toUserId: userId(1), ...data });
		assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'failed');
		const [newest] = await lab.api.executionIds(workflowId);
		assert.match(
			(await lab.api.endedExecution(newest ?? '')).error ?? '',
			new RegExp(`1 of 1 payments have no ${field}: no receipt was sent`),
		);
		assert.equal(mail.mails.length, already);
	});
}

test('called after a payment, it sends to who was paid; the event of it sends nothing more', async () => {
	const [one, other] = [payment(11), payment(12)].map((data) => ({
		...data,
		txHash: `${data.txHash}-called`,
	}));
	const already = mail.mails.length;
	const items = [
		{ ...one, outcome: 'paid' },
		{ ...other, outcome: 'unknown' },
		{ ...one, outcome: 'paid' },
	];
	const id = await lab.api.createWorkflow(
		WorkflowFile.parse({
			name: 'After a payroll',
			nodes: [
				node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
				node('Paid', 'n8n-nodes-base.code', 2, {
					jsCode: `return ${JSON.stringify(items)}.map((json) => ({ json }))`,
				}),
				node('Receipts', 'n8n-nodes-base.executeWorkflow', 1.4, {
					workflowId: { __rl: true, mode: 'id', value: workflowId },
					options: {},
				}),
			],
			connections: {
				Start: { main: [[{ node: 'Paid', type: 'main', index: 0 }]] },
				Paid: { main: [[{ node: 'Receipts', type: 'main', index: 0 }]] },
			},
		}),
	);
	const execution = await lab.api.endedExecution(await lab.api.run(id, 'Start'));
	assert.equal(execution.status, 'success', execution.error);
	const { deliveryId } = lab.sandbox.emit('disburse.completed', one ?? {});
	assert.equal((await lab.sandbox.deliverySettled(deliveryId)).state, 'delivered');
	assert.deepEqual(
		mail.mails.slice(already).map(({ to }) => to),
		[['payee11@example.com']],
	);
	await executionsOf(lab, workflowId, 1);
	// Who came late has taken its row back: had the first one failed to send, the next event would send.
	const reader = await lab.api.createWorkflow(
		WorkflowFile.parse({
			name: 'Receipts of a payment',
			nodes: [
				node('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
				node('Rows', 'n8n-nodes-base.dataTable', 1.1, {
					...{ resource: 'row', operation: 'get', returnAll: true },
					dataTableId: { __rl: true, mode: 'name', value: 'ETB receipts' },
					filters: { conditions: [{ keyName: 'txHash', keyValue: one?.txHash }] },
				}),
			],
			connections: { Start: { main: [[{ node: 'Rows', type: 'main', index: 0 }]] } },
		}),
	);
	const read = await lab.api.endedExecution(await lab.api.run(reader, 'Start'));
	const [row, ...others] = read.nodes['Rows']?.[0]?.outputs[0] ?? [];
	assert.ok(row?.['sentAt']);
	assert.deepEqual(others, []);
});
