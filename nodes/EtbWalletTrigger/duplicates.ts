/** Whether an event came before: by the memory of this process, and by the record in n8n's database. */
import { createHash } from 'node:crypto';
import { sleep } from 'n8n-workflow';
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { messageOf } from '../shared/invalidValue';
import { whenEnded } from '../shared/n8n';
import type { Entries } from '../shared/record/entries';
import { answered, entriesOf } from '../shared/record/entries';
import { exclusively } from '../shared/record/lock';
import type { PartnerEvent } from './event';
import { PerTrigger } from './perTrigger';

/** How many deliveries of a trigger this process remembers. */
const rememberedInProcess = 20_000;

/** How many executions of a trigger this process remembers to have handled an event. */
const rememberedExecutions = 1_000;

/**
 * How many marks the record in n8n's database keeps, the newest. n8n reads and writes all of them for each event:
 * measured, 1,000 cost 0.4 ms of CPU, 2,000 0.7 ms, 5,000 1.8 ms. What is sent again after a restart is what was in
 * flight before it.
 */
const keptMarks = 2_000;

/** A change of the record in n8n's database, and what it answers. */
interface Question {
	record?: readonly string[];
	forget?: readonly string[];
	/** Whether another process may write the same record. */
	isShared: boolean;
	resolve: (found: ReadonlySet<string>) => void;
	reject: (reason: unknown) => void;
}

/** `released`: its answer may never come. */
type Ended = 'succeeded' | 'failed' | 'released';

/** A delivery that was handed to n8n, and not answered yet. */
interface Running {
	ended: Promise<Ended>;
	end(how: Ended): void;
	/** Its sender has hung up. */
	isLeft: boolean;
}

/** The execution of this process that handles an event or has. */
interface Execution {
	id: string;
	/** Resolves when it is over and its end stands in the record, if that was asked for. */
	ended?: Promise<Ended>;
}

interface Deliveries {
	/** Keys of those that were answered with success, oldest first. */
	done: Set<string>;
	running: Map<string, Running>;
	executions: Map<string, Execution>;
	/** Waiting for the record in n8n's database. */
	questions: Question[];
	isAsking: boolean;
}

/** An event that is being handled would run twice if it were dropped. */
const memory = new PerTrigger<Deliveries>(
	() => ({
		done: new Set(),
		running: new Map(),
		executions: new Map(),
		questions: [],
		isAsking: false,
	}),
	({ running, executions, isAsking }) =>
		running.size > 0 ||
		isAsking ||
		[...executions.values()].some(({ ended }) => ended !== undefined),
);

export const forgetDeliveries = (trigger: string): void => memory.drop(trigger);

/** Whether this process runs what it receives. In queue mode others do, and it does not learn when they begin. */
let runsItself = false;

/**
 * What makes two deliveries the same event. The document shows an `id` for transfer.completed only; in other
 * events `data.id` may name a user, so they need more to be the same: the transaction hash, all other data and the
 * event's own `id`, if it has one, or else the whole body.
 */
export function deliveryKey(event: PartnerEvent, body: Buffer): string {
	const { id, txHash } = Object(event.data) as Record<string, unknown>;
	const isId = (typeof id === 'string' && id !== '') || Number.isSafeInteger(id);
	if (event.event === 'transfer.completed' && isId)
		return hashOf(JSON.stringify([event.event, id]));
	const isTransaction = typeof txHash === 'string' && txHash !== '' && !hasLongNumber(body);
	const identity = [event.event, sorted(event.data), ...(event.id === undefined ? [] : [event.id])];
	return hashOf(isTransaction ? JSON.stringify(identity) : body);
}

const hashOf = (content: string | Buffer): string =>
	createHash('sha256').update(content).digest('base64url').slice(0, 22);

