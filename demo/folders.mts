/** The folders of the project and of the n8n that it runs. */
import { join } from 'node:path';

/** The checkout: where `npm pack` makes the package and where `examples/` are. */
export const projectFolder = join(import.meta.dirname, '..');

/**
 * The private package that pins the real n8n. It has a folder of its own, because Node.js would look for the packages of
 * other files of `demo/` in its `node_modules` first.
 */
export const pinnedN8nFolder = join(import.meta.dirname, 'n8n');

/**
 * The installed n8n that all programs run: the pinned one, or another version that `npm run test:versions`
 * installed.
 */
export const n8nFolder = process.env.N8N_FOLDER ?? pinnedN8nFolder;
