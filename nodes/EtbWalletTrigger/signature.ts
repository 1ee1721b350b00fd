/** The signature of a webhook request: how the service makes it, and how it is checked. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** One HTTP request of the service that brings an event, as it arrived. */
export interface WebhookRequest {
	/** The headers, by name in small letters. */
	headers: Readonly<Record<string, unknown>>;
	body: Buffer;
}

/** The header with `sha256=<hex>` (service document §5). */
const signatureHeader = 'x-webhook-signature';

/**
 * The signature of a body. The service document does not show what exactly is signed. Only this function
 * decides it: it signs the raw body, with the secret in UTF-8 as the key.
 */
function digest({ body }: WebhookRequest, secret: string): Buffer {
	return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest();
}

/**
 * The signature in the headers; undefined if it is missing, malformed or there twice, because Node.js joins
 * repeated headers with a comma.
 */
function signatureIn(headers: WebhookRequest['headers']): Buffer | undefined {
	const value = headers[signatureHeader];
	const hex = typeof value === 'string' ? /^sha256=([0-9a-fA-F]{64})$/.exec(value)?.[1] : undefined;
	return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** Whether there is a well-formed signature, right or wrong. */
export const hasSignature = (headers: WebhookRequest['headers']): boolean =>
	signatureIn(headers) !== undefined;

/** Whether a webhook request is signed with one of the secrets. The comparison takes constant time. */
export function isSigned(request: WebhookRequest, secrets: readonly string[]): boolean {
	const signature = signatureIn(request.headers);
	if (signature === undefined) return false;
	return secrets
		.filter((secret) => secret.trim() !== '')
		.map((secret) => timingSafeEqual(signature, digest(request, secret)))
		.includes(true);
}
