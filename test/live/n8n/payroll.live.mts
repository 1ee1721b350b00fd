/** people-to-pay.json, payroll.json and payments-of-a-period.json in the real n8n. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import type { Execution } from '../../../demo/n8n-api.mts';
import { readExample } from '../../../demo/examples.mts';
import { FormVisitor } from '../../support/form-visitor.mts';
import { eventually, owner, paidSince, setFields, startLab, type Lab } from '../../support/lab.mts';
import { itemsOf, type Item } from '../../support/payroll.mts';
import { PAYMENTS, PEOPLE, addRows, clearTable, rowsOf, setPerson } from '../../support/people.mts';
import type { PresetName } from '../../../sandbox/faults.mts';
import { openInOffice, textOf } from './file-payroll.mts';

const OPEN = 'etb-payroll-open';

let lab: Lab;
let bookkeeper: FormVisitor;
before(async () => {
	lab = await startLab();
	bookkeeper = await FormVisitor.logIn(lab.n8n.url, owner);
});
after(async () => await lab.stop());

const payments = (): number => lab.sandbox.books.disbursements().length;
const paid = (since: number): string[] => paidSince(lab.sandbox, since);
const salaries = ['etbw_E-1041 12400', 'etbw_E-1042 9500.5', 'etbw_E-1043 15250.75'];

async function run(id: string, trigger = 'Every 25th'): Promise<Execution> {
	return await lab.api.endedExecution(await lab.api.run(id, trigger));
}

const change = async (id: string, name: string, fields: object): Promise<void> =>
	await setFields(lab.api, id, name, fields);

/** Publishes the payroll: a new one, which remembers nobody. */
let published: string | undefined;
async function newPayroll(): Promise<string> {
	if (published !== undefined) await lab.api.deactivate(published);
	published = await lab.add(await readExample('payroll.json'));
	await lab.api.activate(published);
	return published;
}

/** Answers the page "What is open": by reference; resolves to the page that follows. */
async function settle(choices: Record<string, string>): Promise<string> {
	const address = await bookkeeper.fillIn(OPEN, []);
	await bookkeeper.answer(address, choices);
	return textOf(await bookkeeper.open(address));
}

