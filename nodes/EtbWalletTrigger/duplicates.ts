/** Finds out whether an event was handled before, from the memory of this process and from n8n's record. */
import { sleep, type IExecuteFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { runExclusive } from '../shared/runExclusive';
import { triggerKeyOf, whenEnded } from './n8nTrigger';
import { marksOf, withTimeout } from '../shared/record/marks';
import { withRecordLock } from '../shared/record/lock';
import { asError, messageOf } from '../shared/unknownValues';

/** The largest number of events, of all triggers, that this process remembers. */
const maxRemembered = 20_000;

/** The state of an event. While it is `running`, n8n has not answered the webhook request that brought it. */
type EventState = 'running' | 'handled';

/** The events that this process received, by trigger and `eventKeyOf`, oldest first. */
const received = new Map<string, EventState>();

const memoryKeyOf = (context: IExecuteFunctions | IWebhookFunctions, key: string): string =>
	`${triggerKeyOf(context)} ${key}`;

/**
 * With `respondsWhenFinished`, the events whose executions run in this process, until `whenEnded` calls back.
 * They are kept apart from `received`, because an execution that n8n recovers after a crash has no webhook
 * request in this process.
 */
const executing = new Set<string>();

/**
 * Begins to handle an event, unless this process knows it. It does not wait for a running execution, because
 * the service sends the event again.
 * @returns the state of a known event; otherwise `complete`, which has to be called when n8n has answered the
 * webhook request
 */
export function beginHandling(
	context: IWebhookFunctions,
	key: string,
): EventState | { complete: (isHandled: boolean) => void } {
	const memoryKey = memoryKeyOf(context, key);
	const known = executing.has(memoryKey) ? 'running' : received.get(memoryKey);
	if (known !== undefined) return known;
	received.set(memoryKey, 'running');
	const [oldest] = received.keys();
	if (received.size > maxRemembered && oldest !== undefined) received.delete(oldest);
	return {
		complete(isHandled) {
			// `whenEnded` does not call back if n8n cannot save the execution.
			executing.delete(memoryKey);
			if (isHandled) received.set(memoryKey, 'handled');
			else received.delete(memoryKey);
		},
	};
}

/**
 * The items that this process output. n8n's "Retry On Fail" calls `execute` again with the same item if its
 * event has a field `error`, which is no duplicate.
 */
const outputItems = new WeakSet<object>();

/**
 * Records an event in n8n's database, which all processes share. An event is handled once. With
 * `respondsWhenFinished` it is handled again if its execution failed or a crash ended it, and not if a person
 * stopped it. If the database fails, the event is handled, because a workflow can see from the data that an
 * event came twice, but cannot see that an event was lost.
 * @param item the item that carries the event
 * @returns whether this execution has to handle the event
 */
export async function recordIfNew(
	context: IExecuteFunctions,
	item: object,
	key: string,
	respondsWhenFinished: boolean,
): Promise<boolean> {
	// A person who chose "Retry execution" wants the event to be handled.
	if (context.getMode() === 'retry' || outputItems.has(item)) return true;
	const memoryKey = memoryKeyOf(context, key);
	// If this process received the event itself, no worker of queue mode can update these marks.
	const isShared = !received.has(memoryKey);
	const tryToUpdate = async (update: MarkUpdate): Promise<ReadonlySet<string>> => {
		try {
			return await updateMarks(context, update, isShared);
		} catch (error) {
			context.logger.warn(
				`An event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
			);
			return new Set();
		}
	};
	const arrived = `arrived:${key}`;
	// With `respondsWhenFinished` an event has this second mark while its execution runs, and still has it after
	// a crash.
	const unfinished = `unfinished:${key}`;
	const marks = respondsWhenFinished ? [arrived, unfinished] : [arrived];
	const found = await tryToUpdate({ add: marks });
	if (found.has(arrived) && !found.has(unfinished)) {
		if (respondsWhenFinished) await tryToUpdate({ remove: [unfinished] });
		return false;
	}
	outputItems.add(item);
	if (!respondsWhenFinished) return true;
	const callsBack = whenEnded(context, async (hasFailed) => {
		await tryToUpdate({ remove: hasFailed ? marks : [unfinished] });
		executing.delete(memoryKey);
	});
	if (callsBack) executing.add(memoryKey);
	return true;
}

/**
 * The largest number of marks that the record of a trigger keeps: the newest stay. n8n reads and writes all of them for each
 * event. This number is enough, because after a restart the service sends only events in flight again.
 */
const maxMarks = 2_000;

/** The pauses in ms before each call without the lock. A call under the lock may come before them. */
const pausesMs = [0, 50, 250];

/** The limit of one call, in ms. It is short, because all later events of the trigger wait for the call. */
const responseTimeoutMs = 10_000;

type MarkUpdate = Partial<Record<'add' | 'remove', string[]>>;

/**
 * Updates the marks of a trigger. n8n reads and then writes all of them, so two updates at once would undo
 * each other. The updates of this process run one after the other. If other processes may update the marks
 * too, an update needs the workflow's lock. It runs without the lock if it cannot acquire it, for example
 * because of a Remove Duplicates node whose Scope is the workflow.
 * @param isShared whether other processes may update the marks too
 * @returns those of `add` that were there before; an empty set if a call failed, because that call may have
 * added them itself, and to handle an event twice is better than to lose it
 * @throws {Error} of the database, or because it did not answer in time
 */
async function updateMarks(
	context: IExecuteFunctions,
	{ add = [], remove = [] }: MarkUpdate,
	isShared: boolean,
): Promise<ReadonlySet<string>> {
	const marks = marksOf(context, 'node');
	let found: ReadonlySet<string> | undefined;
	let failure: Error | undefined;
	const write = async (): Promise<ReadonlySet<string>> => {
		await marks.remove(remove);
		return await marks.add(add, maxMarks);
	};
	const call = async (): Promise<void> => {
		try {
			found = await withTimeout(write(), responseTimeoutMs);
		} catch (error) {
			failure = asError(error);
		}
	};
	await runExclusive(`events ${triggerKeyOf(context)}`, async () => {
		// The lock may also fail after the call. Then `found` has the result of the call.
		if (isShared) await withRecordLock(context, call).catch(() => undefined);
		for (const pauseMs of pausesMs) {
			if (found !== undefined) break;
			if (pauseMs > 0) await sleep(pauseMs);
			await call();
		}
	});
	if (failure === undefined) return found ?? new Set();
	if (found === undefined) throw failure;
	return new Set();
}
