/**
 * payroll-from-a-file.json in the real n8n: nobody is paid unapproved, nobody twice, and everybody at the page
 * reads what happened.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FormVisitor, type Upload } from '../../support/form-visitor.mts';
import { WorkflowFile } from '../../../demo/n8n-api.mts';
import { readExample } from '../../../demo/examples.mts';
import { setFields, startLab, type Lab } from '../../support/lab.mts';
import { PAYMENTS, duePeriod, rowsOf, setPerson } from '../../support/people.mts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import {
	FORM,
	FilePayroll,
	OPEN,
	fileOn,
	openInOffice,
	saveInOffice,
	second,
	textOf,
} from './file-payroll.mts';
import { faultFor } from '../../support/payroll.mts';

let lab: Lab;
let payroll: FilePayroll;
before(async () => {
	lab = await startLab();
	payroll = await FilePayroll.start(lab);
});
after(async () => await lab.stop());

const HEADINGS = 'Employee,Name,Phone,Amount (ETB)';
const csv = (...rows: string[]): Upload => ({
	name: 'october.csv',
	content: [HEADINGS, ...rows].join('\n'),
});

let lists = 0;
/** Two people whom no other test knows, with wallets. */
async function newList(): Promise<{ list: Upload; salaries: string[]; rows: string[] }> {
	const number = `T${++lists}`;
	const people = [
		{ employee: `${number}-1`, name: 'Abebe Kebede', phone: '0911223344' },
		{ employee: `${number}-2`, name: 'Almaz Tesfaye', phone: '' },
	];
	await payroll.setUp(people);
	const amounts = ['12400', '"9,500.50"'];
	const rows = people.map(
		({ employee, name, phone }, index) => `${employee},${name},${phone},${amounts[index]}`,
	);
	return { list: csv(...rows), salaries: [`${number}-1 12400`, `${number}-2 9500.5`], rows };
}

const register = async (employee: string) =>
	(await rowsOf(lab.api, PAYMENTS)).filter((row) => row['employee'] === employee);

/** The address of the page, and what stands on it, once a list is uploaded. */
async function shown(list: Upload, period?: string, purpose?: string): Promise<[string, string]> {
	const address = await payroll.upload(list, period, purpose);
	return [address, textOf(await payroll.approver.open(address))];
}

const failing = (employee: string, fault: Fault | PresetName) =>
	faultFor(lab, new Map([[`etbw_${employee}`, fault]]));
const referenceOf = async (employee: string): Promise<string> =>
	String((await register(employee))[0]?.['reference']);
const monthBefore = (): string => {
	const [year = 0, month = 0] = duePeriod().split('-').map(Number);
	return new Date(Date.UTC(year, month - 2)).toISOString().slice(0, 7);
};

test('shows what will be paid and what not, and pays exactly that after a second person approved', async () => {
	const { rows, salaries } = await newList();
	const [, employee = ''] = /^(\S+) /.exec(salaries[0] ?? '') ?? [];
	const already = payroll.payments();
	const list = csv(
		...rows,
		'NEW-1,Marta <b>{{ 6 * 7 }}</b>,,25000',
		',Total,,46900.5',
		',Prepared by: Hirut,,',
	);
	const address = await payroll.upload(list);
	const page = await payroll.approver.open(address);
	assert.ok(!page.includes('<b>{{'), 'a name is shown as it is written');
	const asked = textOf(page);
	for (const seen of [
		`21,900.50 ETB for 2 people: salary, ${duePeriod()}`,
		'october.csv, uploaded by Workflow Builder (owner@example.com)',
		'Will be paid, look at these: 2 people, 21,900.50 ETB',
		`Row 2 · New: never paid before · Wallet etbw_${employee} · Telephone 0911223344`,
		'Will not be paid: 1 person',
		'Marta <b>{{ 6 * 7 }}</b>',
		'Rows that are no person: 5 Total, 6 Prepared by: Hirut.',
		'Nobody of this list stands there? It was declined, or nobody approved it in time: ',
		'Workflow Builder (owner@example.com) uploaded this list, and cannot approve it.',
		`Approve: pay 21,900.50 ETB to 2 people, salary, ${duePeriod()}`,
	])
		assert.ok(asked.includes(seen), `${seen} is not on the page:\n${asked}`);
	assert.deepEqual(payroll.paid(already), []);

	await payroll.approver.choose(address, 'Approve');
	const end = await payroll.approver.read(address);
	assert.match(
		textOf(end),
		/Paid: 2 people, 21,900\.50 ETB\. Not paid: 1 person.*, approved by Hiwot Alemu/,
	);
	assert.deepEqual(payroll.paid(already), salaries);
	assert.doesNotMatch(textOf(end), /could not be written/);
	assert.match(textOf(end), /This page opens once.* result-salary-\S+\.xlsx/);
	assert.equal(openInOffice(fileOn(end)).length, 4);
	// A person who could not be paid stands in the register too, and the execution is red (S27).
	assert.deepEqual(
		(await register('NEW-1')).map(({ outcome, purpose }) => [outcome, purpose]),
		[['notPaid', 'salary']],
	);
	const { status, error } = await payroll.execution(address);
	assert.deepEqual([status, /unknown, of .*: 1\..*Marta/.test(error ?? '')], ['error', true]);
	// The link of the end page fills the form in.
	const [, link = ''] = /\[(\S+)\] Upload the list again/.exec(textOf(end)) ?? [];
	assert.match(await payroll.accountant.open(link), new RegExp(`value='${duePeriod()}' selected`));
});

