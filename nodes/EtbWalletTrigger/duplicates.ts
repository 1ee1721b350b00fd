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
import type { Question, TriggerMemory } from './state';
import { memoryOf } from './state';

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

/**
 * What makes two deliveries the same event. The document shows an `id` for transfer.completed only; in other
 * events `data.id` may name a user, so they need more to be the same: the transaction hash and all other data,
 * or else the whole body.
 */
export function deliveryKey(event: PartnerEvent, body: Buffer): string {
	const { id, txHash } = Object(event.data) as Record<string, unknown>;
	const isId = (typeof id === 'string' && id !== '') || Number.isSafeInteger(id);
	if (event.event === 'transfer.completed' && isId)
		return hashOf(JSON.stringify([event.event, id]));
	const isTransaction = typeof txHash === 'string' && txHash !== '' && !hasLongNumber(body);
	return hashOf(isTransaction ? JSON.stringify([event.event, sorted(event.data)]) : body);
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
}

/**
 * Asks the memory of this process. A second delivery that comes while the first is being handled waits for it.
 * @returns the admission, or how the same delivery ended before
 */
export async function admit(
	context: IWebhookFunctions,
	key: string,
): Promise<Admission | 'succeeded' | 'failed'> {
	const memory = memoryOf(context);
	if (memory.done.has(key)) return 'succeeded';
	const running = memory.running.get(key);
	if (running !== undefined) return (await running) ? 'succeeded' : 'failed';
	const { promise, resolve } = context.helpers.createDeferredPromise<boolean>();
	memory.running.set(key, promise);
	return {
		end(succeeded) {
			memory.running.delete(key);
			if (succeeded) dropOldest(memory.done.add(key), rememberedInProcess);
			resolve(succeeded);
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
	const memory = memoryOf(context);
	const execution = context.getExecutionId();
	// n8n's Retry On Fail asks again, and a person who retries an execution wants it to run.
	if (memory.handledBy.get(key) === execution) return true;
	const wantedByPerson = context.getMode() === 'retry';
	const marks = untilItSucceeds ? [cameMark(key), openMark(key)] : [cameMark(key)];
	let found: ReadonlySet<string>;
	try {
		found = await ask(context, memory, key, { record: marks });
	} catch (error) {
		context.logger.warn('An event could not be recorded, so it may run again if it is sent again', {
			workflow: context.getWorkflow().name,
			reason: messageOf(error),
		});
		return true;
	}
	const handled = found.has(cameMark(key)) && !found.has(openMark(key));
	if (handled && !wantedByPerson) {
		if (untilItSucceeds) await forget(context, memory, key, [openMark(key)]);
		return false;
	}
	dropOldest(memory.handledBy.set(key, execution), rememberedExecutions);
	if (untilItSucceeds) {
		whenEnded(context, async (ending) => {
			memory.handledBy.delete(key);
			const over = ending === 'failed' ? marks : [openMark(key)];
			await forget(context, memory, key, over);
		});
	}
	return true;
}

/** What stays in the record only makes an event run again if it is sent again. */
async function forget(
	context: IExecuteFunctions,
	memory: TriggerMemory,
	key: string,
	marks: string[],
): Promise<void> {
	try {
		await ask(context, memory, key, { forget: marks });
	} catch (error) {
		context.logger.warn(
			'The end of an event could not be recorded, so it may run again if it is sent again',
			{
				workflow: context.getWorkflow().name,
				reason: messageOf(error),
			},
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
	memory: TriggerMemory,
	key: string,
	question: Pick<Question, 'record' | 'forget'>,
): Promise<ReadonlySet<string>> {
	// The process that received the delivery also runs its workflow: then n8n has no other that does.
	const isShared = !memory.running.has(key) && !memory.done.has(key);
	const answer = new Promise<ReadonlySet<string>>((resolve, reject) =>
		memory.questions.push({ ...question, isShared, resolve, reject }),
	);
	if (!memory.isAsking) void answerAll(context, memory);
	return await answer;
}

async function answerAll(context: IExecuteFunctions, memory: TriggerMemory): Promise<void> {
	memory.isAsking = true;
	while (memory.questions.length > 0) {
		const questions = memory.questions.splice(0);
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
	memory.isAsking = false;
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
	return new Set(await entries.record([...new Set(marks)], keptMarks));
}
