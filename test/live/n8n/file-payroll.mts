/** payroll-from-a-file.json as two people use it: one uploads, another one approves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Execution } from '../../../demo/n8n-api.mts';
import { readExample } from '../../../demo/examples.mts';
import { FormVisitor, type Upload } from '../../support/form-visitor.mts';
import { owner, type Lab } from '../../support/lab.mts';
import { PAYMENTS, PEOPLE, addRows, duePeriod, makeTable } from '../../support/people.mts';

export const FORM = 'etb-file';
export const OPEN = 'etb-file-open';
export const second = { email: 'hiwot@example.com', password: 'Second-person-1' };

export type Item = Record<string, unknown>;

const Result = z.array(
	z.object({ data: z.object({ data: z.array(z.number()) }), fileName: z.string() }),
);

/** The example in a running n8n, and the two people at its pages. */
export class FilePayroll {
	readonly lab: Lab;
	readonly accountant: FormVisitor;
	readonly approver: FormVisitor;
	readonly id: string;

	private constructor(lab: Lab, accountant: FormVisitor, approver: FormVisitor, id: string) {
		this.lab = lab;
		this.accountant = accountant;
		this.approver = approver;
		this.id = id;
	}

	static async start(lab: Lab): Promise<FilePayroll> {
		const accountant = await FormVisitor.logIn(lab.n8n.url, owner);
		await lab.api.addMember(second, 'Hiwot', 'Alemu');
		const approver = await FormVisitor.logIn(lab.n8n.url, second);
		await makeTable(lab.api, PEOPLE);
		await makeTable(lab.api, PAYMENTS);
		const id = await lab.add(await readExample('payroll-from-a-file.json'));
		await lab.api.activate(id);
		return new FilePayroll(lab, accountant, approver, id);
	}

	/** Writes people with wallets into the table, as "Set up people to pay" does. */
	async setUp(people: Array<{ employee: string; name?: string; phone?: string }>): Promise<void> {
		const rows = people.map(({ employee, name = 'Abebe Kebede', phone }) => ({
			employee,
			employeeKey: employee.replace(/(?<=[a-z])[\s-](?=\d)/gi, '').toUpperCase(),
			name,
			phone,
			payroll: 'file',
			userId: this.lab.sandbox.books.addUser({ externalId: employee }).id,
		}));
		await addRows(this.lab.api, PEOPLE, rows);
	}

	async upload(list: Upload, period = duePeriod(), purpose = 'salary'): Promise<string> {
		try {
			return await this.accountant.fillIn(FORM, [list, purpose, period]);
		} catch (error) {
			const [newest = ''] = await this.lab.api.executionIds(this.id);
			const { error: reason } = await this.lab.api.restingExecution(newest);
			throw new Error(`The upload ended with ${reason ?? 'nothing'}`, { cause: error });
		}
	}

	/** Approves as the second person, and reads the page that follows. */
	async approve(address: string): Promise<string> {
		await this.approver.choose(address, 'Approve');
		return textOf(await this.approver.read(address));
	}

	/** Uploads and approves. */
	async pay(list: Upload, period = duePeriod(), purpose = 'salary'): Promise<string> {
		return await this.approve(await this.upload(list, period, purpose));
	}

	/**
	 * Says on the page "What is open" what the service said, by reference, as the approver; resolves to the page
	 * after.
	 */
	async settle(choices: Record<string, string>): Promise<string> {
		const address = await this.approver.fillIn(OPEN, []);
		await this.approver.answer(address, choices);
		return textOf(await this.approver.open(address));
	}

	async execution(address: string): Promise<Execution> {
		const [, id = ''] = /form-waiting\/(\d+)/.exec(address) ?? [];
		return await this.lab.api.endedExecution(id);
	}

	/** The rows of the last run of "Pay salaries", also while the execution waits. */
	async rows(address: string): Promise<Item[]> {
		const [, id = ''] = /form-waiting\/(\d+)/.exec(address) ?? [];
		const { nodes } = await this.lab.api.restingExecution(id);
		return nodes['Pay salaries']?.at(-1)?.outputs[0] ?? [];
	}

	/** Each payment in the books but the first `since`, as "employee amount", in order. */
	paid(since: number): string[] {
		const users = new Map(
			this.lab.sandbox.books.users().map(({ id, externalId }) => [id, externalId]),
		);
		return this.lab.sandbox.books
			.disbursements()
			.slice(since)
			.map(({ toUserId, amountEtb }) => `${users.get(toUserId)} ${amountEtb}`)
			.sort();
	}

	payments(): number {
		return this.lab.sandbox.books.disbursements().length;
	}
}

/** The text that a person reads on a page, with the addresses of links. */
export const textOf = (page: string): string =>
	page
		.replace(/<(style|script|svg)[\s\S]*?<\/\1>/g, ' ')
		.replace(/<a href="([^"]*)"[^>]*>/g, ' [$1] ')
		.replace(/<[^>]+>/g, ' ')
		.replaceAll('&amp;', '&')
		.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&quot;', '"')
		.replace(/\s+/g, ' ');

/** The file that a page at the end hands out. */
export function fileOn(page: string): Buffer {
	const [, encoded = ''] = /decodeURIComponent\("([^"]+)"\)/.exec(page) ?? [];
	const [file] = Result.parse(JSON.parse(decodeURIComponent(encoded)));
	assert.match(file?.fileName ?? '', /^result-.*\.xlsx$/);
	return Buffer.from(file?.data.data ?? []);
}

/** The file that LibreOffice makes of another one. @param to as its option --convert-to has it */
function convert(file: string, content: Buffer | string, to: string, ...options: string[]): Buffer {
	const folder = mkdtempSync(join(tmpdir(), 'office-'));
	try {
		const from = join(folder, file);
		writeFileSync(from, content);
		const outdir = join(folder, 'converted');
		const done = spawnSync(
			'soffice',
			['--headless', ...options, '--convert-to', to, '--outdir', outdir, from],
			{ env: { ...process.env, HOME: folder } },
		);
		assert.equal(done.status, 0, String(done.stderr));
		const [made = ''] = readdirSync(outdir);
		return readFileSync(join(outdir, made));
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** A workbook with these rows, as LibreOffice saves it. */
export const saveInOffice = (csv: string, to: 'ods' | 'xlsx'): Buffer =>
	convert('list.csv', csv, to, '--infilter=CSV:44,34,76,1');

/** The rows of a workbook, as LibreOffice reads them. */
export const openInOffice = (workbook: Buffer): string[][] =>
	convert('file.xlsx', workbook, 'csv:Text - txt - csv (StarCalc):9,34,76,1')
		.toString()
		.trimEnd()
		.split('\n')
		.map((line) =>
			line.split('\t').map((cell) => cell.replace(/^"(.*)"$/, '$1').replaceAll('""', '"')),
		);
