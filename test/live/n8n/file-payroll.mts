/** payroll-from-a-file.json as two people use it: one uploads, another one approves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../../demo/api.mts';
import { readExample } from '../../../demo/examples.mts';
import { FormVisitor, type Upload } from '../../support/form-visitor.mts';
import { owner, type Lab } from '../../support/lab.mts';
import { PEOPLE, addRows } from '../../support/people.mts';

export const FORM = 'etb-file';
export const SETTLE = 'etb-file-settle';
export const second = { email: 'hiwot@example.com', password: 'Second-person-1' };

export type Item = Record<string, unknown>;

const Result = z.array(
	z.object({ data: z.object({ data: z.array(z.number()) }), fileName: z.string() }),
);
const WithOptions = z.object({ options: z.object({}).passthrough() }).passthrough();

/** The example in a running n8n, and the two people at its pages. */
export class FilePayroll {
	readonly lab: Lab;
	readonly accountant: FormVisitor;
	approver: FormVisitor;
	id = '';

	private constructor(lab: Lab, accountant: FormVisitor, approver: FormVisitor) {
		this.lab = lab;
		this.accountant = accountant;
		this.approver = approver;
	}

	static async start(lab: Lab): Promise<FilePayroll> {
		const accountant = await FormVisitor.logIn(lab.n8n.url, owner);
		const approver = await accountant.invite(second, 'Hiwot', 'Alemu');
		const payroll = new FilePayroll(lab, accountant, approver);
		await payroll.publish();
		return payroll;
	}

	/** Publishes the example anew, with these limits. */
	async publish(limits: object = {}): Promise<void> {
		if (this.id !== '') await this.lab.api.deactivate(this.id);
		const workflow = await readExample('payroll-from-a-file.json');
		const nodes = workflow.nodes.map((node) => {
			if (node.name !== 'Pay salaries') return node;
			const parameters = WithOptions.parse(node['parameters']);
			return {
				...node,
				parameters: { ...parameters, options: { ...parameters.options, ...limits } },
			};
		});
		this.id = await this.lab.add(WorkflowFile.parse({ ...workflow, nodes }));
		await this.lab.api.activate(this.id);
	}

	/** Writes people with wallets into the table, as "Set up people to pay" does. */
	async setUp(people: Array<{ employee: string; name?: string; phone?: string }>): Promise<void> {
		const rows = people.map(({ employee, name = 'Abebe Kebede', phone }) => ({
			...{ employee, person: employee.replace(/[\s-]/g, '').toUpperCase(), name, phone },
			...{ payroll: 'file', userId: this.lab.sandbox.books.addUser({ externalId: employee }).id },
		}));
		await addRows(this.lab.api, PEOPLE, rows);
	}

	async upload(list: Upload, period = ''): Promise<string> {
		try {
			return await this.accountant.fillIn(FORM, [list, period]);
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
	async pay(list: Upload, period = ''): Promise<string> {
		return await this.approve(await this.upload(list, period));
	}

	/** Says what the service said, as the approver. */
	async settle(wasPaid: string[], wasNotPaid: string[]): Promise<string> {
		const fields = [wasPaid, wasNotPaid].map((references) => references.join('\n'));
		return textOf(await this.approver.read(await this.approver.fillIn(SETTLE, fields)));
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

/** What a person reads on a page, with the addresses of links. */
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
	assert.equal(file?.fileName, 'result.xlsx');
	return Buffer.from(file.data.data);
}

/** The rows of a workbook, as LibreOffice reads them. */
export async function openInOffice(workbook: Buffer): Promise<string[][]> {
	const folder = await mkdtemp(join(tmpdir(), 'office-'));
	try {
		await writeFile(join(folder, 'file.xlsx'), workbook);
		const convert = ['--headless', '--convert-to', 'csv:Text - txt - csv (StarCalc):9,34,76,1'];
		const done = spawnSync('soffice', [...convert, '--outdir', folder, join(folder, 'file.xlsx')], {
			env: { ...process.env, HOME: folder },
		});
		assert.equal(done.status, 0, String(done.stderr));
		const text = await readFile(join(folder, 'file.csv'), 'utf8');
		return text
			.trimEnd()
			.split('\n')
			.map((line) => line.split('\t').map((cell) => cell.replace(/^"(.*)"$/, '$1')));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
