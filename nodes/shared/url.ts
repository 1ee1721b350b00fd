/** Addresses: the base URL of the service, and the URLs to which it sends events. */
import { InvalidValueError, fieldError, isAbsent } from './invalidValue';

/** Whether a host name, in the form of `URL.hostname`, is this machine. */
function isLoopbackHost(hostname: string): boolean {
	// A dot at the end makes no difference: `localhost.` is `localhost`.
	const name = hostname.replace(/\.$/, '');
	return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name);
}

function parseUrl(value: unknown): URL | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== ''
		? url
		: undefined;
}

const partnersPath = '/api/v1/partners';

/**
 * The address of all endpoints (service document §1), such as `https://partners.example.com/api/v1/partners`.
 * @throws {InvalidValueError} for a value that is no URL, has more than address and path, or is http without
 * permission
 */
export function readPartnersUrl(
	baseUrl: unknown,
	{ allowInsecureHttp }: { allowInsecureHttp: boolean },
): URL {
	const url = parseUrl(baseUrl);
	if (url === undefined) {
		// The value is not shown: it may be an API key in the wrong field.
		throw new InvalidValueError(
			isAbsent(baseUrl) ? 'Base URL is empty' : 'Base URL is not a web address',
			'Enter the full address, for example https://partners.example.com.',
		);
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		// The value is not shown: it may carry a password.
		throw new InvalidValueError(
			'Base URL has a user name, a password, a query or a fragment',
			'Enter only the address of the service, for example https://partners.example.com.',
		);
	}
	if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !allowInsecureHttp) {
		throw fieldError(
			'Base URL',
			baseUrl,
			'is not encrypted',
			'Use an https:// address. Only for a sandbox in a private network, turn on Allow Insecure HTTP in the credential.',
		);
	}
	const path = url.pathname.replace(/\/+$/, '');
	return new URL(url.origin + (path.endsWith(partnersPath) ? path : path + partnersPath));
}

/**
 * Checks a URL to which the service shall send events: https (service document §2), and not this machine,
 * unless the service runs on this machine too. With Allow Insecure HTTP any URL is allowed.
 * @throws {InvalidValueError}
 */
export function readWebhookUrl(
	value: unknown,
	service: { url: URL; allowInsecureHttp: boolean },
	field = 'Webhook URL',
	remedy = 'Enter a public https:// address, for example https://n8n.example.com/webhook/etb-wallet.',
): string {
	const url = parseUrl(value);
	if (url === undefined) {
		throw fieldError(
			field,
			value,
			'is not a web address',
			'Enter the full address, for example https://n8n.example.com/webhook/etb-wallet.',
		);
	}
	if (service.allowInsecureHttp) return url.href;
	if (isLoopbackHost(service.url.hostname) && isLoopbackHost(url.hostname)) return url.href;
	if (url.protocol === 'http:') throw fieldError(field, value, 'is not https', remedy);
	if (isLoopbackHost(url.hostname))
		throw fieldError(field, value, 'the service cannot reach from the internet', remedy);
	return url.href;
}
