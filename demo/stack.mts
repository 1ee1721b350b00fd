/** Sandbox and n8n together, as `npm start` and the tests run them. */
import { join } from 'node:path';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/sandbox.mts';
import { ensureN8nInstalled } from './n8n-install.mts';
import { startN8n, type N8nInstance } from './n8n-process.mts';
import { installPackage } from './package-tarball.mts';

interface StackOptions {
	/** n8n's user folder; its database, log and the installed package go here. */
	folder: string;
	n8nPort: number;
	sandbox?: SandboxOptions;
	/** Environment of n8n beyond the usual. */
	env?: Record<string, string | undefined>;
	print: (line: string) => void;
	/** Ends the start, and every process of it. */
	signal?: AbortSignal;
}

export interface Stack {
	sandbox: Sandbox;
	n8n: N8nInstance;
	/** True when this start installed the package anew. */
	packageChanged: boolean;
	stop(): Promise<void>;
}

/** Starts the sandbox and a real n8n with the packed project installed in it. */
export async function startStack(options: StackOptions): Promise<Stack> {
	const { folder, n8nPort, print, signal } = options;
	await ensureN8nInstalled(print, signal);
	const { name, version, changed } = await installPackage(folder);
	signal?.throwIfAborted();
	print(changed ? `Installed ${name} ${version} into n8n` : `${name} ${version} is up to date`);

	const sandbox = await startSandbox(options.sandbox);
	try {
		print('Starting n8n (about 10 to 20 seconds, longer the first time)');
		const n8n = await startN8n({ userFolder: folder, port: n8nPort, env: options.env, signal });
		return {
			sandbox,
			n8n,
			packageChanged: changed,
			async stop() {
				await n8n.stop();
				await sandbox.stop();
			},
		};
	} catch (error) {
		await sandbox.stop();
		throw error;
	}
}

/** The file of the sandbox's books, beside n8n's data. */
export const sandboxDatabase = (folder: string) => join(folder, 'sandbox.db');
