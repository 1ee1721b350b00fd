/** Disbursement → Pay Claims: uses each claim of the pay gate once. The gate keeps the record. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { InvalidValueError, isAbsent, show } from '../../shared/invalidValue';
import { isStopped } from '../../shared/n8n';
import { runMemoryOf } from '../../shared/runMemory';
import type { Operation } from '../operation';
import { useClaim } from './claims';
import { readClaimOptions } from './options';
import { isPayable, fillInSentFields, type Entry } from './entry';
import { referenceKeyOf, readReference } from '../../shared/reference';
import { loadAccountAndOptions, readEntries, createRunTry, assertUsable } from './run';
import { sendConcurrently } from './sending';
import { reportRun, reportHalt } from './report';
import { resultOfState } from './stateResults';

/** Uses up all claims before anything else, and pays what they allow. It throws what `createDisbursement` throws. */
export const payClaims: Operation['execute'] = async (context, read) => {
	const memory = runMemoryOf(context);
	const claims = context
		.getInputData()
		.map((_, itemIndex) => useClaim(context, read, itemIndex, memory));
	/** The first item of each reference, by its key. */
	const itemByKey = new Map<string, number>();
	const fillIn = (entry: Entry): void => {
		const { invalidField } = claims[entry.itemIndex] ?? {};
		if (invalidField !== undefined) throw invalidField;
		assertNewReference(context, entry.itemIndex, itemByKey);
		fillInSentFields(read, entry);
	};
	const loaded = await loadAccountAndOptions(context, () => {
		assertNoRepeatedItems(context);
		return readClaimOptions(context);
	});
	const { options } = loaded;
	const entries = readEntries(
		context,
		fillIn,
		() =>
			({ itemIndex }) =>
				claims[itemIndex]?.objection,
	);
	if (loaded.halt !== undefined) return reportHalt(context, options, loaded.halt, entries);
	assertUsable(context, options, entries);
	const pending = entries.filter(isPayable).filter(({ result }) => result === undefined);
	const run = createRunTry(context, loaded, () => stepsAtGate);
	if (options.mode === 'dryRun') {
		// A claim from pinned data is *ready* too: the gate counts that as not paid, and hands the payment out
		// again.
		for (const entry of pending) run.setResult(entry, resultOfState(entry, 'unused'));
	} else if (!isStopped(context)) {
		const getAllowedMs = ({ itemIndex }: Entry): number => claims[itemIndex]?.getAllowedMs?.() ?? 0;
		await sendConcurrently(run, pending, getAllowedMs);
	}
	return reportRun(context, options, entries);
};

const stepsAtGate =
	'It may have been paid. Ask the partner service, and settle it at the desk of the pay gate: it does not hand it out again before.';

/**
 * Throws if something between the gate and this node repeats an item: one of the two would be
 * reported as not paid, and the gate would hand out again what the other one paid.
 * @throws {InvalidValueError}
 */
function assertNoRepeatedItems(context: IExecuteFunctions): void {
	const itemByReference = new Map<string, number>();
	for (const [itemIndex, { json }] of context.getInputData().entries()) {
		if (isAbsent(json.reference)) {
			throw new InvalidValueError(
				`Item ${itemIndex} has no reference`,
				'The pay gate gives each item its reference. Let it reach this node unchanged.',
			);
		}
		const reference = readReference('Reference', json.reference);
		const other = itemByReference.get(reference);
		if (other !== undefined) {
			throw new InvalidValueError(
				`Item ${itemIndex} is the same payment as item ${other}: ${show(json.reference)}`,
				'The pay gate hands out each payment as one item. Remove what repeats items between the gate and this node.',
			);
		}
		itemByReference.set(reference, itemIndex);
	}
}

/**
 * Throws for an item whose reference looks like that of an item before it. PostgreSQL and JavaScript can have
 * different versions of Unicode, so the gate can hand out a few such pairs. The other items of the run are
 * paid.
 * @throws {InvalidValueError}
 */
function assertNewReference(
	context: IExecuteFunctions,
	itemIndex: number,
	itemByKey: Map<string, number>,
): void {
	const { reference } = context.getInputData()[itemIndex]?.json ?? {};
	if (isAbsent(reference)) return;
	const key = referenceKeyOf(readReference('Reference', reference));
	const other = itemByKey.get(key);
	if (other !== undefined)
		throw new InvalidValueError(
			`The reference ${show(reference)} looks the same as that of item ${other}`,
			'Give one of them another reference: two payments need two that people can tell apart.',
		);
	itemByKey.set(key, itemIndex);
}
