/**
 * Claims of the pay gate. A claim is the right to send the payments that came with it. Only one run of a node
 * can use it, in the execution that claimed it, and not after its time.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import { stopwatch } from '../../shared/time';
import { readText } from '../../shared/fields';
import {
	asInvalidValue,
	fieldError,
	show,
	type InvalidValueError,
} from '../../shared/invalidValue';
import type { ParameterReader } from '../parameters';
import type { EntryResult } from './entry';

/** The check of an item's claim: whether it allows a payment, and for how long. */
interface ClaimCheck {
	/** The result of a payment that the claim does not allow to send. */
	objection?: EntryResult;
	/** The error of a field that cannot be used. */
	invalidField?: InvalidValueError;
	/** The time in ms that its payment may take if it begins now; 0 if it is too late to begin. */
	getAllowedMs?: () => number;
}

/**
 * A used claim. Only its run may use it again, in a later try. The key of `getAllowedMs` is the text of
 * Not After.
 */
interface UsedClaim {
	/** The memory of the run, which no other run has. */
	memory: object;
	allowedMsByNotAfter: Map<string, () => number>;
}

/**
 * The newest claims that were used in this process. The memory of one process is enough, because n8n runs an
 * execution once, and in one process as long as it does not wait between the gate and this node.
 */
const usedClaims = new Map<string, UsedClaim>();
const maxUsedClaims = 10_000;

/**
 * Uses up a claim of this execution, even if its item cannot be paid. If a payment is reported as not paid,
 * the gate hands it out again under a new claim, so the old claim must never pay.
 * @param memory the memory of the run, which no other run has
 */
export function useClaim(
	context: IExecuteFunctions,
	read: ParameterReader,
	itemIndex: number,
	memory: object,
): ClaimCheck {
	try {
		const thisExecution = `${context.getWorkflow().id}/${context.getExecutionId()}`;
		const { execution = thisExecution, error } = readExecution(read, itemIndex);
		if (execution !== thisExecution) return { objection: claimedElsewhereObjection(execution) };
		// From here on the claim is used, also if a field below cannot be read. An earlier return would leave it usable.
		const claim = readClaim(read('claim', itemIndex));
		const used = usedClaims.get(claim) ?? {
			memory,
			allowedMsByNotAfter: new Map<string, () => number>(),
		};
		usedClaims.set(claim, used);
		const [oldest] = usedClaims.keys();
		if (usedClaims.size > maxUsedClaims && oldest !== undefined) usedClaims.delete(oldest);
		if (used.memory !== memory) return { objection: claimUsedObjection };
		if (error !== undefined) return { invalidField: error };
		return { getAllowedMs: readNotAfter(read('notAfter', itemIndex), used) };
	} catch (error) {
		return { invalidField: asInvalidValue(error) };
	}
}

/** Reads the execution that claimed. It does not throw, because the claim of an item without it is used up too. */
function readExecution(
	read: ParameterReader,
	itemIndex: number,
): { execution?: string; error?: InvalidValueError } {
	try {
		const text = read('execution', itemIndex);
		return { execution: readText('Claimed by Execution', text, remedyFor('execution')) };
	} catch (error) {
		return { error: asInvalidValue(error) };
	}
}

const remedyFor = (field: string): string =>
	`Let it take what the pay gate's function claim gave for this item: {{ $json.${field} }}.`;

/** Reads a claim in small letters, as the gate writes it. With capitals it would count as another claim. */
function readClaim(value: unknown): string {
	const remedy = remedyFor('claim');
	const claim = readText('Claim', value, remedy).toLowerCase();
	if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(claim)) return claim;
	throw fieldError('Claim', value, 'is not a claim of the pay gate', remedy);
}

/**
 * The longest time in ms until Not After: half a day. Not After is the middle of a lease of the gate, which
 * lasts a day at most.
 */
const maxNotAfterMs = 12 * 3_600_000;

/**
 * Reads the time until which a payment may begin. It counts from the first reading, so that setting the clock
 * back later gives no more time.
 * @returns `getAllowedMs` of `ClaimCheck`
 */
function readNotAfter(value: unknown, used: UsedClaim): () => number {
	const remedy = remedyFor('notAfter');
	const text = readText('Not After', value, remedy);
	const known = used.allowedMsByNotAfter.get(text);
	if (known !== undefined) return known;
	const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text);
	const msAtFirst = isTime ? Date.parse(text) - Date.now() : NaN;
	if (Number.isNaN(msAtFirst) || msAtFirst > maxNotAfterMs)
		throw fieldError('Not After', value, 'is not a time of the pay gate', remedy);
	const getPassedMs = stopwatch();
	// A payment that begins before Not After may take as long as there was from the first reading to Not After. The gate
	// waits twice as long, so such a payment ends before the gate gives it to another execution.
	const getAllowedMs = (): number => (getPassedMs() < msAtFirst ? msAtFirst : 0);
	used.allowedMsByNotAfter.set(text, getAllowedMs);
	return getAllowedMs;
}

const callGateAgain =
	'Data of an earlier run pay nobody. Call the pay gate again: it says what was paid, and hands out what may be sent. What stays unknown a person settles there, after asking the partner service.';

const claimedElsewhereObjection = (execution: string): EntryResult => ({
	code: 'claimUsed',
	message: `Not sent: it was claimed by another execution (${show(execution)}), which may have sent it`,
	remedy: callGateAgain,
});

const claimUsedObjection: EntryResult = {
	code: 'claimUsed',
	message: 'Not sent: its claim was used before, and it may have been sent then',
	remedy: callGateAgain,
};
