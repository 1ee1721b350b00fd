/** The events of the service: which there are, and what a body must be to count as one. */
import type { IDataObject, INodePropertyOptions } from 'n8n-workflow';
import { property } from '../shared/n8n';

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

/** A notification as the service sent it. Only `event` is certain, since the document shows part of it. */
export interface PartnerEvent extends IDataObject {
	event: string;
}

/** Deeper bodies are refused, because what handles them later may recurse. */
const deepest = 64;

/** @returns undefined when the body is not a JSON object with a string `event`, or could harm what handles it */
export function parseEvent(body: Buffer): PartnerEvent | undefined {
	let value: unknown;
	try {
		value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
	} catch {
		return undefined;
	}
	return isPartnerEvent(value) && isHarmless(value) ? value : undefined;
}

function isPartnerEvent(value: unknown): value is PartnerEvent {
	const event = property(value, 'event');
	return !Array.isArray(value) && typeof event === 'string' && event !== '';
}

/** Whether copying the object key by key could change the prototype of others. */
function pollutes(value: object): boolean {
	const constructor: unknown = Object.hasOwn(value, 'constructor') && value.constructor;
	return (
		Object.hasOwn(value, '__proto__') || Object.hasOwn(Object(constructor) as object, 'prototype')
	);
}

function isHarmless(value: unknown, depth = 0): boolean {
	if (depth > deepest) return false;
	if (typeof value !== 'object' || value === null) return true;
	return !pollutes(value) && Object.values(value).every((child) => isHarmless(child, depth + 1));
}

/** Whether an event was asked for. */
export function isWanted({ event }: PartnerEvent, wanted: string[]): boolean {
	return wanted.includes(allEvents) || wanted.includes(event);
}

/** By its `timestamp` (service document §6); undefined when it has none that can be read. */
export function ageMsOf({ timestamp }: PartnerEvent, nowMs: number): number | undefined {
	const time = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
	return Number.isNaN(time) ? undefined : nowMs - time;
}
