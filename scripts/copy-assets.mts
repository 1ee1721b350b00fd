/** The last step of the build: copies the files that TypeScript does not, to the paths where n8n looks for them. */
import { cpSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** Icons, codex files and output schemas. */
const assets = ['nodes/**/*.svg', 'nodes/**/*.node.json', 'nodes/**/__schema__/**/*.json'];

for (const file of globSync(assets)) cpSync(file, join('dist', file));
