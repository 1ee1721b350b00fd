/** The pay gate's workflow in the real n8n: set up by n8n's own Postgres node, called by another workflow, paying through the sandbox. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { PAY, START, list, node, start, workflow } from '../../../test/support/n8n/workflow.mts';
import { callOf, counts } from '../../../test/support/callers.mts';
import { addPostgresCredential, startGateLab } from '../support/gate-lab.mts';
import { logins, rows, schemaText, setRules } from '../support/server.mts';

const gateLab = await startGateLab({ isSetUp: false });
after(async () => await gateLab.stop());
let gateId: string;

test("set up in one query of n8n's Postgres node, by a role that is no superuser, twice", async () => {
	const { lab, database, superuser } = gateLab;
	const query = await schemaText();
	const credentials = { postgres: await addPostgresCredential(lab.api, database, 'setup') };
	const setUp = workflow('Set up', [
		start(),
		node(
			'Set Up',
			'postgres',
			{ operation: 'executeQuery', query, options: {} },
			{ typeVersion: 2.6, credentials },
		),
	]);
	const id = await lab.api.createWorkflow(setUp);
	for (let time = 0; time < 2; time++) {
		const execution = await lab.api.endedExecution(await lab.api.run(id, START), 120_000);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	}
	await superuser.query(
		`create role ${logins.gate} login in role etb_wallet_gate; grant usage on schema etb_wallet to ${logins.gate}`,
	);
	await setRules(superuser, 'main', { most_per_day: 1000 });
	gateId = await gateLab.addGate();
});

test('each item comes back once, in order, with its outcome; a second call pays nobody again', async () => {
	const payments = gateLab.payroll('first', 120);
	const [bad, second, odd] = [payments[7], payments[60], payments[9]];
	assert.ok(bad && second && odd);
	// PostgreSQL keeps neither of the two: nobody of the window is hurt.
	odd.reference = 'first-9\u0000\ud800';
	bad.amountEtb = '1,000';
	second.reference = undefined;
	const { told, execution } = await gateLab.pay(payments, gateId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		told.map(({ toUserId }) => toUserId),
		payments.map(({ toUserId }) => toUserId),
	);
	assert.deepEqual(counts(told), { paid: 118, notPaid: 2 });
	assert.match(told[7]?.message ?? '', /not a plain amount, such as 1250.50: 1,000/);
	assert.equal(told[9]?.reference, 'first-9\ufffd\ufffd');
	assert.match(told[60]?.message ?? '', /Reference is empty/);
	const again = await gateLab.pay(payments, gateId);
	assert.deepEqual(counts(again.told), { alreadyPaid: 118, notPaid: 2 });
	assert.equal(again.told[0]?.txHash, told[0]?.txHash);
	assert.equal(gateLab.times(payments).filter((times) => times !== 1).length, 2);
});

/** Calls the gate with these items as they are, as a person's Execute Sub-workflow does after the gate was chosen from the list. */
async function call(items: object[], value: Record<string, string> = {}) {
	const { api } = gateLab.lab;
	const nodes = [start(), list(items), callOf(PAY, gateId, value)];
	const execution = await api.endedExecution(
		await api.run(await api.createWorkflow(workflow('Caller', nodes)), START),
		120_000,
	);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const told = z.array(z.record(z.unknown())).parse(execution.nodes[PAY]?.[0]?.outputs[0]);
	return told.map(({ outcome, code, name }) => [outcome, code, name].join(' '));
}

test("a call with another mode than pay pays nobody, also if one item has it, and one without pays; the caller's fields come back", async () => {
	const payments = gateLab.payroll('mode', 60).map((payment, index) => ({
		...{ ...payment, name: `n${index}`, requestedBy: 'payroll', outcome: 'ready', paidAt: 'never' },
	}));
	const refused = payments.map(({ name }) => `notPaid settings ${name}`);
	for (const mode of ['dryRun', '', 'Pay', null, 'pay '])
		assert.deepEqual(
			await call(payments.map((payment) => ({ ...payment, mode }))),
			refused,
			`${mode}`,
		);
	assert.deepEqual(
		await call(
			payments.map((payment, index) => (index === 59 ? { ...payment, mode: 'dryRun' } : payment)),
		),
		refused,
	);
	// A mode that got lost in an expression.
	const mapped = {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
	};
	const lost = await call(payments, { ...mapped, mode: '={{ $json.nothing }}' });
	assert.deepEqual(lost, refused);
	assert.equal(
		gateLab.times(payments).reduce((sum, times) => sum + times, 0),
		0,
	);
	const rest = payments.slice(1);
	assert.deepEqual(
		[
			...(await call(payments.slice(0, 1).map((payment) => ({ ...payment, mode: 'pay' })))),
			...(await call(rest)),
		],
		payments.map(({ name }) => `paid paid ${name}`),
	);
});

test('with a credential that is gone nobody is paid, nothing is unknown, and the money is free again', async () => {
	const { superuser } = gateLab;
	const payments = gateLab.payroll('gone', 3);
	const { told } = await gateLab.pay(
		payments,
		await gateLab.addGate({ account: { id: 'gone', name: 'gone' } }),
	);
	assert.deepEqual(counts(told), { notPaid: 3 }, JSON.stringify(told));
	const open = await rows(superuser, z.unknown(), 'select * from etb_wallet.open_payments');
	assert.deepEqual(open, []);
	assert.deepEqual(counts((await gateLab.pay(payments, gateId)).told), { paid: 3 });
});
