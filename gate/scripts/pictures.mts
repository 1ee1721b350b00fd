/** The pictures of the pay gate: its workflows in the real editor, and its desk with payments of every kind. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { readGateWorkflow, withCredentials } from '../../demo/gate.mts';
import { openBrowser } from '../../test/support/editor/browser.mts';
import { DeskPages, deskLogin } from '../../test/support/gate/desk-pages.mts';
import { claim, record, type Answer } from '../../test/support/gate/server.mts';
import { startInstalledGate, type InstalledGate } from '../../test/support/gate/installed-gate.mts';
import { owner } from '../../test/support/lab.mts';
import { canvasBox, boxOf, settled, type Box } from './scenes.mts';

interface Scene {
	installed: InstalledGate;
	page: Page;
	desk: DeskPages;
}

/** The page from the top to the end of what is written on it. */
async function cardBox(page: Page): Promise<Box> {
	const { x, y, width, height } = await boxOf(page.locator('.card').first());
	return { x: x - 16, y: Math.max(0, y - 16), width: width + 32, height: height + 32 };
}

/** Each picture by its file name, and what to show for it. Resolves to the part that is taken. */
const pictures: Record<string, (scene: Scene) => Promise<Box>> = {
	'gate-set-up': async ({ installed, page }) => {
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
	'gate-workflow': async ({ installed, page }) => {
		await page.setViewportSize({ width: 1900, height: 900 });
		await page.goto(`${installed.lab.n8n.url}/workflow/${installed.payGateId}`);
		await page.getByTestId('canvas-node').first().waitFor();
		await page.getByTestId('zoom-to-fit').click();
		await page.mouse.move(0, 0);
		await settled(page);
		return await canvasBox(page, 90);
	},
	'gate-desk': async ({ page, desk }) => {
		await desk.openFirst();
		return await cardBox(page);
	},
	'gate-desk-settle': async ({ page, desk }) => {
		await desk.open('See what needs me');
		await desk.choose('1. ');
		await desk.choose('They were paid');
		await desk.fill('Who told you', 'Ticket 4711, answered on 22 November');
		return await cardBox(page);
	},
	'gate-desk-spent': async ({ page, desk }) => {
		await desk.open('See what was spent');
		return await cardBox(page);
	},
};

async function pay(
	{ gate }: InstalledGate,
	requestedBy: string,
	list: Array<[reference: string, toUserId: string, amountEtb: number, answer: Answer | undefined]>,
): Promise<void> {
	for (const [reference, toUserId, amountEtb, answer] of list) {
		const window = await claim(gate, 'main', [{ reference, toUserId, amountEtb, requestedBy }]);
		if (answer) await record(gate, 'main', window, [{ toUserId, ...answer }]);
	}
}

async function setUp(installed: InstalledGate, page: Page): Promise<Scene> {
	const { lab, credentials } = installed;
	const name = 'Pay gate desk login';
	credentials[name] = await lab.api.createCredential(name, 'httpBasicAuth', deskLogin);
	const desk = withCredentials(await readGateWorkflow('gate-desk.json'), credentials);
	await lab.api.activate(await lab.api.createWorkflow(desk));
	const answer = await page.request.post(`${lab.n8n.url}/rest/login`, {
		data: { emailOrLdapLoginId: owner.email, password: owner.password },
	});
	if (!answer.ok()) throw new Error(`n8n refused the login: ${answer.status()}`);
	const paid: Answer = { outcome: 'paid', txHash: '0x5e1f' };
	const lost: Answer = { outcome: 'unknown', message: 'No answer within 60 s' };
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

/**
 * Takes these pictures, or all of them when there are no names.
 * @param taken is told each name
 */
export async function takeGatePictures(
	folder: string,
	names: string[],
	taken: (name: string) => void,
): Promise<void> {
	const wanted = Object.entries(pictures).filter(
		([name]) => names.length === 0 || names.includes(name),
	);
	if (wanted.length === 0) return;
	const installed = await startInstalledGate();
	const browser = await openBrowser();
	try {
		const scene = await setUp(installed, browser.page);
		for (const [name, prepare] of wanted) {
			await browser.page.setViewportSize({ width: 1280, height: 1500 });
			const clip = await prepare(scene);
			await writeFile(join(folder, `${name}.png`), await settled(browser.page, clip));
			taken(name);
		}
	} finally {
		await browser.close();
		await installed.stop();
	}
}
