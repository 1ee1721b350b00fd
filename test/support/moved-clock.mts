/** A clock for n8n that a test moves, by Debian's libfaketime. */
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from './lab.mts';

/** The library, or undefined where it is not installed (Debian: `apt-get install libfaketime`). */
export const faketime = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];

/**
 * n8n's environment for a clock that follows `file`, a file in a folder of its own. Timers keep their pace.
 * n8n starts the process of its Code nodes as `node`, with its PATH and without the rest: the `node` that is
 * written into the folder gives that process the same clock.
 */
export async function clockFrom(file: string): Promise<Record<string, string>> {
	const clock = {
		LD_PRELOAD: faketime ?? '',
		FAKETIME_TIMESTAMP_FILE: file,
		FAKETIME_CACHE_DURATION: '1',
		FAKETIME_DONT_FAKE_MONOTONIC: '1',
	};
	const settings = Object.entries({ ...clock, FAKETIME_NO_CACHE: '1' }).map(
		([name, value]) => `${name}='${value}'`,
	);
	const script = `#!/bin/sh\nexec env ${settings.join(' ')} '${process.execPath}' "$@"\n`;
	await writeFile(join(dirname(file), 'node'), script, { mode: 0o755 });
	return { ...clock, PATH: `${dirname(file)}:${process.env.PATH ?? ''}` };
}

/** Writes the offset of the clock in ms; 0 is the true time. */
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
