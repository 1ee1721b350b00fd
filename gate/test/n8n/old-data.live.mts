/** Old data under the gate's ETB Wallet node, and an n8n that stood still: nobody is paid twice, in the real n8n. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';
import type { Execution } from '../../../demo/n8n-api.mts';
import { N8nTestApi } from '../../../test/support/n8n/n8n-test-api.mts';
import { CREDENTIAL_TYPE, credentialFor } from '../../../demo/examples.mts';
import { startN8n } from '../../../demo/n8n-process.mts';
import { installPackage } from '../../../demo/package-tarball.mts';
import { freePort } from '../../../demo/ports.mts';
import { eventually, owner } from '../../../test/support/lab.mts';
import { counts, nodeResults, type Payment } from '../support/callers.mts';
import {
	beginPaying,
	payThrough,
	publishGate,
	settleByPerson,
	startGateLab,
	toldIn,
	toldItems,
	unpaid,
} from '../support/gate-lab.mts';
import { value } from '../support/server.mts';
import { itemsOf } from '../../../test/support/payroll.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const { lab, superuser, times, payGateId: gateId } = gateLab;
const GATE_TRIGGER = 'When Called by Another Workflow';

const once = (payments: Payment[]) => payments.map(() => 1);

/** The gate's execution for a call, which is one of its own. */
async function executionOfGate(payments: Payment[]): Promise<Execution> {
	const before = await lab.api.executionIds(gateId);
	await gateLab.pay(payments);
	const [id] = (await lab.api.executionIds(gateId)).filter((each) => !before.includes(each));
	assert.ok(id !== undefined);
	return await lab.api.endedExecution(id);
}

const OTHER_EXECUTION = /Not sent: it was claimed by another execution/;

test('the output of Claim, pinned in the gate and run again, pays nobody, whatever the first run did', async () => {
	const payments = gateLab.payroll('pinned', 5);
	const first = await executionOfGate(payments);
	assert.deepEqual(times(payments), once(payments));
	const pinned = {
		[GATE_TRIGGER]: payments.map((json) => ({ json })),
		Claim: itemsOf(first, 'Claim').map((json) => ({ json })),
	};
	await lab.api.changeWorkflow(gateId, () => ({ pinData: pinned }));
	try {
		// As if the first run had been cut off in the middle: then nothing but the node knows.
		for (const isOpen of [false, true]) {
			if (isOpen)
				await superuser.query(`set session_replication_role = replica;
					update etb_wallet.payment set state = 'sending', ended_at = null, answer = null, tx_hash = null where reference like 'pinned-%';
					reset session_replication_role`);
			const again = await lab.api.endedExecution(await lab.api.run(gateId, GATE_TRIGGER));
			assert.equal(again.status, 'success', again.error);
			const answers = itemsOf(again, 'ETB Wallet');
			assert.deepEqual(counts(nodeResults(answers)), { unknown: 5 });
			assert.match(JSON.stringify(answers), OTHER_EXECUTION);
			const told = toldItems.parse(itemsOf(again, 'Back in Order'));
			assert.deepEqual(counts(told), isOpen ? { unknown: 5 } : { alreadyPaid: 5 });
			if (isOpen) assert.match(told[0]?.message ?? '', OTHER_EXECUTION);
		}
	} finally {
		await lab.api.changeWorkflow(gateId, () => ({ pinData: {} }));
	}
	assert.deepEqual(times(payments), once(payments));
	// And the gate does not hand them out again.
	const { told } = await gateLab.pay(payments);
	assert.deepEqual(counts(told), { unknown: 5 });
	assert.deepEqual(times(payments), once(payments));
});

test('Retry execution after a failed Record: what was paid is recorded, and the rest is paid', async () => {
	const payments = gateLab.payroll('retried', 120);
	const signature = '(text, uuid, json, json, text)';
	await superuser.query(`alter function etb_wallet.record${signature} rename to record_gone`);
	const failed = await executionOfGate(payments);
	await superuser.query(`alter function etb_wallet.record_gone${signature} rename to record`);
	assert.equal(failed.status, 'error');
	assert.match(failed.error ?? '', /Record/);
	assert.equal(times(payments).filter((count) => count === 1).length, 50);

	const retried = await lab.api.endedExecution(await lab.api.retryExecution(failed.id), 60_000);
	assert.equal(retried.status, 'success', retried.error);
	const told = toldItems.parse(itemsOf(retried, 'Outcomes'));
	assert.deepEqual(counts(told), { paid: 120 });
	assert.deepEqual(
		told.map(({ toUserId }) => toUserId),
		payments.map(({ toUserId }) => toUserId),
	);
	assert.deepEqual(times(payments), once(payments));
});

test('n8n stands still beyond the lease, a person settles, another n8n pays the rest, and n8n goes on: nobody is paid twice', async (context) => {
	const folder = await mkdtemp(join(tmpdir(), 'other-n8n-'));
	await installPackage(folder);
	const other = await startN8n({ userFolder: folder, port: await freePort() });
	context.after(async () => {
		lab.sandbox.setLatency(0);
		await other.stop();
		await rm(folder, { recursive: true, force: true });
	});
	const api = new N8nTestApi(other.url);
	await api.setUpOwner(owner);
	const login = gateLab.login('Pay gate');
	const otherGate = await publishGate(api, {
		'ETB Wallet account': await api.createCredential(
			'account',
			CREDENTIAL_TYPE,
			credentialFor(lab.sandbox),
		),
		'Pay gate': await api.createCredential('Pay gate', 'postgres', login),
	});

	// Shorter than a person can set it.
	await superuser.query("update etb_wallet.rules set lease = '16 seconds'");
	lab.sandbox.setLatency(1_500);
	const payments = gateLab.payroll('frozen', 50);
	const running = await beginPaying(lab.api, gateId, payments);
	const paying = () => lab.sandbox.requests.filter(({ bodyText }) => bodyText.includes('frozen-'));
	// Twenty are sent, of which ten wait for their responses: none is just being sent.
	await eventually('the second ten', () => (paying().length === 20 ? true : undefined), 30_000);
	process.kill(-lab.n8n.pid, 'SIGSTOP');
	try {
		await eventually('the end of the lease', async () => {
			const ended =
				"select count(*)::int from etb_wallet.open_payments where state = 'unknown' and reference like 'frozen-%'";
			return (await value(superuser, z.number(), ended)) === 50 ? true : undefined;
		});
		assert.equal(await settleByPerson(superuser, lab.sandbox, payments), 50);
		lab.sandbox.setLatency(0);
		const { told } = await payThrough(api, otherGate, payments);
		assert.deepEqual(counts(told), { alreadyPaid: 20, paid: 30 });
	} finally {
		process.kill(-lab.n8n.pid, 'SIGCONT');
	}
	const woken = await lab.api.endedExecution(running, 60_000);
	const told = toldIn(woken);
	context.diagnostic(`the one that stood still tells ${JSON.stringify(counts(told))}`);
	// Nobody has to be settled, and what it says is true: all are paid.
	assert.deepEqual(unpaid(told), []);
	assert.deepEqual(times(payments), once(payments));
});
