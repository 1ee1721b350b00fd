/** Whether an event was handled before: by the memory of this process, and by the record in n8n's database. */
import { sleep, type IExecuteFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { triggerKey, whenEnded } from '../shared/n8nTrigger';
import { marksOf, withTimeout } from '../shared/record/marks';
import { exclusively, inTurn } from '../shared/record/lock';
import { asError, messageOf } from '../shared/unknownValues';

/** This process remembers so many events of all its triggers. */
const rememberedInProcess = 20_000;

/** `running`: n8n has not answered its delivery yet. */
type EventState = 'running' | 'handled';

/** The events that this process received, by trigger and `eventKey`, oldest first. */
const received = new Map<string, EventState>();

const eventOfTrigger = (context: IExecuteFunctions | IWebhookFunctions, key: string): string =>
	`${triggerKey(context)} ${key}`;

/**
 * The events whose workflows run in this process, until `whenEnded` calls back. An execution that n8n recovers after a crash
 * has no delivery in this process.
 */
const executing = new Set<string>();

/**
 * Begins a delivery, unless this process knows its event. It waits for no workflow: the service sends the event again.
 * @returns what became of the event, or how to end this delivery, which has to be called when n8n answers it
 */
export function beginDelivery(
	context: IWebhookFunctions,
	key: string,
): EventState | { end: (isHandled: boolean) => void } {
	const event = eventOfTrigger(context, key);
	const known = executing.has(event) ? 'running' : received.get(event);
	if (known !== undefined) return known;
	received.set(event, 'running');
	const [oldest] = received.keys();
	if (received.size > rememberedInProcess && oldest !== undefined) received.delete(oldest);
	return {
		end(isHandled) {
			// `whenEnded` does not call back if n8n cannot save the execution.
			executing.delete(event);
			if (isHandled) received.set(event, 'handled');
			else received.delete(event);
		},
	};
}

/**
 * The items of events that this process gave out. n8n's "Retry On Fail" runs the trigger again with the same item if its
 * event has a field `error`: that is no duplicate.
 */
const givenOut = new WeakSet<object>();

/**
 * Whether this execution is to handle the event, by the record in n8n's database, which all processes share. An event is
 * handled once; with `untilItSucceeds` again if its workflow failed or a crash cut it off, and not if a person stopped it.
 * If the record cannot be asked, it is handled: a workflow can tell by the data that an event came twice, and cannot
 * know of one that was lost.
 * @param item the item that carries the event
 */
export async function recordIfNew(
	context: IExecuteFunctions,
	item: object,
	key: string,
	untilItSucceeds: boolean,
): Promise<boolean> {
	// Retry execution: a person wants it to run.
	if (context.getMode() === 'retry' || givenOut.has(item)) return true;
	const event = eventOfTrigger(context, key);
	// The lock is needed in queue mode alone: a process that received the event and runs its workflow is the only one of n8n.
	const isShared = !received.has(event);
	const change = async (wanted: Change): Promise<ReadonlySet<string>> => {
		try {
			return await changeRecord(context, wanted, isShared);
		} catch (error) {
			context.logger.warn(
				`An event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
			);
			return new Set();
		}
	};
	// A mark of each event that arrived.
	const arrived = `arrived:${key}`;
	// A second mark with `untilItSucceeds`: the workflow runs, or a crash cut it off. The end of the workflow removes it.
	const unfinished = `unfinished:${key}`;
	const marks = untilItSucceeds ? [arrived, unfinished] : [arrived];
	const found = await change({ add: marks });
	if (found.has(arrived) && !found.has(unfinished)) {
		if (untilItSucceeds) await change({ remove: [unfinished] });
		return false;
	}
	givenOut.add(item);
	if (!untilItSucceeds) return true;
	const callsBack = whenEnded(context, async (hasFailed) => {
		await change({ remove: hasFailed ? marks : [unfinished] });
		executing.delete(event);
	});
	if (callsBack) executing.add(event);
	return true;
}

/**
 * The record of a trigger keeps so many marks, the newest. n8n reads and writes all of them for each event: 1,000 cost
 * 0.4 ms of CPU, 2,000 0.7 ms, 5,000 1.8 ms (measured). After a restart the service sends again only events in flight.
 */
const keptMarks = 2_000;

/** The pauses before the database is called the first, second and third time. */
const pausesMs = [0, 50, 250];

/** The limit of one call, because all later events of the trigger wait for it. */
const answerTimeoutMs = 10_000;

type Change = Partial<Record<'add' | 'remove', string[]>>;

/**
 * Changes the record of a trigger. n8n reads it as a whole and then writes it as a whole, so two changes at once would undo
 * each other: those of this process take turns, and if other processes may change it too, it takes the workflow's lock. If
 * the lock cannot be had, for example because of a Remove Duplicates node whose Scope is the workflow, it goes without.
 * @returns the marks to add that were there before. None if a call failed first: it may have added them itself, and an event
 * is rather handled twice than not at all
 * @throws what the database throws, or that it did not answer in time
 */
async function changeRecord(
	context: IExecuteFunctions,
	change: Change,
	isShared: boolean,
): Promise<ReadonlySet<string>> {
	const { add = [], remove = [] } = change;
	const record = marksOf(context, 'node');
	let found: ReadonlySet<string> | undefined;
	let failure: Error | undefined;
	const write = async (): Promise<ReadonlySet<string>> => {
		await record.remove(remove);
		return await record.add(add, keptMarks);
	};
	const call = async (): Promise<void> => {
		try {
			found = await withTimeout(write(), answerTimeoutMs);
		} catch (error) {
			failure = asError(error);
		}
	};
	await inTurn(triggerKey(context), async () => {
		// The lock may also fail after the call: then `found` has what the call found.
		if (isShared) await exclusively(context, call).catch(() => undefined);
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
