/** Each fault, as a client sees it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { presetNames, type PresetName } from '../../sandbox/faults.mts';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

type End = 'open' | 'closed' | 'reset';

/** Pays 5 ETB over a bare socket; resolves to the answer on the wire, at its end, or once it has `until`. */
function payBare(
	sandbox: Sandbox,
	toUserId: string,
	until: RegExp,
): { seen: Promise<{ text: string; end: End }>; socket: Socket } {
	const body = JSON.stringify({ toUserId, amountEtb: 5 });
	const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
	let text = '';
	let end: End = 'closed';
	const seen = new Promise<{ text: string; end: End }>((resolve) => {
		socket.on('data', (chunk) => {
			text += chunk.toString();
			if (until.test(text)) resolve({ text, end: 'open' });
		});
		socket.on('error', (error) => {
			if ('code' in error && error.code === 'ECONNRESET') end = 'reset';
		});
		socket.on('close', () => resolve({ text, end }));
	});
	socket.write(
		`POST /api/v1/partners/disburse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sandbox.apiKey}\r\n` +
			`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
	return { seen, socket };
}

async function withUser(): Promise<{ sandbox: Sandbox; toUserId: string }> {
	const sandbox = await sandboxForTest();
	return { sandbox, toUserId: sandbox.books.addUser({ externalId: 'a' }).id };
}

const paid = ({ books }: Sandbox): number => books.disbursements().length;

const answer = (status: number, body: string): RegExp =>
	new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\n\\r\\n${body}`);

/** The number of payments that each preset makes, its answer, and the connection behind it. */
const seenAs: Record<PresetName, [paid: 0 | 1, answer: RegExp, end: End]> = {
	refused: [0, answer(422, '{"error"'), 'open'],
	error500AfterPaying: [1, answer(500, '{"error"'), 'open'],
	error500BeforePaying: [0, answer(500, '{"error"'), 'open'],
	tooManyRequests: [0, /^HTTP\/1\.1 429 [^]*retry-after: 1\r\n[^]*\r\n\r\n\{"error"/i, 'open'],
	serviceUnavailable: [0, answer(503, '{"error"'), 'open'],
	slow: [1, answer(200, '{"success":true'), 'open'],
	emptyBody: [1, /^HTTP\/1\.1 200 [^]*content-length: 0\r\n[^]*\r\n\r\n$/i, 'open'],
	invalidJson: [1, answer(200, '{"success": tru$'), 'open'],
	htmlError: [0, answer(500, '<!doctype html>'), 'open'],
	drippingBody: [1, answer(200, '(1\\r\\n \\r\\n){3}'), 'open'],
	switchingProtocols: [1, /^HTTP\/1\.1 101 [^]*upgrade: websocket\r\n[^]*\r\n\r\n$/i, 'open'],
	cutBody: [1, answer(200, '{"success"'), 'closed'],
	resetAfterPaying: [1, /^$/, 'reset'],
	resetBeforePaying: [0, /^$/, 'reset'],
	timeoutAfterPaying: [1, /^$/, 'closed'],
	timeoutBeforePaying: [0, /^$/, 'closed'],
};

test.each(presetNames.map((preset) => [preset, ...seenAs[preset]] as const))(
	'%s',
	async (preset, times, shown, end) => {
		const { sandbox, toUserId } = await withUser();
		const arrived = new Promise<void>((resolve) =>
			sandbox.faults.plan('POST /disburse', () => {
				resolve();
				return preset;
			}),
		);
		const { seen, socket } = payBare(sandbox, toUserId, end === 'open' ? shown : /never/);
		await arrived;
		// A later request is answered while the first one hangs.
		expect((await call(sandbox, 'GET', '/fee')).status).toBe(200);
		if (preset.startsWith('timeout')) socket.destroy();
		const { text, end: ended } = await seen;
		socket.destroy();
		expect([text, ended]).toEqual([expect.stringMatching(shown), end]);
		if (preset === 'cutBody') {
			const [head = '', body = ''] = text.split('\r\n\r\n');
			expect(body).toHaveLength(Math.ceil(Number(/content-length: (\d+)/i.exec(head)?.[1]) / 2));
		}
		expect(paid(sandbox)).toBe(times);
		expect(sandbox.books.balance().treasuryBalance).toBe(1_000_000 - 5 * times);
	},
);

test('stop() closes an answer that never ends', async () => {
	const { sandbox, toUserId } = await withUser();
	sandbox.faults.plan('POST /disburse', () => 'drippingBody');
	const begun = payBare(sandbox, toUserId, /HTTP/);
	await begun.seen;
	const closed = once(begun.socket, 'close');
	await sandbox.stop();
	await closed;
});

describe('which request is hit', () => {
	const statuses = async (sandbox: Sandbox, paths: string[]): Promise<number[]> => {
		const answers = [];
		for (const path of paths) answers.push((await call(sandbox, 'GET', path)).status);
		return answers;
	};

	test('the next `times` requests to the route, in the order of queueing', async () => {
		const sandbox = await sandboxForTest();
		sandbox.faults.next('GET /fee', 'serviceUnavailable', 2);
		sandbox.faults.next('*', 'tooManyRequests');
		sandbox.faults.next('GET /fee', { process: 'never', answer: { status: 418 } });
		expect(
			await statuses(sandbox, ['/fee', '/balance', '/fee', '/balance', '/fee', '/fee']),
		).toEqual([503, 429, 503, 200, 418, 200]);
	});

	test('behind those, the requests that a plan chooses, until both are cleared', async () => {
		const sandbox = await sandboxForTest();
		let count = 0;
		sandbox.faults.plan('GET /fee', () => ((count += 1) % 2 ? undefined : 'serviceUnavailable'));
		expect(await statuses(sandbox, ['/fee', '/fee', '/balance', '/fee', '/fee'])).toEqual([
			200, 503, 200, 200, 503,
		]);
		sandbox.faults.next('GET /fee', 'tooManyRequests', 3);
		expect(await statuses(sandbox, ['/fee', '/fee'])).toEqual([429, 429]);
		sandbox.faults.clear();
		expect(await statuses(sandbox, ['/fee', '/fee'])).toEqual([200, 200]);
	});

	test('none without the API key', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'error500AfterPaying');
		const body = { toUserId, amountEtb: 5 };
		await send(`${sandbox.url}/api/v1/partners/disburse`, 'POST', body);
		expect(paid(sandbox)).toBe(0);
	});
});
