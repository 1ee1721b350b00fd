/** The signal by which a program is asked to end. */

/** How often it looks for the end of npm, in ms. */
const PARENT_CHECK_EVERY_MS = 500;

/**
 * Aborts when the person or the system asks this program to end: Ctrl-C, a signal, or the end of the npm
 * that runs it, whose shell does not pass signals on.
 */
export function stopRequested(): AbortSignal {
	const stopping = new AbortController();
	const stop = () => stopping.abort(new Error('Interrupted'));
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
	if (process.env.npm_lifecycle_event !== undefined) {
		const parent = process.ppid;
		const orphaned = () => process.ppid !== parent && stop();
		setInterval(orphaned, PARENT_CHECK_EVERY_MS).unref();
	}
	return stopping.signal;
}