test('an execution ends red when somebody is left, also if nobody opens the last page', async () => {
	const { rows, salaries } = await newList();
	const already = payroll.payments();
	const example = JSON.stringify(await readExample('payroll-from-a-file.json'));
	const soon = example
		.replaceAll('"etb-file', '"red-file')
		.replace('"resumeAmount":15,"resumeUnit":"minutes"', '"resumeAmount":1,"resumeUnit":"seconds"');
	assert.ok(soon.includes('"seconds"'));
	const id = await lab.add(WorkflowFile.parse(JSON.parse(soon)));
	await lab.api.activate(id);
	const list = csv(...rows, 'NEW-2,Sara Bekele,,100');
	const address = await payroll.accountant.fillIn('red-file', [list, 'salary', duePeriod()]);
	await payroll.approver.choose(address, 'Approve');
	const [execution = ''] = await lab.api.executionIds(id);
	// n8n looks once a minute for pages whose time is over.
	const { status, error } = await lab.api.endedExecution(execution, 180_000);
	assert.deepEqual([status, /unknown, of .*: 1\..*Sara Bekele/.test(error ?? '')], ['error', true]);
	assert.deepEqual(payroll.paid(already), salaries);
	await lab.api.deactivate(id);
});

test('who uploaded cannot approve, nor a stranger, nor a list that brings an approval along', async () => {
	const { rows } = await newList();
	const already = payroll.payments();
	const content = [
		`${HEADINGS},decision,user,mode,outcome,code,reference,status`,
		...rows.map((row) => `${row},Approve,hiwot,pay,ready,ready,other,ready`),
	].join('\n');
	const address = await payroll.upload({ name: 'b.csv', content });
	assert.deepEqual(
		(await payroll.rows(address)).map(({ outcome, mode }) => [outcome, mode]),
		[
			['ready', 'dryRun'],
			['ready', 'dryRun'],
		],
	);
	await payroll.accountant.choose(address, 'Approve');
	assert.match(
		textOf(await payroll.approver.open(address)),
		/Who uploaded this list tried to approve it\. Somebody else has to/,
	);
	const stranger = FormVisitor.stranger(lab.n8n.url);
	const body = new FormData();
	assert.equal((await stranger.request(address, { method: 'POST', body })).status, 401);
	for (const form of [FORM, OPEN]) {
		const open = `${lab.n8n.url}/form/${form}`;
		assert.equal((await stranger.request(open)).status, 302);
		assert.equal((await stranger.request(open, { method: 'POST', body })).status, 401);
	}
	// Nor does a sentence that the page did not show.
	await payroll.approver.answer(address, { 'Your decision': 'Approve: pay 1 ETB' });
	assert.deepEqual(payroll.paid(already), []);
});

