// Runs before n8n-core is imported: it reads its user folder and log level once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

process.env.N8N_LOG_LEVEL ??= 'silent';
if (process.env.N8N_USER_FOLDER === undefined) {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-engine-'));
	process.env.N8N_USER_FOLDER = folder;
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
}
