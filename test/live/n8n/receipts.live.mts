/**
 * receipt-to-payee.json in the real n8n: one message for each payment, in two languages, with the date in both
 * calendars.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { startMailServer, type MailServer } from '../../support/mail-server.mts';
import { eventually, startLab, type Lab } from '../../support/lab.mts';
import { PEOPLE, addRows } from '../../support/people.mts';

const SMTP = 'Our mail server';
/** Payees of the test. */
const COUNT = 12;

let lab: Lab;
let mail: MailServer;
let workflowId: string;
before(async () => {
	// Retries of events come after 3 s instead of 30.
	lab = await startLab({ sandbox: { timeFactor: 0.1 } });
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

/** Users of the sandbox, with their addresses in the data table of the people; the last one has none. */
async function addPayees(): Promise<void> {
	const payees = Array.from({ length: COUNT + 1 }, (_, index) => {
		const { id } = lab.sandbox.books.addUser({ externalId: `R-${index}` });
		return {
			userId: id,
			name: `Payee ${index}`,
			email: index === COUNT ? '' : `payee${index}@example.com`,
		};
	});
	await addRows(lab.api, PEOPLE, payees);
}

const userId = (index: number): string =>
	lab.sandbox.books.users().find(({ externalId }) => externalId === `R-${index}`)?.id ?? '';
/** The data of a payment's event. */
const payment = (index: number) => ({
	id: `d-${index}`,
	toUserId: userId(index),
	amountEtb: 1000 + index,
	txHash: `0x${String(index).padStart(64, '0')}`,
});
const sentTo = (index: number) =>
	mail.mails.filter(({ to }) => to.includes(`payee${index}@example.com`));

test('12 payments, events sent twice: 12 messages, one each', async () => {
	const { sandbox } = lab;
	const events = Array.from({ length: COUNT }, (_, index) => payment(index));
	// The service sends each event under a new delivery, as after a response that was lost.
	for (const each of [events, events]) {
		const sent = each.map((data) => sandbox.emit('disburse.completed', data));
		for (const { deliveryId } of sent)
			assert.equal((await sandbox.deliveryEnded(deliveryId)).state, 'delivered');
	}
	assert.deepEqual(
		events.map((_, index) => sentTo(index).length),
		events.map(() => 1),
	);
	assert.equal(mail.mails.length, COUNT);
});

test('one message says what was paid, in two languages', () => {
	const [received] = sentTo(7);
	assert.equal(received?.subject, 'ክፍያ ደርሷል / You were paid 1007 ETB');
	assert.match(
		received.text,
		/^ሰላም Payee 7፣\n1007 ብር ተከፍሎዎታል።\nቀን፦ .*\p{Script=Ethiopic}.*\n\nDear Payee 7,\nyou were paid 1007 ETB on \d+ \w+ 20\d\d, \d\d:\d\d\.\nTransaction: 0x0{63}7\n\n.*\p{Script=Ethiopic}.*\nIf this message comes twice, it is one payment\.$/u,
	);
});

test('a payee without an address gets nothing, and nothing fails', async () => {
	const already = mail.mails.length;
	const { deliveryId } = lab.sandbox.emit('disburse.completed', payment(COUNT));
	assert.equal((await lab.sandbox.deliveryEnded(deliveryId)).state, 'delivered');
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
	assert.match(failed.error ?? '', /^Send the receipt: /);
	mail.refuse(false);
	const { state } = await lab.sandbox.deliveryEnded(deliveryId);
	assert.equal(state, 'delivered');
	assert.equal(sentTo(3).length, already + 1);
});