void describe('people-to-pay.json', () => {
	let id: string;
	before(async () => {
		id = await lab.add(await readExample('people-to-pay.json'));
		await lab.api.activate(id);
	});
	after(async () => await lab.api.deactivate(id));

	async function setUp(content: string | Uint8Array, payroll = 'monthly'): Promise<string> {
		const list = { name: 'people.csv', content };
		const address = await bookkeeper.fillIn('etb-people', [list, payroll]);
		const page = await bookkeeper.open(address);
		await bookkeeper.choose(address, '');
		return textOf(page + (await bookkeeper.read(address)));
	}

	test('gives each new person a wallet once, and keeps them in the table', async () => {
		const list = await readFile('examples/people.csv');
		await setUp(list);
		const raised = 'employee,name,amountEtb\nE-1041,Abebe Kebede,12401';
		assert.match(await setUp(raised), /Change 1 person .*Changed: 1 Abebe Kebede/);
		const [abebe] = await rowsOf(lab.api, PEOPLE);
		assert.equal(abebe?.['email'], 'abebe@example.com');
		await setUp(list);
		await setUp(list);
		assert.deepEqual(
			(await rowsOf(lab.api, PEOPLE)).map(({ employee, amountEtb, userId, email, payroll }) =>
				[employee, amountEtb, userId, email, payroll].join(' '),
			),
			[
				'E-1041 12400 etbw_E-1041 abebe@example.com monthly',
				'E-1042 9500.5 etbw_E-1042 almaz@example.com monthly',
				'E-1043 15250.75 etbw_E-1043 dawit@example.com monthly',
			],
		);
		assert.equal(lab.sandbox.books.users().length, 3);
	});

	test('makes a wallet for nobody whose row has a problem, and says which and why', async () => {
		lab.sandbox.books.addUser({ externalId: 'E-taken' });
		const users = lab.sandbox.books.users().length;
		const page = await setUp(
			[
				'employee,name,email,amountEtb',
				'E-1041,Abebe Kebede,,5',
				'e 2001,New One,N/A,77',
				'E-2002,Not clear,,"12,400"',
				'E-taken,Taken,,5',
				'E-1042,Almaz Tesfaye,almaz@example.com,9500.50',
				'TOTAL,,,87',
			].join('\n'),
			'other',
		);
		assert.match(
			page,
			/2 people new, 0 changed.*Not clear E-2002 Row 4 · .*"12,400", which can mean/,
		);
		assert.match(page, /Cannot be used: 1 person.*Rows that are no person: 7 TOTAL\./);
		assert.match(page, /Not changed: they stay with monthly: 2 people .* E-1042/);
		assert.match(page, /Not set up: 1 Taken E-taken.*409.*Got a wallet: 1 New One.*run your own/);
		assert.equal(lab.sandbox.books.users().length, users + 1);
		const added = (await rowsOf(lab.api, PEOPLE)).slice(3);
		assert.deepEqual(
			added.map(({ employee, employeeKey, payroll }) => [employee, employeeKey, payroll]),
			[['e 2001', 'E2001', 'other']],
		);
	});

	test('a person who looks like somebody else is red, and the first choice changes nothing', async () => {
		const users = lab.sandbox.books.users().length;
		assert.match(
			await setUp('employee,name,email,amountEtb\nE-1O41,Abebe Kebede,abebe@example.com,1'),
			/two numbers\? Abebe Kebede \(E-1O41\): see below.*Change nothing Set up 1 person.*Nobody was set up/,
		);
		assert.equal(lab.sandbox.books.users().length, users);
	});

	test('a list that cannot be used says what is missing, and sets nobody up', async () => {
		const users = lab.sandbox.books.users().length;
		const list = { name: 'people.csv', content: 'Employee ID,Name,Salary\nE-3001,A,5\n' };
		const page = await bookkeeper.open(await bookkeeper.fillIn('etb-people', [list, 'monthly']));
		assert.match(
			textOf(page),
			/The list cannot be used.*no column employee and no column amountEtb.*"Salary".*etb-people/,
		);
		assert.doesNotMatch(textOf(page), /Your decision/);
		assert.equal(lab.sandbox.books.users().length, users);
	});

	test('nobody sets people up without a login', async () => {
		const stranger = FormVisitor.stranger(lab.n8n.url);
		const response = await stranger.request(`${lab.n8n.url}/form/etb-people`, {
			method: 'POST',
			body: new FormData(),
		});
		assert.equal(response.status, 401);
	});
});

