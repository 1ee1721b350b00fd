/** Where the engine tests pay: a sandbox and a node of its own for each test, so that none finds what another one paid. */
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.mts';
import { withoutPauses } from './calls.mts';

let nodes = 0;

/** A sandbox with money, a node that has paid nobody, and no pauses between the attempts of a call. */
export async function startPaying(): Promise<{ sandbox: Sandbox; nodeId: string }> {
	withoutPauses();
	const sandbox = await startSandbox({ treasuryBalance: 1_000_000 });
	return { sandbox, nodeId: `node-${++nodes}` };
}

export async function stopPaying(sandbox: Sandbox): Promise<void> {
	jest.restoreAllMocks();
	await sandbox.stop();
}
