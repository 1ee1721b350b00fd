/** The folders of the project and of the n8n that it runs. */
import { join } from 'node:path';

/** The checkout: where `npm pack` makes the package and where `examples/` are. */
export const projectFolder = join(import.meta.dirname, '..');

/** The private package that pins the real n8n. */
export const pinnedN8nFolder = import.meta.dirname;

/**
 * The installed n8n that all programs run: the pinned one, or another version that `npm run test:versions`
 * installed.
 */
export const n8nFolder = process.env.N8N_FOLDER ?? pinnedN8nFolder;
