/** Whether an event was handled before: by the memory of this process, and by the record in n8n's database. */
import { createHash } from 'node:crypto';
import { sleep, type IExecuteFunctions, type IWebhookFunctions } from 'n8n-workflow';
import { whenEnded } from '../shared/n8nTrigger';
import { entriesOf, inTime, type Entries } from '../shared/record/entries';
import { exclusively } from '../shared/record/lock';
import { asError, messageOf } from '../shared/unknown';
import type { PartnerEvent } from './event';
import { PerTrigger } from './perTrigger';

/** How many deliveries of a trigger this process remembers. */
const rememberedInProcess = 20_000;

/** How many events with their executions this process remembers for each trigger. */
const rememberedExecutions = 1_000;

/**
 * How many marks the record in n8n's database keeps, the newest. n8n reads and writes all of them for each event:
 * measured, 1,000 cost 0.4 ms of CPU, 2,000 0.7 ms, 5,000 1.8 ms. After a restart the service sends again only what was
 * in flight.
 */
const keptMarks = 2_000;

/** A change of the record in n8n's database. */
interface Change {
	add?: readonly string[];
	remove?: readonly string[];
}

/** A change that waits for its turn, and the promise of what was found. */
interface WaitingChange extends Change {
	/** Whether another process may change the same record, so that the lock is needed. */
	isShared: boolean;
	resolve: (found: ReadonlySet<string>) => void;
	reject: (reason: unknown) => void;
}

/** `released`: how it ended may never become known, so others wait for it no longer. */
type DeliveryEnd = 'succeeded' | 'failed' | 'released';

/** A delivery that n8n handles, and has not answered yet. */
interface Running {
	ended: Promise<DeliveryEnd>;
	end(how: DeliveryEnd): void;
	/** Whether its sender has closed the connection. */
	hasHungUp: boolean;
}

/** The execution of this process that handles an event or has. */
interface Execution {
	id: string;
	/** Resolves when it is over and the record has its end. Only with `untilItSucceeds`. */
	ended?: Promise<DeliveryEnd>;
}

interface Deliveries {
	/** Keys of those that were answered with success, oldest first. */
	done: Set<string>;
	running: Map<string, Running>;
	executions: Map<string, Execution>;
	/** They wait for the record in n8n's database. */
	changes: WaitingChange[];
	isChanging: boolean;
}

/** A trigger's memory is kept as long as one of its events is being handled: forgotten, the event would run again. */
const memory = new PerTrigger<Deliveries>(
	() => ({
		done: new Set(),
		running: new Map(),
		executions: new Map(),
		changes: [],
		isChanging: false,
	}),
	({ running, executions, isChanging }) =>
		running.size > 0 ||
		isChanging ||
		[...executions.values()].some(({ ended }) => ended !== undefined),
);

export const forgetDeliveries = (trigger: string): void => memory.drop(trigger);

/** Whether this process also runs the workflows. In queue mode others do, and it does not learn when they begin. */
let runsItself = false;

