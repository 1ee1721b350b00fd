/**
 * The record of events in n8n's database, asked by several processes that crash, over a database that races and
 * fails.
 */
import * as workflowPackage from 'n8n-workflow';
import type { IExecuteFunctions, INode, IWebhookFunctions } from 'n8n-workflow';
import type * as DuplicatesModule from '../../nodes/EtbWalletTrigger/duplicates.ts';
import { MemoryDeduplicator, helpersOf } from '../support/engine/deduplicator.mts';

/** Which the processes of a test share. */
let database: MemoryDeduplicator;
beforeEach(() => {
	database = new MemoryDeduplicator();
});
const sleep = async (): Promise<void> => await new Promise(setImmediate);

const aboutNode = (id = 'n') => {
	const node = { id, name: id, type: 'trigger', typeVersion: 2, parameters: {} };
	return { workflow: { id: 'w', active: true }, node: { ...node, position: [0, 0] } as INode };
};

const changes = ['checkProcessedAndRecord', 'removeProcessed'];

/** A process of n8n, with a memory of its own. */
function startProcess() {
	jest.resetModules();
	jest.doMock('n8n-workflow', () => ({ ...workflowPackage, sleep }));
	const duplicates = jest.requireActual<typeof DuplicatesModule>(
		'../../nodes/EtbWalletTrigger/duplicates.ts',
	);
	return {
		/** Runs the trigger in an execution; resolves to whether it gave out the event, and ends it as told. */
		async run(key: string, options: NodeRun = {}): Promise<boolean> {
			const { respondsWhenFinished = false, ending = 'success', mode = 'webhook' } = options;
			const handlers: Array<(run: object) => Promise<void>> = [];
			const addHandler = (_: string, handler: (run: object) => Promise<void>) =>
				handlers.push(handler);
			const about = aboutNode(options.nodeId);
			let left = options.failures ?? 0;
			const failAtFirst = (name: string): void => {
				if (changes.includes(name) && left-- > 0) throw new Error('the database is busy');
			};
			const context: unknown = {
				additionalData: {
					executionTimeoutTimestamp: options.timedOutAt,
					hooks: options.hasNoHooks === true ? undefined : { addHandler },
				},
				getWorkflow: () => about.workflow,
				getNode: () => about.node,
				getMode: () => mode,
				logger: { warn: () => undefined },
				helpers: helpersOf(database, about, failAtFirst),
			};
			const isGiven = await duplicates.recordIfNew(
				context as IExecuteFunctions,
				options.item ?? {},
				key,
				respondsWhenFinished,
			);
			options.during?.();
			if (ending !== 'crash') for (const handler of handlers) await handler({ status: ending });
			return isGiven;
		},
		/** Receives an event and answers it; resolves to what was known of it. */
		receive(key: string): 'new' | 'running' | 'handled' {
			const { workflow, node } = aboutNode();
			const context: unknown = { getWorkflow: () => workflow, getNode: () => node };
			const begun = duplicates.beginHandling(context as IWebhookFunctions, key);
			if (typeof begun === 'string') return begun;
			begun.complete(true);
			return 'new';
		},
	};
}

interface NodeRun {
	respondsWhenFinished?: boolean;
	/** Whether n8n has no way to call back at the end of the execution. */
	hasNoHooks?: boolean;
	ending?: 'success' | 'error' | 'canceled' | 'waiting' | 'crash';
	mode?: string;
	/** How many calls of the database fail first. */
	failures?: number;
	nodeId?: string;
	/** The event as n8n hands it over, the same one when it tries again. */
	item?: object;
	/** Happens while its workflow runs. */
	during?: () => void;
	/** When n8n ends the execution. */
	timedOutAt?: number;
}

const keys = (count: number): string[] =>
	Array.from({ length: count }, (_, index) => `key-${index}`);

test('of many at once in several processes, each event is given out once', async () => {
	const processes = Array.from({ length: 3 }, () => startProcess());
	const responses = await Promise.all(
		keys(40).flatMap((key) =>
			processes.map(async (process) => [key, await process.run(key)] as const),
		),
	);
	const given = responses.filter(([, isGiven]) => isGiven).map(([key]) => key);
	expect(given.toSorted()).toEqual(keys(40).toSorted());
	const later = startProcess();
	for (const key of keys(40)) expect(await later.run(key)).toBe(false);
});

test('of many at once in the process that received them, the record loses none', async () => {
	const process = startProcess();
	for (const key of keys(40)) process.receive(key);
	await Promise.all(keys(40).map(async (key) => await process.run(key)));
	const later = startProcess();
	for (const key of keys(40)) expect(await later.run(key)).toBe(false);
});

test('a later process knows the last 2,000, and the process itself the last 20,000', async () => {
	const process = startProcess();
	for (const key of keys(2_001)) await process.run(key);
	const later = startProcess();
	expect(await later.run('key-1')).toBe(false);
	expect(await later.run('key-0')).toBe(true);
	for (const key of keys(20_001)) process.receive(key);
	expect(process.receive('key-1')).toBe('handled');
	expect(process.receive('key-0')).toBe('new');
});

test('the record keeps the marks that earlier versions wrote: with others, events would run again', async () => {
	await startProcess().run('key', { respondsWhenFinished: true, ending: 'crash' });
	const marks = [...database.rows.values()].flatMap((row) => [...row]);
	expect(marks.toSorted()).toEqual(['arrived:key', 'unfinished:key']);
});

