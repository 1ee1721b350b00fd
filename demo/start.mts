/** `npm start`: runs the sandbox and the real n8n with this package in it, until Ctrl-C. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { projectFolder } from './folders.mts';
import { exampleNames } from './examples.mts';
import { prepareForPerson, type Addition, type Prepared } from './first-run.mts';
import { portFromEnvironment, requireFreePort } from './ports.mts';
import { sandboxDatabase, startStack, type Stack } from './stack.mts';
import { StartError } from './start-error.mts';
import { stopRequested } from './stop-signal.mts';

/** The number of requests in memory, because a sandbox may run for days. */
const REQUESTS_KEPT = 1_000;

const print = (line: string) => console.log(line);

const isRunning = (pid: number) => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

/**
 * Reserves the data folder for this process: two n8n would damage one database. Resolves to a function that
 * releases it.
 */
async function reserveFolder(folder: string): Promise<() => Promise<void>> {
	const pidFile = join(folder, 'start.pid');
	const shown = relative(projectFolder, folder);
	try {
		await mkdir(folder, { recursive: true });
		const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
		if (pid > 0 && pid !== process.pid && isRunning(pid)) {
			throw new StartError(
				`The data folder ${shown} is in use by process ${pid}. Stop that one, ` +
					`or choose another folder: DATA_FOLDER=${shown}-2 npm start`,
			);
		}
		await writeFile(pidFile, String(process.pid));
	} catch (error) {
		if (error instanceof StartError) throw error;
		const reason = error instanceof Error ? error.message : String(error);
		throw new StartError(`The data folder cannot be used: ${reason}. Set DATA_FOLDER to another.`);
	}
	return async () => await rm(pidFile, { force: true });
}

const readyText = (folder: string, { n8n, sandbox }: Stack, { login, added }: Prepared) => `
Ready.

  Editor    ${n8n.url}/home/workflows
  Login     ${login ? `${login.email}   password: ${login.password}` : 'the one you chose in n8n'}
  Sandbox   ${sandbox.url}   (a pretend partner service: no real money)
${added.map((line) => `  ${line}\n`).join('')}  Data      ${relative(projectFolder, folder)}   (n8n's log: ${relative(projectFolder, n8n.logFile)})

Try this
  1. Open the editor, log in, open the workflow "Pay a user" and choose "Execute workflow".
  2. Open the workflow "Receive events" and its Executions tab: the payment's event has arrived, verified.
     Double-click "What happened".
  3. On the sandbox page, simulate a deposit or make the service fail, and watch the same tab.
  4. The other workflows are examples for your own: each explains itself, and docs/examples.md describes them.

Ctrl-C stops everything. "npm start" goes on from there.
`;

async function start(signal: AbortSignal, addition?: Addition): Promise<void> {
	const n8nPort = portFromEnvironment('N8N_PORT', 5678);
	const sandboxPort = portFromEnvironment('SANDBOX_PORT', 4400);
	if (n8nPort === sandboxPort) {
		throw new StartError(
			`N8N_PORT and SANDBOX_PORT are both ${n8nPort}. Choose another one: SANDBOX_PORT=4400 npm start`,
		);
	}
	await requireFreePort(n8nPort, 'N8N_PORT', 'the n8n editor');
	await requireFreePort(sandboxPort, 'SANDBOX_PORT', 'the sandbox');
	const folder = resolve(projectFolder, process.env.DATA_FOLDER || '.data');
	const releaseFolder = await reserveFolder(folder);
	let stack: Stack | undefined;
	try {
		stack = await startStack({
			folder,
			n8nPort,
			sandbox: {
				port: sandboxPort,
				databaseFile: sandboxDatabase(folder),
				keepRequests: REQUESTS_KEPT,
				names: await exampleNames(),
			},
			print,
			signal,
		});
		const prepared = await prepareForPerson(folder, stack, print, addition);
		signal.throwIfAborted();
		print(readyText(folder, stack, prepared));
		const ended = await Promise.race([stack.n8n.exited, aborted(signal)]);
		if (!signal.aborted) {
			throw new StartError(
				`n8n ended by itself (${ended?.signal ?? ended?.code}); the reason is at the end of ${stack.n8n.logFile}`,
			);
		}
	} finally {
		if (signal.aborted) print('Stopping');
		await stack?.stop();
		await releaseFolder();
	}
}

const aborted = async (signal: AbortSignal) =>
	await new Promise<undefined>((done) => {
		if (signal.aborted) done(undefined);
		signal.addEventListener('abort', () => done(undefined));
	});

/** Runs until Ctrl-C, or until n8n ends. */
export async function startForPerson(addition?: Addition): Promise<void> {
	const stopping = stopRequested();
	try {
		await start(stopping, addition);
		print('Stopped');
	} catch (error) {
		if (stopping.aborted) {
			print('Stopped');
		} else {
			const reason = error instanceof Error ? error.message : String(error);
			console.error(error instanceof StartError ? reason : `Could not start: ${reason}`);
			process.exitCode = 1;
		}
	}
}
