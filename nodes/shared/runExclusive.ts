/** Serializes work within this process. */

/** The last work for each key. */
const lastTurns = new Map<string, Promise<unknown>>();

/**
 * Runs `work` after all earlier work of this process for the same key, also after work that failed.
 * @param work its parameter is true if no work for this key was under way
 * @returns the result of `work`
 * @throws what `work` throws
 */
export async function runExclusive<Value>(
	key: string,
	work: (isFirst: boolean) => Promise<Value>,
): Promise<Value> {
	const previous = lastTurns.get(key);
	const current = (async () => {
		await previous?.catch(() => undefined);
		return await work(previous === undefined);
	})();
	lastTurns.set(key, current);
	try {
		return await current;
	} finally {
		if (lastTurns.get(key) === current) lastTurns.delete(key);
	}
}
