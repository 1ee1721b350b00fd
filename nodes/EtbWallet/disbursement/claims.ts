/** Payments that the pay gate handed out: a claim is used once, by the execution that made it, and in time. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, stopwatch, unlessAborted } from '../../shared/elapsed';
import {
	InvalidValueError,
	asInvalidValue,
	isAbsent,
	requiredText,
	show,
} from '../../shared/invalidValue';
import type { Entries } from '../../shared/record/entries';
import { exclusively } from '../../shared/record/lock';
import { asError } from '../../shared/unknown';
import type { ParameterReader } from '../actions/mapping';
import { afterStopMs, referencesMark } from './ledger';
import { lookOf, requiredReference } from './reference';
import type { Ending } from './run';

interface GateClaims {
	/** How the item ends, if its claim does not allow to send it. @throws {InvalidValueError} for fields that cannot be used */
	objection(itemIndex: number): Ending | undefined;
	/** How long its payment may take if it begins now, in ms; 0 when it is too late to begin. */
	msLeft(itemIndex: number): number;
}

/**
 * n8n keeps a record for each node, so a second node would pay what the first one paid already.
 * @throws {InvalidValueError} when the workflow has another node that pays claims
 */
export function requireOnlyNode(context: IExecuteFunctions): void {
	const { name, type } = context.getNode();
	const withFields = { includeNodeParameters: true };
	const before = context.getParentNodes(name, withFields);
	const after = [{ name }, ...before].flatMap((node) =>
		context.getChildNodes(node.name, withFields),
	);
	const other = [...before, ...after].find(
		(node) =>
			node.name !== name &&
			node.type === type &&
			node.parameters?.operation === 'payClaims' &&
			!node.disabled,
	);
	if (other === undefined) return;
	throw new InvalidValueError(
		`This workflow has two nodes that pay claims: ${show(name)} and ${show(other.name)}`,
		'Remove one of them: each counts the claims that it used, and not those of the other one.',
	);
}

/**
 * Uses up the claims of all items, before anything else is done. So nothing is sent under them after this run, and the
 * gate may hand out again what this run tells to be not paid.
 * @param tries the object that all tries of a node run share: they go on with its claims
 */
export async function useClaims(
	context: IExecuteFunctions,
	read: ParameterReader,
	tries: object,
): Promise<GateClaims> {
	const own: OwnClaims = ownClaims.get(tries) ?? { recorded: new Set(), times: new Map() };
	ownClaims.set(tries, own);
	const ownExecution = `${context.getWorkflow().id}/${context.getExecutionId()}`;
	const items = context
		.getInputData()
		.map(({ json }, itemIndex) => readItem(json, read, itemIndex, own.times));
	const ownItems = items.filter(({ execution = ownExecution }) => execution === ownExecution);
	const claims = new Set(ownItems.flatMap(({ claim }) => claim ?? []));
	const { used, failure } = await useUp(context, claims, own);
	const repeated = repeatedItems(items);
	return {
		objection(itemIndex) {
			const { claim, execution = ownExecution, problem } = items[itemIndex] ?? {};
			if (execution !== ownExecution) return claimedByOther(execution);
			if (claim !== undefined && used.has(claim)) return claimUsedBefore;
			if (problem !== undefined) throw problem;
			if (repeated.has(itemIndex)) throw repeatedItem;
			return failure && claimNotRecorded(failure);
		},
		msLeft: (itemIndex) => items[itemIndex]?.msLeft?.() ?? 0,
	};
}

/** Which items are there more than once: the gate hands out each reference once, and none that looks like another one. */
function repeatedItems(items: ClaimedItem[]): ReadonlySet<number> {
	const same = Map.groupBy(items.keys(), (itemIndex) => items[itemIndex]?.look);
	return new Set([...same.values()].filter(({ length }) => length > 1).flat());
}

const repeatedItem = new InvalidValueError(
	'Another item is the same payment',
	'The pay gate hands out each payment as one item. Remove what repeats items between the gate and this node.',
);

/** The fields of an item about its claim, as far as they can be used. */
interface ClaimedItem {
	claim?: string;
	/** The `lookOf` its reference. */
	look?: string;
	/** How long its payment may take if it begins now, in ms. */
	msLeft?: () => number;
	/** The one that claimed it. */
	execution?: string;
	/** Why the first of these that cannot be used cannot. */
	problem?: InvalidValueError;
}

function readItem(
	json: IDataObject,
	read: ParameterReader,
	itemIndex: number,
	times: Times,
): ClaimedItem {
	let problem: InvalidValueError | undefined;
	const unlessProblem = <Value>(readField: () => Value): Value | undefined => {
		try {
			return readField();
		} catch (error) {
			problem ??= asInvalidValue(error);
			return undefined;
		}
	};
	const claim = unlessProblem(() => readClaim(read('claim', itemIndex)));
	const msLeft = unlessProblem(() => readNotAfter(read('notAfter', itemIndex), times));
	const execution = unlessProblem(() => readExecution(read('execution', itemIndex)));
	const look = unlessProblem(() => readLook(json.reference));
	return { claim, look, msLeft, execution, problem };
}

