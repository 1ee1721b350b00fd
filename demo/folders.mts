/** Where the project is, and the n8n that it runs. */
import { join } from 'node:path';

/** The checkout: where `npm pack` makes the package and where `examples/` are. */
export const projectFolder = join(import.meta.dirname, '..');

/** The private package that pins the real n8n. */
export const pinnedN8nFolder = import.meta.dirname;

/** The installed n8n that everything runs: the pinned one, or what `npm run test:versions` put into a folder of its own. */
export const n8nFolder = process.env.N8N_FOLDER ?? pinnedN8nFolder;
