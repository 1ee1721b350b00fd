/** Whether n8n reaches its own machine itself. With a proxy in its environment it would hand the API key to that. */
import { errorsIn, isBlockedByN8n, property } from '../n8n';
import { isLoopbackHost } from '../url';

/** Nothing listens there. */
const closedPort = 1;

/** Of this process, whose environment does not change. */
const reachedDirectly = new Set<string>();

/**
 * Whether requests to this address go to where it says. n8n offers no way around a proxy, and none to see it; so a
 * request without the API key goes to a closed port of this machine. That nothing listens there n8n finds out only if
 * it connects by itself.
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

/** n8n's own protection of private addresses also speaks before any proxy does. */
const showsDirectWay = (error: unknown): boolean =>
	property(error, 'port') === closedPort ||
	isBlockedByN8n(error) ||
	// A name with several addresses: one for each that was tried.
	[property(error, 'errors')].flat().some((one) => property(one, 'port') === closedPort);