function readLook(value: unknown): string {
	// Also what became of it in capitals and back, such as ß.
	if (!isAbsent(value)) return lookOf(requiredReference(value).toUpperCase());
	throw new InvalidValueError(
		'The item has no reference',
		'The pay gate gives each item its reference. Let it reach this node unchanged.',
	);
}

const remedyFor = (field: string): string =>
	`Let it take what the pay gate's function claim gave for this item: {{ $json.${field} }}.`;

const readExecution = (value: unknown): string =>
	requiredText('Claimed by Execution', value, remedyFor('execution'));

/** In small letters, as the gate writes it: in capitals it would count as another claim. */
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

/** Counts from the first time that it is read, so a clock that a person sets back later gives no more time. */
function readNotAfter(value: unknown, times: Times): () => number {
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
	// Not After is the middle of the gate's lease. A payment that begins just before it may take as long as was left at
	// first: then it ends before the lease does.
	const msLeft = (): number => (passedMs() < msAtFirst ? msAtFirst : 0);
	times.set(text, msLeft);
	return msLeft;
}

/** By the text of Not After: what `readNotAfter` gave for it in the first try. */
type Times = Map<string, () => number>;

/** What the tries of a node run have in common. */
interface OwnClaims {
	/** Claims that they used up, and that are in the record. */
	recorded: Set<string>;
	times: Times;
}

const ownClaims = new WeakMap<object, OwnClaims>();

/** Who used up claims in this process, the newest: so they are known also while the database fails. */
const usedHere = new Map<string, OwnClaims>();
const rememberedHere = 10_000;

const claimMark = (claim: string): string => `claim:${claim}`;

/** n8n keeps so many claims, the newest. The gate makes one for each window, so older ones are past their time in practice. */
const keptClaims = 5_000;
/** Only above so many marks the older ones are removed, which takes longer. */
const removedAbove = 6_000;

/** Uses claims up. @returns those that were used before, and why no other may be used, if so */
async function useUp(
	context: IExecuteFunctions,
	claims: ReadonlySet<string>,
	own: OwnClaims,
): Promise<{ used: ReadonlySet<string>; failure?: Error }> {
	const used = new Set([...claims].filter((claim) => (usedHere.get(claim) ?? own) !== own));
	const fresh = [...claims].filter((claim) => !used.has(claim) && !own.recorded.has(claim));
	if (fresh.length === 0) return { used };
	for (const claim of fresh) {
		usedHere.set(claim, own);
		const [oldest] = usedHere.keys();
		if (usedHere.size > rememberedHere && oldest !== undefined) usedHere.delete(oldest);
	}
	const stop = context.getExecutionCancelSignal();
	try {
		const before = await unlessAborted(
			abortedAfter(stop, afterStopMs),
			exclusively(context, async (entries) => await addClaims(entries, fresh), stop),
			() => new Error('The execution was stopped'),
		);
		for (const claim of fresh) {
			if (before.has(claimMark(claim))) used.add(claim);
			else own.recorded.add(claim);
		}
		return { used };
	} catch (error) {
		return { used, failure: asError(error) };
	}
}

/** @returns the marks that were there before */
async function addClaims(entries: Entries, claims: string[]): Promise<ReadonlySet<string>> {
	const marks = claims.map(claimMark);
	if ((await entries.count()) <= removedAbove) return await entries.add(marks);
	const before = await entries.add([referencesMark, ...marks]);
	// In the record of a node that keeps references, dropping the oldest could drop one of these.
	if (!before.has(referencesMark)) {
		await entries.remove([referencesMark]);
		await entries.add(marks, keptClaims);
	}
	return before;
}

const callGateAgain =
	'Data of an earlier run pay nobody. Call the pay gate again: it says what was paid, and hands out what may be sent. What stays unknown a person settles there, after asking the partner service.';

const claimedByOther = (execution: string): Ending => ({
	outcome: 'unknown',
	error: {
		message: `Not sent: it was claimed by another execution (${show(execution)}), which may have sent it`,
		description: callGateAgain,
	},
});

const claimUsedBefore: Ending = {
	outcome: 'unknown',
	error: {
		message: 'Not sent: its claim was used before, and it may have been sent then',
		description: callGateAgain,
	},
};

const claimNotRecorded = (error: Error): Ending => ({
	outcome: 'notPaid',
	error: {
		message: 'The claim could not be recorded in the database of n8n, so nothing was sent',
		description: `Call the pay gate again. The database said: ${error.message}`,
	},
});