void describe('payroll.json', () => {
	let id: string;
	beforeEach(async () => {
		await clearTable(lab.api, PAYMENTS);
		await setPerson(lab.api, 'E-1041', 'amountEtb', 12_400);
		id = await newPayroll();
	});

	const rowOf = async (employee: string) =>
		(await rowsOf(lab.api, PAYMENTS)).filter((row) => row['employee'] === employee);
	const theFault = (employee: string, fault: PresetName) =>
		lab.sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
			bodyText.includes(employee) ? fault : undefined,
		);

	test('pays each salary once in a period, and writes it into the register', async () => {
		const already = payments();
		const first = await run(id);
		assert.equal(first.status, 'success', first.error);
		assert.deepEqual(paid(already), salaries);
		const register = await rowsOf(lab.api, PAYMENTS);
		assert.deepEqual(
			register.map(({ employee, outcome, amountEtb, txHash, purpose }) => [
				...[employee, outcome, amountEtb, txHash, purpose],
			]),
			lab.sandbox.books
				.disbursements()
				.slice(already)
				.map(({ toUserId, amountEtb, txHash }) => [
					...[toUserId.slice(5), 'paid', amountEtb, txHash, 'salary'],
				]),
		);
		const second = await run(id);
		assert.equal(second.status, 'success', second.error);
		assert.deepEqual(paid(already), salaries);
		assert.deepEqual(await rowsOf(lab.api, PAYMENTS), register);
	});

	test('a copy, and one that was imported again, pay nobody whom the register has as paid', async () => {
		const already = payments();
		await run(id);
		const copy = await run(await lab.add(await readExample('payroll.json')));
		assert.equal(copy.status, 'success', copy.error);
		assert.deepEqual(paid(already), salaries);
		const said = itemsOf(copy, 'Check List').map((row) => Object(row['paid']) as Item);
		assert.deepEqual(
			said.map(({ amountEtb, workflow }) => `${String(amountEtb)} ${String(workflow)}`),
			[12400, 9500.5, 15250.75].map((amount) => `${amount} Pay salaries every month (${id})`),
		);
	});

	test('what is unknown in one payroll is paid by no other one, which says where to settle it', async () => {
		const already = payments();
		theFault('E-1041', 'error500BeforePaying');
		await run(id);
		lab.sandbox.faults.clear();
		const copy = await run(await lab.add(await readExample('payroll.json')));
		assert.match(copy.error ?? '', new RegExp(`1 of 3 need you: Abebe Kebede.*${id}`));
		assert.deepEqual(paid(already), salaries.slice(1));
		assert.deepEqual(
			(await rowOf('E-1041')).map(({ outcome }) => outcome),
			['unknown'],
		);
	});

	test('who cannot be paid and who may have been are named, settled on a page, and paid by the next run', async () => {
		const already = payments();
		const ends: Record<string, PresetName> = {
			'E-1041': 'error500AfterPaying',
			'E-1042': 'error500BeforePaying',
		};
		lab.sandbox.faults.plan(
			'POST /disburse',
			({ bodyText }) => Object.entries(ends).find(([employee]) => bodyText.includes(employee))?.[1],
		);
		await setPerson(lab.api, 'E-1043', 'amountEtb', 25_000);
		const first = await run(id);
		lab.sandbox.faults.clear();
		await setPerson(lab.api, 'E-1043', 'amountEtb', 15_250.75);
		assert.match(first.error ?? '', /3 of 3 need you: Abebe Kebede, 12400 ETB, unknown: .*E1041/);
		assert.match(first.error ?? '', /Dawit Haile, 25000 ETB, notPaid: .*Maximum per Payment/);
		assert.deepEqual(
			(await rowsOf(lab.api, PAYMENTS)).map(({ outcome }) => outcome),
			['unknown', 'unknown', 'notPaid'],
		);
		assert.doesNotMatch(first.error ?? '', /could not be written/);
		// The message has the address of the page.
		const [address = ''] = /http\S+\/form\/etb-payroll-open/.exec(first.error ?? '') ?? [];
		assert.match(await bookkeeper.open(address), /What is open/);
		const page = textOf(await bookkeeper.open(await bookkeeper.fillIn(OPEN, [])));
		assert.match(
			page,
			/such as a wrong month, do nothing.*UNKNOWN: 2 people, 21,900\.50 ETB.*Abebe Kebede.*etbw_E-1041.*Not paid: 1 person.*Paid: 0 people/,
		);

		assert.match(
			await settle({}),
			/Nothing was recorded\. Still unknown: 2 people, 21,900\.50 ETB/,
		);
		const [abebe = '', almaz = ''] = itemsOf(first, 'Pay salaries').map(({ reference }) =>
			String(reference),
		);
		const recorded = await settle({ [abebe]: 'It was paid', [almaz]: 'It was not paid' });
		assert.match(
			recorded,
			/Recorded as paid: 1 person.*E-1041.*Recorded as not paid: 1 person.*E-1042/,
		);
		assert.deepEqual(paid(already), ['etbw_E-1041 12400']);
		assert.deepEqual(
			(await rowOf('E-1041')).map(({ outcome, amountEtb, settledBy }) => [
				...[outcome, amountEtb, settledBy],
			]),
			[['paid', 12_400, owner.email]],
		);
		const second = await run(id);
		assert.equal(second.status, 'success', second.error);
		assert.deepEqual(paid(already), salaries);
		assert.match(await settle({}), /Nothing was recorded/);
	});

	test('an answer on a page of before is not about a later sending, also if the row was changed by hand', async () => {
		const already = payments();
		const answer = async (page: string, said: string, reference: string): Promise<string> => {
			await bookkeeper.answer(page, { [reference]: said });
			return textOf(await bookkeeper.open(page));
		};
		theFault('E-1041', 'error500BeforePaying');
		const [{ reference = '' } = {}] = itemsOf(await run(id), 'Pay salaries');
		const [unpaid, paidTwice] = [
			await bookkeeper.fillIn(OPEN, []),
			await bookkeeper.fillIn(OPEN, []),
		];
		await setPerson(lab.api, 'E-1041', 'phone', '0911000000', PAYMENTS);
		assert.match(
			await settle({ [String(reference)]: 'It was not paid' }),
			/Recorded as not paid: 1 person/,
		);
		theFault('E-1041', 'error500AfterPaying');
		await run(id);
		lab.sandbox.faults.clear();
		for (const [page, said] of [
			[unpaid, 'It was not paid'],
			[paidTwice, 'It was paid'],
		] as const)
			assert.match(
				await answer(page, said, String(reference)),
				/Not recorded: Abebe Kebede .*it changed after the page was opened/,
			);
		await run(id);
		assert.deepEqual(paid(already), salaries);
	});

	test('a reference with any sign in it is settled', async () => {
		const number = `$& $' $$ {{ 1 }} \\ " ' & % é E-1041`;
		await setPerson(lab.api, 'E-1041', 'employee', number);
		theFault('E-1041', 'error500BeforePaying');
		const first = await run(id);
		lab.sandbox.faults.clear();
		await lab.api.activate(id);
		const [{ reference: sent = '' } = {}] = itemsOf(first, 'Pay salaries');
		for (const part of ['$&', '$$', '{{', '\\', '%É'])
			assert.ok(String(sent).includes(part), `${part} in ${String(sent)}`);
		assert.match(await settle({ [String(sent)]: 'It was not paid' }), /Recorded as not paid/);
		assert.deepEqual(
			(await rowsOf(lab.api, PAYMENTS)).filter(({ outcome }) => outcome === 'unknown'),
			[],
		);
		await setPerson(lab.api, number, 'employee', 'E-1041');
	});

	test('a register that cannot be written stops nothing that was paid, and is told', async () => {
		const already = payments();
		await change(id, 'Add to the register', {
			dataTableId: { __rl: true, mode: 'name', value: 'No such table' },
		});
		await setPerson(lab.api, 'E-1041', 'amountEtb', 25_000);
		const first = await run(id);
		assert.deepEqual(paid(already), salaries.slice(1));
		assert.match(first.error ?? '', /1 of 3 need you.*ETB payments could not be written/);
	});

	// n8n stores nothing in such a table, and gives no error.
	test('a register of an earlier version, without a column, pays nobody', async () => {
		const already = payments();
		await lab.api.createDataTable('Older', [{ name: 'reference', type: 'string' }]);
		await change(id, 'Payments', { dataTableId: { __rl: true, mode: 'name', value: 'Older' } });
		const first = await run(id);
		assert.deepEqual(paid(already), []);
		assert.match(first.error ?? '', /settledAt/);
	});

	test('nobody settles without a login', async () => {
		const stranger = FormVisitor.stranger(lab.n8n.url);
		const form = `${lab.n8n.url}/form/${OPEN}`;
		const body = new FormData();
		assert.equal((await stranger.request(form, { method: 'POST', body })).status, 401);
		// An n8n that does not know the login leaves the form open: then nothing is recorded.
		theFault('E-1041', 'error500BeforePaying');
		const [{ reference = '' } = {}] = itemsOf(await run(id), 'Pay salaries');
		lab.sandbox.faults.clear();
		await lab.api.deactivate(id);
		await change(id, 'What is open', { authentication: 'none' });
		await lab.api.activate(id);
		const address = await stranger.fillIn(OPEN, []);
		await stranger.answer(address, { [String(reference)]: 'It was paid' });
		assert.deepEqual(
			(await rowOf('E-1041')).map(({ outcome }) => outcome),
			['unknown'],
		);
	});

	test('who has a problem is named with it, and the others are paid', async () => {
		await setPerson(lab.api, 'E-1043', 'userId', 'etbw_E-1042');
		const already = payments();
		const { error } = await run(id);
		await setPerson(lab.api, 'E-1043', 'userId', 'etbw_E-1043');
		assert.match(error ?? '', /2 of 3 need you: Almaz Tesfaye.*The same userId.*Dawit Haile/);
		assert.deepEqual(paid(already), ['etbw_E-1041 12400']);
	});

	test('another period is a field: by hand it is paid, left there it stops the schedule', async () => {
		const already = payments();
		const first = await run(id);
		const [{ period = '' } = {}] = itemsOf(first, 'Check List');
		const [year = 0, month = 0] = String(period).split('-').map(Number);
		const before = new Date(Date.UTC(year, month - 2)).toISOString().slice(0, 7);
		await change(id, 'Check List', { period: before });
		assert.equal((await run(id)).status, 'success');
		assert.deepEqual(paid(already), [...salaries, ...salaries].sort());
		for (const wrong of ['2099-01', '2019-01', 'October']) {
			await change(id, 'Check List', { period: wrong });
			assert.match((await run(id)).error ?? '', /^Check List: Period is /);
		}
		// The schedule fires each minute, with the period that was left there.
		await change(id, 'Check List', { period: before });
		await change(id, 'Every 25th', {
			rule: { interval: [{ field: 'seconds', secondsInterval: 5 }] },
		});
		await lab.api.activate(id);
		const failed = await eventually('the schedule', async () => {
			for (const each of await lab.api.executionIds(id)) {
				const execution = await lab.api.endedExecution(each);
				if (execution.mode === 'trigger') return execution;
			}
			return undefined;
		});
		assert.match(failed.error ?? '', new RegExp(`Period is "${before}".* ${String(period)} is`));
		assert.deepEqual(paid(already), [...salaries, ...salaries].sort());
	});
});

