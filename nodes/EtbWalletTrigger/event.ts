/**
 * The events of the service: their names and bodies, and the rule by which two webhook requests bring the same
 * event.
 */
import { createHash } from 'node:crypto';
import type { IDataObject, INodePropertyOptions } from 'n8n-workflow';
import { isObject, property } from '../shared/unknownValues';

/** The events of the service document §6. */
export const eventOptions: INodePropertyOptions[] = [
	{
		name: 'Deposit Mint Queued',
		value: 'deposit.mint_queued',
		description: 'A deposit mint was queued',
	},
	{
		name: 'Disbursement Completed',
		value: 'disburse.completed',
		description: 'A partner disbursement completed',
	},
	{
		name: 'Transfer Completed',
		value: 'transfer.completed',
		description: 'An ETB transfer completed',
	},
];

/** The value for every event, also for events that the service adds later. */
export const allEvents = '*';

/**
 * An event as the service sent it. The trigger relies on `event` alone, because the service document (§6)
 * shows no complete list of fields.
 */
export interface PartnerEvent extends IDataObject {
	event: string;
}

/**
 * Reads the event in a body.
 * @returns undefined for a body that is not JSON in UTF-8, or not an object with the name of an event
 */
export function eventIn(body: Buffer): PartnerEvent | undefined {
	try {
		const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
		return isPartnerEvent(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function isPartnerEvent(value: unknown): value is PartnerEvent {
	const event = property(value, 'event');
	return !Array.isArray(value) && typeof event === 'string' && event !== '';
}

export const isWanted = ({ event }: PartnerEvent, wanted: string[]): boolean =>
	wanted.includes(allEvents) || wanted.includes(event);

/**
 * The key of an event: webhook requests with the same key bring the same event. The service document shows an
 * `id` for transfer.completed only; in other events `data.id` may name a user. So the key of another event is a
 * hash of its name, its data and its own `id` if the data have a transaction hash and the body has no long number,
 * and otherwise a hash of the whole body.
 */
export function eventKeyOf(event: PartnerEvent, body: Buffer): string {
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

/**
 * Whether a body has a number that JSON.parse may make equal to another number: one with an exponent, or with
 * at least 16 characters, counting its point. Once escaped characters are removed, every second part between
 * quotation marks is a text, which does not count.
 */
function hasLongNumber(body: Buffer): boolean {
	const parts = body.toString().replace(/\\./g, '').split('"');
	return parts.some((part, index) => index % 2 === 0 && /[\d.]{16}|\de/i.test(part));
}

/** For JSON.stringify: sorts the keys of objects, because JSON gives their order no meaning. */
const inOneOrder = (_key: string, value: unknown): unknown =>
	isObject(value) && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
		: value;
