/** Installing and updating in the editor, with workflows of the previous version that go on. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { z } from 'zod';
import { eventWorkflow, startCounter } from '../../support/events.mts';
import type { Execution } from '../../../demo/n8n-api.mts';
import { N8nTestApi } from '../../support/n8n/n8n-test-api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
} from '../../../demo/examples.mts';
import { projectFolder } from '../../../demo/folders.mts';
import { ensureN8nInstalled } from '../../../demo/n8n-install.mts';
import { startN8n } from '../../../demo/n8n-process.mts';
import { runNpm } from '../../../demo/npm.mts';
import { freePort } from '../../../demo/ports.mts';
import { startSandbox } from '../../../sandbox/sandbox.mts';
import { startPackageRegistry } from '../../support/package-registry.mts';
import { eventually, owner } from '../../support/lab.mts';
import { START, list, payNode, start as startNode, workflow } from '../../support/n8n/workflow.mts';
import { everyOperation } from '../../support/every-operation.mts';
import { codesOf, payroll } from '../../support/payroll.mts';

const NAME = 'n8n-nodes-etb-wallet';
/** Nothing is published yet: this version under an older number. From the first release on, the release before. */
const previousVersion = '0.0.9';
const nodeTypes = [`${NAME}.etbWallet`, `${NAME}.etbWalletTrigger`];

await ensureN8nInstalled(() => undefined);
const folder = await mkdtemp(join(tmpdir(), 'n8n-install-'));
const registry = await startPackageRegistry();
const sandbox = await startSandbox();
const counter = await startCounter();
let credentialId: string;
const ids: Record<string, string> = {};

const start = async (port: number) =>
	await startN8n({ userFolder: join(folder, 'n8n'), port, env: registry.env });

let n8n = await start(await freePort());
const api = new N8nTestApi(n8n.url);
await api.setUpOwner(owner);

const run = promisify(execFile);

/** Packs the package in a folder as it would be published; resolves to the tarball. */
async function pack(from: string): Promise<string> {
	const packed = await runNpm(['pack', '--json', '--pack-destination', folder], from);
	const [{ filename }] = z
		.array(z.object({ filename: z.string() }))
		.nonempty()
		.parse(JSON.parse(packed));
	return join(folder, filename);
}

/** This version under another number. */
async function packAs(version: string): Promise<string> {
	await run('tar', ['-xzf', await pack(projectFolder), '-C', folder]);
	const unpacked = join(folder, 'package');
	const manifest = join(unpacked, 'package.json');
	const fields: unknown = JSON.parse(await readFile(manifest, 'utf8'));
	await writeFile(manifest, JSON.stringify({ ...Object(fields), version }));
	return await pack(unpacked);
}

after(async () => {
	await n8n.stop();
	await sandbox.stop();
	await counter.stop();
	await registry.stop();
	await rm(folder, { recursive: true, force: true });
});

const ourTypes = async (): Promise<string[]> =>
	(await api.nodeTypes()).map(({ name }) => name).filter((name) => nodeTypes.includes(name));

test('Settings > Community nodes > Install brings both nodes into a fresh n8n', async () => {
	const { version } = await registry.publish(await packAs(previousVersion));
	assert.deepEqual(await ourTypes(), []);
	const installed = await api.installCommunityPackage(NAME);
	assert.equal(installed.installedVersion, version);
	assert.deepEqual(installed.installedNodes.map(({ type }) => type).toSorted(), nodeTypes);
	assert.deepEqual((await ourTypes()).toSorted(), nodeTypes);
	assert.ok(registry.requests.some((path) => path.endsWith(`${NAME}-${version}.tgz`)));
});

async function runToEnd(name: string): Promise<Execution> {
	const execution = await api.endedExecution(await api.run(ids[name] ?? '', START));
	assert.equal(execution.status, 'success', execution.error);
	return execution;
}

