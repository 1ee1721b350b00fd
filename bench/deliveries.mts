/** Deliveries of events to measure with: genuine ones and forged ones. */
import { randomUUID } from 'node:crypto';
import { signBody } from '../sandbox/signature.mts';
import type { Delivery } from './load.mts';

/** A delivery of a new event as the service document §6 shows it, correctly signed. */
export function newEvent(secret: string, event = 'transfer.completed'): Delivery {
	const body = JSON.stringify({
		event,
		timestamp: new Date().toISOString(),
		data: {
			id: `trf_${randomUUID()}`,
			amountEtb: 1250.5,
			txHash: `0x${'ab'.repeat(32)}`,
		},
	});
	return { body, signature: signBody(body, secret) };
}

/** Well formed, but signed with another secret. */
export const forged = (): Delivery => newEvent('not the secret');
