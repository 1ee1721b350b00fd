/** What n8n's own way of reading would do to the machine with a huge answer. A proxy: `test/engine/proxy.test.mts`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createGzip } from 'node:zlib';
import type { Execution } from '../../../demo/api.mts';
import { importWorkflow } from '../../../demo/examples.mts';
import { list, payNode, start, workflow } from '../../../demo/workflow.mts';
import type { Lab } from '../../support/lab.mts';
import { startLab } from '../../support/lab.mts';
import type { Row } from '../../support/payroll.mts';
import { codesOf, payroll, valuesOf } from '../../support/payroll.mts';

const MB = 1_048_576;

/** A JSON object that says yes: 0.4 MB on the wire, 400 MB unpacked. */
async function packedYes(): Promise<Buffer> {
	const gzip = createGzip({ level: 9 });
	const blanks = Buffer.alloc(4 * MB, ' ');
	const packed: Buffer[] = [];
	gzip.on('data', (chunk: Buffer) => packed.push(chunk));
	gzip.write('{"success":true,"amountEtb":1,"txHash":"0x1"');
	for (let written = 0; written < 400 * MB; written += blanks.length)
		if (!gzip.write(blanks)) await once(gzip, 'drain');
	gzip.end('}');
	await once(gzip, 'end');
	return Buffer.concat(packed);
}

let lab: Lab;
let packed: Buffer;
let requests = 0;
const service = createServer((request, response) => {
	request.resume().once('end', () => {
		requests++;
		response.on('error', () => undefined);
		response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
		response.end(packed);
	});
});

before(async () => {
	packed = await packedYes();
	await once(service.listen(0, '127.0.0.1'), 'listening');
	lab = await startLab();
});
after(async () => {
	await lab?.stop();
	service.closeAllConnections();
	service.close();
});

/** Pays the rows by an account at this address. */
async function payAt(baseUrl: string, rows: Row[]): Promise<Execution> {
	const { id: credentialId } = await lab.addCredential({ baseUrl });
	const pays = payNode({}, { onError: 'continueRegularOutput' });
	const flow = workflow('Payroll', [start(), list(rows), pays]);
	const id = await importWorkflow(lab.api, flow, credentialId);
	return await lab.api.endedExecution(await lab.api.run(id, 'Start'), 60_000);
}

const messagesOf = (execution: Execution): unknown[] => valuesOf(execution, 'message');

/** In bytes. The most memory that n8n had since it was forgotten. */
async function peak(): Promise<number> {
	const status = await readFile(`/proc/${lab.n8n.pid}/status`, 'utf8');
	return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
const forgetPeak = async (): Promise<void> =>
	await writeFile(`/proc/${lab.n8n.pid}/clear_refs`, '5');

void test('an answer of 0.4 MB that unpacks to 400 MB is read up to 1 MB, and n8n stays small', async (context) => {
	assert.ok(packed.length < MB / 2, `${packed.length} bytes`);
	const at = `http://localhost:${(service.address() as AddressInfo).port}`;
	await payAt(at, payroll(lab, 'warm', 1));
	await forgetPeak();
	const atFirst = await peak();
	const paying = payAt(at, payroll(lab, 'packed', 10));
	await Promise.allSettled([paying]);
	const grown = (await peak()) - atFirst;
	context.diagnostic(`n8n grew by ${Math.round(grown / MB)} MB`);
	// One answer alone has 400 MB. What n8n itself takes for a run is below this.
	assert.ok(grown < 256 * MB, `n8n grew by ${Math.round(grown / MB)} MB`);
	const execution = await paying;
	assert.equal(requests, 11);
	assert.deepEqual(codesOf(execution), Array(10).fill('unclear'));
	for (const message of messagesOf(execution))
		assert.match(String(message), /its answer is larger than 1 MB/);
});