test('a list that was declined pays nobody, and is not red', async () => {
	const { list } = await newList();
	const already = payroll.payments();
	const address = await payroll.upload(list);
	await payroll.approver.choose(address, 'Decline');
	const end = textOf(await payroll.approver.read(address));
	assert.match(
		end,
		/Paid: 0 people\. Declined: 2 people, 21,900\.50 ETB.*, declined by Hiwot Alemu/,
	);
	assert.doesNotMatch(end, /This page opens once/);
	assert.deepEqual(payroll.paid(already), []);
	assert.equal((await payroll.execution(address)).status, 'success');
});

test('two lists approved at once, and a page that is sent twice: each person once', async () => {
	const { list, salaries } = await newList();
	const already = payroll.payments();
	const addresses = [await payroll.upload(list), await payroll.upload(list)];
	const pages = await Promise.all(addresses.map(async (each) => await payroll.approver.open(each)));
	await Promise.all(
		addresses.flatMap((address, index) =>
			[1, 2].map(async () => await payroll.approver.choose(address, 'Approve', pages[index])),
		),
	);
	for (const address of addresses) await payroll.approver.read(address);
	assert.deepEqual(payroll.paid(already), salaries);
});

void describe('between the page and the approval', () => {
	/** Two people, of whom it is unknown whether the first one was paid; a page that shows the second one as ready. */
	async function half(fault: PresetName) {
		const { list, rows, salaries } = await newList();
		const [employee = ''] = (rows[0] ?? '').split(',');
		failing(employee, fault);
		await payroll.pay(csv(rows[0] ?? ''));
		lab.sandbox.faults.clear();
		const already = payroll.payments();
		const [address, page] = await shown(list);
		assert.match(page, /9,500\.50 ETB for 1 person.*UNKNOWN: 1 person, 12,400\.00 ETB/);
		return { address, employee, already, salaries };
	}

	test('somebody is settled as not paid: what was shown is paid, and no more (S19)', async () => {
		const { address, employee, already, salaries } = await half('error500BeforePaying');
		await payroll.settle({ [await referenceOf(employee)]: 'It was not paid' });
		assert.match(await payroll.approve(address), /Paid: 1 person, 9,500\.50 ETB/);
		assert.deepEqual(payroll.paid(already), salaries.slice(1));
	});

	test('somebody is settled as paid: what was shown is paid', async () => {
		const { address, employee, already, salaries } = await half('error500AfterPaying');
		await payroll.settle({ [await referenceOf(employee)]: 'It was paid' });
		assert.match(await payroll.approve(address), /Paid: 1 person, 9,500\.50 ETB/);
		assert.deepEqual(payroll.paid(already), salaries.slice(1));
	});

	test('another list, a wallet, a maximum, and a copy: what was shown is paid, or not, and the page says which (S21)', async () => {
		const { list, rows, salaries } = await newList();
		const [employee = '', other = ''] = rows.map((row) => row.split(',')[0] ?? '');
		const already = payroll.payments();
		const [outdated] = await shown(list);
		await payroll.pay(csv(rows[0] ?? ''));
		assert.match(
			await payroll.approve(outdated),
			new RegExp(
				`Nobody was paid by this list\\. Since it was checked, .*\\(${employee}\\): 12,400\\.00 ETB for .*Not paid: 1 person, 9,500\\.50 ETB . Paid before, not again: 1 person`,
			),
		);
		assert.deepEqual(payroll.paid(already), salaries.slice(0, 1));
		const [address] = await shown(list);
		await setPerson(lab.api, other, 'userId', 'etbw_nobody');
		await setFields(lab.api, payroll.id, 'Pay salaries', { options: { maxAmountEtb: '1' } });
		const end = await payroll.approve(address);
		await setFields(lab.api, payroll.id, 'Pay salaries', {
			options: { maxAmountEtb: '20000', maxTotalEtb: '100000' },
		});
		assert.match(end, /Paid: 1 person, 9,500\.50 ETB\. Paid before, not again: 1 person/);
		assert.match(
			end,
			new RegExp(`not again: .* ${employee} Row 2 · Paid 12,400\\.00 ETB to .* 0x`),
		);
		assert.deepEqual(payroll.paid(already), salaries);
	});

	test('the same list for two purposes: the second approval pays nobody, and says whom the first one paid', async () => {
		const { list, salaries } = await newList();
		const already = payroll.payments();
		const [bonus] = await shown(list, undefined, 'bonus');
		const [salary] = await shown(list);
		assert.match(await payroll.approve(salary), /Paid: 2 people, 21,900\.50 ETB/);
		assert.match(
			await payroll.approve(bonus),
			/Nobody was paid by this list\. .* got a payment, .*12,400\.00 ETB for \S+ salary; .*9,500\.50 ETB for \S+ salary/,
		);
		assert.deepEqual(payroll.paid(already), salaries);
	});

	test('n8n starts again: the page still pays what it showed', async () => {
		const { list, salaries } = await newList();
		const already = payroll.payments();
		const [address] = await shown(list);
		await lab.n8n.stop();
		await lab.restartN8n();
		assert.match(await payroll.approve(address), /Paid: 2 people, 21,900\.50 ETB/);
		assert.deepEqual(payroll.paid(already), salaries);
	});
});

