/** The events of the service: which there are, and what a body must be to count as one. */
import type { IDataObject, INodePropertyOptions } from 'n8n-workflow';
import { isObject, property } from '../shared/unknown';

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

/** Stands for every event, also those the service adds later. */
export const allEvents = '*';

/** An event as the service sent it. Of its fields only `event` is certain: the service document shows no whole list. */
export interface PartnerEvent extends IDataObject {
	event: string;
}

/** Deeper bodies are refused: n8n, or a node of the workflow, may go through them by recursion. */
const deepest = 64;

/** @returns undefined when the body is not JSON, or could harm what handles it */
export function parseBody(body: Buffer): unknown {
	// First, because parsing millions of levels takes seconds.
	if (isDeeper(body, deepest)) return undefined;
	try {
		const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
		return isHarmless(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

const [quote = 0, backslash = 0, ...brackets] = Buffer.from('"\\[{]}');

/** Whether JSON has more levels, told by its brackets outside of texts. */
function isDeeper(json: Buffer, levels: number): boolean {
	let depth = 0;
	let isText = false;
	for (let index = 0; index < json.length; index++) {
		const byte = json[index] ?? 0;
		if (isText && byte === backslash) index++;
		else if (byte === quote) isText = !isText;
		else if (!isText && byte >= 0x5b) {
			const bracket = brackets.indexOf(byte);
			if (bracket >= 0) depth += bracket < 2 ? 1 : -1;
			if (depth > levels) return true;
		}
	}
	return false;
}

export function isPartnerEvent(value: unknown): value is PartnerEvent {
	const event = property(value, 'event');
	return !Array.isArray(value) && typeof event === 'string' && event !== '';
}

/** Whether it could change the prototype of all objects when a node copies it key by key. */
function pollutes(value: object): boolean {
	const constructor: unknown = Object.hasOwn(value, 'constructor') && value.constructor;
	return (
		Object.hasOwn(value, '__proto__') || Object.hasOwn(Object(constructor) as object, 'prototype')
	);
}

function isHarmless(value: unknown): boolean {
	return !isObject(value) || (!pollutes(value) && Object.values(value).every(isHarmless));
}

export function isWanted({ event }: PartnerEvent, wanted: string[]): boolean {
	return wanted.includes(allEvents) || wanted.includes(event);
}

/** A date with a time and no zone, which Node would read in the zone of n8n's machine. */
const withoutZone = /^[\d-]+[T ][\d:.]+$/i;

/** By its `timestamp` (service document §6: in UTC); undefined when it has none that can be read. */
export function ageMsOf({ timestamp }: PartnerEvent, nowMs: number): number | undefined {
	if (typeof timestamp !== 'string') return undefined;
	const time = Date.parse(withoutZone.test(timestamp) ? `${timestamp}Z` : timestamp);
	return Number.isNaN(time) ? undefined : nowMs - time;
}
