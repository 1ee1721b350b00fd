/** payroll.json over the end of a month, in the real n8n with its clock moved. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { startLab } from '../../support/lab.mts';
import { clockFrom, faketime, moveClock, setClock } from '../../support/moved-clock.mts';
import { PAYMENTS, PEOPLE, addRows, makeTable, rowsOf, setPerson } from '../../support/people.mts';

assert.ok(faketime, 'libfaketime is missing: apt-get install libfaketime');
const folder = await mkdtemp(join(tmpdir(), 'clock-'));
const clockFile = join(folder, 'clock');
await moveClock(clockFile, 0);
const lab = await startLab({ env: await clockFrom(clockFile) });
after(async () => {
	await lab.stop();
	await rm(folder, { recursive: true });
});
/** The second one has a wrong user ID at first. */
const employees = ['E-1041', 'E-1042', 'E-1043'];
const wrong = 'E-1042';
await makeTable(lab.api, PAYMENTS);
await addRows(
	lab.api,
	PEOPLE,
	employees.map((employee, index) => ({
		...{ employee, person: employee.replace('-', ''), name: `Person ${employee}` },
		...{ payroll: 'monthly', amountEtb: 1000 + index },
		userId: lab.sandbox.books.addUser({ externalId: employee }).id,
	})),
);

/** How often each of them was paid so far. */
const timesPaid = (): number[] =>
	employees.map(
		(employee) =>
			lab.sandbox.books.disbursements().filter(({ toUserId }) => toUserId === `etbw_${employee}`)
				.length,
	);

void test('payroll.json pays each person once for each period, whatever day it runs on', async () => {
	const at = async (time: string) => await setClock(lab.n8n.url, clockFile, time);
	await at('2025-10-31T10:00:00+03:00');
	const id = await lab.add(await readExample('payroll.json'));
	const pay = async () => {
		const execution = await lab.api.endedExecution(await lab.api.run(id, 'Every 25th'), 120_000);
		return execution.error ?? '';
	};
	const periods = async () => (await rowsOf(lab.api, PAYMENTS)).map(({ period }) => String(period));
	await setPerson(lab.api, wrong, 'userId', 'etbw_nobody');
	assert.match(await pay(), /1 of 3 need you/);
	assert.deepEqual(timesPaid(), [1, 0, 1]);
	await at('2025-11-02T10:00:00+03:00');
	await setPerson(lab.api, wrong, 'userId', `etbw_${wrong}`);
	assert.equal(await pay(), '');
	assert.deepEqual(timesPaid(), [1, 1, 1]);
	assert.deepEqual(await periods(), ['2025-10', '2025-10', '2025-10']);
	// Three days early, and the last minutes before the pay day in Addis Ababa, where UTC is at the 24th for long.
	for (const time of ['2025-11-22T10:00:00+03:00', '2025-11-24T23:50:00+03:00']) {
		await at(time);
		assert.equal(await pay(), '');
		assert.deepEqual(timesPaid(), [1, 1, 1]);
	}
	for (const time of ['2025-11-25T00:10:00+03:00', '2025-12-01T10:00:00+03:00']) {
		await at(time);
		assert.equal(await pay(), '');
		assert.deepEqual(timesPaid(), [2, 2, 2]);
	}
	assert.deepEqual((await periods()).slice(3), ['2025-11', '2025-11', '2025-11']);
});
