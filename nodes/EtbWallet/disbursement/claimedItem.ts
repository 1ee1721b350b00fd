/** Reads what the pay gate wrote into an item: its claim, by when it may be paid, which execution claimed it, its reference. */
import type { IDataObject } from 'n8n-workflow';
import { stopwatch } from '../../shared/elapsed';
import {
	InvalidValueError,
	asInvalidValue,
	invalid,
	isAbsent,
	requiredText,
} from '../../shared/invalidValue';
import type { ParameterReader } from '../actions/mapping';
import { lookOf, requiredReference } from './reference';

/** The fields of an item about its claim, as far as they can be used. */
export interface ClaimedItem {
	claim?: string;
	/** Of its reference: copies of the item have the same. */
	look?: string;
	/** How long its payment may take if it begins now, in ms. */
	msLeft?: () => number;
	/** The one that claimed it. */
	execution?: string;
	/** Why the first of these that cannot be used cannot. */
	problem?: InvalidValueError;
}

/** Reads all of them, and keeps the first problem, so that an item whose claim is known is not told as never sent. */
export function readItem(
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
	// A node between may write references in capitals, which makes SS of ß: so the look is that of the capitals.
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
	throw invalid('Claim', value, 'is not a claim of the pay gate', remedy);
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
		throw invalid('Not After', value, 'is not a time of the pay gate', remedy);
	}
	const passedMs = stopwatch();
	// Not After is the middle of the gate's lease. A payment that begins just before it may take as long as was left at
	// first: then it ends before the lease does.
	const msLeft = (): number => (passedMs() < msAtFirst ? msAtFirst : 0);
	times.set(text, msLeft);
	return msLeft;
}

/** By the text of Not After: what `readNotAfter` gave for it in the first try. */
export type Times = Map<string, () => number>;