test('a copy, and the monthly payroll, pay nobody whom this one paid, and say which workflow did', async () => {
	const { list, rows, salaries } = await newList();
	const already = payroll.payments();
	await payroll.pay(list);
	const copy = await readExample('payroll-from-a-file.json');
	const paths = JSON.stringify(copy).replaceAll('"etb-file', '"copy-file');
	const id = await lab.add(WorkflowFile.parse(JSON.parse(paths)));
	await lab.api.activate(id);
	const fields = [list, 'salary', duePeriod()];
	const page = textOf(
		await payroll.accountant.read(await payroll.accountant.fillIn('copy-file', fields)),
	);
	assert.match(
		page,
		new RegExp(
			`Paid: 0 people\\. Paid before, not again: 2 people, 21,900\\.50 ETB.*${payroll.id}`,
		),
	);
	assert.doesNotMatch(page, /Upload the list again/);
	await lab.api.deactivate(id);

	for (const row of rows) await setPerson(lab.api, row.split(',')[0] ?? '', 'payroll', 'monthly');
	await setPerson(lab.api, rows[0]?.split(',')[0] ?? '', 'amountEtb', 12_400);
	await setPerson(lab.api, rows[1]?.split(',')[0] ?? '', 'amountEtb', 9500.5);
	const monthly = await lab.add(await readExample('payroll.json'));
	await lab.api.endedExecution(await lab.api.run(monthly, 'Every 25th'));
	assert.deepEqual(payroll.paid(already), salaries);
});

test('a list of another period, and of another purpose, is red on top (S12)', async () => {
	const { list } = await newList();
	await payroll.pay(list);
	for (const [period, purpose, red] of [
		[
			monthBefore(),
			'salary',
			`This is for ${monthBefore()}. ${duePeriod()} is due. Was this list for ${duePeriod()}?`,
		],
		[
			duePeriod(),
			'bonus',
			`Is this a second payment for ${duePeriod()}? It looks so for Abebe Kebede (`,
		],
	] as const) {
		const [address, page] = await shown(list, period, purpose);
		assert.ok(page.includes(red), page);
		assert.match(
			page,
			/Paid (?:for the same purpose|the same amount for another purpose) in the last 10 days: Abebe Kebede \(\S+\), Almaz Tesfaye \(\S+\)\. Is the (?:month|purpose) right\?/,
		);
		assert.match(page, new RegExp(`ETB for salary, ${duePeriod()}, on `));
		await payroll.approver.choose(address, 'Decline');
	}
	const already = payroll.payments();
	for (const [purpose, period] of [
		['hack', duePeriod()],
		['salary', '2099-01'],
		['salary', ''],
	] as const) {
		const page = textOf(await payroll.accountant.read(await payroll.upload(list, period, purpose)));
		assert.match(page, /nothing was sent.*(Purpose|Period) is/);
	}
	assert.equal(payroll.payments(), already);
});

