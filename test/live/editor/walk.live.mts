/** A payment whose response is lost is settled as its message says, on the sandbox's page and in the editor alone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { eventually, owner, startLab } from '../../support/lab.mts';
import { openBrowser } from '../../support/editor/browser.mts';
import { Editor } from '../../support/editor/editor.mts';

const PAY = 'Pay';

const browser = await openBrowser();
const { page } = browser;
const lab = await startLab({
	signUp: async (url) => await new Editor(page, url).signUp(owner.email, owner.password),
});
after(async () => {
	await browser.close();
	await lab.stop();
});
const editor = new Editor(page, lab.n8n.url);

/** Chooses a fault for the next payment on the sandbox's page. */
async function breakIt(preset: string): Promise<void> {
	await page.goto(lab.sandbox.url, { waitUntil: 'domcontentloaded' });
	const form = page.locator('form[data-post="/sandbox/faults"]');
	await form.locator('select[name="route"]').selectOption('POST /disburse');
	await form.locator('select[name="preset"]').selectOption({ label: preset });
	await form.getByRole('button', { name: 'Break it' }).click();
	await page.getByText(`→ ${preset}`).first().waitFor();
}

/** Other nodes have names that begin so. */
const payNode = page
	.getByTestId('canvas-node')
	.filter({ has: page.getByText(PAY, { exact: true }) });

/** The text of the open node's output, once it has this. */
const says = async (text: RegExp): Promise<string> =>
	await eventually(String(text), async () => {
		const shown = (await editor.output.innerText()).replaceAll(/\s+/g, ' ');
		return text.test(shown) ? shown : undefined;
	});

const payments = (): number => lab.sandbox.books.disbursements().length;
const wallets = (): number => lab.sandbox.books.users().length;

for (const [preset, name, settled, then] of [
	['Done, but it says that it failed (500)', 'wasPaid', 'settledPaid', /paidBefore/],
	['Not done, it says that it failed (500)', 'wasNotPaid', 'settledNotPaid', /txHash/],
] as const) {
	test(`${preset}: the message is followed, and nobody is paid twice`, async (context) => {
		const id = await lab.add(await readExample('pay-a-user.json'));
		const before = payments();
		const atFirst = before + (preset.startsWith('Done') ? 1 : 0);
		await breakIt(preset);
		await page.goto(`${lab.n8n.url}/workflow/${id}`, { waitUntil: 'domcontentloaded' });
		await payNode.waitFor();
		await editor.executeWorkflow();
		await page
			.getByText('Error in workflow')
			.or(page.getByText(/Problem in node/))
			.first()
			.waitFor();
		await page.getByTestId('zoom-to-fit').click();
		await payNode.dblclick();
		await page.getByTestId('node-parameters').waitFor();
		const message = await says(/unknown.*choose Execute step, and set Mode back/);
		context.diagnostic(message.slice(0, 700));
		const [, mode, reference] =
			/set Mode to (.+?), write (\S+) into Was Paid or Was Not Paid, choose Execute step, and set Mode back/.exec(
				message,
			) ?? [];
		assert.ok(mode !== undefined && reference !== undefined, message);
		assert.equal(payments(), atFirst);
		assert.equal(wallets(), 1);

		await editor.choose('mode', mode);
		await editor.fill(name, reference);
		await editor.executeStep();
		await says(new RegExp(settled));
		assert.equal(payments(), atFirst);

		await editor.choose('mode', 'Pay');
		await editor.executeStep();
		await says(then);
		assert.equal(payments(), before + 1);
		assert.equal(wallets(), 1);

		// The fields must be empty for the next case.
		await editor.choose('mode', mode);
		assert.equal(await editor.field(name).locator('textarea').inputValue(), '');
	});
}
