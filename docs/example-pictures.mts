// Takes a picture of each example in the editor: all of them, or those whose file is named on the command line.
// Needs a build, and Chromium at /usr/bin/chromium or where CHROMIUM says.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { N8nApi, type Login } from '../n8n/api.mts';
import {
	CREDENTIAL_NAME,
	CREDENTIAL_TYPE,
	credentialFor,
	exampleFiles,
	importWorkflow,
	readExample,
} from '../n8n/examples.mts';
import { freePort } from '../n8n/ports.mts';
import { startStack } from '../n8n/stack.mts';
import { openBrowser } from '../test/e2e/browser.mts';

const login: Login = { email: 'owner@example.com', password: 'Pictures-1' };
const images = join(import.meta.dirname, 'images', 'examples');

/** Space around the nodes, in pixels. */
const margin = 16;

/** For fonts and transitions, which announce nothing. In ms. */
const settleMs = 1_500;

/** The part of the window that holds nodes and notes. */
async function nodesBox(page: Page) {
	const shown = page.locator('[data-test-id="canvas-node"], [data-test-id="sticky"]');
	const boxes = (await Promise.all((await shown.all()).map(async (node) => node.boundingBox())))
		.filter((box) => box !== null)
		// Room for the names, which are outside of the nodes.
		.map(({ x, y, width, height }) => ({
			left: x - 30,
			top: y,
			right: x + width + 30,
			bottom: y + height + 30,
		}));
	const left = Math.min(...boxes.map((box) => box.left)) - margin;
	const top = Math.min(...boxes.map((box) => box.top)) - margin;
	const right = Math.max(...boxes.map((box) => box.right)) + margin;
	const bottom = Math.max(...boxes.map((box) => box.bottom)) + margin;
	return { x: left, y: top, width: right - left, height: bottom - top };
}

const { positionals: names } = parseArgs({ allowPositionals: true });
const folder = await mkdtemp(join(tmpdir(), 'etb-wallet-pictures-'));
const stack = await startStack({
	folder,
	n8nPort: await freePort(),
	print: (line) => console.log(line),
});
const browser = await openBrowser();
const { page } = browser;
try {
	await mkdir(images, { recursive: true });
	const api = new N8nApi(stack.n8n.url);
	await api.setUpOwner(login);
	const data = credentialFor(stack.sandbox);
	const credential = await api.createCredential(CREDENTIAL_NAME, CREDENTIAL_TYPE, data);
	const answer = await page.context().request.post(`${stack.n8n.url}/rest/login`, {
		data: { emailOrLdapLoginId: login.email, password: login.password },
	});
	if (!answer.ok()) throw new Error(`n8n refused the login: ${answer.status()}`);
	page.setDefaultTimeout(90_000);
	await page.setViewportSize({ width: 1900, height: 1050 });
	for (const file of await exampleFiles()) {
		if (names.length > 0 && !names.includes(file)) continue;
		const id = await importWorkflow(api, await readExample(file), credential);
		await page.goto(`${stack.n8n.url}/workflow/${id}`);
		await page.getByTestId('canvas-node').first().waitFor();
		await page.getByTestId('zoom-to-fit').click();
		await page.mouse.move(0, 0);
		await page.waitForTimeout(settleMs);
		const picture = `${basename(file, '.json')}.png`;
		await page.screenshot({ path: join(images, picture), clip: await nodesBox(page) });
		console.log(`docs/images/examples/${picture}`);
	}
} finally {
	await browser.close();
	await stack.stop();
	await rm(folder, { recursive: true, force: true });
}
