/** Bad days of the pay gate in the real n8n: a PostgreSQL that is not right, gone for a while, or cut off at each step; an n8n that is killed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { freePort } from '../../../demo/ports.mts';
import { eventually } from '../../../test/support/lab.mts';
import { counts, type Payment } from '../../../test/support/callers.mts';
import {
	beginPaying,
	gateWorkflow,
	openOf,
	settleByPerson,
	startGateLab,
	toldIn,
	unpaid,
} from '../support/gate-lab.mts';
import { startWire } from '../support/wire.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const wire = await startWire(gateLab.server);
after(async () => await wire.close());
const gateId = await gateLab.addGate({
	address: { ...gateLab.database, host: '127.0.0.1', port: wire.port },
});

const { times } = gateLab;
const once = (payments: Payment[]) => payments.map(() => 1);
const requests = () => gateLab.lab.sandbox.requests.length;

const open = async (payments: Payment[]) => await openOf(gateLab.superuser, payments);

/** Whatever happened: what the gate says of each is true, nothing is free that was paid, and in the end all are paid once. */
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
	await settleByPerson(gateLab.superuser, gateLab.lab.sandbox, payments);
	const last = await gateLab.pay(payments, gateId);
	assert.deepEqual(unpaid(last.told), []);
	assert.deepEqual(times(payments), once(payments));
	return counts(told);
}

void describe('a PostgreSQL that is not right: one error that names what to do, and nothing is sent', () => {
	/** What a person finds in the failed execution. */
	async function failure(id: string): Promise<string> {
		const before = requests();
		const { execution, told } = await gateLab.pay(gateLab.payroll(`bad ${randomUUID()}`, 2), id);
		assert.equal(execution.status, 'error');
		assert.deepEqual(told, []);
		assert.equal(requests(), before);
		return execution.error ?? '';
	}

	const said = (why: RegExp, whatToDo: RegExp) =>
		new RegExp(`${why.source}.*\\. Nothing was sent\\. What to do: ${whatToDo.source}`);

	test('no PostgreSQL', async () => {
		const address = { host: '127.0.0.1', port: await freePort(), database: 'gate' };
		assert.match(
			await failure(await gateLab.addGate({ address })),
			said(/Connection refused/, /see that PostgreSQL runs and that n8n reaches it: Host and Port/),
		);
	});

	test('a credential that is gone', async () => {
		const { lab, account } = gateLab;
		const id = await lab.api.createWorkflow(
			await gateWorkflow({ id: 'gone', name: 'gone' }, account),
		);
		await lab.api.activate(id);
		assert.match(
			await failure(id),
			said(/n8n did not get as far as asking it/, /open Claim in this execution/),
		);
	});
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

	test('while it pays', async (context) => {
		const { sandbox } = gateLab.lab;
		const payments = gateLab.payroll('cut while it pays', 60);
		let isCut = false;
		sandbox.faults.plan('POST /disburse', () => {
			if (!isCut) wire.cutAll();
			isCut = true;
			return undefined;
		});
		const { told, execution } = await gateLab.pay(payments, gateId);
		sandbox.faults.clear();
		assert.ok(isCut);
		context.diagnostic(`told ${JSON.stringify(counts(told))} ${execution.error ?? ''}`);
		assert.deepEqual(counts(told), { paid: 60 });
		await isTrueAndEndsWell(payments);
	});
});

async function untilPaid(payments: Payment[], count: number): Promise<void> {
	await eventually(`${count} payments`, () =>
		times(payments).filter((each) => each > 0).length >= count ? true : undefined,
	);
}

test('PostgreSQL stops and starts again in the middle: nobody is paid twice, and all is told truly', async (context) => {
	const { lab } = gateLab;
	const payments = gateLab.payroll('restart', 200);
	lab.sandbox.setLatency(20);
	const running = await beginPaying(lab.api, gateId, payments);
	await untilPaid(payments, 60);
	await gateLab.restartPostgres();
	const execution = await lab.api.endedExecution(running, 120_000);
	lab.sandbox.setLatency(0);
	context.diagnostic(
		`${execution.status}: ${JSON.stringify(counts(toldIn(execution)))} ${execution.error ?? ''}`,
	);
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});

test('n8n is killed in the middle: nobody is paid twice, and what it was sending is not free', async (context) => {
	const { lab } = gateLab;
	const payments = gateLab.payroll('killed', 200);
	lab.sandbox.setLatency(20);
	await beginPaying(lab.api, gateId, payments);
	await untilPaid(payments, 70);
	lab.n8n.kill();
	await lab.n8n.exited;
	lab.sandbox.setLatency(0);
	assert.equal((await open(payments)).length, 50);
	await lab.restartN8n();
	context.diagnostic(`then ${JSON.stringify(await isTrueAndEndsWell(payments))}`);
});
