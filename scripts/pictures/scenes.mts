/** The pictures of the documentation, taken from the real editor. */
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Login, WorkflowFile } from '../../demo/n8n-api.mts';
import { N8nTestApi } from '../../test/support/n8n/n8n-test-api.mts';
import {
	credentialFor,
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	exampleFiles,
	importWorkflow,
	readExample,
} from '../../demo/examples.mts';
import type { Fault, PresetName, Sandbox } from '../../sandbox/sandbox.mts';
import { openBrowser } from '../../test/support/editor/browser.mts';
import { Editor } from '../../test/support/editor/editor.mts';
import { FormVisitor } from '../../test/support/form-visitor.mts';
import { PAYMENTS, PEOPLE, addRows, duePeriod, makeTable } from '../../test/support/people.mts';
import {
	eventsWorkflow,
	idOf,
	limitsWorkflow,
	payrollWorkflow,
	LIMITS,
	PAY,
	RECORD,
	TRIGGER_NAME,
} from './workflows.mts';

/** The addresses of a new n8n and a new sandbox. */
interface Place {
	n8nUrl: string;
	sandbox: Sandbox;
	/** Folder for the pictures. */
	folder: string;
}

/** The n8n, sandbox and browser of the pictures. */
interface Scene extends Place {
	api: N8nTestApi;
	page: Page;
	editor: Editor;
	/** Id of the credential that works. */
	credential: string;
	/** Creates a workflow and resolves to its id. */
	add: (workflow: WorkflowFile) => Promise<string>;
}

/** A part of the window, in pixels. */
export interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** The size of the window in pixels; some pictures need a larger one. */
const width = 1280;
const height = 800;
/** A width in which the hash of a transaction fits into one line of a table. */
const wide = 2100;

const login: Login = { email: 'owner@example.com', password: 'Pictures-1' };

/** External id and salary in ETB. */
type Person = [string, number | string];

const threePeople: Person[] = [
	['abebe-1041', 12_400],
	['almaz-1042', 9_500.5],
	['dawit-1043', 15_250.75],
];
const sixPeople: Person[] = [
	['abebe', 12_500],
	['almaz', 9_800.5],
	['bekele', 15_000],
	['chaltu', 11_250],
	['dawit', 8_900],
	['eden', 14_300],
];

/** The faults of two of the six payments. */
const faultsByPayee: Record<string, Fault | PresetName> = {
	bekele: {
		process: 'never',
		response: { status: 422, body: JSON.stringify({ message: 'The wallet is closed' }) },
	},
	dawit: 'error500AfterPaying',
};

/**
 * The steps to each picture, by its file name. They resolve to the part of the window to take, or to nothing for
 * the whole.
 */
