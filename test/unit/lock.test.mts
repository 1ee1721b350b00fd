/** The lock between processes: that it keeps them apart, and that nothing leaves it taken. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Marks } from '../../nodes/shared/record/marks.ts';
import { MemoryDeduplicator, helpersOf } from '../support/engine/deduplicator.mts';

const workflow = { id: 'payroll', active: true };
const owner = { workflow, node: undefined };
const options = { mode: 'entries' } as const;

let database: MemoryDeduplicator;
/** Gets each call of the database before it is made. */
let called: (name: keyof IExecuteFunctions['helpers']) => void;
beforeEach(() => {
	database = new MemoryDeduplicator();
	called = () => undefined;
});
afterEach(() => jest.restoreAllMocks());

const row = `${workflow.id}:`;
const lockMark = 'etb-wallet-lock';
const marks = (): string[] | undefined => database.rows.get(row);

type WithLock = <Result>(access: (marks: Marks) => Promise<Result>) => Promise<Result>;

/** A process of n8n: a copy of the module, and the database that all share. */
async function startProcess(): Promise<WithLock> {
	const helpers = helpersOf(database, owner, (name) => called(name));
	const context = { helpers, getWorkflow: () => workflow } as unknown as IExecuteFunctions;
	let run: WithLock | undefined;
	await jest.isolateModulesAsync(async () => {
		const { withRecordLock } = await import('../../nodes/shared/record/lock.ts');
		run = async (access) => await withRecordLock(context, access);
	});
	if (run === undefined) throw new Error('the lock was not loaded');
	return run;
}

async function startProcesses(count: number): Promise<WithLock[]> {
	const processes: WithLock[] = [];
	while (processes.length < count) processes.push(await startProcess());
	return processes;
}

test.each([1, 4])(
	'accesses that read and then write lose nothing, processes: %i',
	async (count) => {
		const processes = await startProcesses(count);
		let total = 0;
		const add = async () => {
			const read = total;
			await new Promise(setImmediate);
			total = read + 1;
		};
		const accesses = Array.from({ length: 40 }, async (_, index) => {
			await processes[index % count]?.(add);
		});
		await Promise.all(accesses);
		expect(total).toBe(40);
		expect(marks()).toBeUndefined();
	},
);

test('a database that fails is not waited for', async () => {
	const withLock = await startProcess();
	jest
		.spyOn(database, 'checkProcessedAndRecord')
		.mockRejectedValue(new Error('database is locked'));
	let accesses = 0;
	await expect(withLock(() => Promise.resolve(accesses++))).rejects.toThrow('database is locked');
	expect(accesses).toBe(0);
});

test('if another process adds its mark as this one takes the lock, the row has the lock alone when this one works', async () => {
	called = (name) => {
		if (name === 'getProcessedDataCount' && marks()?.length === 1)
			database.rows.set(row, [lockMark, 'etb-wallet-waiting-7']);
	};
	const withLock = await startProcess();
	expect(await withLock(() => Promise.resolve(marks()))).toEqual([lockMark]);
});

test('a process keeps trying after it lost four inserts in a row to others', async () => {
	const withLock = await startProcess();
	const insert = jest.spyOn(database, 'checkProcessedAndRecord');
	for (let failure = 0; failure < 4; failure++)
		insert.mockRejectedValueOnce(new Error('duplicate key'));
	await expect(withLock(() => Promise.resolve('done'))).resolves.toBe('done');
});

test('inserts that fail are counted anew after another process has held the lock', async () => {
	const withLock = await startProcess();
	const insert = jest.spyOn(database, 'checkProcessedAndRecord');
	const fail = () => insert.mockRejectedValueOnce(new Error('duplicate key'));
	for (let failure = 0; failure < 4; failure++) fail();
	insert.mockImplementationOnce(async () => {
		database.rows.set(row, [lockMark]);
		return await Promise.reject(new Error('duplicate key'));
	});
	for (let failure = 0; failure < 4; failure++) fail();
	let readsOfHeld = 0;
	called = (name) => {
		const isReadOfHeld = name === 'getProcessedDataCount' && marks()?.includes(lockMark) === true;
		if (isReadOfHeld && ++readsOfHeld === 2) database.rows.delete(row);
	};
	await expect(withLock(() => Promise.resolve('done'))).resolves.toBe('done');
});

