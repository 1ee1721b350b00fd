/**
 * The register, the data table "ETB payments": a table of an earlier version, and two workflows with the same
 * people at once.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample, tablesOf } from '../../../demo/examples.mts';
import { startLab } from '../../support/lab.mts';
import {
	PAYMENTS,
	PEOPLE,
	addRows,
	duePeriod,
	firstColumns,
	renamedColumns,
	rowsOf,
} from '../../support/people.mts';

const lab = await startLab();
after(async () => await lab.stop());

const people = ['E-1', 'E-2'].map((employee, index) => ({
	employee,
	employeeKey: employee.replace('-', ''),
	name: `Person ${index}`,
	payroll: 'monthly',
	userId: lab.sandbox.books.addUser({ externalId: employee }).id,
	amountEtb: 100 + index,
}));
const payments = () => lab.sandbox.books.disbursements();

test('without its table a payroll pays nobody, and names the table', async () => {
	const id = await lab.add(await readExample('payroll.json'));
	const { error } = await lab.api.endedExecution(await lab.api.run(id, 'Every 25th'));
	assert.match(error ?? '', /^Payments: Data table with name "ETB payments" not found/);
	assert.equal(payments().length, 0);
});

test('an older table keeps its rows, and brought up to date a payroll writes into it', async () => {
	const columns = tablesOf(await readExample('people-to-pay.json')).get(PAYMENTS) ?? [];
	const newNames = new Map(Object.entries(renamedColumns));
	const first = new Map(firstColumns[PAYMENTS].map((name) => [newNames.get(name) ?? name, name]));
	await lab.api.createDataTable(
		PAYMENTS,
		columns.flatMap(({ name, type }) => {
			const firstName = first.get(name);
			return firstName === undefined ? [] : { name: firstName, type };
		}),
	);
	const [paid] = people;
	assert.ok(paid);
	const old = {
		reference: `salary-${duePeriod()}-${paid.employeeKey}`,
		period: duePeriod(),
		person: paid.employeeKey,
		employee: paid.employee,
		name: paid.name,
		userId: paid.userId,
		askedEtb: 100,
		amountEtb: 100,
		outcome: 'paid',
		txHash: '0xold',
		paidAt: new Date().toISOString(),
	};
	await addRows(lab.api, PAYMENTS, [old]);
	await addRows(lab.api, PEOPLE, people);
	const id = await lab.add(await readExample('payroll.json'));
	const run = async () => await lab.api.endedExecution(await lab.api.run(id, 'Every 25th'));

	for (const [from, to] of newNames) await lab.api.renameColumn(PAYMENTS, from, to);
	const added = columns.filter(({ name }) => !first.has(name));
	// n8n would insert a row without an error, and drop its cell of a column that the table lacks.
	for (const { name } of added) {
		await lab.api.addColumns(
			PAYMENTS,
			added.filter((column) => column.name === name),
		);
		if (name !== added.at(-1)?.name) assert.match((await run()).error ?? '', /^Payments: /);
		assert.equal(payments().length, 0);
	}
	assert.equal((await run()).error, undefined);
	assert.deepEqual(
		payments().map(({ toUserId }) => toUserId),
		['etbw_E-2'],
	);
	const rows = await rowsOf(lab.api, PAYMENTS);
	assert.deepEqual(
		rows.map((row) => ['reference', 'employeeKey', 'txHash', 'purpose'].map((name) => row[name])),
		[
			[old.reference, 'E1', '0xold', null],
			[`salary-${duePeriod()}-E2`, 'E2', payments()[0]?.txHash, 'salary'],
		],
	);
});

test('two payrolls with the same people at once: each pays a person at most once, and the register has every payment', async () => {
	const before = payments().length;
	const newcomers = Array.from({ length: 10 }, (_, index) => {
		const employee = `N-${index}`;
		const userId = lab.sandbox.books.addUser({ externalId: employee }).id;
		return {
			employee,
			employeeKey: `N${index}`,
			name: employee,
			payroll: 'monthly',
			userId,
			amountEtb: 200,
		};
	});
	await addRows(lab.api, PEOPLE, newcomers);
	const ids = [
		await lab.add(await readExample('payroll.json')),
		await lab.add(await readExample('payroll.json')),
	];
	// Both have read the register before the other one has written it.
	lab.sandbox.setLatency(1000);
	const started = await Promise.all(ids.map(async (id) => await lab.api.run(id, 'Every 25th')));
	for (const id of started) await lab.api.endedExecution(id);
	lab.sandbox.setLatency(0);
	const made = payments().slice(before);
	for (const { userId } of newcomers) {
		const times = made.filter(({ toUserId }) => toUserId === userId).length;
		assert.ok(times === 1 || times === 2, `${userId} was paid ${times} times`);
	}
	const rows = (await rowsOf(lab.api, PAYMENTS)).filter(({ amountEtb }) => amountEtb === 200);
	const sorted = (hashes: unknown[]) => hashes.map(String).sort();
	assert.deepEqual(
		sorted(rows.map(({ txHash }) => txHash)),
		sorted(made.map(({ txHash }) => txHash)),
	);
	// From then on nobody is paid by either, nor by a third one.
	for (const id of [...ids, await lab.add(await readExample('payroll.json'))])
		assert.equal(
			(await lab.api.endedExecution(await lab.api.run(id, 'Every 25th'))).status,
			'success',
		);
	assert.equal(payments().length, before + made.length);
});
