/** The pictures of the documentation, taken from the real editor. */
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { chromium, selectors } from 'playwright-core';
import { N8nApi, type Login } from '../n8n/api.mts';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, importWorkflow } from '../n8n/examples.mts';
import { callNodes, callsWorkflow, eventsWorkflow, idOf, payrollWorkflow } from './workflows.mts';

/** Where a new n8n and a new sandbox are. */
export interface Place {
	n8nUrl: string;
	sandbox: { url: string; apiKey: string; webhookSecret: string };
	/** Folder for the pictures. */
	folder: string;
}

/** What the pictures are taken of. */
interface Scene extends Place {
	api: N8nApi;
	page: Page;
	/** Ids of credentials and workflows. */
	credential: string;
	wrongCredential: string;
	calls: string;
	payroll: string;
	wrongPayroll: string;
	events: string;
	branches: string;
}

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** Of the window, in pixels; single pictures need more. */
const width = 1280;
const height = 800;

const TRIGGER = 'ETB Wallet Trigger';
const login: Login = { email: 'owner@example.com', password: 'Pictures-1' };

/** Each picture by its file name, and what to show for it. Resolves to the part that is taken, or to nothing for all. */
const pictures: Record<string, (scene: Scene) => Promise<Box | undefined>> = {
	nodes: async ({ page, n8nUrl, calls }) => {
		await openCreator(page, `${n8nUrl}/workflow/${calls}`);
		const first = page.getByTestId('node-creator-item-name').filter({ hasText: 'ETB Wallet' });
		const { y } = await boxOf(first.first());
		const creator = await boxOf(page.getByTestId('node-creator'));
		return { ...creator, height: y - creator.y + 66 };
	},
	actions: async ({ page, n8nUrl, calls }) => {
		await page.setViewportSize({ width, height: 1180 });
		await openCreator(page, `${n8nUrl}/workflow/${calls}`);
		await page.getByTestId('node-creator-item-name').getByText('ETB Wallet').first().click();
		await page.getByText('Create a disbursement').waitFor();
		const triggers = page.getByTestId('node-creator-category-item').filter({ hasText: 'Triggers' });
		if (!(await page.getByText('On all events').isVisible())) await triggers.click();
		await page.getByText('On all events').waitFor();
		return await boxOf(page.getByTestId('node-creator'));
	},
	'credential-ok': async ({ page, n8nUrl, credential }) => {
		await page.goto(`${n8nUrl}/home/credentials/${credential}`);
		await page.getByTestId('credentials-config-container-test-success').waitFor();
		return await boxOf(page.getByTestId('editCredential-modal'));
	},
	'credential-failed': async ({ page, n8nUrl, wrongCredential }) => {
		await page.goto(`${n8nUrl}/home/credentials/${wrongCredential}`);
		await page.getByText('More details').click();
		await page.getByText('401').first().waitFor();
		return await boxOf(page.getByTestId('editCredential-modal'));
	},
	...Object.fromEntries(
		Object.entries(callNodes).map(([picture, { name }]) => [
			picture,
			async (scene: Scene) => {
				await scene.page.setViewportSize({ width, height: 1000 });
				await openNode(scene, scene.calls, name);
				return await parametersBox(scene.page);
			},
		]),
	),
	'output-preview': async (scene) => {
		await openNode(scene, scene.payroll, 'Keep a record');
		await scene.page.getByTestId('ndv-input-panel').getByText('txHash').first().waitFor();
		return { ...(await boxOf(scene.page.getByTestId('ndv-input-panel'))), height: 340 };
	},
	'disbursement-create': async (scene) => {
		await openNode(scene, scene.payroll, 'Pay salaries');
		await scene.page.getByTestId('execute-previous-node').click();
		await scene.page.getByTestId('ndv-input-panel').getByText('payroll-2026').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'disbursement-result': async (scene) => {
		await scene.page.setViewportSize({ width: 1900, height });
		await openNode(scene, scene.payroll, 'Pay salaries');
		await scene.page.getByTestId('node-execute-button').click();
		const output = scene.page.getByTestId('output-panel');
		await output.getByText('paid', { exact: true }).first().waitFor();
		return { ...(await boxOf(output)), height: 400 };
	},
	error: async (scene) => {
		await openNode(scene, scene.wrongPayroll, 'Pay salaries');
		await scene.page.getByTestId('node-execute-button').click();
		await scene.page.getByTestId('output-panel').getByText('Amount').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	trigger: async (scene) => {
		await scene.page.setViewportSize({ width, height: 1150 });
		await openNode(scene, scene.branches, TRIGGER);
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'trigger-outputs': async ({ page, n8nUrl, branches }) => {
		await page.goto(`${n8nUrl}/workflow/${branches}`);
		await page.getByTestId('canvas-node').first().waitFor();
		return { x: 340, y: 140, width: 680, height: 570 };
	},
	'trigger-waiting': async (scene) => {
		await openNode(scene, scene.events, TRIGGER);
		await scene.page.getByTestId('node-execute-button').click();
		await scene.page.getByText('Waiting for the partner service').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	'trigger-event': async (scene) => {
		await simulate(scene, 'transfer');
		await scene.page.getByTestId('output-panel').getByText('transfer.completed').first().waitFor();
		return await boxOf(scene.page.getByTestId('ndv'));
	},
	executions: async (scene) => {
		const { api, page, n8nUrl, branches } = scene;
		await api.activate(branches);
		await simulate(scene, 'transfer');
		await simulate(scene, 'deposit');
		await page.goto(`${n8nUrl}/workflow/${branches}/executions`);
		await page.getByText('Succeeded in ').nth(1).waitFor();
		return undefined;
	},
	sandbox: async ({ page, sandbox }) => {
		await page.setViewportSize({ width, height: 1000 });
		await page.goto(sandbox.url);
		return undefined;
	},
};

/** Taken in the dark theme as well. */
const alsoDark = ['disbursement-result', 'trigger-outputs'];

/**
 * Takes all pictures, or those with the given names.
 * @param taken is told each name
 */
export async function takePictures(
	place: Place,
	names: string[],
	taken: (name: string) => void,
): Promise<void> {
	await mkdir(place.folder, { recursive: true });
	const browser = await launch();
	try {
		const scene = await setUp(place, browser);
		const wanted = Object.entries(pictures).filter(
			([name]) => names.length === 0 || names.includes(name),
		);
		for (const [name, prepare] of wanted) {
			await scene.page.setViewportSize({ width, height });
			const clip = await prepare(scene).catch(async (error: unknown) => {
				await scene.page.screenshot({ path: join(tmpdir(), `failed-${name}.png`) });
				throw new Error(`${name}: see failed-${name}.png in ${tmpdir()}`, { cause: error });
			});
			const shoot = async (file: string) => {
				await closeMessages(scene.page);
				await scene.page.waitForTimeout(settleMs);
				await scene.page.screenshot({ path: join(place.folder, `${file}.png`), clip });
			};
			await shoot(name);
			taken(name);
			if (!alsoDark.includes(name)) continue;
			await scene.page.emulateMedia({ colorScheme: 'dark' });
			await shoot(`${name}-dark`);
			await scene.page.emulateMedia({ colorScheme: 'light' });
		}
	} finally {
		await browser.close();
	}
}

/** How long a page may take for one step, in ms: a busy machine is slow. */
const stepMs = 90_000;

/** For fonts and transitions, which announce nothing. In ms. */
const settleMs = 600;

async function launch(): Promise<Browser> {
	// n8n's own spelling of the attribute.
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: [
			'--no-sandbox',
			'--headless',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
		],
	});
}

async function setUp(place: Place, browser: Browser): Promise<Scene> {
	const api = new N8nApi(place.n8nUrl);
	await api.setUpOwner(login);
	const { url: baseUrl, apiKey, webhookSecret } = place.sandbox;
	const data = { baseUrl, apiKey, webhookSecret, allowInsecureHttp: false };
	const credential = await api.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, data);
	const wrongCredential = await api.createCredential('ETB Wallet (old key)', CREDENTIAL_TYPE, {
		...data,
		apiKey: 'expired-key',
	});
	const people = [];
	for (const [externalId, salary] of salaries) {
		const userId = await createUser(place, externalId);
		people.push({ userId, salary, payment: `payroll-2026-11-${externalId}` });
	}
	const add = async (workflow: Parameters<typeof importWorkflow>[1]) =>
		await importWorkflow(api, workflow, credential);
	const onePerEvent = {
		outputPerEvent: true,
		events: ['deposit.mint_queued', 'disburse.completed', 'transfer.completed'],
		additionalOptions: {
			includeHeaders: false,
			maximumAge: 15,
			takeOver: false,
			urlAfterDeactivation: 'https://example.com/events',
			whileTesting: 'share',
		},
	};
	return {
		...place,
		api,
		page: await (await openBrowser(browser, place.n8nUrl)).newPage(),
		credential,
		wrongCredential,
		calls: await add(callsWorkflow()),
		payroll: await add(payrollWorkflow('Payroll', people)),
		wrongPayroll: await add(
			payrollWorkflow(
				'Payroll with a mistake',
				people.map((row, index) => (index === 1 ? { ...row, salary: '9,500.50' } : row)),
			),
		),
		events: await add(eventsWorkflow('Events', { events: ['*'] })),
		branches: await add(eventsWorkflow('One branch per event', onePerEvent)),
	};
}

/** External id and salary in ETB. */
const salaries: Array<[string, number]> = [
	['abebe-1041', 12_400],
	['almaz-1042', 9_500.5],
	['dawit-1043', 15_250.75],
];

async function openBrowser(browser: Browser, n8nUrl: string): Promise<BrowserContext> {
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme: 'light',
		reducedMotion: 'reduce',
	});
	await context.route(
		({ hostname }) => hostname !== '127.0.0.1',
		(route) => route.abort(),
	);
	const answer = await context.request.post(`${n8nUrl}/rest/login`, {
		data: { emailOrLdapLoginId: login.email, password: login.password },
	});
	if (!answer.ok()) throw new Error(`n8n refused the login: ${answer.status()}`);
	context.setDefaultTimeout(stepMs);
	return context;
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body: JSON.stringify(body),
	});
	if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
	return (await answer.json()) as unknown;
}

