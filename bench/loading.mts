// Loads the built package as n8n does, into a process that has n8n-workflow already, and prints what that took.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../n8n/folders.mts';

const Manifest = z.object({
	n8n: z.object({ credentials: z.array(z.string()), nodes: z.array(z.string()) }),
});

const require = createRequire(join(projectFolder, 'package.json'));
require('n8n-workflow');
const { n8n } = Manifest.parse(
	JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')),
);
const heapBefore = process.memoryUsage().heapUsed;
const startedAt = performance.now();
for (const file of [...n8n.credentials, ...n8n.nodes]) {
	const exported = z.record(z.unknown()).parse(require(join(projectFolder, file)));
	for (const Class of Object.values(exported)) {
		if (typeof Class === 'function') Reflect.construct(Class, []);
	}
}
const ms = performance.now() - startedAt;
const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1024 / 1024;
console.log(JSON.stringify({ ms, heapMb }));
