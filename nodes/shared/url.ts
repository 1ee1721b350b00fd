/** Addresses: the service's own, and those that it sends events to. */
import { InvalidValueError, isAbsent, show } from './invalidValue';

/** Where plain http is acceptable. */
export interface InsecureHttpPolicy {
	/** The credential's "Allow Insecure HTTP". */
	allowInsecureHttp: boolean;
}

/** Whether a host name, as `URL.hostname` gives it, is this machine itself. */
export function isLoopbackHost(hostname: string): boolean {
	return (
		hostname === 'localhost' ||
		hostname.endsWith('.localhost') ||
		/^127\.\d+\.\d+\.\d+$/.test(hostname) ||
		hostname === '[::1]'
	);
}

/** Whether a host name is an address that the internet cannot reach. Names other than localhost count as public. */
function isPrivateHost(hostname: string): boolean {
	return (
		isLoopbackHost(hostname) ||
		/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.)/.test(hostname) ||
		/^\[(f[cd]|fe[89ab])/i.test(hostname) ||
		hostname === '[::]'
	);
}

/** The web address that a value is, if it is one. */
function parseUrl(value: unknown): URL | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	const url = URL.canParse(text) ? new URL(text) : undefined;
	return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== ''
		? url
		: undefined;
}

const partnersPath = '/api/v1/partners';

/**
 * The address under which all endpoints live (service document §1), from a base URL that may end in a
 * slash or already carry the prefix.
 * @returns for example `https://partners.example.com/api/v1/partners`
 * @throws {InvalidValueError} when it is not a URL, or plain http to another machine that was not allowed
 */
export function partnersUrl(baseUrl: unknown, { allowInsecureHttp }: InsecureHttpPolicy): URL {
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
		throw new InvalidValueError(
			`Base URL is ${show(baseUrl)}, which is not encrypted`,
			'Use an https:// address. Only for a sandbox in a private network, turn on Allow Insecure HTTP in the credential.',
		);
	}
	const path = url.pathname.replace(/\/+$/, '');
	return new URL(url.origin + (path.endsWith(partnersPath) ? path : path + partnersPath));
}

/**
 * An address the service can send events to: public https (service document §2), or one the service can
 * reach because it runs on this same machine or in a private network.
 * @throws {InvalidValueError}
 */
export function webhookUrl(
	value: unknown,
	service: { url: URL } & InsecureHttpPolicy,
	field = 'Webhook URL',
	remedy = 'Enter a public https:// address, for example https://n8n.example.com/webhook/etb-wallet.',
): string {
	const url = parseUrl(value);
	if (url === undefined) {
		throw new InvalidValueError(
			`${field} is ${show(value)}${isAbsent(value) ? '' : ', which is not a web address'}`,
			'Enter the full address, for example https://n8n.example.com/webhook/etb-wallet.',
		);
	}
	if (service.allowInsecureHttp) return url.href;
	if (isLoopbackHost(service.url.hostname) && isLoopbackHost(url.hostname)) return url.href;
	if (url.protocol === 'http:') {
		throw new InvalidValueError(`${field} is ${show(value)}, which is not https`, remedy);
	}
	if (isPrivateHost(url.hostname)) {
		throw new InvalidValueError(
			`${field} is ${show(value)}, which the service cannot reach from the internet`,
			remedy,
		);
	}
	return url.href;
}