/** @returns the id to pay to */
async function createUser({ sandbox }: Place, externalId: string): Promise<string> {
	const user = await post(
		`${sandbox.url}/api/v1/partners/users`,
		{ externalId },
		{ authorization: `Bearer ${sandbox.apiKey}` },
	);
	return String(Reflect.get(Object(user) as object, 'id'));
}

async function simulate({ sandbox }: Place, what: 'deposit' | 'transfer'): Promise<void> {
	await post(`${sandbox.url}/sandbox/${what}`, { amountEtb: 1_250.5 });
}

async function openCreator(page: Page, workflowUrl: string): Promise<void> {
	await page.goto(workflowUrl);
	await page.getByTestId('node-creator-plus-button').click();
	await page.getByTestId('node-creator-search-bar').fill('ETB');
	await page.getByTestId('node-creator-item-name').getByText('ETB Wallet').first().waitFor();
}

/** The panel of a node. A new page load: what an earlier picture ran or changed is gone. */
async function openNode({ page, n8nUrl }: Scene, workflow: string, name: string): Promise<void> {
	await page.goto('about:blank');
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

async function boxOf(element: Locator): Promise<Box> {
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
		// What is hidden for now has no box.
		const box = await item.boundingBox();
		if (box !== null) bottom = Math.max(bottom, box.y + box.height);
	}
	return { x: panel.x, y, width: panel.width, height: bottom + 16 - y };
}