/** Numbers of so many digits are equal once they are read, although they were sent as different ones. */
const hasLongNumber = (body: Buffer): boolean => /[[:,\s]-?[\d.]{16}/.test(body.toString());

/** The same data with its keys in one order: JSON gives the order no meaning. */
function sorted(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(sorted);
	const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

/** A delivery that is to be handled; `end` has to be called with whether that succeeded. */
export interface Admission {
	end(succeeded: boolean): void;
	/** Its sender has hung up. */
	leave(): void;
}

/**
 * Asks the memory of this process. A second delivery that comes while the first is being handled waits for it.
 * @param untilItSucceeds whether the sender is told how the workflow ended
 * @returns the admission, or how the same delivery ended before
 */
export async function admit(
	context: IWebhookFunctions,
	key: string,
	untilItSucceeds: boolean,
): Promise<Admission | 'succeeded' | 'failed'> {
	const { done, running, executions } = memory.of(context);
	/**
	 * n8n answers nothing for what a person stops in its queue. While it may still be in the queue, the record in n8n's
	 * database lets one of two executions have it; not so while another process runs it until it succeeds.
	 */
	const releaseIfLost = (delivery?: Running): void => {
		const isRunning = executions.get(key)?.ended !== undefined;
		if (delivery?.isLeft && !isRunning && (runsItself || !untilItSucceeds))
			delivery.end('released');
	};
	for (;;) {
		if (done.has(key)) return 'succeeded';
		releaseIfLost(running.get(key));
		// An execution without a delivery was in n8n's queue when n8n crashed.
		const ended = running.get(key)?.ended ?? executions.get(key)?.ended;
		if (ended === undefined) break;
		const how = await ended;
		if (how !== 'released') return how;
	}
	const { promise: ended, resolve } = context.helpers.createDeferredPromise<Ended>();
	const own: Running = {
		ended,
		end(how) {
			if (running.get(key) === own) running.delete(key);
			if (how === 'succeeded') dropOldest(done.add(key), rememberedInProcess);
			resolve(how);
		},
		isLeft: false,
	};
	running.set(key, own);
	return {
		end: (succeeded) => own.end(succeeded ? 'succeeded' : 'failed'),
		leave() {
			own.isLeft = true;
			releaseIfLost(own);
		},
	};
}

function dropOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
	const [oldest] = kept.keys();
	if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

/** An event came. */
const cameMark = (key: string): string => `came:${key}`;
/** Its workflow has not ended yet, as far as is known: it runs, or a crash ended it. */
const openMark = (key: string): string => `open:${key}`;

/**
 * Asks and writes the record in n8n's database, which other processes and later starts of n8n share. It belongs to
 * the node by its id, so that renaming changes nothing.
 *
 * With `untilItSucceeds` an event whose workflow failed, or was cut off by a crash, is new again; one whose
 * execution a person stopped is not. Otherwise an event is new once.
 * @returns whether this execution is to handle the event. If the record cannot be asked it is: an event that runs
 * twice can be told by its data, one that is lost cannot
 */
export async function isNew(
	context: IExecuteFunctions,
	key: string,
	untilItSucceeds: boolean,
): Promise<boolean> {
	const deliveries = memory.of(context);
	const { running, executions } = deliveries;
	const id = context.getExecutionId();
	// n8n's Retry On Fail asks again, and a person who retries an execution wants it to run.
	if (executions.get(key)?.id === id) return true;
	const wantedByPerson = context.getMode() === 'retry';
	// How another execution of this process ends decides, and stands in the record then.
	while (executions.get(key)?.ended !== undefined && !wantedByPerson)
		await executions.get(key)?.ended;

	if (running.has(key)) runsItself = true;
	const { promise: ended, resolve: end } = context.helpers.createDeferredPromise<Ended>();
	const execution: Execution = untilItSucceeds ? { id, ended } : { id };
	dropOldest(executions.set(key, execution), rememberedExecutions);
	const isOver = (how: Ended): void => {
		if (executions.get(key) === execution) executions.delete(key);
		end(how);
	};

	const marks = untilItSucceeds ? [cameMark(key), openMark(key)] : [cameMark(key)];
	let found: ReadonlySet<string> = new Set();
	try {
		found = await ask(context, deliveries, key, { record: marks });
	} catch (error) {
		context.logger.warn(
			`An event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
		);
	}
	const handled = found.has(cameMark(key)) && !found.has(openMark(key));
	if (handled && !wantedByPerson) {
		if (untilItSucceeds) await forget(context, deliveries, key, [openMark(key)]);
		isOver('succeeded');
		return false;
	}
	if (!untilItSucceeds) return true;
	const isHeard = whenEnded(context, async (ending) => {
		await forget(context, deliveries, key, ending === 'failed' ? marks : [openMark(key)]);
		isOver(ending === 'failed' ? 'failed' : 'succeeded');
	});
	if (!isHeard) isOver('succeeded');
	return true;
}

/** What stays in the record only makes an event run again if it is sent again. */
async function forget(
	context: IExecuteFunctions,
	deliveries: Deliveries,
	key: string,
	marks: string[],
): Promise<void> {
	try {
		await ask(context, deliveries, key, { forget: marks });
	} catch (error) {
		context.logger.warn(
			`The end of an event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
		);
	}
}

/**
 * n8n's record is read as a whole and then written as a whole, so two at once would undo each other. Those of this
 * process take turns, and what waits meanwhile goes in one turn.
 * @returns which marks were there before
 */
async function ask(
	context: IExecuteFunctions,
	deliveries: Deliveries,
	key: string,
	question: Pick<Question, 'record' | 'forget'>,
): Promise<ReadonlySet<string>> {
	// The process that received the delivery also runs its workflow: then n8n has no other that does.
	const isShared = !deliveries.running.has(key) && !deliveries.done.has(key);
	const answer = new Promise<ReadonlySet<string>>((resolve, reject) =>
		deliveries.questions.push({ ...question, isShared, resolve, reject }),
	);
	if (!deliveries.isAsking) void answerAll(context, deliveries);
	return await answer;
}

async function answerAll(context: IExecuteFunctions, deliveries: Deliveries): Promise<void> {
	deliveries.isAsking = true;
	while (deliveries.questions.length > 0) {
		const questions = deliveries.questions.splice(0);
		const isShared = questions.some((question) => question.isShared);
		const access = async (): Promise<Set<string>> =>
			await readAndWrite(entriesOf(context, 'node'), questions);
		const found = await carefully(context, isShared, access);
		for (const { record = [], resolve, reject } of questions) {
			if (found instanceof Error) reject(found);
			else resolve(new Set(record.filter((mark) => found.has(mark))));
			if (!(found instanceof Error)) for (const mark of record) found.add(mark);
		}
	}
	deliveries.isAsking = false;
}

/** Before each attempt to write the record. */
const pausesMs = [0, 50, 250];

/** For each attempt: all later events of the trigger wait their turn. */
const answerTimeoutMs = 10_000;

/**
 * Where several processes run workflows, with the lock that payments of this workflow take too; without it, if a
 * Remove Duplicates node with the workflow's scope is in the way.
 * @returns the marks that were there before. None after an attempt that failed: it may have written them itself, and an
 * event must rather run twice than not at all. Or why the record could not be written
 */
async function carefully(
	context: IExecuteFunctions,
	isShared: boolean,
	access: () => Promise<Set<string>>,
): Promise<Set<string> | Error> {
	let found: Set<string> | undefined;
	let failure: Error | undefined;
	const attempt = async (): Promise<void> => {
		try {
			found = await answered(access(), answerTimeoutMs);
		} catch (error) {
			failure = error instanceof Error ? error : new Error(String(error));
		}
	};
	// The lock may fail before the attempt or after it: `found` tells whether there was one.
	if (isShared) await exclusively(context, attempt).catch(() => undefined);
	for (const pauseMs of pausesMs) {
		if (found !== undefined) break;
		if (pauseMs > 0) await sleep(pauseMs);
		await attempt();
	}
	if (failure === undefined) return found ?? new Set();
	return found === undefined ? failure : new Set();
}

async function readAndWrite(entries: Entries, questions: Question[]): Promise<Set<string>> {
	await entries.remove(questions.flatMap((question) => question.forget ?? []));
	const marks = questions.flatMap((question) => question.record ?? []);
	return new Set(await entries.record(marks, keptMarks));
}
