/** Lists as people have them, through the form of payroll-from-a-file.json in the real n8n. They are invented people's. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startLab, type Lab } from '../../support/lab.mts';
import { PEOPLE, addRows } from '../../support/people.mts';
import { FilePayroll, textOf, type Item } from './file-payroll.mts';

const folder = join(import.meta.dirname, 'fixtures', 'public-files');

let lab: Lab;
let payroll: FilePayroll;
before(async () => {
	lab = await startLab();
	payroll = await FilePayroll.start(lab);
	const numbers = [
		...Array.from({ length: 12 }, (_, index) => `E-${701 + index}`),
		...['E-799', '1041', '7', '51041', '51042', '51043'],
	];
	await addRows(
		lab.api,
		PEOPLE,
		numbers.map((employee) => ({
			...{ employee, name: '', payroll: 'file' },
			userId: lab.sandbox.books.addUser({ externalId: employee }).id,
		})),
	);
});
after(async () => await lab.stop());

/** Uploads the file: the page that follows, and what would be paid. */
async function look(file: string): Promise<{ page: string; rows: Item[]; ready: string[] }> {
	const content = await readFile(join(folder, file));
	const address = await payroll.upload({ name: file, content });
	const rows = await payroll.rows(address);
	const page = textOf(await payroll.approver.open(address));
	const ready = rows
		.filter(({ outcome }) => outcome === 'ready')
		.map(({ employee, amountEtb }) => `${String(employee)} ${String(amountEtb)}`);
	return { page, rows, ready };
}

const all = (...amounts: number[]): string[] =>
	amounts.map((amount, index) => `E-${701 + index} ${amount}`);

for (const [file, ready, shown] of [
	['f01-hidden-first-sheet.xlsx', ['E-701 7000', 'E-799 8000'], /Only the first sheet counts/],
	[
		'f02-filtered.xlsx',
		all(11200, 9800.5, 13050, 12000),
		/46,050\.50 ETB for 4 people.*and in it hidden rows too/,
	],
	['f03-last-row-coloured.xlsx', all(11200, 9800.5, 13050), /for 3 people/],
	[
		'f05-employee-number-became-date.xlsx',
		[],
		/Nobody was paid.*also the number of the date 2026-01-12.*Format the column as Text/,
	],
	['f06-three-blank-rows.xlsx', ['E-701 11200', 'E-703 13050'], /Row 6\. amountEtb is "pending"/],
	['f07-phone-from-contacts.xlsx', all(11200, 9800.5, 9800.5, 9800.5, 9800.5), /for 5 people/],
	['f08-scientific.csv', ['E-701 11200'], /Row 3\. employee is "2\.51911E\+11".*Row 4\. employee/],
	['f09-phones.xlsx', all(...Array<number>(11).fill(1000)), /for 11 people/],
	[
		'f10-net-by-formula.xlsx',
		all(8333.33, 9388.85, 0.3),
		/To be looked at: 2 people.*8333\.33333333333 was rounded to 8333\.33/,
	],
	['f15-twelve-title-rows.xlsx', all(11200, 9800.5, 13050), /for 3 people/],
	[
		'f18b-small-total.xlsx',
		all(1200, 900),
		/Will not be paid: 1 person.*Row 4\. This row is a total/,
	],
	['f19-number-column-without-heading.xlsx', all(11200, 9800.5, 13050), /for 3 people/],
	['f20-pandas-floats.csv', ['1041 12400', '7 9500.5'], /for 2 people/],
	['f30-placeholders.csv', all(100, 100, 100, 100), /for 4 people/],
] as const) {
	test(`${file} is read as it is right`, async () => {
		const found = await look(file);
		assert.deepEqual(found.ready, ready);
		assert.match(found.page, shown);
	});
}

for (const [file, refusal] of [
	[
		'f02b-hidden-salary-column.xlsx',
		/no column employee and no column name and no column amountEtb\. Its columns are "Employee No", "Full Name", "Salary", "Take Home Pay"/,
	],
	[
		'f04-salary-and-net-pay.xlsx',
		/no column employee and no column amountEtb\. Its columns are "Employee ID", "Name", "Salary", "Tax", "Net Pay \(ETB\)"/,
	],
	['f13-password.xlsx', /could not be read: File is password-protected/],
	['f16-amharic-headings.csv', /no column employee.*Its columns are "ተ\.ቁ", "የሠራተኛ ቁጥር", "ሙሉ ስም"/],
	['f21-unbalanced-quote.csv', /Row 2 of the list has several lines in "name"/],
	['f21h-name-last.csv', /Row 3 of the list has several lines in "name"/],
] as const) {
	test(`${file} is refused as a whole, and the page says why`, async () => {
		const { page, ready } = await look(file);
		assert.deepEqual(ready, []);
		assert.match(page, /Nobody was paid/);
		assert.match(page, refusal);
	});
}

test('november.xlsx, and then november-pandas.csv with 51041.0 for 51041: each person is paid once', async () => {
	const read = async (name: string) => ({ name, content: await readFile(join(folder, name)) });
	await payroll.pay(await read('november.xlsx'));
	const paid = ['51041 11200', '51042 9800.5', '51043 13050'];
	assert.deepEqual(payroll.paid(0), paid);
	const { page } = await look('november-pandas.csv');
	assert.match(page, /Nobody was paid.*Paid before, not again: 3 people/);
	assert.deepEqual(payroll.paid(0), paid);
});
