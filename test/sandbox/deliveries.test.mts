/** The sandbox's deliveries: retries, restarts and the registered URL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../support/engine/served.mts';
import { ManualClock } from '../../sandbox/clock.mts';
import type { SandboxOptions } from '../../sandbox/sandbox.mts';
import { call, receiverForTest, sandboxForTest, stopAll } from './start.mts';

afterEach(stopAll);

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A sandbox whose deliveries get these responses in turn. */
async function delivering(
	statuses: Parameters<typeof receiverForTest>[0],
	options: SandboxOptions,
) {
	const receiver = await receiverForTest(statuses);
	const sandbox = await sandboxForTest(options);
	sandbox.books.setWebhookUrl(receiver.url);
	return { receiver, sandbox };
}

/** Minutes or seconds between consecutive attempts, in ms. */
const gaps = (attempts: { at: number }[]): number[] =>
	attempts.slice(1).map(({ at }, index) => at - (attempts[index]?.at ?? NaN));

describe('retry schedule (service document §6)', () => {
	test('30 s, 2 min and 8 min after each failure, and no fourth retry', async () => {
		const clock = new ManualClock();
		const { receiver, sandbox } = await delivering([500, 404, 302, 503], { clock });
		const { deliveryId } = sandbox.emit('transfer.completed', { id: 'x' });
		await sandbox.idle();
		expect(receiver.received).toHaveLength(1);

		const delays = [30 * SECOND, 2 * MINUTE, 8 * MINUTE];
		for (const [retry, delay] of delays.entries()) {
			expect(sandbox.books.delivery(deliveryId)).toMatchObject({
				state: 'pending',
				nextAttemptAt: clock.now() + delay,
			});
			await clock.advance(delay - 1);
			await sandbox.idle();
			expect(receiver.received).toHaveLength(retry + 1);
			await clock.advance(1);
			await sandbox.idle();
			expect(receiver.received).toHaveLength(retry + 2);
		}

		const settled = await sandbox.deliveryEnded(deliveryId);
		expect(settled.state).toBe('failed');
		expect(settled.nextAttemptAt).toBeUndefined();
		expect(settled.attempts.map(({ status }) => status)).toEqual([500, 404, 302, 503]);
		expect(gaps(settled.attempts)).toEqual(delays);
		await clock.advance(24 * 60 * MINUTE);
		await sandbox.idle();
		expect(receiver.received).toHaveLength(4);
		const [first, ...later] = receiver.received;
		for (const retry of later) {
			expect(retry.body).toEqual(first?.body);
			expect(retry.headers['x-webhook-signature']).toBe(first?.headers['x-webhook-signature']);
		}
	});

	test('an attempt fails when the receiver refuses, resets or never answers', async () => {
		const hung = await receiverForTest(['hang']);
		const gone = await receiverForTest();
		await gone.close();
		const resetting = await serve(createServer((socket) => socket.resetAndDestroy()));
		const sandbox = await sandboxForTest({ clock: new ManualClock(), deliveryTimeoutMs: 50 });
		const errors: (string | undefined)[] = [];
		for (const url of [hung.url, gone.url, resetting.url]) {
			sandbox.books.setWebhookUrl(url);
			const { deliveryId } = sandbox.emit('transfer.completed', {});
			await sandbox.idle();
			const delivery = sandbox.books.delivery(deliveryId);
			expect(delivery).toMatchObject({ state: 'pending', url });
			errors.push(delivery?.attempts[0]?.error);
		}
		await resetting.close();
		expect(errors).toEqual([
			expect.stringContaining('No response within 50 ms'),
			expect.stringContaining('ECONNREFUSED'),
			expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
		]);
	});
});

describe('restart', () => {
	let folder = '';
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
	});
	afterEach(async () => {
		await stopAll();
		rmSync(folder, { recursive: true });
	});

	test('with an attempt in flight: it is made again', async () => {
		const options = { databaseFile: join(folder, 'sandbox.db') };
		const { receiver, sandbox: first } = await delivering(['hang'], options);
		const { deliveryId } = first.emit('transfer.completed', {});
		const unsettled = first.deliveryEnded(deliveryId);
		const rejected = expect(unsettled).rejects.toThrow('stopped');
		await receiver.first;
		await first.stop();
		await rejected;
		const second = await sandboxForTest(options);
		expect(await second.deliveryEnded(deliveryId)).toMatchObject({
			state: 'delivered',
			attempts: [{ status: 200 }],
		});
	});

	test('the books survive', async () => {
		const options = { databaseFile: join(folder, 'sandbox.db'), treasuryBalance: 50 };
		const first = await sandboxForTest(options);
		const user = first.books.addUser({ externalId: 'a', email: 'a@example.com' });
		await call(first, 'POST', '/disburse', { toUserId: user.id, amountEtb: 20 });
		await call(first, 'PUT', '/fee', { feePercent: 2 });
		await call(first, 'PUT', '/webhook', { webhookUrl: 'https://a.example' });
		const before = [first.books.balance(), first.books.users(), first.books.disbursements()];
		await first.stop();
		const { books } = await sandboxForTest(options);
		expect([books.balance(), books.users(), books.disbursements()]).toEqual(before);
		expect(books.balance().treasuryBalance).toBe(30);
		expect([books.fee(), books.webhookUrl()]).toEqual([2, 'https://a.example']);
	});
});

describe('the registered URL', () => {
	test('a retry goes to the URL that is registered then', async () => {
		const clock = new ManualClock();
		const old = await receiverForTest([500]);
		const current = await receiverForTest();
		const sandbox = await sandboxForTest({ clock });
		sandbox.books.setWebhookUrl(old.url);
		const { deliveryId } = sandbox.emit('transfer.completed', {});
		await sandbox.idle();
		sandbox.books.setWebhookUrl(current.url);
		await clock.advance(30 * SECOND);
		expect(await sandbox.deliveryEnded(deliveryId)).toMatchObject({
			state: 'delivered',
			url: current.url,
		});
		expect([old.received.length, current.received.length]).toEqual([1, 1]);
	});

	test('without a registered URL the event is recorded as failed and never sent', async () => {
		const sandbox = await sandboxForTest();
		const { deliveryId } = sandbox.emit('transfer.completed', {});
		expect(await sandbox.deliveryEnded(deliveryId)).toMatchObject({
			state: 'failed',
			url: '',
			attempts: [],
		});
	});
});