/** Sends an event as the service does, until the trigger has taken it. */
async function deliver(id: string): Promise<void> {
	const { deliveryId } = sandbox.emit('transfer.completed', { id, amountEtb: 1, txHash: '0x1' });
	assert.equal((await sandbox.deliveryEnded(deliveryId)).state, 'delivered', `event ${id}`);
}

async function nobodyIsPaidAgain(): Promise<void> {
	assert.deepEqual(codesOf(await runToEnd('payroll')), Array(3).fill('paidBefore'));
}

/** The payroll pays nobody again, the workflow runs for a new event, and not again for the first one. */
async function stillWorks(newEvent: string): Promise<void> {
	await nobodyIsPaidAgain();
	await deliver('first');
	await deliver(newEvent);
	await eventually(`${newEvent} to run`, () => counter.times.get(newEvent));
	assert.equal(counter.times.get('first'), 1);
}

test('workflows of the previous version pay and receive', async () => {
	credentialId = await api.createCredential(
		CREDENTIAL_NAME,
		CREDENTIAL_TYPE,
		credentialFor(sandbox),
	);
	const rows = payroll({ sandbox }, 'employee', 3);
	for (const [name, file] of Object.entries({
		everyOperation: everyOperation(),
		payroll: workflow('Payroll', [startNode(), list(rows), payNode()]),
		events: eventWorkflow({ events: ['*'], acknowledge: 'onReceived' }, counter.node),
	}))
		ids[name] = await importWorkflow(api, file, credentialId);
	// The workflow sets a URL that nobody answers. The events of its payments would reach the trigger later.
	sandbox.setTimeFactor(0.001);
	await runToEnd('everyOperation');
	for (const { id } of sandbox.books.pendingDeliveries()) await sandbox.deliveryEnded(id);
	sandbox.setTimeFactor(1);
	await api.activate(ids.events ?? '');
	assert.deepEqual(codesOf(await runToEnd('payroll')), ['paid', 'paid', 'paid']);
	await deliver('first');
	await eventually('the event to run', () => counter.times.get('first'));
});

test('Update in the editor brings this version, and everything goes on', async () => {
	const { version } = await registry.publish(await pack(projectFolder));
	const [listed] = await api.communityPackages();
	assert.equal(listed?.updateAvailable, version);
	assert.equal((await api.updateCommunityPackage(NAME)).installedVersion, version);
	assert.deepEqual((await ourTypes()).toSorted(), nodeTypes);
	await stillWorks('after the update');
});

test('after a restart of n8n everything goes on', async () => {
	const { url } = n8n;
	await n8n.stop();
	n8n = await start(Number(new URL(url).port));
	await api.logIn(owner);
	await stillWorks('after the restart');
});

test('every operation does what it did, with every field', async () => {
	const { nodes } = await runToEnd('everyOperation');
	const outputOf = (name: string) => nodes[name]?.[0]?.outputs[0]?.[0];
	assert.equal(outputOf('Fee Update')?.feePercent, 1.5);
	assert.equal(outputOf('Payout Mobile')?.phone, '+251911234567');
	assert.equal(outputOf('Payout Bank')?.accountNumber, '1000123456789');
	assert.deepEqual(
		['Payment', 'Settle', 'Claim of another execution'].map((name) => outputOf(name)?.code),
		['paid', 'paidBefore', 'claimUsed'],
	);
	assert.equal(outputOf('Payment')?.amountEtb, 250.5);
	assert.equal(outputOf('Check List')?.amountEtb, 12_400.5);
});

test('going back: after uninstalling, the older version is installed by its number, and pays nobody again', async () => {
	await api.uninstallCommunityPackage(NAME);
	assert.deepEqual(await ourTypes(), []);
	const older = await api.installCommunityPackage(`${NAME}@${previousVersion}`);
	assert.equal(older.installedVersion, previousVersion);
	await nobodyIsPaidAgain();
});
