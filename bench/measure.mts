/** The tools of both benchmarks: a real n8n, the executions in its database, and the page of results. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'flatted';
import { z } from 'zod';
import { projectFolder } from '../demo/folders.mts';
import { n8nVersion } from '../test/support/n8n/version.mts';
import { startLab, type Lab, type LabOptions } from '../test/support/lab.mts';

/** Small sizes, for a test of the benchmarks themselves. */
export const isQuick = process.argv.includes('--quick');

const POLL_EVERY_MS = 50;
const ENDS_WITHIN_MS = 600_000;

const Count = z.object({ count: z.number() });
const Row = z.object({ id: z.number(), status: z.string() });
const Data = z.object({ data: z.string() });
const Run = z.object({ executionTime: z.number() });
const RunData = z.object({ resultData: z.object({ runData: z.record(z.array(Run)) }) });

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

/** A real n8n with the package, and its database: n8n's interface would cost n8n CPU that is to be measured. */
export class Bench {
	readonly lab: Lab;
	private readonly database: DatabaseSync;

	private constructor(lab: Lab) {
		this.lab = lab;
		const file = join(lab.n8n.userFolder, '.n8n', 'database.sqlite');
		this.database = new DatabaseSync(file, { timeout: 20_000 });
	}

	static async start(options: LabOptions = {}): Promise<Bench> {
		return new Bench(await startLab(options));
	}

	/** CPU time that n8n has used so far, all its threads included, in ms. */
	cpuMs(): number {
		const stat = readFileSync(`/proc/${this.lab.n8n.pid}/stat`, 'utf8');
		// The program's name comes first, in parentheses; user and system time are fields 14 and 15.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
	}

	/** The number of executions of all workflows. */
	executions(): number {
		return Count.parse(this.database.prepare('SELECT count(*) count FROM execution_entity').get())
			.count;
	}

	/**
	 * Resolves to the newest execution of a workflow once this number of executions has ended.
	 * Rejects when one did not succeed, or when that takes longer than 10 minutes.
	 */
	async ended(workflowId: string, count: number): Promise<number> {
		const select = this.database.prepare(
			'SELECT id, status FROM execution_entity WHERE workflowId = ? ORDER BY id DESC',
		);
		for (const deadline = Date.now() + ENDS_WITHIN_MS; Date.now() < deadline; ) {
			const rows = z.array(Row).parse(select.all(workflowId));
			const failed = rows.find(({ status }) => !['new', 'running', 'success'].includes(status));
			if (failed) throw new Error(`Execution ${failed.id} ended as ${failed.status}`);
			const isEnded = rows.every(({ status }) => status === 'success');
			if (isEnded && this.executions() === count) return rows[0]?.id ?? 0;
			await sleep(POLL_EVERY_MS);
		}
		throw new Error(`${this.executions()} of ${count} executions ended in time`);
	}

	/** The duration of a node of an execution, in ms. */
	nodeMs(executionId: number, node: string): number {
		const row = this.database
			.prepare('SELECT data FROM execution_data WHERE executionId = ?')
			.get(executionId);
		const { runData } = RunData.parse(parse(Data.parse(row).data)).resultData;
		return runData[node]?.[0]?.executionTime ?? NaN;
	}

	/** Replaces the record of the only node of a workflow that has one. */
	setRecord(workflowId: string, entries: string[]): void {
		this.database
			.prepare("UPDATE processed_data SET value = ? WHERE workflowId = ? AND context <> ''")
			.run(JSON.stringify({ mode: 'entries', data: entries }), workflowId);
	}

	async stop(): Promise<void> {
		this.database.close();
		await this.lab.stop();
	}
}

/** The value below which the share `q` (0 to 1) of the values lies. */
export function quantile(values: number[], q: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.round((sorted.length - 1) * q)] ?? NaN;
}

/** A number with three significant digits, or whole when it is large. */
export function digits(value: number): string {
	if (!Number.isFinite(value)) return '-';
	const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
	return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(decimals, 3) });
}

/** The median of the rounds, with the lowest and the highest of them. */
export const shown = (rounds: number[]): string =>
	`${digits(quantile(rounds, 0.5))} (${digits(Math.min(...rounds))}–${digits(Math.max(...rounds))})`;

/** A table in Markdown. */
export function table(header: string[], rows: string[][]): string {
	const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
	const rule = header.map((_, column) => (column === 0 ? '---' : '--:'));
	return [line(header), line(rule), ...rows.map(line)].join('\n');
}

/** The date, commit, versions, machine and load at this moment, as a sentence of the page of results. */
export function origin(): string {
	const git = (...args: string[]) =>
		execFileSync('git', args, { cwd: projectFolder, encoding: 'utf8' }).trim();
	const changes = git('status', '--porcelain', '--', 'nodes', 'credentials', 'package.json');
	const commit = `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : ', with changes'}`;
	return `${new Date().toISOString().slice(0, 10)}, commit ${commit}, n8n ${n8nVersion()} with SQLite, Node ${process.versions.node}, ${availableParallelism()} cores, load ${digits(loadavg()[0] ?? NaN)} before the run.`;
}

/**
 * Writes a section of the page of results in place of the one with the same title; prints it only, when sizes are
 * small.
 */
export function writeSection(title: string, ...paragraphs: string[]): void {
	const section = [`## ${title}`, ...paragraphs].join('\n\n');
	console.log(section);
	if (isQuick) return;
	const file = join(projectFolder, 'bench', 'RESULTS.md');
	const sections = readFileSync(file, 'utf8')
		.split(/\n(?=## )/)
		.map((each) => each.trim())
		.filter((each) => !each.startsWith(`## ${title}\n`));
	writeFileSync(file, `${[...sections, section].join('\n\n')}\n`);
}

// n8n ends with an orderly exit of this process, and not with a signal.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => process.exit(1));
}
