/** Addresses: the service's own, and those that it sends events to. */
import { InvalidValueError, isAbsent, show } from './invalidValue';

/** The bytes of an IPv4 address, also of one that is written inside an IPv6 address; undefined for other names. */
function ipv4In(hostname: string): number[] | undefined {
	const plain = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(hostname)?.slice(1);
	if (plain !== undefined) return plain.map(Number);
	// As URL writes it: mapped, compatible, or translated by NAT64.
	const inside = /^\[(?:::ffff:|::|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})\]$/.exec(
		hostname,
	);
	if (inside === null) return undefined;
	return inside.slice(1).flatMap((hex) => {
		const word = parseInt(hex ?? '0', 16);
		return [word >> 8, word & 255];
	});
}

/** Whether a host name, as `URL.hostname` gives it, is this machine itself. */
function isLoopbackHost(hostname: string): boolean {
	// A name may end in the dot of the root.
	const name = hostname.replace(/\.$/, '');
	return (
		name === 'localhost' ||
		name.endsWith('.localhost') ||
		name === '[::1]' ||
		ipv4In(name)?.[0] === 127
	);
}

/** Whether a host name is an address that the internet cannot reach. Names other than localhost count as public. */
function isPrivateHost(hostname: string): boolean {
	const [first, second = 0] = ipv4In(hostname) ?? [];
	return (
		isLoopbackHost(hostname) ||
		// 2002: (6to4), 2001:: (Teredo) and 64:ff9b:1: hold an IPv4 address that may be private.
		/^\[(::\]|f[cdef]|100::|2002:|2001:(0:|:)|64:ff9b:1:)/.test(hostname) ||
		(first !== undefined && isPrivateIpv4(first, second))
	);
}

const isPrivateIpv4 = (first: number, second: number): boolean =>
	first === 0 ||
	first === 10 ||
	(first === 100 && second >= 64 && second < 128) ||
	(first === 169 && second === 254) ||
	(first === 172 && second >= 16 && second < 32) ||
	(first === 192 && second === 168) ||
	(first === 198 && (second === 18 || second === 19)) ||
	first >= 224;

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
export function partnersUrl(
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
	service: { url: URL; allowInsecureHttp: boolean },
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
