/** Payments that the pay gate handed out: a claim is used once, by the execution that made it, and in time. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/elapsed';
import {
	InvalidValueError,
	asInvalidValue,
	messageOf,
	requiredText,
	show,
} from '../../shared/invalidValue';
import type { ParameterReader } from '../actions/mapping';
import type { Entries } from '../../shared/record/entries';
import { afterStopMs, referencesMark } from './ledger';
import { exclusively } from '../../shared/record/lock';
import type { Settlement } from './settlement';

/** What the claims of a run's items allow. */
export interface GateClaims {
	/**
	 * How the item ends, if its claim does not let it be sent.
	 * @throws {InvalidValueError} for fields that cannot be used
	 */
	objection(itemIndex: number): Settlement | undefined;
	/** How long its payment may take when it begins now, in ms; 0 when it is too late to begin. */
	msLeft(itemIndex: number): number;
}

/**
 * Uses up the claims of all items, before anything else is done: whatever the run tells about them is the last word of
 * these claims, and the gate may hand out again what it hears to be not paid.
 * @param tries is the same object for all tries of "Retry On Fail", which go on with the claims of their node run
 */
export async function useClaims(
	context: IExecuteFunctions,
	read: ParameterReader,
	tries: object,
): Promise<GateClaims> {
	const own: OwnClaims = ownClaims.get(tries) ?? {
		begun: new Set(),
		recorded: new Set(),
		times: new Map(),
	};
	ownClaims.set(tries, own);
	const execution = `${context.getWorkflow().id}/${context.getExecutionId()}`;
	const items = context
		.getInputData()
		.map((_, itemIndex) => readItem(read, itemIndex, execution, own.times));
	const claims = new Set(items.flatMap(({ claim }) => claim ?? []));
	const used = await useUp(context, claims, own);
	return {
		objection(itemIndex) {
			const { claim, claimedBy, problem } = items[itemIndex] ?? {};
			if (claimedBy !== undefined) return claimedByOther(claimedBy);
			if (claim !== undefined && used instanceof Set && used.has(claim)) return claimUsedBefore;
			if (problem !== undefined) throw problem;
			return used instanceof Error ? claimNotRecorded(used) : undefined;
		},
		msLeft: (itemIndex) => items[itemIndex]?.msLeft?.() ?? 0,
	};
}

/** What an item says of its claim, as far as it can be used. */
interface ClaimedItem {
	/** Left out if another execution claimed it. */
	claim?: string;
	/** That other execution. */
	claimedBy?: string;
	/** How long its payment may take when it begins now. */
	msLeft?: () => number;
	/** The first field that cannot be used. */
	problem?: InvalidValueError;
}

function readItem(
	read: ParameterReader,
	itemIndex: number,
	ownExecution: string,
	times: OwnClaims['times'],
): ClaimedItem {
	let problem: InvalidValueError | undefined;
	const attempt = <Value>(readField: () => Value): Value | undefined => {
		try {
			return readField();
		} catch (error) {
			problem ??= asInvalidValue(error);
			return undefined;
		}
	};
	const claim = attempt(() => readClaim(read('claim', itemIndex)));
	const msLeft = attempt(() => readNotAfter(read('notAfter', itemIndex), times));
	const execution = attempt(() =>
		requiredText('Claimed by Execution', read('execution', itemIndex), remedyFor('execution')),
	);
	const isOwn = execution === undefined || execution === ownExecution;
	return {
		claim: isOwn ? claim : undefined,
		claimedBy: isOwn ? undefined : execution,
		msLeft,
		problem,
	};
}

const remedyFor = (field: string): string =>
	`Let it take what the pay gate's function claim gave for this item: {{ $json.${field} }}.`;

/** As the gate writes it. Written in another way it would count as another claim. */
function readClaim(value: unknown): string {
	const remedy = remedyFor('claim');
	const claim = requiredText('Claim', value, remedy).toLowerCase();
	if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(claim)) return claim;
	throw new InvalidValueError(
		`Claim is ${show(value)}, which is not a claim of the pay gate`,
		remedy,
	);
}

/** The longest lease of the gate is a day, and nothing begins after half of it. */
const longestMs = 12 * 3_600_000;

