/** What a person does about payments: settling what is unknown, and trying a list without paying. In the real n8n. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PresetName } from '../../sandbox/faults.mts';
import type { Row } from './payroll.mts';
import {
	countOf,
	faultFor,
	newest,
	outcomesOf,
	pay,
	payroll,
	publish,
	recordOf,
	rowAt,
	setOptions,
} from './payroll.mts';
import type { RealWorld } from './n8n-world.mts';
import { startRealWorld, timesPaid } from './n8n-world.mts';

let world: RealWorld;
before(async () => {
	world = await startRealWorld();
});
after(async () => await world.stop());

const goesOn = { onError: 'continueRegularOutput' };
/** ms */
const timeout = 2_000;

/** Rows 2 and 3 are paid, rows 5 and 6 are not, and n8n hears of none of the four. */
function unclear(rows: Row[]): Map<string, PresetName> {
	return new Map<string, PresetName>([
		[rowAt(rows, 2).toUserId, 'timeoutAfterPaying'],
		[rowAt(rows, 3).toUserId, 'error500AfterPaying'],
		[rowAt(rows, 5).toUserId, 'timeoutBeforePaying'],
		[rowAt(rows, 6).toUserId, 'error500BeforePaying'],
	]);
}

const once = (rows: Row[]): number[] => Array<number>(rows.length).fill(1);

void test('unknown ones are settled both ways, one option after the other', async () => {
	const workflow = await publish(world, 'settled', goesOn, { timeout });
	const rows = payroll(world, 'settled', 10, { references: true });
	faultFor(world, unclear(rows));
	await pay(world, 'settled', rows);
	const first = outcomesOf(await newest(world, workflow, 1));
	assert.deepEqual(countOf(first), { paid: 6, unknown: 4 });
	world.sandbox.faults.clear();

	// Only those that the person asked about: each way has a run of its own.
	const wasPaid = [rowAt(rows, 2), rowAt(rows, 3)];
	const wasNotPaid = [rowAt(rows, 5), rowAt(rows, 6)];
	assert.deepEqual(timesPaid(world.sandbox, wasPaid), [1, 1]);
	assert.deepEqual(timesPaid(world.sandbox, wasNotPaid), [0, 0]);
	await setOptions(world, workflow, { timeout, ifUnknown: 'paid' });
	await pay(world, 'settled', wasPaid);
	assert.deepEqual(outcomesOf(await newest(world, workflow, 2)), ['alreadyPaid', 'alreadyPaid']);
	await setOptions(world, workflow, { timeout, ifUnknown: 'notPaid' });
	await pay(world, 'settled', wasNotPaid);
	assert.deepEqual(outcomesOf(await newest(world, workflow, 3)), ['paid', 'paid']);

	await setOptions(world, workflow, { timeout });
	await pay(world, 'settled', rows);
	assert.deepEqual(countOf(outcomesOf(await newest(world, workflow, 4))), { alreadyPaid: 10 });
	assert.deepEqual(timesPaid(world.sandbox, rows), once(rows));
});

void test('unknown ones are settled by an expression, each item by its own word', async () => {
	const options = { timeout, ifUnknown: '={{ $json.word }}' };
	const workflow = await publish(world, 'words', goesOn, options);
	const rows = payroll(world, 'words', 10, { references: true });
	faultFor(world, unclear(rows));
	await pay(world, 'words', rows);
	assert.deepEqual(countOf(outcomesOf(await newest(world, workflow, 1))), { paid: 6, unknown: 4 });
	world.sandbox.faults.clear();

	const words = new Map([
		[2, 'paid'],
		[5, 'notPaid'],
		// Nobody asked about rows 3 and 6; row 9 was paid, whatever anybody says.
		[6, 'report'],
		[9, 'notPaid'],
	]);
	const asked = rows.map((row, index) => ({ ...row, word: words.get(index) }));
	await pay(world, 'words', asked);
	const settled = outcomesOf(await newest(world, workflow, 2));
	assert.deepEqual(
		settled,
		rows.map((_, index) => ({ 3: 'unknown', 5: 'paid', 6: 'unknown' })[index] ?? 'alreadyPaid'),
	);
	assert.deepEqual(
		timesPaid(world.sandbox, rows),
		rows.map((_, index) => (index === 6 ? 0 : 1)),
	);
});

void test('a retry of the execution does not heed the word', async () => {
	const workflow = await publish(world, 'word-once', {}, { timeout });
	const rows = payroll(world, 'word-once', 1, { references: true });
	const { toUserId } = rowAt(rows, 0);
	faultFor(world, new Map([[toUserId, 'timeoutBeforePaying']]));
	await pay(world, 'word-once', rows);
	assert.match((await newest(world, workflow, 1)).error ?? '', /It is unknown whether/);

	// It was not paid, which is true; now it is paid, and again n8n hears nothing of it.
	await setOptions(world, workflow, { timeout, ifUnknown: 'notPaid' });
	faultFor(world, new Map([[toUserId, 'timeoutAfterPaying']]));
	await pay(world, 'word-once', rows);
	const second = await newest(world, workflow, 2);
	assert.match(second.error ?? '', /It is unknown whether/);
	assert.deepEqual(timesPaid(world.sandbox, rows), [1]);

	world.sandbox.faults.clear();
	const retried = await world.api.endedExecution(await world.api.retryExecution(second.id));
	assert.deepEqual(outcomesOf(retried), ['unknown']);
	assert.deepEqual(timesPaid(world.sandbox, rows), [1]);
});

void test('a dry run of 200 items leaves no trace, and then a run pays all 200', async () => {
	const workflow = await publish(world, 'dry', goesOn, { timeout });
	const before = payroll(world, 'dry-before', 3, { references: true });
	const rows = payroll(world, 'dry', 200, { references: true });
	const all = [...before, ...rows];
	await pay(world, 'dry', before);
	await newest(world, workflow, 1);
	const record = recordOf(world, workflow);
	assert.ok(record);
	const requests = world.sandbox.requestCount();

	await setOptions(world, workflow, { timeout, dryRun: true });
	await pay(world, 'dry', all);
	const tried = await newest(world, workflow, 2);
	assert.deepEqual(countOf(outcomesOf(tried)), { alreadyPaid: 3, ready: 200 });
	assert.equal(world.sandbox.requestCount(), requests);
	assert.ok(recordOf(world, workflow) === record, 'the dry run left a trace in the record');

	await setOptions(world, workflow, { timeout, dryRun: false });
	await pay(world, 'dry', all);
	const paid = await newest(world, workflow, 3);
	assert.deepEqual(countOf(outcomesOf(paid)), { alreadyPaid: 3, paid: 200 });
	assert.deepEqual(timesPaid(world.sandbox, all), once(all));
	assert.ok(recordOf(world, workflow) !== record);
});
