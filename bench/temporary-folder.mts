/** A folder for one run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is gone when this process has ended, in whatever orderly way. */
export function temporaryFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), 'etb-wallet-bench-'));
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}
