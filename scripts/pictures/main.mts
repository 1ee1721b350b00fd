// Takes the pictures of the documentation: all of them, or those named on the command line.
// Needs a build, and Chromium at /usr/bin/chromium or where CHROMIUM says.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exampleNames } from '../../demo/examples.mts';
import { portFromEnvironment } from '../../demo/ports.mts';
import { startStack } from '../../demo/stack.mts';
import { takePictures } from './scenes.mts';

const { positionals: names } = parseArgs({ allowPositionals: true });
const images = join(import.meta.dirname, '../../docs/images');
const print = (name: string) => console.log(`docs/images/${name}.png`);
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-pictures-'));
// Fixed ports, because some pictures show them.
const stack = await startStack({
	folder,
	n8nPort: portFromEnvironment('N8N_PORT', 5678),
	sandbox: { port: portFromEnvironment('SANDBOX_PORT', 4400), names: await exampleNames() },
	print: (line) => console.log(line),
});
try {
	const place = { n8nUrl: stack.n8n.url, sandbox: stack.sandbox, folder: images };
	await takePictures(place, names, print);
} finally {
	await stack.stop();
	await rm(folder, { recursive: true, force: true });
}
