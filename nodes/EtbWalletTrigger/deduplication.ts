import { createHash } from 'node:crypto';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import type { PartnerEvent } from './events';
import { triggerKey } from './registry';

/** How many deliveries of a trigger this process remembers. */
const rememberedInProcess = 20_000;

/** How many of them survive a restart. What is sent again after one is what was in flight before it. */
const rememberedOnDisk = 500;

/** What this process remembers of a trigger's deliveries, by key. */
interface Memory {
	/** Handled, oldest first. */
	done: Set<string>;
	/** Being handled; resolves to whether that succeeded. */
	running: Map<string, Promise<boolean>>;
}

const memories = new Map<string, Memory>();

function memoryOf(context: IWebhookFunctions): Memory {
	const key = triggerKey(context);
	const memory = memories.get(key) ?? { done: new Set(), running: new Map() };
	memories.set(key, memory);
	return memory;
}

/**
 * What makes two deliveries the same event. The document shows an `id` for transfer.completed only; in other
 * events `data.id` may name a user, so they need more to be the same: the transaction hash and all other data,
 * or else the whole body.
 */
export function deliveryKey(event: PartnerEvent, body: Buffer): string {
	const { id, txHash } = Object(event.data) as Record<string, unknown>;
	const isId = (typeof id === 'string' && id !== '') || typeof id === 'number';
	const identity =
		event.event === 'transfer.completed' && isId
			? JSON.stringify([event.event, id])
			: typeof txHash === 'string' && txHash !== ''
				? JSON.stringify([event.event, event.data])
				: body;
	return createHash('sha256').update(identity).digest('base64url').slice(0, 12);
}

/** A delivery that is to be handled; `end` has to be called with whether that succeeded. */
export interface Admission {
	end(succeeded: boolean): void;
}

/**
 * Decides whether a delivery is new. A second one that comes while the first is being handled waits for it.
 * @param onlyOnceSucceeded whether a failure or a restart must leave it unknown, so that it is handled again
 * @returns the admission, or how the same delivery ended before
 */
export async function admit(
	context: IWebhookFunctions,
	key: string,
	onlyOnceSucceeded: boolean,
): Promise<Admission | 'succeeded' | 'failed'> {
	const memory = memoryOf(context);
	// When the answer waits for the workflow, n8n would save static data as it was before the workflow changed it.
	const stored = onlyOnceSucceeded ? undefined : context.getWorkflowStaticData('node');
	if (stored !== undefined) recallStored(memory, stored);
	if (memory.done.has(key)) return 'succeeded';
	const running = memory.running.get(key);
	if (running !== undefined) return (await running) ? 'succeeded' : 'failed';

	const { promise, resolve } = context.helpers.createDeferredPromise<boolean>();
	memory.running.set(key, promise);
	if (stored !== undefined) {
		// n8n saves this when the execution was accepted, and not when it could not be started.
		store(stored, memory, key);
		keepMarkedAsChanged(context);
	}
	return {
		end(succeeded) {
			memory.running.delete(key);
			if (succeeded) remember(memory, key);
			resolve(succeeded);
		},
	};
}

function remember({ done }: Memory, key: string): void {
	done.add(key);
	if (done.size <= rememberedInProcess) return;
	const [oldest] = done;
	if (oldest !== undefined) done.delete(oldest);
}

/** Static data is read anew for each delivery, and another process may have written it. */
function recallStored(memory: Memory, stored: IDataObject): void {
	const keys = typeof stored.deliveries === 'string' ? stored.deliveries.split(' ') : [];
	for (const key of keys) if (key !== '' && !memory.done.has(key)) remember(memory, key);
}

function store(stored: IDataObject, { done }: Memory, key: string): void {
	stored.deliveries = [...done, key].slice(-rememberedOnDisk).join(' ');
}

/**
 * n8n saves static data that is marked as changed. Starting the execution wraps the same object once more, which
 * takes the mark away before n8n looks at it. A copy is out of its reach.
 */
function keepMarkedAsChanged(context: IWebhookFunctions): void {
	const workflow: unknown = Reflect.get(context, 'workflow');
	const override: unknown = Reflect.get(Object(workflow), 'overrideStaticData');
	if (typeof override !== 'function') return;
	const copy: unknown = JSON.parse(JSON.stringify(Reflect.get(Object(workflow), 'staticData')));
	Reflect.apply(override, workflow, [copy]);
}
