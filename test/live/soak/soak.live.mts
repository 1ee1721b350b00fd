/** `npm run test:soak`: events for 10 minutes, forged, cut and duplicate ones among them; what n8n's memory does. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { INSPECTABLE, Inspector } from '../../support/inspector.mts';
import { memoryMb } from '../../support/process-usage.mts';
import { eventWorkflow, post, signature, transfer } from '../../support/events.mts';
import { eventually, startLab } from '../../support/lab.mts';

/** For a shorter one. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const PER_SECOND = 20;
/** Of so many deliveries, one each is forged, cut off in the middle and a duplicate. */
const ODD_ONE_IN = 10;
/** Memory at the end, as a multiple of that after the first minute. */
const MOST = 1.1;

/** A request that ends before its body does. */
async function cutOff(url: string, body: string, secret: string): Promise<void> {
	const { hostname, port, pathname } = new URL(url);
	const socket = connect(Number(port), hostname);
	const lines = [
		`POST ${pathname} HTTP/1.1`,
		'Host: n8n',
		`X-Webhook-Signature: ${signature(body, secret)}`,
		'Content-Type: application/json',
		`Content-Length: ${body.length}`,
	];
	socket.on('error', () => undefined);
	socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 20)}`);
	await sleep(100);
	socket.destroy();
}

void test(`${MINUTES} minutes at ${PER_SECOND} events a second`, async (context) => {
	const lab = await startLab({
		env: {
			...INSPECTABLE,
			// What n8n keeps of executions is not the trigger's.
			EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none',
		},
	});
	const inspector = await Inspector.ofLog(lab.n8n.logFile);
	try {
		const id = await lab.add(eventWorkflow());
		await lab.api.activate(id);
		const url = lab.sandbox.books.webhookUrl() ?? '';
		const { webhookSecret } = lab.sandbox;
		const memory = async (): Promise<number> => {
			await inspector.collectGarbage();
			return memoryMb(lab.n8n.pid);
		};
		const statuses = new Map<string, number>();
		const count = (kind: string, status: number | undefined): void => {
			const key = `${kind}: ${status ?? 'not answered'}`;
			statuses.set(key, (statuses.get(key) ?? 0) + 1);
		};
		const sending = new Set<Promise<void>>();
		const begin = (kind: string, send: () => Promise<number | undefined>): void => {
			const one = send().then((status) => count(kind, status));
			sending.add(one);
			void one.finally(() => sending.delete(one));
		};
		const figures: number[] = [];
		const startedAt = Date.now();
		for (let sent = 0; sent < MINUTES * 60 * PER_SECOND; sent++) {
			const body = transfer(`soak-${sent}`);
			begin('genuine', async () => await post(url, body, webhookSecret));
			if (sent % ODD_ONE_IN === 0) {
				begin('forged', async () => await post(url, body, 'not the secret'));
				begin('duplicate', async () => await post(url, body, webhookSecret));
				void cutOff(url, body, webhookSecret);
			}
			if (sent % (60 * PER_SECOND) === 60 * PER_SECOND - 1) {
				figures.push(await memory());
				context.diagnostic(`after minute ${figures.length}: ${Math.round(figures.at(-1) ?? 0)} MB`);
			}
			const early = startedAt + ((sent + 1) * 1000) / PER_SECOND - Date.now();
			if (early > 0) await sleep(early);
		}
		await eventually('the last answers', () => (sending.size === 0 ? true : undefined));
		context.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
		assert.deepEqual([...statuses.keys()].toSorted(), [
			'duplicate: 200',
			'forged: 401',
			'genuine: 200',
		]);
		const [first = 0] = figures;
		const last = figures.at(-1) ?? 0;
		assert.ok(
			last <= first * MOST,
			`${Math.round(first)} MB at first, ${Math.round(last)} at the end`,
		);
	} finally {
		inspector.close();
		await lab.stop();
	}
});
