/** The workflow of the gate in the real n8n, called by another one: what it makes of items, and of their modes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { PAY, START, callOf, list, start, workflow } from '../../../test/support/n8n/workflow.mts';
import { counts } from '../support/callers.mts';
import { startGateLab } from '../support/gate-lab.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());

test('each item comes back once, in order, with its outcome; a second call pays nobody again', async () => {
	const payments = gateLab.payroll('first', 120);
	const [bad, second, odd] = [payments[7], payments[60], payments[9]];
	assert.ok(bad && second && odd);
	// PostgreSQL keeps neither of the two: nobody of the window is hurt.
	odd.reference = 'first-9\u0000\ud800';
	bad.amountEtb = '1,000';
	second.reference = undefined;
	const { told, execution } = await gateLab.pay(payments);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		told.map(({ toUserId }) => toUserId),
		payments.map(({ toUserId }) => toUserId),
	);
	assert.deepEqual(counts(told), { paid: 118, notPaid: 2 });
	assert.match(told[7]?.message ?? '', /not a plain amount, such as 1250.50: 1,000/);
	assert.equal(told[9]?.reference, 'first-9\ufffd\ufffd');
	assert.match(told[60]?.message ?? '', /Reference is empty/);
	const again = await gateLab.pay(payments);
	assert.deepEqual(counts(again.told), { alreadyPaid: 118, notPaid: 2 });
	assert.equal(again.told[0]?.txHash, told[0]?.txHash);
	assert.equal(gateLab.times(payments).filter((times) => times !== 1).length, 2);
});

/** Calls the gate with these items as they are, as a person's Execute Sub-workflow does after the gate was chosen from the list. */
async function call(items: object[], value: Record<string, string> = {}) {
	const nodes = [start(), list(items), callOf(PAY, gateLab.payGateId, value)];
	const id = await gateLab.lab.api.createWorkflow(workflow('Caller', nodes));
	const execution = await gateLab.run(id, START);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const told = z.array(z.record(z.unknown())).parse(execution.nodes[PAY]?.[0]?.outputs[0]);
	return told.map(({ outcome, code, name }) => [outcome, code, name].join(' '));
}

test("a call with another mode than pay pays nobody, also if one item has it, and one without pays; the caller's fields come back", async () => {
	const payments = gateLab.payroll('mode', 60).map((payment, index) => ({
		...{ ...payment, name: `n${index}`, requestedBy: 'payroll', outcome: 'ready', paidAt: 'never' },
	}));
	const refused = payments.map(({ name }) => `notPaid settings ${name}`);
	for (const mode of ['dryRun', '', null])
		assert.deepEqual(await call(payments.map((each) => ({ ...each, mode }))), refused, `${mode}`);
	const last = payments.map((each, index) => (index === 59 ? { ...each, mode: 'dryRun' } : each));
	assert.deepEqual(await call(last), refused);
	// A mode that got lost in an expression.
	const mapped = {
		reference: '={{ $json.reference }}',
		toUserId: '={{ $json.toUserId }}',
		amountEtb: '={{ $json.amountEtb }}',
	};
	assert.deepEqual(await call(payments, { ...mapped, mode: '={{ $json.nothing }}' }), refused);
	assert.deepEqual(new Set(gateLab.times(payments)), new Set([0]));
	const [first, ...rest] = payments;
	const told = [...(await call([{ ...first, mode: 'pay' }])), ...(await call(rest))];
	assert.deepEqual(
		told,
		payments.map(({ name }) => `paid paid ${name}`),
	);
});
