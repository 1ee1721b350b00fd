// Plays the first worlds of the model, each run of the tests the same ones. `npm run test:model` plays many more.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const worlds = 2_000;

test(`no rule of payments is broken in ${worlds} worlds`, async () => {
	// In a process of its own, because jest's modules would see other built-in objects than Node's.
	const child = spawn(process.execPath, [join(__dirname, 'run-worlds.mts'), `--worlds=${worlds}`], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const [story] = await Promise.all([text(child.stdout), once(child, 'close')]);
	expect(story).toContain(`${worlds} worlds in`);
	expect(story).toContain('No rule is broken.');
	expect(child.exitCode).toBe(0);
}, 300_000);
