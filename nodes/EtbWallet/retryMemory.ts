import type { IExecuteFunctions } from 'n8n-workflow';

/** What a node run already settled, by item index. */
export interface RetryMemory<Settled> {
	recall(itemIndex: number): Settled | undefined;
	remember(itemIndex: number, settled: Settled): void;
	/** To be called when n8n has no reason to try again. */
	forget(): void;
}

interface RememberedRun {
	lastUsed: number;
	settled: Map<number, unknown>;
}

/** n8n waits at most 5 s between tries, so a run that nobody used for this long (ms) is over. */
const longestPause = 60 * 60_000;

const runs = new Map<string, RememberedRun>();

function dropAbandonedRuns(now: number): void {
	for (const [key, run] of runs) if (now - run.lastUsed > longestPause) runs.delete(key);
}

/**
 * The memory that lets n8n's "Retry On Fail" resume. That setting runs the whole node again with the same
 * items in the same execution; without a memory it would repeat what already happened. In process only.
 * @returns undefined when the node is not retried
 */
export function retryMemory<Settled>(
	context: IExecuteFunctions,
	isSettled: (value: unknown) => value is Settled,
): RetryMemory<Settled> | undefined {
	const node = context.getNode();
	if (node.retryOnFail !== true) return undefined;
	const runIndex: unknown = context.evaluateExpression('{{ $runIndex }}', 0);
	const key = JSON.stringify([context.getExecutionId(), node.id, node.name, runIndex]);
	dropAbandonedRuns(Date.now());
	const run = runs.get(key) ?? { lastUsed: 0, settled: new Map<number, unknown>() };
	run.lastUsed = Date.now();
	runs.set(key, run);
	return {
		recall(itemIndex) {
			const value = run.settled.get(itemIndex);
			return isSettled(value) ? value : undefined;
		},
		remember(itemIndex, settled) {
			run.lastUsed = Date.now();
			run.settled.set(itemIndex, settled);
		},
		forget: () => runs.delete(key),
	};
}