describe('texts of another node with Scope "Workflow"', () => {
	const foreign = 'seen by Remove Duplicates';

	test('are left alone, and nothing is done', async () => {
		database.rows.set(row, [foreign]);
		const withLock = await startProcess();
		let accesses = 0;
		await expect(withLock(() => Promise.resolve(accesses++))).rejects.toThrow('Set it to Node');
		expect(accesses).toBe(0);
		expect(marks()).toEqual([foreign]);
	});

	test('that come while the lock is held are left alone, and what was done does not count', async () => {
		const withLock = await startProcess();
		const access = async () =>
			await database.checkProcessedAndRecord([foreign], 'workflow', owner, options);
		await expect(withLock(access)).rejects.toThrow('Set it to Node');
		expect(marks()).toEqual([foreign]);
	});
});

test.each([
	'checkProcessedAndRecord',
	'removeProcessed',
	'getProcessedDataCount',
	'clearAllProcessedItems',
] as const)('a database that never answers %s is waited for until the timeout', async (method) => {
	const timeout = new AbortController();
	jest.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal);
	jest.spyOn(database, method).mockImplementation(() => {
		setImmediate(() => timeout.abort());
		return new Promise<never>(() => undefined);
	});
	const access = async (own: Marks) => {
		await own.add(['x']);
		await own.remove(['x']);
		await own.count();
	};
	await expect((await startProcess())(access)).rejects.toThrow('did not answer');
});

