/** Time that passes. */
import { once } from 'node:events';
import { abortedAfter } from '../../nodes/shared/time.ts';

test.each(['before', 'after'])(
	'waiting ends a while after a stop that came %s it began',
	async (when) => {
		const stop = new AbortController();
		if (when === 'before') stop.abort();
		const end = abortedAfter(stop.signal, 1);
		expect(end.aborted).toBe(false);
		const aborted = once(end, 'abort');
		stop.abort();
		await aborted;
		expect(end.aborted).toBe(true);
	},
);
