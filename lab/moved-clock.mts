/** A clock for n8n that a test moves, by Debian's libfaketime. */
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { eventually } from './lab.mts';

/** The library, or undefined where it is not installed (Debian: `apt-get install libfaketime`). */
export const faketime = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];

/** n8n's environment for a clock that follows `file`. Timers keep their pace. */
export const clockFrom = (file: string): Record<string, string> => ({
	LD_PRELOAD: faketime ?? '',
	FAKETIME_TIMESTAMP_FILE: file,
	FAKETIME_CACHE_DURATION: '1',
	FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

/** Writes how far the clock is moved, in ms; 0 is the true time. */
export async function moveClock(file: string, byMs: number): Promise<void> {
	await writeFile(file, `${byMs < 0 ? '' : '+'}${(byMs / 1000).toFixed(3)}\n`);
}

/** Moves n8n's clock to `time`, an ISO time with its offset, and resolves once n8n has seen it. */
export async function setClock(n8nUrl: string, file: string, time: string): Promise<void> {
	const byMs = Date.parse(time) - Date.now();
	await moveClock(file, byMs);
	await eventually(`n8n's clock at ${time}`, async () => {
		const response = await fetch(`${n8nUrl}/healthz`, { headers: { connection: 'close' } });
		await response.arrayBuffer();
		const shown = Date.parse(response.headers.get('date') ?? '');
		return Math.abs(shown - (Date.now() + byMs)) < 10_000 ? true : undefined;
	});
}
