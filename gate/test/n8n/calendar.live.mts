/** The payroll examples over the end of a month, in the real n8n with its clock moved. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { clockFrom, faketime, moveClock, setClock } from '../../support/moved-clock.mts';
import { PAYMENTS, PEOPLE, addRows, rowsOf, setPerson } from '../../support/people.mts';
import { setRules } from '../../support/gate/server.mts';
import { startInstalledGate } from '../../support/gate/installed-gate.mts';

assert.ok(faketime, 'libfaketime is missing: apt-get install libfaketime');
const folder = await mkdtemp(join(tmpdir(), 'clock-'));
const clockFile = join(folder, 'clock');
await moveClock(clockFile, 0);
const installed = await startInstalledGate({ env: await clockFrom(clockFile) });
after(async () => {
	await installed.stop();
	await rm(folder, { recursive: true });
});
const limits = { most_per_day: 1_000_000, most_per_payment: 20_000 };
await setRules(installed.superuser, 'main', limits);
/** The employees of each example; the second one has a wrong user ID at first. */
const employees: Record<string, [string, string, string]> = {
	'payroll.json': ['E-1041', 'E-1042', 'E-1043'],
	'payroll-through-the-gate.json': ['E-3041', 'E-3042', 'E-3043'],
};
const payrolls: Record<string, string> = {
	'payroll.json': 'monthly',
	'payroll-through-the-gate.json': 'gate',
};
for (const [file, numbers] of Object.entries(employees)) {
	await addRows(
		installed.lab.api,
		PEOPLE,
		numbers.map((employee, index) => ({
			...{ employee, person: employee.replace('-', ''), name: `Person ${employee}` },
			...{ payroll: payrolls[file], amountEtb: 1000 + index },
			userId: installed.lab.sandbox.books.addUser({ externalId: employee }).id,
		})),
	);
}

/** How often each of them was paid so far. */
const timesPaid = (file: string): number[] =>
	(employees[file] ?? []).map(
		(employee) =>
			installed.lab.sandbox.books
				.disbursements()
				.filter(({ toUserId }) => toUserId === `etbw_${employee}`).length,
	);

for (const file of Object.keys(employees)) {
	test(`${file} pays each person once for each period, whatever day it runs on`, async () => {
		const { lab } = installed;
		const [, wrong = ''] = employees[file] ?? [];
		const at = async (time: string) => await setClock(lab.n8n.url, clockFile, time);
		await at('2025-10-31T10:00:00+03:00');
		const id = await installed.add(await readExample(file));
		const pay = async () => (await installed.run(id, 'Every 25th')).error ?? '';
		const periods = async () =>
			(await rowsOf(lab.api, PAYMENTS))
				.filter(({ employee }) => employees[file]?.includes(String(employee)))
				.map(({ period }) => String(period));
		await setPerson(lab.api, wrong, 'userId', 'etbw_nobody');
		assert.match(await pay(), /1 of 3 need you/);
		assert.deepEqual(timesPaid(file), [1, 0, 1]);
		await at('2025-11-02T10:00:00+03:00');
		await setPerson(lab.api, wrong, 'userId', `etbw_${wrong}`);
		assert.equal(await pay(), '');
		assert.deepEqual(timesPaid(file), [1, 1, 1]);
		assert.deepEqual(await periods(), ['2025-10', '2025-10', '2025-10']);
		// Three days early, and the last minutes before the pay day in Addis Ababa, where UTC is at the 24th for long.
		for (const time of ['2025-11-22T10:00:00+03:00', '2025-11-24T23:50:00+03:00']) {
			await at(time);
			assert.equal(await pay(), '');
			assert.deepEqual(timesPaid(file), [1, 1, 1]);
		}
		for (const time of ['2025-11-25T00:10:00+03:00', '2025-12-01T10:00:00+03:00']) {
			await at(time);
			assert.equal(await pay(), '');
			assert.deepEqual(timesPaid(file), [2, 2, 2]);
		}
		assert.deepEqual((await periods()).slice(3), ['2025-11', '2025-11', '2025-11']);
	});
}