test('a correction is a list with that purpose', async () => {
	const { rows, salaries } = await newList();
	const [employee = '', name = ''] = (rows[0] ?? '').split(',');
	const already = payroll.payments();
	await payroll.pay(csv(...rows));
	const corrected = textOf(
		await payroll.accountant.read(
			await payroll.upload(csv(...rows.map((row) => row.replace('12400', '12900')))),
		),
	);
	assert.match(
		corrected,
		/Paid: 0 people\. Paid less than the list has, 500\.00 ETB less: 1 person \. Paid before, not again: 1 person.*Paid 12,400\.00 ETB to Abebe Kebede · \S+ \S+ · 0x\S+ · .*now 12,900 ETB, \+4\.0 %.*the purpose \[\S+\] correction/,
	);
	assert.match(
		await payroll.pay(csv(`${employee},${name},,500`), duePeriod(), 'correction'),
		/Paid: 1 person, 500\.00 ETB/,
	);
	assert.deepEqual(payroll.paid(already), [...salaries, `${employee} 500`].sort());
	assert.deepEqual(
		(await register(employee)).map(({ purpose, amountEtb }) => [purpose, amountEtb]),
		[
			['salary', 12_400],
			['correction', 500],
		],
	);
});

test('a person of another payroll gets all but the salary', async () => {
	await payroll.setUp([{ employee: 'O-1' }]);
	await setPerson(lab.api, 'O-1', 'payroll', 'monthly');
	const list = csv('O-1,Abebe Kebede,,300.5');
	const already = payroll.payments();
	const salary = textOf(await payroll.accountant.read(await payroll.upload(list)));
	assert.match(
		salary,
		/Not paid: 1 person.*The salary of this person is paid by the payroll monthly/,
	);
	await payroll.pay(list, duePeriod(), 'correction');
	assert.deepEqual(payroll.paid(already), ['O-1 300.5']);
});