test('payments-of-a-period.json makes a file of the register that opens in LibreOffice', async () => {
	const id = await lab.add(await readExample('payments-of-a-period.json'));
	await lab.api.activate(id);
	const [{ period = '', reference = '' } = {}] = await rowsOf(lab.api, PAYMENTS);
	// Of two lists at once, one writes a payment as paid and the other one as unknown, or both of them made it.
	const paidTwice = { outcome: 'paid', txHash: '0xtwice', amountEtb: 5 };
	await addRows(
		lab.api,
		PAYMENTS,
		[
			{ reference: String(reference), outcome: 'unknown' },
			{ reference: String(reference), ...paidTwice },
			{ reference: 'open', outcome: 'unknown' },
			{ reference: 'open', outcome: 'notPaid' },
		].map((row) => ({ name: 'Open', period: String(period), requestedAmountEtb: 7, ...row })),
	);
	const page = await bookkeeper.read(await bookkeeper.fillIn('etb-payments', [String(period)]));
	const [, encoded = ''] = /decodeURIComponent\("([^"]+)"\)/.exec(page) ?? [];
	const Files = z.array(z.object({ data: z.object({ data: z.array(z.number()) }) }));
	// Up to 2.30 n8n gives one file by itself, not in a list.
	const [file] = Files.parse([JSON.parse(decodeURIComponent(encoded))].flat());
	const [headings = [], ...rows] = openInOffice(Buffer.from(file?.data.data ?? []));
	assert.deepEqual(headings.slice(0, 5), ['Period', 'Purpose', 'Employee', 'Name', 'Telephone']);
	const results = rows.map((row) => row[headings.indexOf('Result')]);
	assert.deepEqual(results.sort(), ['Paid', 'Paid', 'Paid', 'Paid', 'UNKNOWN']);
	assert.match(
		textOf(page),
		/2026-11 salary Paid: 3 people, 37,151\.25 ETB.* 2026-11 UNKNOWN: 1 person, 7\.00 ETB.* Paid: 1 person/,
	);
	await addRows(lab.api, PAYMENTS, [
		{ name: 'Solo', reference: 'solo', outcome: 'paid', amountEtb: 9 },
	]);
	const other = await bookkeeper.read(await bookkeeper.fillIn('etb-payments', ['Other payments']));
	assert.match(textOf(other), /Other payments Paid: 1 person, 9\.00 ETB Solo/);
	// An n8n that does not know the login leaves the form open: then there is nothing in the file.
	await lab.api.deactivate(id);
	await change(id, 'Which period?', { authentication: 'none' });
	await lab.api.activate(id);
	const stranger = FormVisitor.stranger(lab.n8n.url);
	const seen = await stranger.read(await stranger.fillIn('etb-payments', [String(period)]));
	assert.match(textOf(seen), /There is no payment of this period/);
});
