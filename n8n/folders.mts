import { join } from 'node:path';

/** The checkout: where `npm pack` makes the package and where `examples/` are. */
export const projectFolder = join(import.meta.dirname, '..');

/** The private package that pins the real n8n. */
export const n8nFolder = import.meta.dirname;
