/** The payroll examples over the end of a month, in the real n8n with its clock moved. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readExample } from '../../../lab/n8n/examples.mts';
import { FormVisitor } from '../../../lab/form-visitor.mts';
import { clockFrom, faketime, moveClock, setClock } from '../../../lab/moved-clock.mts';
import { owner } from '../../../lab/lab.mts';
import { setPerson } from '../../../lab/people.mts';
import { setRules } from '../../../lab/gate/server.mts';
import { startInstalledGate } from '../../../lab/gate/installed-gate.mts';

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
const people = await installed.add(await readExample('people-to-pay.json'));
assert.equal((await installed.run(people, 'Set up people')).status, 'success');

/** The employees of each example; the second one has a wrong user ID at first. */
const employees: Record<string, [string, string, string]> = {
	'payroll.json': ['E-1041', 'E-1042', 'E-1043'],
	'payroll-from-a-file.json': ['E-2041', 'E-2042', 'E-2043'],
	'payroll-through-the-gate.json': ['E-3041', 'E-3042', 'E-3043'],
};

/** How often each of them was paid so far. */
const timesPaid = (file: string): number[] =>
	(employees[file] ?? []).map(
		(employee) =>
			installed.lab.sandbox.books
				.disbursements()
				.filter(({ toUserId }) => toUserId === `etbw_${employee}`).length,
	);

for (const file of ['payroll.json', 'payroll-through-the-gate.json']) {
	void describe(file, () => {
		test('pays each person once for each period, whatever day it runs on', async () => {
			const { lab } = installed;
			const [, wrong = ''] = employees[file] ?? [];
			const at = async (time: string) => await setClock(lab.n8n.url, clockFile, time);
			await at('2025-10-31T10:00:00+03:00');
			const id = await installed.add(await readExample(file));
			const pay = async () => (await installed.run(id, 'Every 25th')).error ?? '';
			await setPerson(lab.api, wrong, 'userId', 'etbw_nobody');

			assert.match(await pay(), /Salaries 2025-10: 2 paid .*, 1 not paid/);
			assert.deepEqual(timesPaid(file), [1, 0, 1]);
			await at('2025-11-02T10:00:00+03:00');
			await setPerson(lab.api, wrong, 'userId', `etbw_${wrong}`);
			assert.equal(await pay(), '');
			assert.deepEqual(timesPaid(file), [1, 1, 1]);
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
		});
	});
}

void describe('payroll-from-a-file.json', () => {
	const file = 'payroll-from-a-file.json';
	const form = 'c1a3c0de-0011-4000-8000-0000000000ff';
	const colleague = { email: 'hiwot@example.com', password: 'Second-person-1' };

	/** Uploads the list with this wallet of the second person, has it approved if it asks, and reads the last page. */
	async function pay(wallet: string): Promise<string> {
		const { url } = installed.lab.n8n;
		// A login ends after some days of the moved clock.
		const accountant = await FormVisitor.logIn(url, owner);
		const approver = await FormVisitor.logIn(url, colleague);
		const rows = ['E-2041,Hana,11800,', `E-2042,Samuel,8750.25,${wallet}`, 'E-2043,Tigist,14200,'];
		const content = ['employee,name,amountEtb,userId', ...rows].join('\n');
		const address = await accountant.upload(form, { name: 'list.csv', content });
		const asked = (await accountant.open(address)).includes('Your decision');
		if (asked) await approver.choose(address, 'Approve');
		return await approver.read(address);
	}

	test('pays each person once for each period, whatever day it runs on', async () => {
		const { lab } = installed;
		const at = async (time: string) => await setClock(lab.n8n.url, clockFile, time);
		await (await FormVisitor.logIn(lab.n8n.url, owner)).invite(colleague, 'Hiwot', 'Alemu');
		const { id } = lab.sandbox.books.addUser({ externalId: 'E-2042' });
		await lab.api.activate(await lab.add(await readExample(file)));

		await at('2025-10-31T10:00:00+03:00');
		assert.match(
			await pay('etbw_nobody'),
			/Salaries 2025-10.*26,000\.00 ETB paid.*Not paid: 1 person/s,
		);
		assert.deepEqual(timesPaid(file), [1, 0, 1]);
		await at('2025-11-02T10:00:00+03:00');
		assert.match(await pay(id), /Salaries 2025-10.*8,750\.25 ETB paid.*Paid before: 2 people/s);
		for (const time of ['2025-11-22T10:00:00+03:00', '2025-11-24T23:50:00+03:00']) {
			await at(time);
			assert.match(
				await pay(id),
				/Salaries 2025-10.*Nobody was paid.*3 people had been paid before/s,
			);
			assert.deepEqual(timesPaid(file), [1, 1, 1]);
		}
		await at('2025-11-25T00:10:00+03:00');
		assert.match(await pay(id), /Salaries 2025-11.*34,750\.25 ETB paid/s);
		await at('2025-12-01T10:00:00+03:00');
		assert.match(
			await pay(id),
			/Salaries 2025-11.*Nobody was paid.*3 people had been paid before/s,
		);
		assert.deepEqual(timesPaid(file), [2, 2, 2]);
	});
});