/** By the time that passed since it was read first: a clock that is set back later gives no more of it. */
function readNotAfter(value: unknown, times: OwnClaims['times']): () => number {
	const remedy = remedyFor('notAfter');
	const text = requiredText('Not After', value, remedy);
	const known = times.get(text);
	if (known !== undefined) return known;
	const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text);
	const msAtFirst = isTime ? Date.parse(text) - Date.now() : NaN;
	if (Number.isNaN(msAtFirst) || msAtFirst > longestMs) {
		throw new InvalidValueError(
			`Not After is ${show(value)}, which is not a time of the pay gate`,
			remedy,
		);
	}
	const passedMs = stopwatch();
	// Not After is the middle of the gate's lease. What begins just before it may go on for as long as was left at first,
	// and so ends before the lease does.
	const msLeft = (): number => (passedMs() < msAtFirst ? msAtFirst : 0);
	times.set(text, msLeft);
	return msLeft;
}

/** What the tries of a node run have in common. */
interface OwnClaims {
	/** Claims that it began to use up. */
	begun: Set<string>;
	/** Those of them that are in the record. */
	recorded: Set<string>;
	/** The ms left by Not After, counted since the first try. */
	times: Map<string, () => number>;
}

const ownClaims = new WeakMap<object, OwnClaims>();

/** Claims that this process used up, the newest: a second node of a workflow has a record of its own. */
const usedHere = new Set<string>();
const rememberedHere = 10_000;

/** In n8n's record of the node. */
const claimMark = (claim: string): string => `claim:${claim}`;

/** So many claims are kept, the newest: older ones are past their time. */
const keptClaims = 5_000;
/** Older ones are removed only above so many, which is now and then. */
const removedAbove = 6_000;

/** Uses claims up. @returns those that were used before, or why none may be used */
async function useUp(
	context: IExecuteFunctions,
	claims: ReadonlySet<string>,
	own: OwnClaims,
): Promise<Set<string> | Error> {
	const used = new Set([...claims].filter((claim) => usedHere.has(claim) && !own.begun.has(claim)));
	const fresh = [...claims].filter((claim) => !used.has(claim) && !own.recorded.has(claim));
	if (fresh.length === 0) return used;
	for (const claim of fresh) {
		own.begun.add(claim);
		usedHere.add(claim);
		const [oldest] = usedHere;
		if (usedHere.size > rememberedHere && oldest !== undefined) usedHere.delete(oldest);
	}
	const stop = context.getExecutionCancelSignal();
	try {
		const before = await unlessAborted(
			abortedAfter(stop, afterStopMs),
			exclusively(context, async (entries) => await recordClaims(entries, fresh), stop),
			() => new Error('The execution was stopped'),
		);
		for (const claim of fresh) {
			if (before.has(claimMark(claim))) used.add(claim);
			else own.recorded.add(claim);
		}
		return used;
	} catch (error) {
		return error instanceof Error ? error : new Error(messageOf(error));
	}
}

/** @returns the marks that were there before */
async function recordClaims(entries: Entries, claims: string[]): Promise<ReadonlySet<string>> {
	const marks = claims.map(claimMark);
	if ((await entries.count()) <= removedAbove) return await entries.record(marks);
	const before = await entries.record([referencesMark, ...marks]);
	// A node that kept references before must not lose one.
	if (!before.has(referencesMark)) {
		await entries.remove([referencesMark]);
		await entries.record(marks, keptClaims);
	}
	return before;
}

const callGateAgain =
	'Data of an earlier run pay nobody. Call the pay gate again: it says what was paid, and hands out what may be sent. What stays unknown a person settles there, after asking the partner service.';

const claimedByOther = (execution: string): Settlement => ({
	outcome: 'unknown',
	error: {
		message: `Not sent: it was claimed by another execution (${show(execution)}), which may have sent it`,
		description: callGateAgain,
	},
});

const claimUsedBefore: Settlement = {
	outcome: 'unknown',
	error: {
		message: 'Not sent: its claim was used before, and it may have been sent then',
		description: callGateAgain,
	},
};

const claimNotRecorded = (error: Error): Settlement => ({
	outcome: 'notPaid',
	error: {
		message: 'The claim could not be recorded in the database of n8n, so nothing was sent',
		description: `Call the pay gate again. The database said: ${error.message}`,
	},
});
