/** Whether an event was handled before: by the memory of this process, and by the record in n8n's database. */
import { createHash } from 'node:crypto';
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import { whenEnded } from '../shared/n8nTrigger';
import { isObject, messageOf } from '../shared/unknown';
import type { PartnerEvent } from './event';
import { EventRecord, type Change } from './eventRecord';
import { PerTrigger } from './perTrigger';

/** How many deliveries of a trigger this process remembers. */
const rememberedInProcess = 20_000;

/** How many events with their executions this process remembers for each trigger. */
const rememberedExecutions = 1_000;

/** `released`: how it ended may never become known, so others wait for it no longer. */
type DeliveryEnd = 'succeeded' | 'failed' | 'released';

/** A delivery that n8n handles, and has not answered yet. */
export interface Delivering {
	ended: Promise<DeliveryEnd>;
	/** Has to be called when it is answered. */
	end(how: DeliveryEnd): void;
	/** To be called when its sender has closed the connection. */
	hangUp(): void;
	hasHungUp: boolean;
}

/** The execution of this process that handles an event or has. */
interface Execution {
	id: string;
	/** Resolves when it is over and the record has its end. Only with `untilItSucceeds`. */
	ended?: Promise<DeliveryEnd>;
}

class Deliveries {
	/** Keys of those that were answered with success, oldest first. */
	readonly done = new Set<string>();
	readonly running = new Map<string, Delivering>();
	readonly executions = new Map<string, Execution>();
	readonly record = new EventRecord();

	/** What is being handled has to be remembered, so that it does not run again. */
	get isBusy(): boolean {
		const { running, executions, record } = this;
		const isExecuting = [...executions.values()].some(({ ended }) => ended !== undefined);
		return running.size > 0 || record.isChanging || isExecuting;
	}
}

const memory = new PerTrigger(() => new Deliveries());

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
	const identity = [event.event, event.data, ...(event.id === undefined ? [] : [event.id])];
	return hashOf(isTransaction ? JSON.stringify(identity, inOneOrder) : body);
}

const hashOf = (content: string | Buffer): string =>
	createHash('sha256').update(content).digest('base64url').slice(0, 22);

/** Whether it has a number of so many digits that JSON.parse makes two different ones equal. */
const hasLongNumber = (body: Buffer): boolean => /[[:,\s]-?[\d.]{16}/.test(body.toString());

/** For JSON.stringify: puts keys in one order, because JSON gives the order no meaning. */
const inOneOrder = (_key: string, value: unknown): unknown =>
	isObject(value) && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
		: value;

/**
 * Asks the memory of this process. A delivery waits for an earlier one of the same event that is being handled.
 * @param untilItSucceeds whether the sender is told how the workflow ended
 */
export async function admit(
	context: IWebhookFunctions,
	key: string,
	untilItSucceeds: boolean,
): Promise<Delivering | 'succeeded' | 'failed'> {
	const { done, running, executions } = memory.of(context);
	/**
	 * If a person stops an execution in n8n's queue, n8n never answers its delivery. Once the sender of that has hung up, the
	 * next delivery does not wait for it, and the record in n8n's database decides which of the two is handled. With
	 * `untilItSucceeds` that record cannot tell while another process runs it.
	 */
	const releaseIfLost = (delivery?: Delivering): void => {
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
	const own: Delivering = {
		ended,
		end(how) {
			if (running.get(key) === own) running.delete(key);
			if (how === 'succeeded') dropOldest(done.add(key), rememberedInProcess);
			resolve(how);
		},
		hangUp() {
			own.hasHungUp = true;
			releaseIfLost(own);
		},
		hasHungUp: false,
	};
	running.set(key, own);
	return own;
}

function dropOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
	const [oldest] = kept.keys();
	if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

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
	const { done, running, executions, record } = memory.of(context);
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

	const change = async (
		of: 'An event' | 'The end of an event',
		wanted: Change,
	): Promise<ReadonlySet<string>> => {
		// If this process received the delivery, and also runs its workflow, no other process of n8n runs workflows.
		const isShared = !running.has(key) && !done.has(key);
		try {
			return await record.change(context, wanted, isShared);
		} catch (error) {
			context.logger.warn(
				`${of} of the workflow "${context.getWorkflow().name}" could not be recorded, so it may run again if it is sent again: ${messageOf(error)}`,
			);
			return new Set();
		}
	};

	// The record has it for each event that came.
	const came = `came:${key}`;
	// Also with `untilItSucceeds`, until its workflow has ended: it runs, or a crash cut it off.
	const open = `open:${key}`;
	const marks = untilItSucceeds ? [came, open] : [came];
	const found = await change('An event', { add: marks });
	if (found.has(came) && !found.has(open) && !wantedByPerson) {
		if (untilItSucceeds) await change('The end of an event', { remove: [open] });
		isOver('succeeded');
		return false;
	}
	if (!untilItSucceeds) return true;
	const willBeTold = whenEnded(context, async (hasFailed) => {
		await change('The end of an event', { remove: hasFailed ? marks : [open] });
		isOver(hasFailed ? 'failed' : 'succeeded');
	});
	if (!willBeTold) isOver('succeeded');
	return true;
}
