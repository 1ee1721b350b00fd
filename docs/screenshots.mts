// Takes the pictures of the documentation: all of them, or those named on the command line.
// Needs a build, and Chromium at /usr/bin/chromium or where CHROMIUM says.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { portFromEnvironment } from '../n8n/ports.mts';
import { startStack } from '../n8n/stack.mts';
import { takePictures } from './pictures.mts';

const { positionals: names } = parseArgs({ allowPositionals: true });
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-pictures-'));
// Fixed ports, because some pictures show them.
const stack = await startStack({
	folder,
	n8nPort: portFromEnvironment('N8N_PORT', 5678),
	sandbox: { port: portFromEnvironment('SANDBOX_PORT', 4400) },
	print: (line) => console.log(line),
});
try {
	const images = join(import.meta.dirname, 'images');
	const place = { n8nUrl: stack.n8n.url, sandbox: stack.sandbox, folder: images };
	await takePictures(place, names, (name) => console.log(`docs/images/${name}.png`));
} finally {
	await stack.stop();
	await rm(folder, { recursive: true, force: true });
}
