/** 1,500 payments through the gate while the service fails at random: by the sandbox's books nobody is paid twice, and every outcome is true. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import {
	counts,
	settleByPerson,
	startGateLab,
	unpaid,
	type Payment,
} from '../../support/gate/gate-lab.mts';
import { value } from '../../support/gate/server.mts';

const SEED = process.env.GATE_SEED ?? String(Date.now() % 1_000_000);
const CALLERS = 5;
const PAYMENTS = Number(process.env.GATE_PAYMENTS ?? 1_500) / CALLERS;
/** In ms, that the node waits for an answer. */
const TIMEOUT = 250;

/** A number from 0 to 1 that depends on the seed and the parts only, not on the order of requests. */
const chance = (...parts: string[]): number =>
	createHash('sha256')
		.update([SEED, ...parts].join('|'))
		.digest()
		.readUInt32BE(0) /
	2 ** 32;

const answer = (status: number, body: object, process: Fault['process']): Fault => ({
	process,
	answer: { status, headers: { 'retry-after': '0' }, body: JSON.stringify(body) },
});

const faults: Array<Fault | PresetName> = [
	'timeoutAfterPaying',
	'timeoutBeforePaying',
	'error500AfterPaying',
	'error500BeforePaying',
	'resetAfterPaying',
	'resetBeforePaying',
	'cutBody',
	'emptyBody',
	'invalidJson',
	'switchingProtocols',
	answer(503, {}, 'before-answer'),
	answer(429, {}, 'never'),
	answer(408, {}, 'before-answer'),
	answer(422, { error: { message: 'The wallet is closed' } }, 'never'),
	answer(200, { success: false }, 'never'),
	answer(200, { success: true, data: { success: false } }, 'before-answer'),
	{ process: 'before-answer', answer: 'normal', delayMs: TIMEOUT / 2 },
	{ process: 'before-answer', answer: 'normal', delayMs: TIMEOUT * 2 },
	{ process: 'before-answer', answer: 'drip', dripEveryMs: TIMEOUT / 5 },
	{ process: 'never', answer: 'drip', dripEveryMs: TIMEOUT / 5 },
];

const gateLab = await startGateLab();
after(async () => await gateLab.stop());

test(`${CALLERS * PAYMENTS} payments with random faults (GATE_SEED=${SEED})`, async (context) => {
	const { lab, superuser } = gateLab;
	const gateId = await gateLab.addGate({ options: { concurrency: 50, timeout: TIMEOUT } });
	const lists = Array.from({ length: CALLERS }, (_, index) =>
		gateLab.payroll(`fault-${index}`, PAYMENTS),
	);
	const payments = lists.flat();
	const times = () => gateLab.times(payments);
	const requested = new Map<string, number>();
	lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
		const { toUserId } = z.object({ toUserId: z.string() }).parse(JSON.parse(bodyText));
		const count = (requested.get(toUserId) ?? 0) + 1;
		requested.set(toUserId, count);
		if (chance(toUserId, String(count), 'fails') > 0.5) return undefined;
		return faults[Math.floor(chance(toUserId, String(count)) * faults.length)];
	});

	/** Two callers for each list, so that they meet. */
	const payAll = async (listed: Payment[][], by = gateId) =>
		(await Promise.all(listed.map(async (list) => await gateLab.pay(list, by)))).map(
			({ told, execution }, index) => {
				assert.equal(execution.status, 'success', execution.error);
				assert.equal(told.length, listed[index]?.length);
				return told;
			},
		);
	const told = (await payAll(lists)).flat();
	const after = times();
	context.diagnostic(`told at first ${JSON.stringify(counts(told))}`);
	const isTrue = (outcome: string, count: number): boolean => {
		if (outcome === 'paid' || outcome === 'alreadyPaid') return count === 1;
		return outcome === 'notPaid' ? count === 0 : outcome === 'unknown' && count <= 1;
	};
	const untrue = told.filter(({ outcome }, index) => !isTrue(outcome, after[index] ?? 2));
	assert.deepEqual(untrue, []);

	// Again, by two callers for each: what was refused is paid, what is unknown stays so.
	const again = await payAll([...lists, ...lists]);
	lab.sandbox.faults.clear();
	const afterAgain = times();
	const outcomes = again.flat().map(({ outcome }) => outcome);
	const untrueAgain = outcomes.filter((outcome, index) => {
		const count = afterAgain[index % payments.length] ?? 2;
		const other = outcomes[(index + payments.length) % outcomes.length] ?? '';
		// What was refused to one caller, the other one sends.
		const wasSentByOther = outcome === 'notPaid' && ['paid', 'unknown'].includes(other);
		return !isTrue(outcome, count) && !(wasSentByOther && count === 1);
	});
	assert.deepEqual(untrueAgain, []);
	context.diagnostic(`told by ten callers then ${JSON.stringify(counts(again.flat()))}`);

	// A person asks the service about each that is unknown, once it is done with its slowest answers and the leases are
	// over, which is made short here; then all are paid.
	await sleep(4 * TIMEOUT);
	const sending = "select count(*)::int from etb_wallet.open_payments where state <> 'unknown'";
	assert.equal(await value(superuser, z.number(), sending), 0);
	const settled = await settleByPerson(superuser, lab.sandbox, payments);
	context.diagnostic(`${settled} settled by a person`);
	// Nothing goes wrong any more, but a busy machine is slow.
	const patientId = await gateLab.addGate({ options: { concurrency: 50, timeout: 60_000 } });
	const last = (await payAll(lists, patientId)).flat();
	assert.deepEqual(unpaid(last), []);
	assert.deepEqual(new Set(times()), new Set([1]));
	const spent = await value(
		superuser,
		z.coerce.number(),
		"select amount_etb from etb_wallet.spent where period = 'month' and scope = 'budget'",
	);
	assert.equal(spent, payments.length);
});
