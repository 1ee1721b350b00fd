/** Bad days of the pay gate in the real n8n: a PostgreSQL that is gone, also for a while or in the middle of a query; an n8n that is killed. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { freePort } from '../../../demo/ports.mts';
import { eventually } from '../../../test/support/lab.mts';
import { counts, type Payment } from '../support/callers.mts';
import {
	beginPaying,
	openOf,
	publishGate,
	settleByPerson,
	startGateLab,
	toldIn,
	unpaid,
} from '../support/gate-lab.mts';
import { startWire } from '../support/wire.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const { lab, times } = gateLab;
const wire = await startWire(gateLab.server);
after(async () => await wire.close());
const gateId = await gateLab.addGate({ port: wire.port });

const once = (payments: Payment[]) => payments.map(() => 1);
const open = async (payments: Payment[]) => await openOf(gateLab.superuser, payments);

/** After each bad day: what the gate says about each payment is true, nothing is free that was paid, and in the end all are paid once. */
async function isTrueAndEndsWell(payments: Payment[]): Promise<Record<string, number>> {
	const before = times(payments);
	assert.ok(
		before.every((count) => count <= 1),
		'nobody is paid twice',
	);
	const { told } = await gateLab.pay(payments, gateId);
	for (const [index, { outcome, message }] of told.entries()) {
		const expected = before[index] === 1 ? ['alreadyPaid', 'unknown'] : ['paid', 'unknown'];
		assert.ok(expected.includes(outcome), `${index}: ${before[index]} ${outcome} ${message}`);
	}
	await settleByPerson(gateLab.superuser, lab.sandbox, payments);
	const last = await gateLab.pay(payments, gateId);
	assert.deepEqual(unpaid(last.told), []);
	assert.deepEqual(times(payments), once(payments));
	return counts(told);
}

test('without PostgreSQL, or its credential, one error says what to do, and nothing is sent', async () => {
	const { credentials } = gateLab;
	const before = lab.sandbox.requests.length;
	// n8n takes a credential by its name when its id is gone, unless two have the name.
	await lab.api.createCredential('Pay gate', 'postgres', gateLab.login('Pay gate'));
	for (const [id, why, whatToDo] of [
		[
			await gateLab.addGate({ port: await freePort() }),
			/Connection refused/,
			/see that PostgreSQL runs and that n8n reaches it: Host and Port/,
		],
		[
			await publishGate(lab.api, { ...credentials, 'Pay gate': 'gone' }),
			/n8n did not get as far as asking it/,
			/open Claim in this execution/,
		],
	] as const) {
		const { execution, told } = await gateLab.pay(gateLab.payroll(`bad ${id}`, 2), id);
		assert.equal(execution.status, 'error');
		assert.deepEqual(told, []);
		const said = `${why.source}.*\\. Nothing was sent\\. What to do: ${whatToDo.source}`;
		assert.match(execution.error ?? '', new RegExp(said));
	}
	assert.equal(lab.sandbox.requests.length, before);
});

test('with an account that is gone nobody is paid, nothing is unknown, and the money is free again', async () => {
	const payments = gateLab.payroll('gone', 3);
	const ids = { ...gateLab.credentials, 'ETB Wallet account': 'gone' };
	const { told } = await gateLab.pay(payments, await publishGate(lab.api, ids));
	assert.deepEqual(counts(told), { notPaid: 3 }, JSON.stringify(told));
	assert.deepEqual(await open(payments), []);
	assert.deepEqual(counts((await gateLab.pay(payments, gateId)).told), { paid: 3 });
});

void describe('a connection that is cut', () => {
	const places = [
		['when claim is sent', 'etb_wallet.claim(', 'asked'],
		['when claim is answered', 'etb_wallet.claim(', 'answered'],
		['when record is sent', 'etb_wallet.record(', 'asked'],
		['when record is answered', 'etb_wallet.record(', 'answered'],
	] as const;
	for (const [where, query, at] of places) {
		test(where, async (context) => {
			const payments = gateLab.payroll(`cut ${where}`, 60);
			const cut = wire.cutAt({ query, at });
			const { told, execution } = await gateLab.pay(payments, gateId);
			await cut;
			context.diagnostic(`told ${JSON.stringify(counts(told))} ${execution.error ?? ''}`);
			if (query.includes('record')) {
				assert.deepEqual(counts(told), { paid: 60 });
				assert.deepEqual(await open(payments), []);
			} else {
				assert.deepEqual(new Set(times(payments)), new Set([0]));
				assert.equal((await open(payments)).length, at === 'asked' ? 0 : 50);
			}
			await isTrueAndEndsWell(payments);
		});
	}

	test('while it pays', async () => {
		const payments = gateLab.payroll('cut while it pays', 60);
		let isCut = false;
		lab.sandbox.faults.plan('POST /disburse', () => {
			if (!isCut) wire.cutAll();
			isCut = true;
			return undefined;
		});
		const { told } = await gateLab.pay(payments, gateId);
		lab.sandbox.faults.clear();
		assert.ok(isCut);
		assert.deepEqual(counts(told), { paid: 60 });
		await isTrueAndEndsWell(payments);
	});
});

/** Begins to pay 200; resolves to the execution once so many are paid. */
async function paying(name: string, count: number) {
	const payments = gateLab.payroll(name, 200);
	lab.sandbox.setLatency(20);
	const running = await beginPaying(lab.api, gateId, payments);
	await eventually(`${count} payments`, () =>
		times(payments).filter((each) => each > 0).length >= count ? true : undefined,
	);
	return { payments, running };
}

test('PostgreSQL stops and starts again in the middle: nobody is paid twice, and all is told truly', async (context) => {
	const { payments, running } = await paying('restart', 60);
	await gateLab.restartPostgres();
	const execution = await lab.api.endedExecution(running, 120_000);
	lab.sandbox.setLatency(0);
	context.diagnostic(`${execution.status}: ${JSON.stringify(counts(toldIn(execution)))}`);
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});

test('n8n is killed in the middle: nobody is paid twice, and what it was sending is not free', async (context) => {
	const { payments } = await paying('killed', 70);
	lab.n8n.kill();
	await lab.n8n.exited;
	lab.sandbox.setLatency(0);
	assert.equal((await open(payments)).length, 50);
	await lab.restartN8n();
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});