/**
 * Two deliveries with the same key are the same event. The service document shows an `id` for transfer.completed only;
 * in other events `data.id` may name a user. So they are the same if all their data, with a transaction hash, and the
 * `id` of the event are the same; without such a hash, if the whole body is.
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

/** Whether it has a number of so many digits that JSON.parse makes two different ones equal. */
const hasLongNumber = (body: Buffer): boolean => /[[:,\s]-?[\d.]{16}/.test(body.toString());

/** The same data with its keys in one order: JSON gives the order no meaning. */
function sorted(value: unknown): unknown {
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map(sorted);
	const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

/** A delivery that is to be handled. */
export interface Admission {
	/** Has to be called with whether that succeeded. */
	end(succeeded: boolean): void;
	/** To be called when its sender has closed the connection. */
	hangUp(): void;
}

/**
 * Asks the memory of this process. A delivery waits for an earlier one of the same event that is being handled.
 * @param untilItSucceeds whether the sender is told how the workflow ended
 */
export async function admit(
	context: IWebhookFunctions,
	key: string,
	untilItSucceeds: boolean,
): Promise<Admission | 'succeeded' | 'failed'> {
	const { done, running, executions } = memory.of(context);
	/**
	 * n8n never answers a delivery whose execution a person stops in n8n's queue. So once its sender has hung up, the next
	 * delivery does not wait for it, and the record in n8n's database decides which of the two is handled. With
	 * `untilItSucceeds` that record cannot tell while another process runs it.
	 */
	const releaseIfLost = (delivery?: Running): void => {
		const isRunning = executions.get(key)?.ended !== undefined;
		if (delivery?.hasHungUp && !isRunning && (runsItself || !untilItSucceeds))
			delivery.end('released');
	};
	for (;;) {
		if (done.has(key)) return 'succeeded';
		releaseIfLost(running.get(key));
		// After a crash n8n runs what was in its queue: executions without a delivery.
		const ended = running.get(key)?.ended ?? executions.get(key)?.ended;
		if (ended === undefined) break;
		const how = await ended;
		if (how !== 'released') return how;
	}
	const { promise: ended, resolve } = context.helpers.createDeferredPromise<DeliveryEnd>();
	const own: Running = {
		ended,
		end(how) {
			if (running.get(key) === own) running.delete(key);
			if (how === 'succeeded') dropOldest(done.add(key), rememberedInProcess);
			resolve(how);
		},
		hasHungUp: false,
	};
	running.set(key, own);
	return {
		end: (succeeded) => own.end(succeeded ? 'succeeded' : 'failed'),
		hangUp() {
			own.hasHungUp = true;
			releaseIfLost(own);
		},
	};
}

function dropOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
	const [oldest] = kept.keys();
	if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

/** The record has it for each event that came. */
const cameMark = (key: string): string => `came:${key}`;
/** Also with `untilItSucceeds`, until its workflow has ended: it runs, or a crash cut it off. */
const openMark = (key: string): string => `open:${key}`;

/**
 * Whether this execution is to handle the event, by the record in n8n's database, which all processes share. An event is
 * handled once; with `untilItSucceeds` again if its workflow failed or a crash cut it off, and not if a person stopped it.
 * If the record cannot be asked, it is handled: a workflow can tell by the data that an event came twice, and cannot
 * know of one that was lost.
 */
export async function isToBeHandled(
	context: IExecuteFunctions,
	key: string,
	untilItSucceeds: boolean,
): Promise<boolean> {
	const deliveries = memory.of(context);
	const { running, executions } = deliveries;
	const id = context.getExecutionId();
	// Retry On Fail asks again in the same execution.
	if (executions.get(key)?.id === id) return true;
	// Retry execution: a person wants it to run.
	const wantedByPerson = context.getMode() === 'retry';
	// Another execution of this process has the event: when it has ended, the record says how.
	while (executions.get(key)?.ended !== undefined && !wantedByPerson)
		await executions.get(key)?.ended;

	if (running.has(key)) runsItself = true;
	const { promise: ended, resolve: end } = context.helpers.createDeferredPromise<DeliveryEnd>();
	const execution: Execution = untilItSucceeds ? { id, ended } : { id };
	dropOldest(executions.set(key, execution), rememberedExecutions);
	const isOver = (how: DeliveryEnd): void => {
		if (executions.get(key) === execution) executions.delete(key);
		end(how);
	};

	const marks = untilItSucceeds ? [cameMark(key), openMark(key)] : [cameMark(key)];
	let found: ReadonlySet<string> = new Set();
	try {
		found = await change(context, deliveries, key, { add: marks });
	} catch (error) {
		context.logger.warn(
			`An event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
		);
	}
	const handled = found.has(cameMark(key)) && !found.has(openMark(key));
	if (handled && !wantedByPerson) {
		if (untilItSucceeds) await removeMarks(context, deliveries, key, [openMark(key)]);
		isOver('succeeded');
		return false;
	}
	if (!untilItSucceeds) return true;
	const willBeTold = whenEnded(context, async (hasFailed) => {
		await removeMarks(context, deliveries, key, hasFailed ? marks : [openMark(key)]);
		isOver(hasFailed ? 'failed' : 'succeeded');
	});
	if (!willBeTold) isOver('succeeded');
	return true;
}

/** Removes marks from the record. If that fails, it only logs it: the event may run again if the service sends it again. */
async function removeMarks(
	context: IExecuteFunctions,
	deliveries: Deliveries,
	key: string,
	marks: string[],
): Promise<void> {
	try {
		await change(context, deliveries, key, { remove: marks });
	} catch (error) {
		context.logger.warn(
			`The end of an event of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
		);
	}
}

/**
 * Changes the record in n8n's database. n8n reads it as a whole and then writes it as a whole, so two changes at once
 * would undo each other: those of this process take turns, and all that wait go in one turn.
 * @returns which marks were there before
 */
async function change(
	context: IExecuteFunctions,
	deliveries: Deliveries,
	key: string,
	wanted: Change,
): Promise<ReadonlySet<string>> {
	// If this process received the delivery, and also runs its workflow, no other process of n8n runs workflows.
	const isShared = !deliveries.running.has(key) && !deliveries.done.has(key);
	const found = new Promise<ReadonlySet<string>>((resolve, reject) =>
		deliveries.changes.push({ ...wanted, isShared, resolve, reject }),
	);
	if (!deliveries.isChanging) void changeAll(context, deliveries);
	return await found;
}

async function changeAll(context: IExecuteFunctions, deliveries: Deliveries): Promise<void> {
	deliveries.isChanging = true;
	while (deliveries.changes.length > 0) {
		const changes = deliveries.changes.splice(0);
		const isShared = changes.some((each) => each.isShared);
		const access = async (): Promise<Set<string>> =>
			await write(entriesOf(context, 'node'), changes);
		const found = await carefully(context, isShared, access);
		for (const { add = [], resolve, reject } of changes) {
			if (found instanceof Error) {
				reject(found);
				continue;
			}
			resolve(new Set(add.filter((mark) => found.has(mark))));
			for (const mark of add) found.add(mark);
		}
	}
	deliveries.isChanging = false;
}

/** The pauses before the database is called the first, second and third time. */
const pausesMs = [0, 50, 250];

/** For each call: all later events of the trigger wait for it. */
const answerTimeoutMs = 10_000;

/**
 * Changes the record, with the lock of this workflow's payments if other processes may change it too. If the lock cannot
 * be had, for example because of a Remove Duplicates node whose Scope is the workflow, without it.
 * @returns the marks that were there before, or why the record could not be changed. No marks if a call failed first: it
 * may have added them itself, and an event is rather handled twice than not at all
 */
async function carefully(
	context: IExecuteFunctions,
	isShared: boolean,
	access: () => Promise<Set<string>>,
): Promise<Set<string> | Error> {
	let found: Set<string> | undefined;
	let failure: Error | undefined;
	const call = async (): Promise<void> => {
		try {
			found = await inTime(access(), answerTimeoutMs);
		} catch (error) {
			failure = asError(error);
		}
	};
	// The lock may also fail after the call: then `found` has what the call found.
	if (isShared) await exclusively(context, call).catch(() => undefined);
	for (const pauseMs of pausesMs) {
		if (found !== undefined) break;
		if (pauseMs > 0) await sleep(pauseMs);
		await call();
	}
	if (failure === undefined) return found ?? new Set();
	return found === undefined ? failure : new Set();
}

async function write(entries: Entries, changes: Change[]): Promise<Set<string>> {
	await entries.remove(changes.flatMap(({ remove = [] }) => remove));
	const marks = changes.flatMap(({ add = [] }) => add);
	return new Set(await entries.add(marks, keptMarks));
}
