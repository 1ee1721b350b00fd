/** Installing and updating as an owner does it in the editor, with what was there before still working. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { N8nApi, WorkflowFile } from '../../../lab/n8n/api.mts';
import type { Execution } from '../../../lab/n8n/api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	importWorkflow,
} from '../../../lab/n8n/examples.mts';
import { projectFolder } from '../../../lab/n8n/folders.mts';
import { ensureN8nInstalled } from '../../../lab/n8n/install.mts';
import { startN8n } from '../../../lab/n8n/instance.mts';
import type { N8nInstance } from '../../../lab/n8n/instance.mts';
import { runNpm } from '../../../lab/n8n/npm.mts';
import { freePort } from '../../../lab/n8n/ports.mts';
import { startSandbox } from '../../../sandbox/sandbox.mts';
import type { Sandbox } from '../../../sandbox/sandbox.mts';
import { startPackageRegistry } from '../../../lab/package-registry.mts';
import type { PackageRegistry } from '../../../lab/package-registry.mts';
import { eventually, owner } from '../../../lab/lab.mts';

const NAME = 'n8n-nodes-etb-wallet';
const fixtures = join(projectFolder, 'test', 'live', 'n8n', 'fixtures');
/** An older version of the package, and workflows that were saved with it. */
const previousVersion = '0.0.9';
const previousTarball = join(fixtures, `${NAME}-${previousVersion}.tgz`);
const nodeTypes = [`${NAME}.etbWallet`, `${NAME}.etbWalletTrigger`];

let folder: string;
let registry: PackageRegistry;
let sandbox: Sandbox;
let n8n: N8nInstance;
let api: N8nApi;
let credentialId: string;
const ids: Record<string, string> = {};

const start = async (port: number) =>
	await startN8n({ userFolder: join(folder, 'n8n'), port, env: registry.env });

const readFixture = async (name: string): Promise<WorkflowFile> =>
	WorkflowFile.parse(JSON.parse(await readFile(join(fixtures, `${name}.json`), 'utf8')));

before(async () => {
	await ensureN8nInstalled(() => undefined);
	folder = await mkdtemp(join(tmpdir(), 'n8n-install-'));
	registry = await startPackageRegistry();
	sandbox = await startSandbox();
	n8n = await start(await freePort());
	api = new N8nApi(n8n.url);
	await api.setUpOwner(owner);
});
after(async () => {
	await n8n.stop();
	await sandbox.stop();
	await registry.stop();
	await rm(folder, { recursive: true, force: true });
});

const ourTypes = async (): Promise<string[]> =>
	(await api.nodeTypes()).map(({ name }) => name).filter((name) => nodeTypes.includes(name));

test('Settings > Community nodes > Install brings both nodes into a fresh n8n', async () => {
	const { version } = await registry.publish(previousTarball);
	assert.deepEqual(await ourTypes(), []);
	const installed = await api.installCommunityPackage(NAME);
	assert.equal(installed.installedVersion, version);
	assert.deepEqual(installed.installedNodes.map(({ type }) => type).toSorted(), nodeTypes);
	assert.deepEqual((await ourTypes()).toSorted(), nodeTypes);
	assert.ok(registry.requests.some((path) => path.endsWith(`${NAME}-${version}.tgz`)));
});

async function runToEnd(name: string): Promise<Execution> {
	const execution = await api.endedExecution(await api.run(ids[name] ?? '', 'Start'));
	assert.equal(execution.status, 'success', execution.error);
	return execution;
}

const outcomes = ({ nodes }: Execution): unknown[] =>
	(nodes.Pay?.[0]?.outputs[0] ?? []).map(({ outcome }) => outcome);

/** How many events the trigger gave out: the execution of one that came before ends in the trigger. */
async function givenOut(): Promise<number> {
	let count = 0;
	for (const id of await api.executionIds(ids.events ?? '')) {
		const { nodes } = await api.endedExecution(id);
		if ((nodes['ETB Wallet Trigger']?.[0]?.outputs ?? []).flat().length > 0) count++;
	}
	return count;
}

/** Sends an event as the service does; resolves once the trigger has given out so many in all. */
async function deliver(id: string, events: number): Promise<void> {
	const { deliveryId } = sandbox.emit('transfer.completed', { id, amountEtb: 1, txHash: '0x1' });
	const { state } = await sandbox.deliverySettled(deliveryId);
	assert.equal(state, 'delivered', `event ${id}`);
	const given = await eventually(`event ${events}, for ${id}`, async () => {
		const found = await givenOut();
		return found >= events ? found : undefined;
	});
	assert.equal(given, events, `events after ${id}`);
}