test('nobody "was paid" while somebody is unknown, who is settled on the page of what is open (S20, S23)', async () => {
	const people = ['paid', 'lost', 'closed'].map((what) => `S-${what}`);
	await payroll.setUp(people.map((employee) => ({ employee })));
	const list = csv(...people.map((employee, index) => `${employee},Abebe Kebede,,${100 + index}`));
	const already = payroll.payments();
	const response = (status: number): Fault => ({
		process: 'never',
		response: { status, body: '{}' },
	});
	const faults: Array<Fault | PresetName> = ['error500AfterPaying', response(500), response(422)];
	faultFor(lab, new Map(faults.map((fault, index) => [`etbw_${people[index]}`, fault])));
	const page = await payroll.pay(list);
	lab.sandbox.faults.clear();
	assert.match(
		page,
		/UNKNOWN: 2 people, 201\.00 ETB \. Paid: 0 people\. Not paid: 1 person, 102\.00 ETB/,
	);
	assert.doesNotMatch(page, /Nobody was paid/);
	// Another purpose could pay an unknown person a second time: the first choice is to decline.
	const [bonus, asked] = await shown(list, undefined, 'bonus');
	assert.match(asked, /UNKNOWN whether 2 of 3 people got another payment/);
	assert.match(asked, /Your decision Decline: pay nobody Approve/);
	await payroll.approver.choose(bonus, 'Decline');
	assert.match(
		page,
		/Abebe Kebede S-paid .* · Unknown since [-\d]+ \d\d:\d\d · salary-\S+ · Wallet etbw_S-paid/,
	);
	const [, link = ''] = /\[(\S+)\] What is open/.exec(page) ?? [];
	assert.match(await payroll.approver.open(link), /What is open/);
	const unknown = csv('S-paid,Abebe Kebede,,100', 'S-lost,Abebe Kebede,,150');
	const [open, again] = [/What is open/, /Upload the list again/];
	const onlyUnknown = textOf(await payroll.accountant.read(await payroll.upload(unknown)));
	assert.deepEqual([open.test(onlyUnknown), again.test(onlyUnknown)], [true, false]);
	assert.match(onlyUnknown, /UNKNOWN: 2 people, 201\.00 ETB .*The list says 150\.00 ETB/);

	const [paid, lost] = [await referenceOf('S-paid'), await referenceOf('S-lost')];
	assert.match(
		await payroll.settle({ [paid]: 'It was paid', [lost]: 'It was not paid' }),
		/Recorded as paid: 1 person, 100\.00 ETB .*S-paid .*Recorded as paid by \S+@.*Recorded as not paid: 1 person, .*S-lost/,
	);
	// Somebody chose the wrong person: the page takes it back.
	const wrong = 'Is one of these records wrong?';
	assert.match(
		await payroll.settle({
			[wrong]: `Abebe Kebede, 101.00 ETB (${lost}): recorded as not paid, but perhaps it was`,
		}),
		/taken back, so it is unknown again: Abebe Kebede \(S-lost\)/,
	);
	assert.equal((await register('S-lost'))[0]?.['outcome'], 'unknown');
	assert.match(
		await payroll.settle({ [lost]: 'It was not paid' }),
		/Recorded as not paid: 1 person, .*S-lost/,
	);
	assert.deepEqual(payroll.paid(already), ['S-paid 100']);
	const [row] = await register('S-paid');
	assert.deepEqual(
		[row?.['outcome'], row?.['amountEtb'], row?.['settledBy'], row?.['name']],
		['paid', 100, second.email, 'Abebe Kebede'],
	);
	assert.match(
		await payroll.pay(list),
		/Paid: 2 people, 203\.00 ETB\. Paid before, not again: 1 person/,
	);
	assert.deepEqual(payroll.paid(already), ['S-closed 102', 'S-lost 101', 'S-paid 100']);

	// The record as paid was wrong too: two answers lead from paid to not paid, and the list pays it.
	const sums = async (): Promise<unknown[]> =>
		(await register('S-paid')).map(({ outcome, amountEtb }) => [outcome, amountEtb]);
	assert.match(
		await payroll.settle({
			[wrong]: `Abebe Kebede, 100.00 ETB (${paid}): recorded as paid, but perhaps it was not`,
		}),
		/taken back, so it is unknown again: Abebe Kebede \(S-paid\)/,
	);
	assert.deepEqual(await sums(), [['unknown', null]]);
	const one = csv('S-paid,Abebe Kebede,,100');
	assert.match(
		textOf(await payroll.accountant.read(await payroll.upload(one))),
		/UNKNOWN: 1 person/,
	);
	assert.match(
		await payroll.settle({ [paid]: 'It was not paid' }),
		/Recorded as not paid: 1 person/,
	);
	assert.match(await payroll.pay(one), /Paid: 1 person, 100\.00 ETB/);
	assert.deepEqual(await sums(), [['paid', 100]]);
	assert.deepEqual(payroll.paid(already), [
		'S-closed 102',
		'S-lost 101',
		'S-paid 100',
		'S-paid 100',
	]);
	// A payment with a transaction is no record of a person.
	assert.doesNotMatch(
		await payroll.accountant.open(`${lab.n8n.url}/form/etb-file-open`),
		/recorded as paid, but/,
	);
});

