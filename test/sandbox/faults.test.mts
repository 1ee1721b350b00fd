/** Which request a fault hits. The engine tests see what each preset does. */
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { call, sandboxForTest, send, stopAll } from './start.mts';

afterEach(stopAll);

const statuses = async (sandbox: Sandbox, paths: string[]): Promise<number[]> => {
	const answers = [];
	for (const path of paths) answers.push((await call(sandbox, 'GET', path)).status);
	return answers;
};

test('a queued fault hits the next `times` requests to its route, in the order of queueing', async () => {
	const sandbox = await sandboxForTest();
	sandbox.faults.next('GET /fee', 'serviceUnavailable', 2);
	sandbox.faults.next('*', 'tooManyRequests');
	sandbox.faults.next('GET /fee', { process: 'never', answer: { status: 418 } });
	expect(await statuses(sandbox, ['/fee', '/balance', '/fee', '/balance', '/fee', '/fee'])).toEqual(
		[503, 429, 503, 200, 418, 200],
	);
});

test('a plan is asked for each request that no queued fault hits, until it is cleared', async () => {
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

test('a fault hits no request without the API key', async () => {
	const sandbox = await sandboxForTest();
	const { id: toUserId } = sandbox.books.addUser({ externalId: 'a' });
	sandbox.faults.next('POST /disburse', 'error500AfterPaying');
	const body = { toUserId, amountEtb: 5 };
	await send(`${sandbox.url}/api/v1/partners/disburse`, 'POST', body);
	expect(sandbox.books.disbursements()).toEqual([]);
});
