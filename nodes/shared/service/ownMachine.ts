/** Whether n8n reaches its own machine itself. With a proxy in its environment it would hand the API key to that. */
import { errorsIn, isBlockedByN8n } from '../n8n';
import { property } from '../unknown';
import { isLoopbackHost } from '../url';

/** Nothing listens there. */
const closedPort = 1;

/** The environment of a process does not change, so each is asked for once. */
const reachedDirectly = new Set<string>();

/**
 * Whether requests to this address reach it without a proxy. n8n does not tell. So for an address of its own machine a
 * request without the API key goes to a closed port there: only if n8n connects by itself, the error names that port.
 * @param request makes a GET request as n8n does for the node
 */
export async function isReachedDirectly(
	url: URL,
	request: (url: string) => Promise<unknown>,
): Promise<boolean> {
	if (!isLoopbackHost(url.hostname)) return true;
	const machine = `${url.protocol}//${url.hostname}`;
	if (reachedDirectly.has(machine)) return true;
	const isDirect = await request(`${machine}:${closedPort}/`).then(
		() => false,
		(error: unknown) => errorsIn(error).some(showsDirectWay),
	);
	if (isDirect) reachedDirectly.add(machine);
	return isDirect;
}

/** Also n8n's protection of private addresses, which refuses before any proxy is asked. */
const showsDirectWay = (error: unknown): boolean =>
	property(error, 'port') === closedPort ||
	isBlockedByN8n(error) ||
	// For a name with several addresses, one error for each that was tried.
	[property(error, 'errors')].flat().some((one) => property(one, 'port') === closedPort);
