/** Lists as people have them, read by the real n8n. They are invented people's. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startLab, type Lab } from '../../support/lab.mts';
import { listWorkflow, workbook, type Cell } from '../../support/list-file.mts';
import { saveInOffice } from './file-payroll.mts';

const folder = join(import.meta.dirname, 'fixtures', 'public-files');
const headings = ['employee', 'name', 'amountEtb'];

let lab: Lab;
before(async () => {
	lab = await startLab();
});
after(async () => await lab.stop());

interface Found {
	/** Of each row that is ready, as "employee amount". */
	ready: string[];
	/** Everything else: each row's line, status, problem and codes of remarks, or why the list is refused. */
	said: string;
}

/** The output of Check List for a file. */
async function look(name: string, content: Buffer, fields: object = {}): Promise<Found> {
	const id = await lab.add(listWorkflow(name, content, fields));
	const { nodes } = await lab.api.endedExecution(await lab.api.run(id, 'Start'));
	const rows = nodes['Check List']?.at(-1)?.outputs[0] ?? [];
	return {
		ready: rows
			.filter(({ status }) => status === 'ready')
			.map(({ employee, amountEtb }) => `${String(employee)} ${String(amountEtb)}`),
		said: rows
			.map(({ line, status, problem, remarks, notRead, error }) =>
				JSON.stringify(error ?? [line, status, problem, remarks, notRead]),
			)
			.join('\n'),
	};
}

/** As Excel saves a list where a comma separates decimals. */
const semicolons = (...rows: string[]): string =>
	['Employee;Name;Phone;Amount (ETB)', ...rows].join('\r\n');
const csv = (...lines: string[]): Buffer => Buffer.from(lines.join('\n'));
const utf16 = (text: string, isBigEndian = false): Buffer => {
	const bytes = Buffer.from(text, 'utf16le');
	return isBigEndian ? bytes.swap16() : bytes;
};
const all = (...amounts: number[]): string[] =>
	amounts.map((amount, index) => `E-${701 + index} ${amount}`);