test('what was settled while a page waited stays settled, and its last page says so', async () => {
	const people = ['free', 'paid', 'late'].map((what) => `W-${what}`);
	await payroll.setUp(people.map((employee) => ({ employee })));
	const list = csv(...people.map((employee, index) => `${employee},Abebe Kebede,,${100 + index}`));
	const already = payroll.payments();
	const response = (status: number): Fault => ({
		process: 'never',
		response: { status, body: '{}' },
	});
	const faults: Array<Fault | PresetName> = [response(500), 'error500AfterPaying', response(422)];
	faultFor(lab, new Map(faults.map((fault, index) => [`etbw_${people[index]}`, fault])));
	await payroll.pay(list);
	lab.sandbox.faults.clear();
	const waiting = await payroll.upload(list);
	const openedBefore = await payroll.accountant.fillIn('etb-file-open', []);
	const [free, paid] = [await referenceOf('W-free'), await referenceOf('W-paid')];
	assert.match(
		await payroll.settle({ [free]: 'It was not paid' }),
		/Recorded as not paid: 1 person, .*W-free .*To record more, or to correct a record/,
	);
	assert.equal((await register('W-paid'))[0]?.['outcome'], 'unknown');
	// Of two answers that differ none is believed: a page that was opened earlier asks again.
	await payroll.accountant.answer(openedBefore, { [free]: 'It was paid' });
	assert.match(
		textOf(await payroll.accountant.open(openedBefore)),
		/The answers differ, so it is unknown again: Abebe Kebede \(W-free\).*UNKNOWN: 2 people/,
	);
	const [open] = await register('W-free');
	assert.equal(open?.['outcome'], 'unknown');
	assert.match(
		String(open['reason']),
		/hiwot@example.com recorded it as not paid, and owner@example.com as paid/,
	);
	await payroll.settle({ [free]: 'It was not paid' });
	assert.equal((await register('W-free'))[0]?.['outcome'], 'notPaid');
	// It is sent again, and fails again: an answer about this sending counts too.
	faultFor(lab, new Map([['etbw_W-free', response(500)]]));
	await payroll.pay(csv('W-free,Abebe Kebede,,100'));
	lab.sandbox.faults.clear();
	assert.equal((await register('W-free'))[0]?.['outcome'], 'unknown');
	assert.match(
		await payroll.settle({ [free]: 'It was not paid' }),
		/Recorded as not paid: 1 person/,
	);
	assert.equal((await register('W-free'))[0]?.['outcome'], 'notPaid');
	assert.equal((await register('W-paid'))[0]?.['outcome'], 'unknown');
	assert.match(
		await payroll.settle({ [paid]: 'It was paid' }),
		/Recorded as paid: 1 person, .*W-paid .* at \d{4}-/,
	);
	assert.match(
		await payroll.approve(waiting),
		/Paid: 1 person, 102\.00 ETB\. Not paid: 1 person, 100\.00 ETB \. Paid before, not again: 1 person, 101\.00/,
	);
	assert.deepEqual(
		(await Promise.all(people.map(register))).flat().map(({ outcome }) => outcome),
		['notPaid', 'paid', 'paid'],
	);
	assert.match(await payroll.pay(list), /Paid: 1 person, 100\.00 ETB/);
	assert.match(
		textOf(await payroll.approver.read(await payroll.upload(list))),
		/salary\. Paid: 0 people\. Paid before, not again: 3 people.*, nothing to approve\./,
	);
	assert.deepEqual(payroll.paid(already), ['W-free 100', 'W-late 102', 'W-paid 101']);
});

test('the next month says who is new, gone, risen, renamed, and leaves out who was paid by another list (S24)', async () => {
	const names = ['stays', 'gone', 'rises', 'other name', 'other phone', 'paid already'];
	await payroll.setUp(
		names.map((name, index) => ({ employee: `M-${index}`, name, phone: `091100000${index}` })),
	);
	const row = (index: number, change: { name?: string; phone?: string; amount?: number } = {}) =>
		[
			`M-${index}`,
			change.name ?? names[index],
			change.phone ?? `091100000${index}`,
			change.amount ?? 1000 + index,
		].join(',');
	await payroll.pay(csv(...names.map((_, index) => row(index))), monthBefore());
	await payroll.pay(csv(row(5)));
	await payroll.setUp([{ employee: 'M-9', name: 'new', phone: '0911000009' }]);
	const list = csv(
		row(0),
		row(2, { amount: 1253 }),
		row(3, { name: 'married name' }),
		row(4, { phone: '0922000004' }),
		'M-9,new,0911000009,1009',
	);
	const [address, page] = await shown(list);
	assert.match(page, /new M-9 .*New: never paid before/);
	assert.match(
		page,
		/Will be paid, look at these: 4 people.*rises M-2 .*1,?002.*married name M-3 .*other name.*other phone M-4 .*0911000004/,
	);
	const gone =
		'Set up or paid last time, not in this list and not paid for \\S+ salary: \\d+ people';
	assert.match(page, new RegExp(`${gone} .*gone M-1 `));
	assert.match(
		await payroll.approve(address),
		new RegExp(`Paid: 5 people, .* ETB\\. .*${gone}\\.? .*approved by`),
	);
});