describe('until it succeeds', () => {
	const respondsWhenFinished = true;
	test.each([
		['success', false],
		['waiting', false],
		['canceled', false],
		['error', true],
		['crash', true],
	] as const)('an event that ended with %s is given out again: %s', async (ending, again) => {
		expect(await startProcess().run('key', { respondsWhenFinished, ending })).toBe(true);
		const later = startProcess();
		expect(await later.run('key', { respondsWhenFinished })).toBe(again);
		expect(await later.run('key', { respondsWhenFinished })).toBe(false);
		expect(await startProcess().run('key', { respondsWhenFinished })).toBe(false);
	});

	test.each(['success', 'error'] as const)(
		'what runs without a webhook request, as after a crash, is to be sent again until it ends with %s',
		async (ending) => {
			const process = startProcess();
			const known: string[] = [];
			const during = () => void known.push(process.receive('key'));
			await process.run('key', { respondsWhenFinished, ending, during });
			during();
			expect(known).toEqual(['running', 'new']);
		},
	);

	test('an event that failed is new also when the setting was changed since', async () => {
		await startProcess().run('key', { respondsWhenFinished, ending: 'error' });
		expect(await startProcess().run('key')).toBe(true);
	});

	test('what ran into the timeout of the workflow is not taken for stopped by a person, also if the clock was set back', async () => {
		const timedOutAt = Date.now() + 60_000;
		const during = (): void => {
			jest.spyOn(Date, 'now').mockReturnValue(timedOutAt - 61_000);
			jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
		};
		await startProcess().run('key', {
			respondsWhenFinished,
			ending: 'canceled',
			timedOutAt,
			during,
		});
		jest.restoreAllMocks();
		expect(await startProcess().run('key', { respondsWhenFinished })).toBe(true);
	});
});

test('another node, and the same node under another name, is told by its id', async () => {
	expect(await startProcess().run('key', { nodeId: 'one' })).toBe(true);
	expect(await startProcess().run('key', { nodeId: 'other' })).toBe(true);
	expect(await startProcess().run('key', { nodeId: 'one' })).toBe(false);
});

test.each([false, true])(
	'an execution that n8n tries again, and one that a person retries, get the event',
	async (respondsWhenFinished) => {
		const process = startProcess();
		const item = {};
		expect(await process.run('key', { respondsWhenFinished, item })).toBe(true);
		expect(await process.run('key', { respondsWhenFinished, item })).toBe(true);
		expect(await process.run('key', { respondsWhenFinished })).toBe(false);
		expect(await process.run('key', { respondsWhenFinished, mode: 'retry' })).toBe(true);
	},
);

test('a database that fails loses no event', async () => {
	const process = startProcess();
	expect(await process.run('key', { failures: 1 })).toBe(true);
	expect(await process.run('key')).toBe(false);
	process.receive('received');
	expect(await process.run('received', { failures: 2 })).toBe(true);
	expect(await startProcess().run('received')).toBe(false);
	expect(await process.run('lost', { failures: 1_000 })).toBe(true);
});

test('a write that is carried out although the database says that it failed does not make an event its own duplicate', async () => {
	const record = database.checkProcessedAndRecord;
	let isFirst = true;
	database.checkProcessedAndRecord = async (items, scope, about, options) => {
		const result = await record(items, scope, about, options);
		if (scope === 'node' && isFirst) {
			isFirst = false;
			throw new Error('the connection was lost');
		}
		return result;
	};
	const process = startProcess();
	expect(await process.run('key')).toBe(true);
	expect(await process.run('key')).toBe(false);
});

test('a database that takes so long that the lock may be lost does not make an event its own duplicate', async () => {
	const record = database.checkProcessedAndRecord;
	const now = jest.spyOn(Date, 'now');
	database.checkProcessedAndRecord = async (items, scope, about, options) => {
		const result = await record(items, scope, about, options);
		if (scope === 'node') now.mockReturnValue(Date.now() + 20_000);
		return result;
	};
	expect(await startProcess().run('key')).toBe(true);
	now.mockRestore();
});

test("a Remove Duplicates node with the scope of the workflow is in nobody's way, and keeps its entries", async () => {
	database.rows.set('w:', ['an entry of that node']);
	const process = startProcess();
	expect(await process.run('key')).toBe(true);
	expect(await startProcess().run('key')).toBe(false);
	expect(database.rows.get('w:')).toEqual(['an entry of that node']);
});

test('a lock that payments of the same workflow hold is waited for, and left as it was', async () => {
	database.rows.set('w:', ['etb-wallet-lock']);
	let isAnswered = false;
	const asking = startProcess().run('key');
	void asking.then(() => (isAnswered = true));
	for (let turn = 0; turn < 50; turn++) await sleep();
	expect(isAnswered).toBe(false);
	database.rows.delete('w:');
	expect(await asking).toBe(true);
	expect([...database.rows.keys()]).toEqual(['w:n']);
});

test('an n8n that cannot call back at the end leaves no event running', async () => {
	const process = startProcess();
	await process.run('key', { respondsWhenFinished: true, hasNoHooks: true });
	expect(process.receive('key')).not.toBe('running');
});
