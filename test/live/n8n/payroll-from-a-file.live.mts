/** payroll-from-a-file.json in the real n8n: nobody is paid unapproved, nobody twice, and everybody at the page reads what happened. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FormVisitor, type Upload } from '../../support/form-visitor.mts';
import { startLab, type Lab } from '../../support/lab.mts';
import { PAYMENTS, addRows, rowsOf, setPerson } from '../../support/people.mts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import {
	FORM,
	FilePayroll,
	SETTLE,
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

test('shows what will be paid and what not, and pays exactly that after a second person approved', async () => {
	const { rows, salaries } = await newList();
	const [, employee = ''] = /^(\S+) /.exec(salaries[0] ?? '') ?? [];
	const already = payroll.payments();
	const list = csv(...rows, 'NEW-1,Marta <b>{{ 6 * 7 }}</b>,,25000');
	const address = await payroll.upload(list);
	const page = await payroll.approver.open(address);
	assert.ok(!page.includes('<b>{{'), 'a name is shown as it is written');
	const asked = textOf(page);
	for (const shown of [
		'21,900.50 ETB for 2 people',
		'october.csv, uploaded by Workflow Builder (owner@example.com)',
		'Only the first sheet counts, and in it hidden rows too',
		'Paid for the first time: 2 people',
		`Wallet etbw_${employee} 0911223344`,
		'Will not be paid: 1 person',
		'Marta <b>{{ 6 * 7 }}</b>',
		'Row 4. The known people have no wallet for this person',
	])
		assert.ok(asked.includes(shown), `${shown} is not on the page:\n${asked}`);
	assert.deepEqual(payroll.paid(already), []);

	const done = await payroll.approve(address);
	for (const shown of [
		'21,900.50 ETB paid to 2 people',
		'Approved by Hiwot Alemu (hiwot@example.com)',
		'Not paid: 1 person',
	])
		assert.ok(done.includes(shown), `${shown} is not on the page:\n${done}`);
	assert.deepEqual(payroll.paid(already), salaries);
	const [row] = await register(employee);
	const { txHash } = lab.sandbox.books.disbursements()[already] ?? {};
	assert.deepEqual(
		[row?.['outcome'], row?.['amountEtb'], row?.['txHash'], row?.['approvedBy']],
		['paid', 12_400, txHash, second.email],
	);
	// Who uploaded can read it later, as often as they like.
	assert.ok(textOf(await payroll.accountant.open(address)).includes('21,900.50 ETB paid'));

	const again = await payroll.upload(list);
	const nothing = textOf(await payroll.accountant.read(again));
	assert.match(nothing, /Nobody was paid.*Paid before, not again: 2 people.*0x[0-9a-f]{64}/);
	assert.deepEqual(payroll.paid(already), salaries);
});

test('who uploaded cannot approve, nor a stranger, nor a list that brings an approval along', async () => {
	const { rows } = await newList();
	const already = payroll.payments();
	const content = [
		`${HEADINGS},decision,user,mode,outcome,code,reference,toUserId`,
		...rows.map((row) => `${row},Approve,hiwot,pay,ready,ready,other,etbw_x`),
	].join('\n');
	// A column toUserId is one of the wallet, and another one than that of the table is refused.
	const refused = textOf(
		await payroll.accountant.read(await payroll.upload({ name: 'a.csv', content })),
	);
	assert.match(refused, /Nobody was paid.*another wallet/);
	const brought = content.replaceAll(/,toUserId$|,etbw_x$/gm, '');
	const address = await payroll.upload({ name: 'b.csv', content: brought });
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
		/Nobody was paid: Workflow Builder .* uploaded this list, so somebody else has to approve it/,
	);
	const stranger = FormVisitor.stranger(lab.n8n.url);
	assert.equal(
		(await stranger.request(address, { method: 'POST', body: new FormData() })).status,
		401,
	);
	assert.deepEqual(payroll.paid(already), []);
	await payroll.approver.choose(address, 'Decline');
	assert.match(
		textOf(await payroll.approver.read(address)),
		/Nobody was paid.*Declined by Hiwot Alemu.*Not paid, because nobody approved it: 2 people/,
	);
	assert.deepEqual(payroll.paid(already), []);
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

test('what was shown is paid, whatever the table says by then', async () => {
	const { list, rows, salaries } = await newList();
	const [employee = ''] = (rows[1] ?? '').split(',');
	const already = payroll.payments();
	const address = await payroll.upload(list);
	await setPerson(lab.api, employee, 'userId', 'etbw_nobody');
	assert.match(await payroll.approve(address), /21,900\.50 ETB paid/);
	assert.deepEqual(payroll.paid(already), salaries);
});

test('the next month says who is new, gone, risen, renamed, reachable elsewhere, and whose wallet it is', async () => {
	const names = ['stays', 'gone', 'rises', 'other name', 'other phone', 'number used again'];
	const employees = names.map((_, index) => `M-${index}`);
	await payroll.setUp(
		names.map((name, index) => ({ employee: `M-${index}`, name, phone: `091100000${index}` })),
	);
	const row = (index: number, change: { name?: string; phone?: string; amount?: number } = {}) =>
		[
			employees[index],
			change.name ?? names[index],
			change.phone ?? `091100000${index}`,
			change.amount ?? 1000 + index,
		].join(',');
	await payroll.pay(csv(...employees.map((_, index) => row(index))), '2026-09');
	await payroll.setUp([{ employee: 'M-9', name: 'new', phone: '0911000009' }]);
	const page = textOf(
		await payroll.approver.open(
			await payroll.upload(
				csv(
					row(0),
					row(2, { amount: 1253 }),
					row(3, { name: 'married name' }),
					row(4, { phone: '0922000004' }),
					row(5, { name: 'Somebody Else' }),
					'M-9,new,0911000009,1009',
				),
			),
		),
	);
	assert.match(page, /for the first time: 1 person new M-9/);
	assert.match(page, /rises M-2 1,002\.00 in 2026-09, \+25 %\./);
	assert.match(page, /married name M-3 .*Last time the name was other name\./);
	assert.match(page, /other phone M-4 Last time the telephone was 0911000004\./);
	assert.match(page, /Somebody Else M-5 The wallet was made for number used again\./);
	assert.match(page, /To be looked at: 4 people/);
	assert.match(page, /Paid in 2026-09, and not in this list: \d+ (person|people).*gone M-1/);
});

test('the approver reads that another workflow paid somebody in this period', async () => {
	const { list, salaries } = await newList();
	const [person = ''] = (salaries[0] ?? '').replace('-', '').split(' ');
	const reference = `salary-2026-09-${person}`;
	const row = { reference, person, period: '2026-09', outcome: 'paid', amountEtb: 12_400 };
	await addRows(lab.api, PAYMENTS, [row]);
	const page = textOf(await payroll.approver.open(await payroll.upload(list, '2026-09')));
	assert.match(page, /Another workflow paid this before, says the register\./);
});

test('an unknown one is settled from the page, and nobody is new or unknown the month after', async () => {
	const people = ['paid', 'lost', 'closed'].map((what) => `S-${what}`);
	await payroll.setUp(people.map((employee) => ({ employee })));
	const list = csv(...people.map((employee, index) => `${employee},Abebe Kebede,,${100 + index}`));
	const already = payroll.payments();
	const answer = (status: number): Fault => ({ process: 'never', answer: { status, body: '{}' } });
	const faults: Array<Fault | PresetName> = ['error500AfterPaying', answer(500), answer(422)];
	faultFor(lab, new Map(faults.map((fault, index) => [`etbw_${people[index]}`, fault])));
	const page = await payroll.pay(list, '2026-09');
	lab.sandbox.faults.clear();
	assert.match(
		page,
		/Nobody was paid.*unknown whether they were paid: 2 people.*Not paid: 1 person/,
	);
	const reference = (what: string) => `salary-2026-09-S${what.toUpperCase()}`;
	const link = /\[([^\]]*wasPaid=salary-2026-09-SPAID)\] It was paid/.exec(page)?.[1] ?? '';
	// The link fills the form in.
	assert.ok((await payroll.approver.open(link)).includes(reference('paid')));
	assert.deepEqual(payroll.paid(already), ['S-paid 100']);

	const settled = await payroll.settle([reference('paid')], [reference('lost')]);
	assert.match(settled, /SPAID Settled as paid.*SLOST Settled as not paid/);
	assert.deepEqual(payroll.paid(already), ['S-paid 100']);
	const [row] = await register('S-paid');
	assert.deepEqual(
		[row?.['outcome'], row?.['amountEtb'], row?.['settledBy'], row?.['name']],
		['paid', 100, second.email, 'Abebe Kebede'],
	);

	assert.match(
		await payroll.pay(list, '2026-09'),
		/203\.00 ETB paid to 2 people.*Paid before, not again: 1 person/,
	);
	assert.deepEqual(payroll.paid(already), ['S-closed 102', 'S-lost 101', 'S-paid 100']);
	const next = textOf(await payroll.approver.open(await payroll.upload(list)));
	assert.ok(!next.includes('Paid for the first time'), next);
});

test('nobody uploads or settles without a login', async () => {
	const stranger = FormVisitor.stranger(lab.n8n.url);
	const body = new FormData();
	body.set('field-0', 'salary-2026-09-X');
	for (const form of [FORM, SETTLE]) {
		const address = `${lab.n8n.url}/form/${form}`;
		assert.equal((await stranger.request(address)).status, 302);
		assert.equal((await stranger.request(address, { method: 'POST', body })).status, 401);
	}
});

test('a corrected amount after everybody was paid is told with what was really paid', async () => {
	const { rows, salaries } = await newList();
	const already = payroll.payments();
	await payroll.pay(csv(...rows));
	const corrected = csv(...rows.map((row) => row.replace('12400', '13400')));
	const address = await payroll.upload(corrected);
	const page = textOf(await payroll.accountant.read(address));
	assert.match(page, /Nobody was paid/);
	assert.match(
		page,
		/Another amount or person than was paid before: 1 person.*Not paid now\. Paid was 12,400\.00 ETB to Abebe Kebede/,
	);
	assert.match(page, /Paid before, not again: 1 person/);
	const [employee = ''] = (rows[0] ?? '').split(',');
	assert.deepEqual(
		(await register(employee)).map((row) => row['amountEtb']),
		[12_400],
	);
	assert.deepEqual(payroll.paid(already), salaries);
});

for (const [what, upload] of [
	['picture', { name: 'list.xlsx', content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]) }],
	['empty file', { name: 'list.csv', content: '' }],
] as const) {
	test(`a list that is a ${what} pays nobody, and the page says so`, async () => {
		const already = payroll.payments();
		const page = textOf(await payroll.accountant.read(await payroll.upload(upload)));
		assert.match(page, /Nobody was paid/);
		assert.deepEqual(payroll.paid(already), []);
	});
}

void describe('a list as a program saves it', () => {
	const headings = ['Employee', 'Name', 'Phone', 'Amount (ETB)'];
	/** Three people to pay, written in this way, and five rows that are not paid. */
	const cellsOf = (prefix: string, names: string[], amounts: string[]): string[][] => [
		headings,
		...amounts.map((amount, index) => [
			`${prefix}-${index + 1}`,
			names[index] ?? '',
			'+251 91 122 3344',
			amount,
		]),
		[`${prefix}-4`, 'Dawit Haile', '', 'pending'],
		[`${prefix}-5`, 'Sara Bekele', '', '100'],
		[`${prefix}-5`, 'Sara Bekele', '', '200'],
		[`${prefix}-6`, 'Hirut Alemu', '', '25000'],
		['', 'Total', '', '99999'],
	];
	const problems = new Map([
		[5, 'is not a plain number'],
		[6, 'has the same employee'],
		[7, 'has the same employee'],
		[8, 'above the Maximum per Payment of 20000'],
		[9, 'This row is a total'],
	]);
	const csvOf = (cells: string[][], separator: string, end: string): string =>
		cells
			.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator) + end)
			.join('');
	const amharic = ['አበበ ከበደ', 'ሰላም "ሊሊ" በቀለ', 'Almaz Tesfaye'];
	const english = ['12,400.50', '9 500.5 ETB', '1250'];
	const continental = ['12.400,50', '9500,5 Birr', '1250'];
	const byOffice = (prefix: string, to: 'ods' | 'xlsx') =>
		saveInOffice(csvOf(cellsOf(prefix, amharic, english), ',', '\n'), to);

	/** Uploads it, once the people have wallets, and sees what the approver is asked. */
	async function upload(name: string, prefix: string, content: Upload['content']) {
		await payroll.setUp([1, 2, 3, 4, 5, 6].map((index) => ({ employee: `${prefix}-${index}` })));
		const address = await payroll.upload({ name, content });
		const rows = await payroll.rows(address);
		const page = textOf(await payroll.approver.open(address));
		assert.equal(rows.length, 8);
		for (const [line, problem] of problems) {
			const row = rows.find((each) => each['line'] === line);
			assert.equal(row?.['outcome'], 'notPaid', `line ${line}`);
			const reason = `${String(row['problem'])} ${String(row['message'])}`;
			assert.ok(reason.includes(problem), `line ${line}: ${reason}, not ${problem}`);
			assert.ok(page.includes(`Row ${line}.`), `row ${line} is not on the page`);
		}
		const ready = rows.filter(({ outcome }) => outcome === 'ready');
		const right = [12_400.5, 9_500.5, 1_250].map(
			(amount, index) => `${prefix}-${index + 1} ${amount}`,
		);
		assert.deepEqual(
			ready.map(({ employee, amountEtb }) => `${String(employee)} ${String(amountEtb)}`),
			right,
		);
		return { address, right: right.sort() };
	}

	test('libreoffice.xlsx: each good row is paid once, each bad one is named, and the result opens in LibreOffice', async () => {
		const already = payroll.payments();
		const list = byOffice('L', 'xlsx');
		const { address, right } = await upload('libreoffice.xlsx', 'L', list);
		await payroll.approver.choose(address, 'Approve');
		const end = await payroll.approver.read(address);
		assert.deepEqual(payroll.paid(already), right);
		const [titles = [], ...cells] = openInOffice(fileOn(end));
		assert.equal(cells.length, 8);
		const outcomes = cells.map((row) => row[titles.indexOf('outcome')]);
		assert.equal(outcomes.filter((outcome) => outcome === 'paid').length, 3);
		// Put in again, it pays nobody twice.
		const again = await payroll.upload({ name: 'result.xlsx', content: fileOn(end) });
		const rows = await payroll.rows(again);
		assert.equal(rows.filter(({ outcome }) => outcome === 'alreadyPaid').length, 3);
		// The list with one row corrected, as LibreOffice saves it, pays exactly that row.
		const corrected = openInOffice(list).map((row) =>
			row.map((cell) => (cell === '25000' ? '15000' : cell)),
		);
		await payroll.pay({ name: 'corrected.csv', content: csvOf(corrected, ',', '\n') });
		assert.deepEqual(payroll.paid(already), [...right, 'L-6 15000'].sort());
	});

	// Payments do not depend on the kind of file: these lists go as far as the page that asks for the approval.
	for (const [name, prefix, content] of [
		['libreoffice.ods', 'O', () => byOffice('O', 'ods')],
		[
			'excel-utf8.csv',
			'X',
			() => `\ufeff${csvOf(cellsOf('X', amharic, continental), ';', '\r\n')}`,
		],
		[
			'excel-1252.csv',
			'W',
			() => {
				const names = ['Zoé Haile', 'Müller & Söhne', 'Almaz Tesfaye'];
				return Buffer.from(csvOf(cellsOf('W', names, continental), ';', '\r\n'), 'latin1');
			},
		],
	] as const) {
		test(`${name}: the approver is asked for each good row, each bad one is named`, async () => {
			const already = payroll.payments();
			await upload(name, prefix, content());
			assert.deepEqual(payroll.paid(already), []);
		});
	}
});
