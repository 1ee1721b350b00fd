/** The sandbox as a program. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

/** Runs `sandbox/main.mts`; `output` collects what it prints, `exit` resolves with its code. */
function run(settings: Record<string, string>) {
	const child = spawn(process.execPath, [join(__dirname, '../../sandbox/main.mts')], {
		env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...settings },
	});
	let output = '';
	const exit = new Promise<number | null>((resolve) => child.on('close', resolve));
	const ready = new Promise<void>((resolve) => {
		const collect = (chunk: Buffer) => {
			output += chunk.toString();
			if (/Data {2}/.test(output)) resolve();
		};
		child.stdout.on('data', collect);
		child.stderr.on('data', collect);
	});
	return { child, ready, exit, output: () => output };
}

test('serves, prints its settings, ends on SIGTERM', async () => {
	const main = run({
		SANDBOX_PORT: '0',
		SANDBOX_API_KEY: 'key-7',
		SANDBOX_WEBHOOK_SECRET: 'secret-7',
	});
	await main.ready;
	const url = /http:\/\/127\.0\.0\.1:\d+/.exec(main.output())?.[0] ?? '';
	expect(main.output()).toContain('key-7');
	expect(main.output()).toContain('secret-7');
	const response = await send(`${url}/api/v1/partners/fee`, 'GET', undefined, {
		authorization: 'Bearer key-7',
	});
	expect(response.json).toEqual({ data: { feePercent: 0.25 } });
	main.child.kill();
	expect(await main.exit).toBe(0);
});

test('a taken port ends in one clear line and code 1', async () => {
	const { url } = await sandboxForTest();
	const main = run({ SANDBOX_PORT: new URL(url).port });
	expect(await main.exit).toBe(1);
	expect(main.output().trim().split('\n')).toEqual([
		`Port ${new URL(url).port} is taken. Choose another one, for example SANDBOX_PORT=4401.`,
	]);
}, 30_000);
