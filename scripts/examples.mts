/** `npm run examples`: writes the code and the style of `examples/code/` into the workflows that use them. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withCode } from './example-code.mts';
import { projectFolder } from '../demo/folders.mts';

for (const path of globSync(join(projectFolder, 'examples', '*.json')))
	writeFileSync(path, withCode(basename(path), readFileSync(path, 'utf8')));