test('workflows of the previous version pay and receive', async () => {
	for (const number of [1, 2, 3]) sandbox.books.addUser({ externalId: `employee-${number}` });
	credentialId = await api.createCredential(
		CREDENTIAL_NAME,
		CREDENTIAL_TYPE,
		credentialFor(sandbox),
	);
	for (const name of ['every-operation', 'payroll', 'events']) {
		ids[name] = await importWorkflow(api, await readFixture(name), credentialId);
	}
	// It sets the URL to where nobody answers: the events of its payments would come later, to the trigger.
	sandbox.setTimeFactor(0.001);
	await runToEnd('every-operation');
	for (const { id } of sandbox.books.pendingDeliveries()) await sandbox.deliverySettled(id);
	sandbox.setTimeFactor(1);
	await api.activate(ids.events ?? '');
	assert.deepEqual(outcomes(await runToEnd('payroll')), ['paid', 'paid', 'paid']);
	// The payroll's own events came as well.
	await deliver('first', 4);
	await deliver('second', 5);
});

/** Names of all fields of a node, those in collections included. */
const Field: z.ZodType<{ name: string; type?: string; options?: unknown[]; values?: unknown[] }> =
	z.object({
		name: z.string(),
		type: z.string().optional(),
		options: z.array(z.unknown()).optional(),
		values: z.array(z.unknown()).optional(),
	});
function fieldNames(fields: unknown[]): string[] {
	return fields.flatMap((field) => {
		const { name, type, options = [], values = [] } = Field.parse(field);
		if (type === 'notice' || type === 'hidden') return [];
		const isCollection = type === 'collection' || type === 'fixedCollection';
		return [name, ...fieldNames(isCollection ? options : []), ...fieldNames(values)];
	});
}
function keysIn(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(keysIn);
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, entry]) => [key, ...keysIn(entry)]);
}

test('the saved workflows use every field that the previous version offered', async () => {
	const workflows = await Promise.all(Object.keys(ids).map(readFixture));
	const used = workflows
		.flatMap(({ nodes }) => nodes)
		.filter(({ type }) => nodeTypes.includes(type))
		.flatMap(({ parameters }) => keysIn(parameters));
	const types = (await api.nodeTypes()).filter(({ name }) => nodeTypes.includes(name));
	const offered = types.flatMap(({ properties }) =>
		fieldNames(z.array(z.unknown()).parse(properties)),
	);
	assert.ok(offered.length > 20);
	assert.deepEqual(
		offered.filter((name) => !used.includes(name)),
		[],
	);
});

test('Update in the editor brings this version, and everything goes on', async () => {
	const packed = await runNpm(['pack', '--json', '--pack-destination', folder], projectFolder);
	const [{ filename }] = z
		.array(z.object({ filename: z.string() }))
		.nonempty()
		.parse(JSON.parse(packed));
	const { version } = await registry.publish(join(folder, filename));
	const [listed] = await api.communityPackages();
	assert.equal(listed?.updateAvailable, version);
	assert.equal((await api.updateCommunityPackage(NAME)).installedVersion, version);
	assert.deepEqual((await ourTypes()).toSorted(), nodeTypes);
	await stillWorks(5);
});

test('and after a restart of n8n', async () => {
	const { url } = n8n;
	await n8n.stop();
	n8n = await start(Number(new URL(url).port));
	await api.logIn(owner);
	await stillWorks(6);
});

/** The payroll was paid, the events were received, and the published workflow has the URL. */
async function stillWorks(executionsBefore: number): Promise<void> {
	await nobodyIsPaidAgain();
	await deliver('first', executionsBefore);
	await deliver(`new-${executionsBefore}`, executionsBefore + 1);
}

async function nobodyIsPaidAgain(): Promise<void> {
	assert.deepEqual(outcomes(await runToEnd('payroll')), [
		'alreadyPaid',
		'alreadyPaid',
		'alreadyPaid',
	]);
}

test('a test in the editor leaves the URL with the published workflow', async () => {
	const url = sandbox.books.webhookUrl();
	await api.listenForTestEvent(ids.events ?? '', 'ETB Wallet Trigger');
	assert.equal(sandbox.books.webhookUrl(), url);
	await api.stopListening(ids.events ?? '');
	assert.equal(sandbox.books.webhookUrl(), url);
});

test('every operation with every field still does what it did', async () => {
	const { nodes } = await runToEnd('every-operation');
	const outputOf = (name: string) => nodes[name]?.[0]?.outputs[0]?.[0];
	assert.equal(outputOf('Fee Update')?.feePercent, 1.5);
	assert.equal(outputOf('Payout Bank')?.accountNumber, '1000123456789');
	assert.equal(outputOf('Payment')?.outcome, 'paid');
	assert.equal(outputOf('Payment Mapped')?.outcome, 'paid');
	assert.equal(outputOf('Payment Mapped')?.amountEtb, 12.25);
});

test('going back: uninstall, then install the older version by its number', async () => {
	await api.uninstallCommunityPackage(NAME);
	assert.deepEqual(await ourTypes(), []);
	const older = await api.installCommunityPackage(`${NAME}@${previousVersion}`);
	assert.equal(older.installedVersion, previousVersion);
	await nobodyIsPaidAgain();
});
