import type { INodePropertyOptions } from 'n8n-workflow';

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
export interface PartnerEvent {
	event: string;
	[field: string]: unknown;
}

/** @returns undefined when the body is not a JSON object with a string `event` */
export function parseEvent(body: Buffer): PartnerEvent | undefined {
	let value: unknown;
	try {
		value = JSON.parse(body.toString('utf8'));
	} catch {
		return undefined;
	}
	return isPartnerEvent(value) ? value : undefined;
}

function isPartnerEvent(value: unknown): value is PartnerEvent {
	return (
		typeof value === 'object' &&
		value !== null &&
		!Array.isArray(value) &&
		'event' in value &&
		typeof value.event === 'string' &&
		value.event !== ''
	);
}

/** Whether an event was asked for. */
export function isWanted(event: PartnerEvent, wanted: string[]): boolean {
	return wanted.includes(allEvents) || wanted.includes(event.event);
}