for (const [file, ready, said] of [
	['f01-hidden-first-sheet.xlsx', ['E-701 7000', 'E-799 8000'], /ready/],
	['f02-filtered.xlsx', all(11200, 9800.5, 13050, 12000), /ready/],
	['f03-last-row-coloured.xlsx', all(11200, 9800.5, 13050), /ready/],
	['f06-three-blank-rows.xlsx', ['E-701 11200', 'E-703 13050'], /^\[6,.*\\"pending\\"/m],
	['f07-phone-from-contacts.xlsx', all(11200, 9800.5, 9800.5, 9800.5, 9800.5), /ready/],
	['f08-scientific.csv', ['E-701 11200'], /^\[3,.*2\.51911E\+11.*\n\[4,"problem","employee is/m],
	['f09-phones.xlsx', all(...Array<number>(11).fill(1000)), /ready/],
	[
		'f10-net-by-formula.xlsx',
		all(8333.33, 9388.85, 0.3),
		/"rounded".*8333\.33333333333 to 8333\.33/,
	],
	['f15-twelve-title-rows.xlsx', all(11200, 9800.5, 13050), /ready/],
	['f18b-small-total.xlsx', all(1200, 900), /^\[4,"problem","This row is a total/m],
	['f19-number-column-without-heading.xlsx', all(11200, 9800.5, 13050), /"column A"/],
	['f20-pandas-floats.csv', ['1041 12400', '7 9500.5'], /ready/],
	['f30-placeholders.csv', all(100, 100, 100, 100), /ready/],
	['november.xlsx', ['51041 11200', '51042 9800.5', '51043 13050'], /ready/],
	['november-pandas.csv', ['51041 11200', '51042 9800.5', '51043 13050'], /ready/],
	[
		'f02b-hidden-salary-column.xlsx',
		[],
		/no column employee and no column name.*\\"Employee No\\", \\"Full Name\\", \\"Salary\\", \\"Take Home Pay\\"/,
	],
	[
		'f04-salary-and-net-pay.xlsx',
		[],
		/no column employee and no column amountEtb.*\\"Net Pay \(ETB\)\\"/,
	],
	['f13-password.xlsx', [], /could not be read: File is password-protected/],
	['f16-amharic-headings.csv', [], /no column employee.*ተ\.ቁ.*የሠራተኛ ቁጥር.*ሙሉ ስም/],
	['f21-unbalanced-quote.csv', [], /Row 2 of the list has several lines in \\"name\\"/],
	['f21h-name-last.csv', [], /Row 3 of the list has several lines in \\"name\\"/],
] as const) {
	test(`${file} is read as it is right`, async () => {
		const found = await look(file, await readFile(join(folder, file)));
		assert.deepEqual(found.ready, ready);
		assert.match(found.said, said);
	});
}

test('f05-employee-number-became-date.xlsx: a number that is also a day is paid, and told', async () => {
	const file = 'f05-employee-number-became-date.xlsx';
	const { ready, said } = await look(file, await readFile(join(folder, file)));
	assert.notDeepEqual(ready, []);
	assert.match(said, /"numberIsDay".*is also 2026-01-12/);
});

const letterhead: Cell[][] = [
	['Awash Foods PLC'],
	['Prepared by: Selam (accountant)', 'TIN 0098765432'],
	[],
	['No.', 'Staff No', 'Full name', 'Mobile', 'Gross', 'Net to pay'],
];
const columns = {
	employee: 'Staff No',
	name: 'Full name',
	amountEtb: 'Net to pay',
	phone: 'Mobile',
};
const wide = Array.from({ length: 30 }, (_, index) => `allowance ${index}`);

const cases: Array<[string, Buffer, string[], RegExp, object?]> = [
	[
		'days.xlsx',
		workbook([
			headings,
			['A-1', 'Lulit', { v: 46_154, z: 'd-mmm' }],
			['A-2', 'Dawit', { v: 0.5, z: '0%' }],
			[46_034, 'Sara', 9],
		]),
		['A-1 46154', 'A-2 0.5', '46034 9'],
		/"amountIsDay".*2026-05-12.*\n.*"amountIsDay".*\n.*"numberIsDay"/,
	],
	[
		'wide.xlsx',
		workbook([
			['employee', 'name', ...wide, 'amountEtb'],
			['A-1', 'Lulit', ...wide.map(() => 1), 500],
		]),
		['A-1 500'],
		/allowance 29/,
	],
	[
		'too-wide.xlsx',
		workbook([
			[...headings, ...Array.from({ length: 98 }, (_, index) => `x ${index}`)],
			['A-1', 'Lulit', 500],
		]),
		[],
		/goes on behind column CV/,
	],
	[
		'formula.xlsx',
		workbook([
			headings,
			['A-1', 'Lulit', { f: '100*50' }],
			['A-2', 'Dawit', { f: '100*60', v: 6000 }],
		]),
		['A-2 6000'],
		/amountEtb is empty.*formula.*save it/,
	],
	[
		'letterhead.xlsx',
		workbook([
			...letterhead,
			[1, 'TT-1', 'Lulit', '0911000900', 9000, { f: 'E5-999.5', v: 8000.5 }],
			['', '', '', '', '', { f: 'SUM(F5)', v: 8000.5 }],
			...[['TOTAL', '', '', '', 9000, 8000.5], [], ['Prepared by', '', 'Selam']],
		]),
		['TT-1 8000.5'],
		/^\[6,"problem".*\n\[7,"problem","This row is a total.*\n\[9,"noPerson"/m,
		{ columns },
	],
	[
		'libreoffice.ods',
		saveInOffice('Employee,Name,Amount (ETB)\nO-1,"ሰላም ""ሊሊ"" በቀለ","12,400.50"', 'ods'),
		['O-1 12400.5'],
		/ready/,
	],
	[
		'excel-utf8.csv',
		Buffer.from(
			`\ufeff${semicolons('X-1;አበበ ከበደ;;12.400,50', 'X-2;"a ""b""";;9500,5 Birr', 'X-3;c;;pending')}`,
		),
		['X-1 12400.5', 'X-2 9500.5'],
		/^\[4,"problem".*is not a plain number/m,
	],
	[
		'excel-1252.csv',
		Buffer.from(semicolons('W-1;Zoé Haile;;12.400,50'), 'latin1'),
		['W-1 12400.5'],
		/ready/,
	],
	['utf16-mark.csv', utf16('\ufeffemployee,name,amountEtb\nA-1,ጽዮን,500'), ['A-1 500'], /ready/],
	['utf16.csv', utf16('employee,name,amountEtb\nA-1,ጽዮን,500'), [], /UTF-16 without a mark/],
	[
		'utf16-big.csv',
		utf16('employee,name,amountEtb\nA-1,ጽዮን,500', true),
		[],
		/UTF-16 without a mark/,
	],
	['utf8-mark.csv', csv('\ufeffemployee,name,amountEtb', 'A-1,ጽዮን,500'), ['A-1 500'], /ready/],
	[
		'marks.csv',
		csv(
			'employee,name,amountEtb',
			'\u202aA-1\u202c,Lulit\u200b,\u200e"12,400.50"',
			'A-2,Dawit,\u200e700\u200f',
			'A-3,#N/A,#N/A',
		),
		['A-2 700'],
		/error of a formula/,
	],
];

for (const [name, content, ready, said, fields] of cases) {
	test(`${name} is read as it is right`, async () => {
		const found = await look(name, content, fields);
		assert.deepEqual(found.ready, ready, found.said);
		assert.match(found.said, said);
	});
}
