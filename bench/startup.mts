import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { startN8n } from '../n8n/instance.mts';
import { installPackage } from '../n8n/package-tarball.mts';
import { freePort } from '../n8n/ports.mts';
import { cpuMs } from './process-usage.mts';
import type { Section, Sizes } from './section.mts';
import { shown, spread, table } from './statistics.mts';
import { temporaryFolder } from './temporary-folder.mts';

const run = promisify(execFile);
const Loaded = z.object({ ms: z.number(), heapMb: z.number() });

/** What n8n pays for having the package: once per start. */
export async function measureStartup({ loads, starts }: Sizes['startup']): Promise<Section> {
	const loading = fileURLToPath(new URL('./loading.mts', import.meta.url));
	const loaded: Array<z.infer<typeof Loaded>> = [];
	for (let index = 0; index < loads; index++) {
		const { stdout } = await run(process.execPath, [loading]);
		loaded.push(Loaded.parse(JSON.parse(stdout)));
	}

	const folder = temporaryFolder();
	const kinds = ['with the package', 'without it'] as const;
	const times = new Map(
		kinds.map((kind) => [kind, { ready: [] as number[], cpu: [] as number[] }]),
	);
	await installPackage(join(folder, kinds[0]));
	// The first start creates the database.
	for (let round = 0; round <= starts; round++) {
		for (const [kind, { ready, cpu }] of times) {
			const startedAt = performance.now();
			const n8n = await startN8n({ userFolder: join(folder, kind), port: await freePort() });
			const seconds = (performance.now() - startedAt) / 1000;
			const cpuSeconds = cpuMs(n8n.pid) / 1000;
			await n8n.stop();
			if (round === 0) continue;
			ready.push(seconds);
			cpu.push(cpuSeconds);
		}
	}
	const rows = [...times].map(([kind, { ready, cpu }]) => [
		`n8n ${kind}`,
		shown(spread(ready)),
		shown(spread(cpu)),
	]);
	const ms = shown(spread(loaded.map((load) => load.ms)));
	const heapMb = shown(spread(loaded.map((load) => load.heapMb)));
	return {
		title: 'Starting',
		text: [
			`Loading the package's files into a process that has n8n-workflow: ${ms} ms and ${heapMb} MB of heap, ${loads} loads.`,
			table(['', 'ready after, s', 'CPU until then, s'], rows),
		].join('\n\n'),
		targets: [],
	};
}
