/** The signature of a delivery: all that is known of how the service signs, and of how that is checked. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** One request of the service, as it arrived. */
export interface Delivery {
	/** By name in small letters. */
	headers: Readonly<Record<string, unknown>>;
	body: Buffer;
}

/** Carries `sha256=<hex>` (service document §5). */
const signatureHeader = 'x-webhook-signature';

/**
 * The document does not show what is signed nor how the secret is encoded. This is the one place that decides it:
 * of all that a delivery has, the raw body, with the secret as UTF-8.
 */
function digest({ body }: Delivery, secret: string): Buffer {
	return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
}

/** The headers with which a body counts as signed. */
export function sign(body: Buffer, secret: string): Record<string, string> {
	return { [signatureHeader]: `sha256=${digest({ headers: {}, body }, secret).toString('hex')}` };
}

/** The headers of a delivery that have to go with its body when it is sent on. */
export function signingHeaders({ headers }: Delivery): Record<string, string> {
	const signature = headers[signatureHeader];
	return typeof signature === 'string' ? { [signatureHeader]: signature } : {};
}

/** Undefined when it is missing, malformed or doubled: Node joins repeated headers with a comma, which no signature has. */
function signatureIn(headers: Delivery['headers']): Buffer | undefined {
	const value = headers[signatureHeader];
	const hex = typeof value === 'string' ? /^sha256=([0-9a-fA-F]{64})$/.exec(value)?.[1] : undefined;
	return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** Whether there is a signature at all, right or wrong. */
export const hasSignature = (headers: Delivery['headers']): boolean =>
	signatureIn(headers) !== undefined;

/**
 * Whether the service sent this, compared in constant time.
 * @param secrets any of them will do; without any, nothing is signed
 */
export function isSigned(delivery: Delivery, secrets: readonly string[]): boolean {
	const signature = signatureIn(delivery.headers);
	if (signature === undefined) return false;
	return secrets
		.filter((secret) => secret.trim() !== '')
		.map((secret) => timingSafeEqual(signature, digest(delivery, secret)))
		.includes(true);
}
