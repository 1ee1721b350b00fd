/**
 * payroll-from-a-file.json in an n8n that is killed while it pays, and while another page waits: the rest is
 * paid, once.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually, startLab } from '../../support/lab.mts';
import { clockFrom, faketime, moveClock, setClock } from '../../support/moved-clock.mts';
import { PAYMENTS, duePeriod, rowsOf } from '../../support/people.mts';
import { FilePayroll } from './file-payroll.mts';

assert.ok(faketime, 'libfaketime is missing: apt-get install libfaketime');
const folder = await mkdtemp(join(tmpdir(), 'clock-'));
const clock = join(folder, 'clock');
await moveClock(clock, 0);
const lab = await startLab({ env: await clockFrom(clock) });
after(async () => {
	await lab.stop();
	await rm(folder, { recursive: true });
});
const payroll = await FilePayroll.start(lab);

const employees = Array.from({ length: 40 }, (_, index) => `K-${index}`);
const period = duePeriod();
const list = {
	name: 'september.csv',
	content: [
		'employee,name,amountEtb',
		...employees.map((employee, index) => `${employee},Abebe,${index + 1}`),
	].join('\n'),
};
const all = employees.map((employee, index) => `${employee} ${index + 1}`).sort();

test('n8n is killed while it pays one list: the page of the same list that waited, and the list again, pay exactly the rest', async () => {
	await payroll.setUp(employees.map((employee) => ({ employee })));
	const [address, waiting] = [
		await payroll.upload(list, period),
		await payroll.upload(list, period),
	];
	const page = await payroll.approver.open(address);
	lab.sandbox.faults.plan('POST /disburse', () => 'slow');
	void payroll.approver.choose(address, 'Approve', page).catch(() => undefined);
	await eventually('some payments', () => (payroll.payments() > 5 ? true : undefined));
	lab.n8n.kill();
	lab.sandbox.faults.clear();
	await lab.restartN8n();
	const sent = payroll.paid(0);

	// A payment that was being sent is unknown, and cannot be settled yet: for n8n another execution may be sending it.
	assert.match(await payroll.approve(waiting), /UNKNOWN: \d+/);
	const unknown = (await payroll.rows(waiting)).filter(({ outcome }) => outcome === 'unknown');
	assert.ok(unknown.length > 0 && unknown.length <= 20, `${unknown.length} are unknown`);
	const wasPaid = (employee: unknown) =>
		sent.some((each) => each.startsWith(`${String(employee)} `));
	const references = (paid: boolean) =>
		unknown
			.filter(({ employee }) => wasPaid(employee) === paid)
			.map(({ reference }) => String(reference));
	const choices = Object.fromEntries([
		...references(true).map((reference) => [`(${reference})`, 'It was paid'] as const),
		...references(false).map((reference) => [`(${reference})`, 'It was not paid'] as const),
	]);
	const settled = async () => await payroll.settle(choices);
	assert.match(await settled(), /Not settled: an execution is sending it, or was cut off/);
	await payroll.approver.read(await payroll.upload(list, period));
	const before = payroll.paid(0);
	assert.equal(before.length, all.length - references(false).length);

	await setClock(lab.n8n.url, clock, new Date(Date.now() + 600_000).toISOString());
	assert.doesNotMatch(await settled(), /Not settled/);
	assert.deepEqual(payroll.paid(0), before);
	const rest = await payroll.upload(list, period);
	if (references(false).length > 0) await payroll.approver.choose(rest, 'Approve');
	await payroll.approver.read(rest);
	assert.deepEqual(payroll.paid(0), all);

	const register = await rowsOf(lab.api, PAYMENTS);
	assert.deepEqual([...new Set(register.map(({ outcome }) => outcome))], ['paid']);
	assert.equal(register.length, employees.length);
});
