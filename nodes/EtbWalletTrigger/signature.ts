import { createHmac, timingSafeEqual } from 'node:crypto';

/** Carries `sha256=<hex>` (service document §5). */
export const signatureHeader = 'X-Webhook-Signature';

/**
 * The digest of a body. The document does not show what is signed nor how the secret is encoded: this is
 * the one place that decides it, for the raw body and the secret as UTF-8.
 */
function digest(body: Buffer, secret: string): Buffer {
	return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
}

/** The header value for a body. */
export function sign(body: Buffer, secret: string): string {
	return `sha256=${digest(body, secret).toString('hex')}`;
}

/**
 * The signature in a header value, or undefined when it is missing, malformed or doubled: Node joins repeated
 * headers with a comma, which no signature has.
 */
export function signatureIn(header: unknown): Buffer | undefined {
	const hex =
		typeof header === 'string' ? /^sha256=([0-9a-fA-F]{64})$/.exec(header)?.[1] : undefined;
	return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/**
 * Whether the service sent this body, compared in constant time. Without a secret nothing is.
 * @param body the bytes as they arrived
 */
export function isSigned(body: Buffer, header: unknown, secret: string): boolean {
	const signature = signatureIn(header);
	if (signature === undefined || secret.trim() === '') return false;
	return timingSafeEqual(signature, digest(body, secret));
}
