/** Payments that the pay gate handed out: a claim is used once, by the execution that made it, and in time. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { abortedAfter, unlessAborted } from '../../shared/elapsed';
import { InvalidValueError, show } from '../../shared/invalidValue';
import type { Entries } from '../../shared/record/entries';
import { exclusively } from '../../shared/record/lock';
import { asError } from '../../shared/unknown';
import type { ParameterReader } from '../actions/mapping';
import { readItem, type ClaimedItem, type Times } from './claimedItem';
import { afterStopMs, referencesMark } from './ledger';
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
	// n8n names the farthest node first, and with it all that come after it, so few nodes are asked for.
	const nodes = context.getParentNodes(name, withFields);
	const reached = new Set<string>();
	for (const node of [...nodes, { name }]) {
		if (reached.has(node.name)) continue;
		const after = context.getChildNodes(node.name, withFields);
		for (const each of after) reached.add(each.name);
		nodes.push(...after);
	}
	const other = nodes.find(
		(node) =>
			node.name !== name &&
			node.type === type &&
			node.parameters?.resource === 'disbursement' &&
			node.parameters.operation === 'payClaims' &&
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
