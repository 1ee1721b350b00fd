/** All that this process keeps in memory for the triggers, and when it is dropped. */
import type { IExecuteFunctions, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { AccountUrl } from './accountUrl';
import type { AccountKeys } from './holders';
import { hasTrigger, isAbout, isInUse, isNothing, testOf } from './holders';

type Context = IExecuteFunctions | IHookFunctions | IWebhookFunctions;

/** Identifies a trigger node: by its id, which stays when it is renamed. */
export function triggerKey(context: Context): string {
	return JSON.stringify([context.getWorkflow().id, context.getNode().id]);
}

/** A change of the record in n8n's database, and what it answers. */
export interface Question {
	record?: readonly string[];
	forget?: readonly string[];
	/** Whether another process may write the same record. */
	isShared: boolean;
	resolve: (found: ReadonlySet<string>) => void;
	reject: (reason: unknown) => void;
}

export interface TriggerMemory {
	lastUsed: number;
	/** Keys of the deliveries that were handled, oldest first. */
	done: Set<string>;
	/** Those that are being handled, with whether that will have succeeded. */
	running: Map<string, Promise<boolean>>;
	/** Which execution of this process handles or handled an event. */
	handledBy: Map<string, string>;
	/** Waiting for the record in n8n's database. */
	questions: Question[];
	isAsking: boolean;
	/** The last load of its secrets. */
	secrets?: { credentialId: string | null | undefined; at: number; loaded: Promise<string[]> };
}

const memories = new Map<string, TriggerMemory>();

/**
 * n8n tells only its main process when a trigger ends. So each drops what was not used for this long, which is
 * longer than the service sends an event again; the record in n8n's database knows longer.
 */
const droppedAfterMs = 15 * 60_000;

const sweepEveryMs = 60_000;
let sweptAt = 0;

export function memoryOf(context: Context): TriggerMemory {
	const now = Date.now();
	const key = triggerKey(context);
	const memory = memories.get(key) ?? {
		lastUsed: now,
		done: new Set(),
		running: new Map(),
		handledBy: new Map(),
		questions: [],
		isAsking: false,
	};
	memory.lastUsed = now;
	memories.set(key, memory);
	if (now - sweptAt > sweepEveryMs) sweep(now);
	return memory;
}

function sweep(now: number): void {
	sweptAt = now;
	for (const [key, memory] of memories)
		if (now - memory.lastUsed > droppedAfterMs) drop(key, memory);
}

/** A delivery that is being handled would otherwise run twice when it comes again. */
function drop(key: string, memory: TriggerMemory): void {
	memory.secrets = undefined;
	if (memory.running.size === 0 && !memory.isAsking) memories.delete(key);
}

/** Drops what is remembered of a trigger, unless it is still published or tested. */
export function dropEnded(trigger: string): void {
	const isUsed = [...accounts].some(({ known }) =>
		[...known.holders, ...known.tests].some((entry) => entry.trigger === trigger),
	);
	const memory = memories.get(trigger);
	if (!isUsed && memory !== undefined) drop(trigger, memory);
}

const accounts = new Set<AccountUrl>();

/** The account with these keys; made if nothing is known of it. */
export function accountWith(keys: AccountKeys): AccountUrl {
	const found = [...accounts].filter(({ known }) => isAbout(known, keys));
	const account = found.find(({ known }) => isInUse(known)) ?? found[0] ?? new AccountUrl();
	accounts.add(account);
	return account;
}

/** The accounts for which a trigger is published or tested at this URL: more than one if its credential was changed. */
export const accountsOf = (trigger: string, url: string): AccountUrl[] =>
	[...accounts].filter(({ known }) => hasTrigger(known, trigger, url));

/** The account for which a trigger is published, or tested: a test can have the credential of another account. */
export function accountOfTrigger(trigger: string, as: 'holders' | 'tests'): AccountUrl | undefined {
	const found = [...accounts].filter(({ known }) =>
		known[as].some((entry) => entry.trigger === trigger),
	);
	return found.find(({ known }) => testOf(known, trigger)?.isEnding === false) ?? found[0];
}

/** Forgets an account of which nothing is known any more. */
export function dropIfNothing(account: AccountUrl): void {
	if (isNothing(account.known)) accounts.delete(account);
}
