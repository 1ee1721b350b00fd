import { createHmac, timingSafeEqual } from 'node:crypto';

/** Carries `sha256=<hex>` (service document §5). */
export const signatureHeader = 'x-webhook-signature';

/**
 * The signature of a body. The document does not show what is signed nor how the secret is encoded: this
 * is the one place that decides it, for the raw body and the secret as UTF-8.
 */
function digest(body: Buffer, secret: string): Buffer {
	return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
}

/**
 * Whether the service sent this body. Anything missing, malformed or doubled is refused.
 * @param body the bytes as they arrived
 * @param header the value as Node gives it: repeated headers are joined with a comma, which no signature has
 */
export function isSigned(body: Buffer, header: unknown, secret: string): boolean {
	const hex = typeof header === 'string' ? /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1] : undefined;
	if (hex === undefined || secret === '') return false;
	return timingSafeEqual(Buffer.from(hex, 'hex'), digest(body, secret));
}
