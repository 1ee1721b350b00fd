/** What the executions of a workflow took, read from the database of n8n. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { decodeFlatted } from '../demo/flatted.mts';

const POLL_EVERY_MS = 50;
const DATABASE_BUSY_MS = 20_000;

const Rows = z.array(
	z.object({ id: z.number(), status: z.string(), stoppedAt: z.string().nullable() }),
);
const Data = z.object({ data: z.string() });
const RunData = z.object({
	resultData: z.object({
		error: z.object({ message: z.string() }).passthrough().optional(),
		runData: z.record(
			z.array(
				z.object({
					executionTime: z.number(),
					data: z.object({ main: z.array(z.array(z.unknown()).nullable()) }).optional(),
				}),
			),
		),
	}),
});
const Count = z.object({ n: z.number() });

/** An execution that succeeded. */
export interface EndedExecution {
	id: number;
	/** ms since the Unix epoch */
	stoppedAt: number;
}

/** What n8n's SQLite database says about executions: its interface would cost n8n CPU that is to be measured. */
export class Executions {
	private readonly database: DatabaseSync;

	constructor(userFolder: string) {
		this.database = new DatabaseSync(join(userFolder, '.n8n', 'database.sqlite'), {
			timeout: DATABASE_BUSY_MS,
		});
	}

	/** Id of the newest execution of any workflow; 0 when there is none. */
	newest(): number {
		const row = this.database.prepare('SELECT coalesce(max(id), 0) n FROM execution_entity').get();
		return Count.parse(row).n;
	}

	/**
	 * The executions of a workflow after the one with the id `after`, once there are `count` and all have ended.
	 * Rejects when one did not succeed, or when that takes longer than `withinMs`.
	 */
	async ended(
		workflowId: string,
		after: number,
		count: number,
		withinMs = 300_000,
	): Promise<EndedExecution[]> {
		const deadline = Date.now() + withinMs;
		const select = this.database.prepare(
			'SELECT id, status, stoppedAt FROM execution_entity WHERE workflowId = ? AND id > ? ORDER BY id',
		);
		for (;;) {
			const rows = Rows.parse(select.all(workflowId, after));
			const ended = rows.filter(({ status }) => status !== 'new' && status !== 'running');
			if (ended.length >= count && ended.length === rows.length) {
				const failed = rows.find(({ status }) => status !== 'success');
				if (failed) throw new Error(`Execution ${failed.id}: ${this.errorOf(failed.id)}`);
				return ended.map(({ id, stoppedAt }) => ({
					id,
					stoppedAt: Date.parse(`${(stoppedAt ?? '').replace(' ', 'T')}Z`),
				}));
			}
			if (Date.now() > deadline) {
				throw new Error(`${ended.length} of ${count} executions ended in ${withinMs / 1000} s`);
			}
			await sleep(POLL_EVERY_MS);
		}
	}

	/** How long a node of an execution took, in ms, and how many items it gave out. Throws when it did not run. */
	nodeRun(executionId: number, node: string): { ms: number; items: number } {
		const run = this.resultOf(executionId).runData[node]?.[0];
		if (run === undefined) throw new Error(`"${node}" did not run in execution ${executionId}`);
		return { ms: run.executionTime, items: run.data?.main[0]?.length ?? 0 };
	}

	/** Replaces what n8n keeps for the `checkProcessedAndRecord` of the workflow's only node that uses it, if it has anything. */
	setLedger(workflowId: string, value: string): void {
		this.database
			.prepare("UPDATE processed_data SET value = ? WHERE workflowId = ? AND context <> ''")
			.run(value, workflowId);
	}

	close(): void {
		this.database.close();
	}

	private errorOf(executionId: number): string {
		return this.resultOf(executionId).error?.message ?? 'failed without a reason';
	}

	private resultOf(executionId: number): z.infer<typeof RunData>['resultData'] {
		const row = this.database
			.prepare('SELECT data FROM execution_data WHERE executionId = ?')
			.get(executionId);
		return RunData.parse(decodeFlatted(Data.parse(row).data)).resultData;
	}
}
