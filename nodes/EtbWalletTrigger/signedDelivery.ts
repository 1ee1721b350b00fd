/** The signature of a delivery: how the service makes it, and how it is checked. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** One request of the service, as it arrived. */
export interface Delivery {
	/** By name in small letters. */
	headers: Readonly<Record<string, unknown>>;
	body: Buffer;
}

/** Carries `sha256=<hex>` (service document §5). */
const signatureHeader = 'x-webhook-signature';

/** The raw body is signed, with the secret as UTF-8: the service document does not show it, so it is decided here alone. */
function digest({ body }: Delivery, secret: string): Buffer {
	return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
}

/** Undefined when it is missing, malformed or there twice: Node joins repeated headers with a comma. */
function signatureIn(headers: Delivery['headers']): Buffer | undefined {
	const value = headers[signatureHeader];
	const hex = typeof value === 'string' ? /^sha256=([0-9a-fA-F]{64})$/.exec(value)?.[1] : undefined;
	return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** Whether there is a signature at all, right or wrong. */
export const hasSignature = (headers: Delivery['headers']): boolean =>
	signatureIn(headers) !== undefined;

/** Whether it is signed with one of the secrets. Compares in constant time. */
export function isSigned(delivery: Delivery, secrets: readonly string[]): boolean {
	const signature = signatureIn(delivery.headers);
	if (signature === undefined) return false;
	return secrets
		.filter((secret) => secret.trim() !== '')
		.map((secret) => timingSafeEqual(signature, digest(delivery, secret)))
		.includes(true);
}
