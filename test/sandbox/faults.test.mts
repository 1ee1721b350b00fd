/** Each fault, as a client sees it. */
import { connect } from 'node:net';
import { presetNames, type PresetName } from '../../sandbox/faults.mts';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

/** The answer on the wire. */
interface Seen {
	text: string;
	end: 'open' | 'closed' | 'ECONNRESET';
}

/** Pays 5 ETB over a bare socket, and resolves at its end, or once `until` answers true. */
function payBare(
	sandbox: Sandbox,
	toUserId: string,
	until: (text: string) => boolean,
): { seen: Promise<Seen>; giveUp(): void } {
	const body = JSON.stringify({ toUserId, amountEtb: 5 });
	const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
	let text = '';
	let end: Seen['end'] = 'closed';
	const seen = new Promise<Seen>((resolve) => {
		socket.on('data', (chunk) => {
			text += chunk.toString();
			if (until(text)) resolve({ text, end: 'open' });
		});
		socket.on('error', (error) => {
			end = 'code' in error && error.code === 'ECONNRESET' ? 'ECONNRESET' : 'closed';
		});
		socket.on('close', () => resolve({ text, end }));
	});
	socket.write(
		`POST /api/v1/partners/disburse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${sandbox.apiKey}\r\n` +
			`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
	return { seen, giveUp: () => void socket.destroy() };
}

async function withUser(): Promise<{ sandbox: Sandbox; toUserId: string }> {
	const sandbox = await sandboxForTest();
	return { sandbox, toUserId: sandbox.books.addUser({ externalId: 'a' }).id };
}

/** Resolves when the payment that `preset` hits has arrived. */
const faultNextPayment = (sandbox: Sandbox, preset: PresetName): Promise<void> =>
	new Promise((resolve) =>
		sandbox.faults.plan('POST /disburse', () => {
			resolve();
			return preset;
		}),
	);

const paid = ({ books }: Sandbox): number => books.disbursements().length;

// The answer of each preset, and the number of payments.
const ANSWERED: Partial<Record<PresetName, { paid: boolean; status: number; body: RegExp }>> = {
	refused: { paid: false, status: 422, body: /^\{"error"/ },
	error500AfterPaying: { paid: true, status: 500, body: /^\{"error"/ },
	error500BeforePaying: { paid: false, status: 500, body: /^\{"error"/ },
	tooManyRequests: { paid: false, status: 429, body: /^\{"error"/ },
	serviceUnavailable: { paid: false, status: 503, body: /^\{"error"/ },
	slow: { paid: true, status: 200, body: /^\{"success":true/ },
	emptyBody: { paid: true, status: 200, body: /^$/ },
	invalidJson: { paid: true, status: 200, body: /^\{"success": tru$/ },
	htmlError: { paid: false, status: 500, body: /^<!doctype html>/ },
};
describe('presets that answer', () => {
	test.each(Object.entries(ANSWERED))('%s', async (name, expected) => {
		const { sandbox, toUserId } = await withUser();
		const preset = presetNames.find((known) => known === name);
		if (!preset) throw new Error(name);
		sandbox.faults.next('POST /disburse', preset);
		const answer = await call(sandbox, 'POST', '/disburse', { toUserId, amountEtb: 5 });
		expect(answer.status).toBe(expected.status);
		expect(answer.text).toMatch(expected.body);
		expect(answer.headers.get('retry-after')).toBe(name === 'tooManyRequests' ? '1' : null);
		expect(paid(sandbox)).toBe(expected.paid ? 1 : 0);
		expect(sandbox.books.balance().treasuryBalance).toBe(expected.paid ? 999_995 : 1_000_000);
		// The next request is served as usual.
		expect((await call(sandbox, 'POST', '/disburse', { toUserId, amountEtb: 5 })).status).toBe(200);
	});
});

describe('presets without an answer', () => {
	test.each([
		['timeoutAfterPaying', 1],
		['timeoutBeforePaying', 0],
	] as const)('%s stays open until the client gives up', async (preset, times) => {
		const { sandbox, toUserId } = await withUser();
		const arrived = faultNextPayment(sandbox, preset);
		const silent = payBare(sandbox, toUserId, () => true);
		await arrived;
		// A later request is answered while the first one still hangs.
		expect((await call(sandbox, 'GET', '/fee')).status).toBe(200);
		silent.giveUp();
		expect((await silent.seen).text).toBe('');
		expect(paid(sandbox)).toBe(times);
	});

	test.each([
		['resetAfterPaying', 1],
		['resetBeforePaying', 0],
	] as const)('%s is a TCP reset', async (preset, times) => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', preset);
		const { seen } = payBare(sandbox, toUserId, () => false);
		expect(await seen).toEqual({ text: '', end: 'ECONNRESET' });
		expect(paid(sandbox)).toBe(times);
	});

	test('cutBody sends half of the body under the full length, then closes', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'cutBody');
		const { text, end } = await payBare(sandbox, toUserId, () => false).seen;
		const [head = '', body = ''] = text.split('\r\n\r\n');
		expect(end).toBe('closed');
		expect(body).toHaveLength(Math.ceil(Number(/content-length: (\d+)/i.exec(head)?.[1]) / 2));
		expect(paid(sandbox)).toBe(1);
	});
});

describe('presets whose answer never ends', () => {
	test('drippingBody sends a byte and another one, until the client gives up', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'drippingBody');
		const bytes = (text: string): number => text.match(/^1\r\n \r\n/gm)?.length ?? 0;
		const endless = payBare(sandbox, toUserId, (text) => bytes(text) === 3);
		const { text, end } = await endless.seen;
		endless.giveUp();
		expect(end).toBe('open');
		expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
		expect(bytes(text)).toBe(3);
		expect(paid(sandbox)).toBe(1);
	});

	test('switchingProtocols answers 101 and leaves the connection open', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'switchingProtocols');
		const endless = payBare(sandbox, toUserId, (text) => text.endsWith('\r\n\r\n'));
		const { text, end } = await endless.seen;
		expect(end).toBe('open');
		expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
		expect(text).toMatch(/^connection: Upgrade\r\nupgrade: websocket\r\n/im);
		expect(paid(sandbox)).toBe(1);
		endless.giveUp();
	});

	test('stop() closes them', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'drippingBody');
		let answered = (): void => {};
		const begun = new Promise<void>((resolve) => (answered = resolve));
		const endless = payBare(sandbox, toUserId, () => {
			answered();
			return false;
		});
		await begun;
		await sandbox.stop();
		expect((await endless.seen).end).toBe('closed');
	});
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

	test('the requests that a plan chooses, until it is cleared', async () => {
		const sandbox = await sandboxForTest();
		let count = 0;
		sandbox.faults.plan('GET /fee', (request) => {
			expect(request.path).toBe('/api/v1/partners/fee');
			return (count += 1) % 2 === 0 ? 'serviceUnavailable' : undefined;
		});
		expect(await statuses(sandbox, ['/fee', '/fee', '/balance', '/fee', '/fee'])).toEqual([
			200, 503, 200, 200, 503,
		]);
		sandbox.faults.next('GET /fee', 'tooManyRequests');
		sandbox.faults.clear();
		expect(await statuses(sandbox, ['/fee', '/fee'])).toEqual([200, 200]);
	});

	test('faults do not get around the API key', async () => {
		const { sandbox, toUserId } = await withUser();
		sandbox.faults.next('POST /disburse', 'error500AfterPaying');
		const body = { toUserId, amountEtb: 5 };
		await send(`${sandbox.url}/api/v1/partners/disburse`, 'POST', body);
		expect(paid(sandbox)).toBe(0);
	});
});
