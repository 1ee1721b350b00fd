// One run of an ETB Wallet node as n8n makes it: the context it gives, and the tries of Retry On Fail.
import type { Books, Grounds } from './service-books.mts';
import type { N8nProcess } from './n8n-process.mts';
import type { Access, SimulatedDatabase } from './simulated-database.mts';
import type { RunPlan } from './plan.mts';
import type { Log } from './log.mts';

export type Json = Record<string, unknown>;

export const fieldsOf = (value: unknown): Json => Object(value) as Json;

export interface NodeRun extends Pick<RunPlan, 'timeout' | 'tries' | 'mode' | 'onError'> {
	number: number;
	name: string;
	process: N8nProcess;
	nodeId: string;
	parameters: Json;
	items: Json[];
	signal: AbortSignal;
	random: () => number;
}

/** The end of one try. */
export type TryResult = { output: Json[] } | { error: unknown };

/** The world outside of the process of a run, and its watchers. */
export interface Outside {
	database: SimulatedDatabase;
	books: Books;
	log: Log;
	/** The grounds on which the run sends to a person. */
	grounds(toUserId: string): Grounds;
	/** Called before each database call. A run that was stopped goes on to record in the background. */
	called(): void;
	/** Called before a database call with marks, by which the model knows when a run asks for a reference. */
	looked(marks: readonly string[]): void;
	tried(result: TryResult, tryIndex: number): void;
}

/** In ms: the pause between two tries that n8n makes by default. */
const betweenTries = 1_000;

/** Runs the node, again as n8n does while it fails. Never ends when its process dies. */
export async function runNode(run: NodeRun, outside: Outside): Promise<void> {
	const input = run.items.map((json) => ({ json }));
	// The tries of a run share these objects.
	const executeData = { data: { main: [input] }, node: nodeOf(run), source: null };
	for (let tryIndex = 0; tryIndex < run.tries; tryIndex++) {
		if (tryIndex > 0)
			await new Promise<void>((done) => {
				run.process.timer(betweenTries, done);
			});
		const context = contextOf(run, input, executeData, outside);
		try {
			const output = itemsOf(await run.process.execute(context));
			outside.tried({ output }, tryIndex);
			// n8n takes an error in the first item for a failure.
			if (fieldsOf(output[0]?.json).error === undefined) return;
		} catch (error) {
			outside.tried({ error }, tryIndex);
		}
	}
}

function itemsOf(output: unknown): Json[] {
	if (!Array.isArray(output)) throw new Error('The node did not return items');
	return output.map(fieldsOf);
}

const nodeOf = ({ nodeId, parameters }: NodeRun): Json => ({
	id: nodeId,
	name: 'Pay',
	type: 'n8n-nodes-etb-wallet.etbWallet',
	typeVersion: 1,
	position: [0, 0],
	credentials: { etbWalletApi: { id: '1', name: 'ETB' } },
	parameters,
});

const credential = {
	baseUrl: 'https://partner.example.com',
	apiKey: 'key-key-key-key-key',
	webhookSecret: '',
};

function contextOf(
	run: NodeRun,
	input: { json: Json }[],
	executeData: Json,
	outside: Outside,
): Json {
	const { process, signal, name, random, number } = run;
	const node = nodeOf(run);
	const value = (path: string, itemIndex: number, fallback?: unknown): unknown => {
		let found: unknown = run.parameters;
		for (const key of path.split('.')) found = Reflect.get(Object(found), key);
		return found === undefined ? fallback : evaluated(found, input[itemIndex]?.json ?? {});
	};
	const call = async (access: Access): Promise<unknown> => {
		outside.called();
		return await outside.database.call(process, random, name, access);
	};
	const scopeOf = (scope: string): string => (scope === 'node' ? `n:${run.nodeId}` : '');
	const helpers = {
		checkProcessedAndRecord: async (
			marks: string[],
			scope: string,
			{ maxEntries = Infinity }: { maxEntries?: number },
		) => {
			outside.looked(marks);
			return await call({
				kind: 'change',
				scope: scopeOf(scope),
				text: `record ${marks.join(' ')}`,
				marks,
				change(found) {
					const known = new Set(found);
					const added = marks.filter((mark) => !known.has(mark));
					const processed = marks.filter((mark) => known.has(mark));
					const all = [...(found ?? []), ...added];
					const write = all.slice(Math.max(0, all.length - maxEntries));
					return { response: { new: added, processed }, write };
				},
			});
		},
		removeProcessed: async (marks: string[], scope: string) =>
			await call({
				kind: 'change',
				scope: scopeOf(scope),
				text: `remove ${marks.join(' ')}`,
				marks,
				change(found) {
					if (found === undefined) return { response: undefined };
					// n8n removes one of two equal marks.
					const write = [...found];
					for (const mark of marks) {
						const index = write.indexOf(mark);
						if (index !== -1) write.splice(index, 1);
					}
					return { response: undefined, write };
				},
			}),
		clearAllProcessedItems: async (scope: string) =>
			await call({ kind: 'clear', scope: scopeOf(scope), text: 'clear' }),
		getProcessedDataCount: async (scope: string) =>
			await call({ kind: 'count', scope: scopeOf(scope), text: 'count' }),
		async httpRequestWithAuthentication(this: unknown, _type: string, asked: Json) {
			// n8n-core takes the signal from the context that it is called with.
			const getSignal: unknown = Reflect.get(Object(this), 'getExecutionCancelSignal');
			const own: unknown =
				typeof getSignal === 'function' ? Reflect.apply(getSignal, this, []) : undefined;
			return await outside.books.request(
				{
					process,
					run: number,
					name,
					random,
					timeout: run.timeout,
					grounds: (toUserId) => outside.grounds(toUserId),
					signal: own instanceof AbortSignal ? own : undefined,
				},
				{ method: String(asked.method), body: asked.body, timeout: Number(asked.timeout ?? 0) },
			);
		},
	};
	const warn = (message: string): void => {
		outside.log(() => `${name} logs: ${message}`);
	};
	return {
		helpers,
		getNode: () => node,
		getInputData: () => input,
		getExecuteData: () => executeData,
		getNodeParameter: value,
		getCredentials: async () => await Promise.resolve({ ...credential }),
		continueOnFail: () => run.onError === 'continue',
		getExecutionCancelSignal: () => signal,
		getWorkflow: () => ({ id: 'payroll', name: 'Payroll', active: true }),
		getMode: () => run.mode,
		getExecutionId: () => String(number),
		getWorkflowDataProxy: (itemIndex: number) => ({ $json: input[itemIndex]?.json, $runIndex: 0 }),
		getWorkflowStaticData: () => ({}),
		addExecutionHints: (...hints: { message: string }[]) => {
			for (const { message } of hints) outside.log(() => `${name} hints: ${message}`);
		},
		logger: { warn },
	};
}

/** Evaluates expressions that only take a field of the item, also inside of options. */
function evaluated(value: unknown, json: Json): unknown {
	if (typeof value === 'string') {
		if (!value.startsWith('=')) return value;
		const field = /^=\{\{ \$json\.(\w+) \}\}$/.exec(value)?.[1];
		if (field === undefined) throw new Error(`The model cannot evaluate ${value}`);
		return json[field];
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, each]) => [key, evaluated(each, json)]),
	);
}