test('rounded amounts are one line with the difference of the sums, and a reason of many people stands there once (S11, S14)', async () => {
	const { rows } = await newList();
	const calculated = rows.map((row, index) => `${row.split(',')[0]},Person,,${index + 1}00.1249`);
	const [, page] = await shown(csv(...calculated));
	assert.match(
		page,
		/300\.24 ETB for 2 people.*Rounded amounts: 2 \(Person, Person\)\. Rounding makes the sum 0\.01 ETB smaller/,
	);
	assert.doesNotMatch(page, /Rounded to/);
	await setFields(lab.api, payroll.id, 'Pay salaries', { options: { maxTotalEtb: '1' } });
	await lab.api.activate(payroll.id);
	const above = textOf(await payroll.accountant.read(await payroll.upload(csv(...rows))));
	await setFields(lab.api, payroll.id, 'Pay salaries', {
		options: { maxAmountEtb: '20000', maxTotalEtb: '100000' },
	});
	await lab.api.activate(payroll.id);
	assert.equal(above.match(/above the Maximum per Run/g)?.length, 1);
	assert.match(above, /Not paid: 2 people.* Row 3 · As above/);
});

for (const [what, upload] of [
	['picture', { name: 'list.xlsx', content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]) }],
	['empty file', { name: 'list.csv', content: '' }],
] as const) {
	test(`a list that is a ${what} pays nobody, and the page says so`, async () => {
		const already = payroll.payments();
		const page = textOf(await payroll.accountant.read(await payroll.upload(upload)));
		assert.match(page, /The list cannot be used: nothing was sent/);
		assert.deepEqual(payroll.paid(already), []);
	});
}

test('a list that LibreOffice saved: each good row is paid once, each bad one is named, and the result opens there', async () => {
	const cells = [
		'L-1,አበበ ከበደ,+251 91 122 3344,"12,400.50"',
		'L-2,"ሰላም ""ሊሊ"" በቀለ",+251 91 122 3344,9 500.5 ETB',
		'L-3,Almaz Tesfaye,,1250',
		'L-4,Dawit Haile,,pending',
		'L-5,Sara Bekele,,100',
		'L-5,Sara Bekele,,200',
		'L-6,Hirut Alemu,,25000',
		',Total,,99999',
	];
	const problems = new Map([
		[5, 'is not a plain number'],
		[6, 'The same employee is in'],
		[7, 'The same employee is in'],
		[8, 'above the Maximum per Payment of 20000'],
	]);
	const already = payroll.payments();
	await payroll.setUp([1, 2, 3, 4, 5, 6].map((index) => ({ employee: `L-${index}` })));
	const list = saveInOffice([HEADINGS, ...cells].join('\n'), 'xlsx');
	const address = await payroll.upload({ name: 'libreoffice.xlsx', content: list });
	const rows = await payroll.rows(address);
	const page = textOf(await payroll.approver.open(address));
	assert.equal(rows.length, 8);
	for (const [line, problem] of problems) {
		const row = rows.find((each) => each['line'] === line);
		assert.equal(row?.['outcome'], 'notPaid', `line ${line}`);
		const reason = `${String(row['problem'])} ${String(row['message'])}`;
		assert.ok(reason.includes(problem), `line ${line}: ${reason}, not ${problem}`);
		assert.ok(page.includes(`Row ${line} ·`), `row ${line} is not on the page`);
	}
	await payroll.approver.choose(address, 'Approve');
	const end = await payroll.approver.read(address);
	const right = ['L-1 12400.5', 'L-2 9500.5', 'L-3 1250'];
	assert.deepEqual(payroll.paid(already), right);
	const [titles = [], ...result] = openInOffice(fileOn(end));
	assert.equal(result.length, 7);
	const outcomes = result.map((row) => row[titles.indexOf('Result')]);
	assert.equal(outcomes.filter((outcome) => outcome === 'Paid').length, 3);
	// Put in again, it pays nobody twice.
	const again = await payroll.upload({ name: 'result.xlsx', content: fileOn(end) });
	const rowsAgain = await payroll.rows(again);
	assert.equal(rowsAgain.filter(({ status }) => status === 'paidBefore').length, 3);
	// The list with one row corrected, as LibreOffice saves it, pays exactly that row.
	const corrected = openInOffice(list).map((row) =>
		row.map((cell) => `"${(cell === '25000' ? '15000' : cell).replaceAll('"', '""')}"`).join(),
	);
	await payroll.pay({ name: 'corrected.csv', content: corrected.join('\n') });
	assert.deepEqual(payroll.paid(already), [...right, 'L-6 15000']);
});