const pictures: Record<string, (scene: Scene) => Promise<Box | undefined>> = {
	nodes: async (scene) => {
		const { page } = scene;
		await openCreator(scene);
		const first = page.getByTestId('node-creator-item-name').filter({ hasText: 'ETB Wallet' });
		const { y } = await boxOf(first.first());
		const creator = await boxOf(page.getByTestId('node-creator'));
		return { ...creator, height: y - creator.y + 66 };
	},
	actions: async (scene) => {
		const { page, editor } = scene;
		await page.setViewportSize({ width, height: 1180 });
		await openCreator(scene);
		await editor.openEntry('ETB Wallet');
		const triggers = page.getByTestId('node-creator-category-item').filter({ hasText: 'Triggers' });
		if (!(await editor.listed('On all events').isVisible())) await triggers.click();
		await editor.listed('On all events').waitFor();
		return await boxOf(page.getByTestId('node-creator'));
	},
	'credential-ok': async ({ page, n8nUrl, credential }) => {
		await page.setViewportSize({ width, height: 960 });
		await page.goto(`${n8nUrl}/home/credentials/${credential}`);
		await page.getByTestId('credentials-config-container-test-success').waitFor();
		return await boxOf(page.getByTestId('editCredential-modal'));
	},
	'disbursement-options': async (scene) => {
		await scene.page.setViewportSize({ width, height: 1150 });
		await openNode(scene, await scene.add(limitsWorkflow()), LIMITS);
		return await parametersBox(scene.page);
	},
	'output-preview': async (scene) => {
		await openNode(scene, await payroll(scene, threePeople), RECORD);
		await scene.editor.input.getByText('txHash').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'disbursement-create': async (scene) => {
		await openNode(scene, await payroll(scene, threePeople), PAY);
		await scene.page.getByTestId('execute-previous-node').click();
		await scene.editor.input.getByText('payroll-2026').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'disbursement-result': async (scene) => {
		await scene.page.setViewportSize({ width: wide, height });
		await openNode(scene, await payroll(scene, threePeople), PAY);
		await scene.editor.executeStep();
		await scene.editor.output.getByText('paid', { exact: true }).first().waitFor();
		return await tableBox(scene);
	},
	workflow: async (scene) => {
		const { page, editor, n8nUrl } = scene;
		await page.goto(`${n8nUrl}/workflow/${await payroll(scene, threePeople)}`);
		await page.getByTestId('canvas-node').first().waitFor();
		await editor.executeWorkflow();
		await page.getByText('Workflow executed successfully').waitFor();
		return await canvasBox(page);
	},
	error: async (scene) => {
		const people = threePeople.map(
			([id, salary], index): Person => (index === 1 ? [id, '9,500'] : [id, salary]),
		);
		await openNode(scene, await payroll(scene, people), PAY);
		await scene.editor.executeStep();
		await scene.editor.output.getByText('can mean').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'safe-payments-outcomes': async (scene) => {
		await runSix(scene);
		return await tableBox(scene);
	},
	'safe-payments-settled': async (scene) => {
		await runSix(scene);
		await scene.page.setViewportSize({ width: wide, height: 1200 });
		await scene.editor.choose('mode', 'Settle Unknown');
		await scene.editor.fill('wasPaid', 'payroll-2026-11-dawit');
		await scene.editor.executeStep();
		await scene.editor.output.getByText('Settled as paid').first().waitFor();
		return around(await parametersBox(scene.page), await tableBox(scene));
	},
	'safe-payments-stopped': async (scene) => {
		await scene.page.setViewportSize({ width: wide, height: 800 });
		await openNode(scene, await payroll(scene, sixPeople, { concurrency: 1 }), PAY);
		breakTwo(scene);
		await scene.editor.executeStep();
		await scene.editor.output.getByText('From ETB Wallet').click();
		await scene.editor.output.getByText('notAttempted').first().waitFor();
		return await boxOf(scene.editor.output);
	},
	trigger: async (scene) => {
		await scene.page.setViewportSize({ width, height: 1150 });
		const workflow = eventsWorkflow('Events', { events: ['*'] });
		await openNode(scene, await scene.add(workflow), TRIGGER_NAME);
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'approval-page': async ({ n8nUrl, api, page, add }) => {
		await makeTable(api, PAYMENTS);
		const workflowId = await add(await readExample('payroll-from-a-file.json'));
		await api.activate(workflowId);
		const colleague = { email: 'sara@example.com', password: 'Pictures-2' };
		await api.addMember(colleague, 'Sara', 'Bekele');
		const accountant = await FormVisitor.logIn(n8nUrl, colleague);
		const content = [
			'employee,name,amountEtb',
			'E-1041,Abebe Kebede,"12,400.00"',
			'E-1042,Almaz Tesfaye,"9,500.50"',
			'E-1043,Dawit Haile,12.400',
		].join('\n');
		await addRows(
			api,
			PEOPLE,
			['E-1041', 'E-1042', 'E-1043'].map((employee) => ({
				employee,
				name: '',
				payroll: 'file',
				userId: `etbw_${employee}`,
			})),
		);
		const address = await accountant.fillIn('etb-file', [
			{ name: 'october.csv', content },
			'salary',
			duePeriod(),
		]);
		await api.deactivate(workflowId);
		await page.setViewportSize({ width: 390, height: 1020 });
		await page.goto(address);
		await page.getByText('Your decision').waitFor();
		return undefined;
	},
	sandbox: async ({ page, sandbox }) => {
		for (const externalId of sandbox.names.keys()) {
			const { id } = sandbox.books.addUser({ externalId });
			sandbox.books.disburse(id, '12400');
		}
		await page.setViewportSize({ width, height: 1000 });
		await page.goto(sandbox.url);
		return undefined;
	},
	...Object.fromEntries(
		(await exampleFiles()).map((file) => [
			`examples/${basename(file, '.json')}`,
			async ({ page, n8nUrl, add }: Scene) => {
				await page.setViewportSize({ width: 1900, height: 1050 });
				await page.goto(`${n8nUrl}/workflow/${await add(await readExample(file))}`);
				await page.getByTestId('canvas-node').first().waitFor();
				await page.getByTestId('zoom-to-fit').click();
				await page.mouse.move(0, 0);
				await settled(page);
				return await canvasBox(page, 90);
			},
		]),
	),
};

/**
 * Takes all pictures, or those with the given names.
 * @param taken is told each name
 */
export async function takePictures(
	place: Place,
	names: string[],
	taken: (name: string) => void,
): Promise<void> {
	const browser = await openBrowser();
	try {
		const scene = await setUp(place, browser.page);
		const { page } = scene;
		const wanted = Object.entries(pictures).filter(
			([name]) => names.length === 0 || names.includes(name),
		);
		for (const [name, prepare] of wanted) {
			await page.setViewportSize({ width, height });
			// The page and the faults of an earlier picture must be gone.
			await page.goto('about:blank');
			scene.sandbox.faults.clear();
			const clip = await prepare(scene).catch(async (error: unknown) => {
				await page.screenshot({ path: join(tmpdir(), `failed-${name}.png`) });
				throw new Error(`${name}: see failed-${name}.png in ${tmpdir()}`, { cause: error });
			});
			await closeMessages(page);
			const path = join(place.folder, `${name}.png`);
			await mkdir(dirname(path), { recursive: true });
			await writeFile(path, await settled(page, clip));
			taken(name);
		}
	} finally {
		await browser.close();
	}
}

/** Takes a picture once two in a row are the same, because fonts and transitions emit no event. */
export async function settled(page: Page, clip?: Box): Promise<Buffer> {
	const shoot = async () => await page.screenshot({ clip, animations: 'disabled' });
	let [before, now] = [await shoot(), await shoot()];
	for (let tries = 0; !now.equals(before); tries += 1) {
		if (tries === 50) throw new Error('The page does not come to rest');
		[before, now] = [now, await shoot()];
	}
	return now;
}

async function setUp(place: Place, page: Page): Promise<Scene> {
	const api = new N8nTestApi(place.n8nUrl);
	await api.setUpOwner(login);
	const credential = await api.createCredential(
		CREDENTIAL_NAME,
		CREDENTIAL_TYPE,
		credentialFor(place.sandbox),
	);
	const response = await page.request.post(`${place.n8nUrl}/rest/login`, {
		data: { emailOrLdapLoginId: login.email, password: login.password },
	});
	if (!response.ok()) throw new Error(`n8n refused the login: ${response.status()}`);
	for (const [externalId] of [...threePeople, ...sixPeople]) {
		place.sandbox.books.addUser({ externalId });
	}
	return {
		...place,
		api,
		page,
		editor: new Editor(page, place.n8nUrl),
		credential,
		add: async (workflow) => await importWorkflow(api, workflow, credential),
	};
}

/** A new workflow that pays these people; resolves to its id. */
async function payroll(
	{ add }: Scene,
	people: Person[],
	options: Parameters<typeof payrollWorkflow>[1] = {},
): Promise<string> {
	const rows = people.map(([externalId, salary]) => ({
		userId: `etbw_${externalId}`,
		salary,
		payment: `payroll-2026-11-${externalId}`,
	}));
	return await add(payrollWorkflow(rows, options));
}

function breakTwo({ sandbox }: Scene): void {
	sandbox.faults.plan('POST /disburse', ({ bodyText }) => {
		const person = Object.keys(faultsByPayee).find((name) => bodyText.includes(`"etbw_${name}"`));
		return person === undefined ? undefined : faultsByPayee[person];
	});
}

/** Four are paid, one is refused and one is unknown. */
async function runSix(scene: Scene): Promise<void> {
	await scene.page.setViewportSize({ width: wide, height });
	const onError = 'continueErrorOutput';
	await openNode(scene, await payroll(scene, sixPeople, { onError }), PAY);
	breakTwo(scene);
	await scene.editor.executeStep();
	await scene.editor.output.getByText('4 paid, 1 not paid, 1 unknown').waitFor();
	// The editor shows the result a little before it is ready for the next run.
	await scene.page.getByText('Node executed successfully').waitFor();
}

async function openCreator({ page, editor, n8nUrl, add }: Scene): Promise<void> {
	await page.goto(`${n8nUrl}/workflow/${await add(limitsWorkflow())}`);
	await page.getByTestId('node-creator-plus-button').click();
	await editor.search('ETB');
	await editor.listed('ETB Wallet').first().waitFor();
}

/** The panel of a node. */
async function openNode({ page, n8nUrl }: Scene, workflow: string, name: string): Promise<void> {
	await page.goto(`${n8nUrl}/workflow/${workflow}/${idOf(name)}`);
	await page.getByTestId('node-parameters').waitFor();
	await page.getByTestId('parameter-item').first().waitFor();
}

/** n8n's messages in the corner would hide what is under them. */
async function closeMessages(page: Page): Promise<void> {
	for (const close of await page.locator('.el-notification__closeBtn').all()) {
		await close.click({ timeout: 2_000 }).catch(() => undefined); // it may have gone by itself
	}
}

/** The box of an element. */
export async function boxOf(element: Locator): Promise<Box> {
	const box = await element.boundingBox();
	if (box === null) throw new Error(`not visible: ${element.toString()}`);
	return box;
}

/** The parameters of the open node, without the empty space below them. */
async function parametersBox(page: Page): Promise<Box> {
	const { y } = await boxOf(page.getByTestId('ndv-input-panel'));
	const panel = await boxOf(page.getByTestId('node-parameters'));
	let bottom = y;
	for (const item of await page.getByTestId('parameter-item').all()) {
		// A hidden element has no box.
		const box = await item.boundingBox();
		if (box !== null) bottom = Math.max(bottom, box.y + box.height);
	}
	return { x: panel.x, y, width: panel.width, height: bottom + 16 - y };
}

/** The smallest box that has both in it. */
function around(left: Box, right: Box): Box {
	const x = Math.min(left.x, right.x);
	const y = Math.min(left.y, right.y);
	const rightEnd = Math.max(left.x + left.width, right.x + right.width);
	const bottom = Math.max(left.y + left.height, right.y + right.height);
	return { x, y, width: rightEnd - x, height: bottom - y };
}

/** The output panel down to the end of its table. */
async function tableBox({ editor }: Scene): Promise<Box> {
	const panel = await boxOf(editor.output);
	const table = await boxOf(editor.output.locator('table'));
	return { ...panel, height: Math.min(panel.height, table.y + table.height + 16 - panel.y) };
}

/** All nodes and notes on the canvas, with their names below them and the plus behind the last. */
export async function canvasBox(page: Page, toTheRight = 128): Promise<Box> {
	const margin = 64;
	const shown = page.getByTestId(/^(canvas-node|sticky)$/);
	const boxes = await Promise.all((await shown.all()).map(boxOf));
	const x = Math.max(0, Math.min(...boxes.map((box) => box.x)) - margin);
	const y = Math.max(0, Math.min(...boxes.map((box) => box.y)) - margin);
	const right = Math.max(...boxes.map((box) => box.x + box.width)) + toTheRight;
	const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + margin;
	return { x, y, width: right - x, height: bottom - y };
}
