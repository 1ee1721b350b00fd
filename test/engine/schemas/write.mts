/** Writes the output schemas anew, from what the built nodes really output. */
import '../../support/engine/setup.mts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { dirname } from 'node:path';
import { schemaOf } from '../../support/engine/output-schema.mts';

// Its build for ES modules does not load in Node.
const commonJs = createRequire(import.meta.url).resolve('n8n-workflow');
registerHooks({
	resolve: (specifier, context, next) =>
		next(specifier === 'n8n-workflow' ? commonJs : specifier, context),
});
const { realOutputs } = await import('./outputs.mts');

for (const [file, samples] of await realOutputs()) {
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, `${JSON.stringify({ ...schemaOf(samples), version: 1 }, null, '\t')}\n`);
	console.log(file);
}
