/** The signature of a delivery: each of its attempts has the same. */
import { createHmac } from 'node:crypto';

/**
 * The value of `X-Webhook-Signature` (service document §5): `sha256=` and the hex HMAC-SHA256 over
 * the UTF-8 bytes of the body, keyed with the UTF-8 bytes of the secret.
 */
export function signBody(body: string, secret: string): string {
	return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
