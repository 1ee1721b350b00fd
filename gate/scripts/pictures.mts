// Takes the pictures of the pay gate, or those named on the command line: its workflows in the real editor, and its desk with payments of every kind.
// Needs PostgreSQL, and Chromium at /usr/bin/chromium or where CHROMIUM says.
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import {
	gateFolder,
	readGateExample,
	readGateWorkflow,
	withCredentials,
} from '../start/workflows.mts';
import { openBrowser } from '../../test/support/editor/browser.mts';
import { DeskPages, deskLogin } from '../test/support/desk-pages.mts';
import { claim, record, type Answer } from '../test/support/server.mts';
import { startGateLab, type GateLab } from '../test/support/gate-lab.mts';
import { owner } from '../../test/support/lab.mts';
import { canvasBox, boxOf, settled, type Box } from '../../scripts/pictures/scenes.mts';

interface Scene {
	installed: GateLab;
	page: Page;
	desk: DeskPages;
}

/** The page from the top to the end of what is written on it. */
async function cardBox(page: Page): Promise<Box> {
	const { x, y, width, height } = await boxOf(page.locator('.card').first());
	return { x: x - 16, y: Math.max(0, y - 16), width: width + 32, height: height + 32 };
}

/** A workflow on the canvas. */
async function canvas(page: Page, { lab }: GateLab, id: string): Promise<Box> {
	await page.setViewportSize({ width: 1900, height: 1050 });
	await page.goto(`${lab.n8n.url}/workflow/${id}`);
	await page.getByTestId('canvas-node').first().waitFor();
	await page.getByTestId('zoom-to-fit').click();
	await page.mouse.move(0, 0);
	await settled(page);
	return await canvasBox(page, 90);
}

/** Each picture by its file name, and what to show for it. Resolves to the part that is taken. */
const pictures: Record<string, (scene: Scene) => Promise<Box>> = {
	'set-up': async ({ installed, page }) => {
		// New logins, so that it shows passwords; they are of no use, as this database is gone when the picture is there.
		const { database } = installed.database;
		for (const login of [`pay_gate_${database}`, `pay_desk_${database}`])
			await installed.superuser.query(`drop owned by ${login}; drop role ${login}`);
		await page.setViewportSize({ width: 2900, height: 900 });
		await page.goto(`${installed.lab.n8n.url}/workflow/${installed.setUpId}`);
		await page.getByTestId('execute-workflow-button').click();
		const message = page.getByRole('alert').filter({ hasText: 'Workflow executed successfully' });
		await message.locator('.el-notification__closeBtn').click();
		await message.waitFor({ state: 'detached' });
		await page.getByTestId('canvas-node').filter({ hasText: 'Make the Gate' }).dblclick();
		await page.getByTestId('output-panel').locator('table').waitFor();
		return await boxOf(page.getByTestId('output-panel'));
	},
	workflow: async ({ installed, page }) => await canvas(page, installed, installed.payGateId),
	...Object.fromEntries(
		globSync('examples/*.json', { cwd: gateFolder })
			.map((path) => basename(path))
			.map((file) => [
				basename(file, '.json'),
				async ({ installed, page }: Scene) =>
					await canvas(page, installed, await installed.add(await readGateExample(file))),
			]),
	),
	desk: async ({ page, desk }) => {
		await desk.openFirst();
		return await cardBox(page);
	},
	'desk-settle': async ({ page, desk }) => {
		await desk.open('See what needs me');
		await desk.choose('1. ');
		await desk.choose('They were paid');
		await desk.fill('Who told you', 'Ticket 4711, answered on 22 November');
		return await cardBox(page);
	},
	'desk-spent': async ({ page, desk }) => {
		await desk.open('See what was spent');
		return await cardBox(page);
	},
};

async function pay(
	{ gate }: GateLab,
	requestedBy: string,
	list: Array<[reference: string, toUserId: string, amountEtb: number, answer: Answer | undefined]>,
): Promise<void> {
	for (const [reference, toUserId, amountEtb, answer] of list) {
		const window = await claim(gate, 'main', [{ reference, toUserId, amountEtb, requestedBy }]);
		if (answer) await record(gate, 'main', window, [{ toUserId, ...answer }]);
	}
}

async function setUp(installed: GateLab, page: Page): Promise<Scene> {
	const { lab, credentials } = installed;
	const name = 'Pay gate desk login';
	credentials[name] = await lab.api.createCredential(name, 'httpBasicAuth', deskLogin);
	const desk = withCredentials(await readGateWorkflow('gate-desk.json'), credentials);
	await lab.api.activate(await lab.api.createWorkflow(desk));
	const response = await page.request.post(`${lab.n8n.url}/rest/login`, {
		data: { emailOrLdapLoginId: owner.email, password: owner.password },
	});
	if (!response.ok()) throw new Error(`n8n refused the login: ${response.status()}`);
	const paid: Answer = { outcome: 'paid', txHash: '0x5e1f' };
	const lost: Answer = { outcome: 'unknown', message: 'No response within 60 s' };
	await pay(installed, 'payroll', [
		['payroll-2026-11-E-1041', 'etbw_abebe-1041', 2_400, paid],
		['payroll-2026-11-E-1042', 'etbw_almaz-1042', 1_950.5, lost],
		['payroll-2026-11-E-1043', 'etbw_dawit-1043', 3_250.75, paid],
	]);
	await pay(installed, 'refunds', [
		['refund-2026-0117', 'etbw_eden', 120, { outcome: 'unknown', message: 'Error 500' }],
		['refund-2026-0118', 'etbw_chaltu', 85, undefined],
	]);
	return { installed, page, desk: new DeskPages(page, lab.n8n.url) };
}

const { positionals: names } = parseArgs({ allowPositionals: true });
const wanted = Object.entries(pictures).filter(
	([name]) => names.length === 0 || names.includes(name),
);
const installed = await startGateLab();
const browser = await openBrowser();
try {
	const scene = await setUp(installed, browser.page);
	for (const [name, prepare] of wanted) {
		await browser.page.setViewportSize({ width: 1280, height: 1500 });
		const clip = await prepare(scene);
		const file = join(gateFolder, 'docs', 'images', `${name}.png`);
		await writeFile(file, await settled(browser.page, clip));
		console.log(file);
	}
} finally {
	await browser.close();
	await installed.stop();
}
