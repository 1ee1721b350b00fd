/** Runs npm. */
import { spawn } from 'node:child_process';

/** The number of npm's last lines in an error. */
const LINES_IN_ERROR = 20;

/**
 * Runs npm in `cwd` and resolves to what it wrote to its output.
 * Rejects with npm's last lines when it fails; `signal` ends it early.
 */
export async function runNpm(args: string[], cwd: string, signal?: AbortSignal): Promise<string> {
	// Inside an npm script this is the npm that the person started, on each platform.
	const npmProgram = process.env.npm_execpath;
	const [command, commandArgs] = npmProgram?.endsWith('.js')
		? [process.execPath, [npmProgram, ...args]]
		: ['npm', args];
	return await new Promise((resolve, reject) => {
		const child = spawn(command, commandArgs, {
			cwd,
			signal,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const output: string[] = [];
		const messages: string[] = [];
		child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
		child.stderr.setEncoding('utf8').on('data', (text: string) => messages.push(text));
		child.once('error', reject);
		child.once('close', (code) => {
			if (code === 0) return resolve(output.join(''));
			const lines = [...messages, ...output].join('').trimEnd().split('\n').slice(-LINES_IN_ERROR);
			const exit = code === null ? 'was stopped' : `failed with exit code ${code}`;
			reject(new Error(`npm ${args[0]} ${exit}:\n${lines.join('\n')}`));
		});
	});
}