describe('with time', () => {
	beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }));
	afterEach(() => jest.useRealTimers());

	const pass = async (seconds: number) => {
		for (let step = 0; step < seconds * 20; step++) {
			await jest.advanceTimersByTimeAsync(50);
			for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
		}
	};

	const standStill = (seconds: number): void => {
		jest.setSystemTime(Date.now() + seconds * 1_000);
	};

	test('a process that stood still for 16 s while it took the lock relies on nothing', async () => {
		const withLock = await startProcess();
		called = (name) => {
			if (name !== 'checkProcessedAndRecord') return;
			called = () => undefined;
			standStill(16);
		};
		await expect(withLock(() => Promise.resolve())).rejects.toThrow('took too long');
	});

	test('a process that stood still for 16 s removes and adds no mark', async () => {
		const withLock = await startProcess();
		for (const change of ['add', 'remove'] as const) {
			const calls: string[] = [];
			const access = withLock(async (marks) => {
				standStill(16);
				called = (name) => calls.push(name);
				await marks[change](['x']);
			});
			await expect(access).rejects.toThrow('took too long');
			called = () => undefined;
			expect(calls).not.toContain('removeProcessed');
			expect(calls).not.toContain('checkProcessedAndRecord');
		}
	});

	test('the lock of a process that ended is taken over after 30 s, not before', async () => {
		const [dead, left, right] = await startProcesses(3);
		void dead?.(() => new Promise(() => undefined));
		const taken: string[] = [];
		const waiting = Promise.all([
			left?.(() => Promise.resolve(taken.push('left'))),
			right?.(() => Promise.resolve(taken.push('right'))),
		]);
		await pass(30);
		expect(taken).toEqual([]);
		await pass(15);
		await waiting;
		expect(taken.toSorted()).toEqual(['left', 'right']);
		expect(marks()).toBeUndefined();
	});

	test.each([1, 2, 3])(
		'an abandoned lock that another process takes over, with %i more calls until it is removed, stays',
		async (callsLeft) => {
			jest.spyOn(Math, 'random').mockReturnValue(0.5);
			/** @returns how many calls came before the lock was removed; 0 when it was not */
			const wait = async (takenOverAtCall: number): Promise<number> => {
				// A process that ended, and another one that waits.
				database.rows.set(row, [lockMark, 'etb-wallet-waiting-7']);
				let calls = 0;
				let removedAtCall = 0;
				called = (name) => {
					calls++;
					if (calls === takenOverAtCall) database.rows.set(row, [lockMark]);
					if (name === 'clearAllProcessedItems' && removedAtCall === 0) removedAtCall = calls;
				};
				const access = (await startProcess())(() => Promise.resolve());
				await pass(takenOverAtCall === 0 ? 45 : 60);
				const found = removedAtCall;
				database.rows.delete(row);
				await pass(1);
				await access;
				return found;
			};
			const removedAtCall = await wait(0);
			expect(removedAtCall).toBeGreaterThan(10);
			expect(await wait(removedAtCall - callsLeft)).toBe(0);
		},
	);

	test.each([
		{ seconds: 20, left: undefined },
		{ seconds: 31, left: [lockMark] },
	])(
		'an access of $seconds s counts for nothing, and after 30 s its row can be that of another process',
		async ({ seconds, left }) => {
			const withLock = await startProcess();
			const access = async () => {
				await new Promise((ended) => setTimeout(ended, seconds * 1_000));
			};
			const ended = withLock(access).then(
				() => 'done',
				(error: unknown) => error,
			);
			await pass(seconds + 1);
			expect(await ended).toBeInstanceOf(Error);
			expect(marks()).toEqual(left);
		},
	);

	test('an abandoned lock that another process takes over just as it is asked for is waited for', async () => {
		database.rows.set(row, [lockMark]);
		let removesMarks = false;
		let isTakenOver = false;
		called = (name) => {
			if (name === 'removeProcessed') removesMarks = true;
			if (name !== 'checkProcessedAndRecord' || !removesMarks || isTakenOver) return;
			// Gone when the process reads it, and inserted by another one before this process does so.
			isTakenOver = true;
			database.rows.delete(row);
			process.nextTick(() => database.rows.set(row, [lockMark]));
		};
		let isDone = false;
		const access = (await startProcess())(() => Promise.resolve());
		const ended = access.then(
			() => (isDone = true),
			(error: unknown) => error,
		);
		await pass(60);
		expect(isTakenOver).toBe(true);
		expect(isDone).toBe(false);
		database.rows.delete(row);
		await pass(1);
		expect(await ended).toBe(true);
		expect(marks()).toBeUndefined();
	});

	test('a lock that goes from process to process is waited for, also if another that waits has the same mark', async () => {
		database.rows.set(row, [lockMark]);
		let isRemoved = false;
		called = (name) => {
			if (name === 'clearAllProcessedItems') isRemoved = true;
		};
		const access = (await startProcess())(() => Promise.resolve());
		await pass(5);
		const [shared] = (marks() ?? []).filter((mark) => mark !== lockMark);
		expect(shared).toBeDefined();
		for (let holder = 0; holder < 8; holder++) {
			database.rows.set(row, [lockMark, shared ?? '']);
			await pass(8);
		}
		expect(isRemoved).toBe(false);
		database.rows.delete(row);
		await pass(1);
		await access;
	});

	/** A process that waits for the lock of another one. @returns whether it has had it */
	const waitForHeldLock = async (): Promise<() => boolean> => {
		database.rows.set(row, [lockMark]);
		let hadLock = false;
		void (await startProcess())(async () => {
			hadLock = true;
			await Promise.resolve();
		});
		return () => hadLock;
	};

	test('a process that cannot write its marks beside a lock fails, and does not wait for ever', async () => {
		database.rows.set(row, [lockMark]);
		const disk = new Error('the disk is full');
		jest.spyOn(database, 'checkProcessedAndRecord').mockRejectedValue(disk);
		let ended: unknown;
		void (await startProcess())(() => Promise.resolve('done')).catch((error: unknown) => {
			ended = error;
		});
		await pass(20);
		expect(ended).toBe(disk);
		expect(marks()).toEqual([lockMark]);
	});

	test('a clock that is set forward takes over no lock', async () => {
		const hadLock = await waitForHeldLock();
		await pass(10);
		jest.setSystemTime(Date.now() + 3_600_000);
		await pass(10);
		expect(marks()).toContain(lockMark);
		expect(hadLock()).toBe(false);
		await pass(30);
		expect(hadLock()).toBe(true);
	});

	test('each process waits for a time of its own, of 30 to 40 s', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		const hadLock = await waitForHeldLock();
		await pass(36);
		expect(hadLock()).toBe(false);
		await pass(8);
		expect(hadLock()).toBe(true);
	});

	test('a row that a take-over makes, because the holder has just ended, does not stay', async () => {
		let removesMarks = false;
		let isGone = false;
		called = (name) => {
			if (name === 'removeProcessed') removesMarks = true;
			if (name !== 'checkProcessedAndRecord' || !removesMarks || isGone) return;
			isGone = true;
			database.rows.delete(row);
		};
		const hadLock = await waitForHeldLock();
		for (let second = 0; second < 45 && !isGone; second++) await pass(1);
		expect(isGone).toBe(true);
		await pass(5);
		expect(hadLock()).toBe(true);
	});
});
