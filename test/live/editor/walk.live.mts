/** A payment whose answer is lost is settled as its message says, on the sandbox's page and in the editor alone. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { eventually, owner, startLab, type Lab } from '../../support/lab.mts';
import { missingChromium, openBrowser, type BrowserWindow } from '../../support/editor/browser.mts';
import { Editor } from '../../support/editor/editor.mts';

const missing = missingChromium();
if (missing !== undefined) {
	console.error(missing);
	process.exit(1);
}

const PAY = 'Pay';

let browser: BrowserWindow;
let lab: Lab;
before(async () => {
	browser = await openBrowser();
	lab = await startLab({
		signUp: async (url) => await new Editor(browser.page, url).signUp(owner.email, owner.password),
	});
});
after(async () => {
	await browser.close();
	await lab.stop();
});

/** With the editor and the sandbox's page, as after `npm start`. */
class Person {
	readonly editor: Editor;
	private readonly lab: Lab;
	private readonly workflowId: string;

	constructor(editor: Editor, lab: Lab, workflowId: string) {
		this.editor = editor;
		this.lab = lab;
		this.workflowId = workflowId;
	}

	/** Chooses a fault for the next payment on the sandbox's page. */
	async breakIt(preset: string): Promise<void> {
		const { page } = this.editor;
		await page.goto(this.lab.sandbox.url, { waitUntil: 'domcontentloaded' });
		const form = page.locator('form[data-post="/sandbox/faults"]');
		await form.locator('select[name="route"]').selectOption('POST /disburse');
		await form.locator('select[name="preset"]').selectOption({ label: preset });
		await form.getByRole('button', { name: 'Break it' }).click();
		await page.getByText(`→ ${preset}`).first().waitFor();
	}

	/** Other nodes have names that begin so. */
	private get payNode() {
		const { page } = this.editor;
		return page.getByTestId('canvas-node').filter({ has: page.getByText(PAY, { exact: true }) });
	}

	async openWorkflow(): Promise<void> {
		await this.editor.page.goto(`${this.lab.n8n.url}/workflow/${this.workflowId}`, {
			waitUntil: 'domcontentloaded',
		});
		await this.payNode.waitFor();
	}

	/** The text of the open node's output. */
	async says(text: RegExp): Promise<string> {
		const { output } = this.editor;
		return await eventually(String(text), async () => {
			const shown = (await output.innerText()).replaceAll(/\s+/g, ' ');
			return text.test(shown) ? shown : undefined;
		});
	}

	async openPay(): Promise<void> {
		await this.editor.page.getByTestId('zoom-to-fit').click();
		await this.payNode.dblclick();
		await this.editor.page.getByTestId('node-parameters').waitFor();
	}

	get paid(): number {
		return this.lab.sandbox.books.disbursements().length;
	}

	get wallets(): number {
		return this.lab.sandbox.books.users().length;
	}
}

void describe('an answer that is lost, settled in the editor', () => {
	for (const [preset, name, settled, after] of [
		['Done, but it says that it failed (500)', 'wasPaid', 'settledPaid', /paidBefore/],
		['Not done, it says that it failed (500)', 'wasNotPaid', 'settledNotPaid', /txHash/],
	] as const) {
		test(`${preset}: the message is followed, and nobody is paid twice`, async (context) => {
			const editor = new Editor(browser.page, lab.n8n.url);
			const id = await lab.add(await readExample('pay-a-user.json'));
			const person = new Person(editor, lab, id);
			const before = person.paid;
			await person.breakIt(preset);
			const atFirst = preset.startsWith('Done') ? 1 : 0;
			await person.openWorkflow();
			await editor.executeWorkflow();
			await editor.page
				.getByText('Error in workflow')
				.or(editor.page.getByText(/Problem in node/))
				.first()
				.waitFor();
			await person.openPay();
			const message = await person.says(/It is unknown whether .* was paid/);
			context.diagnostic(message.slice(0, 700));
			const [, mode, reference] =
				/set Mode to (.+?)(?: \(copy its [^)]*\))?, write (\S+) into Was Paid or Was Not Paid, choose Execute step, and set Mode back/.exec(
					message,
				) ?? [];
			assert.ok(mode !== undefined && reference !== undefined, message);
			assert.equal(person.paid - before, atFirst);
			assert.equal(person.wallets, 1);

			await editor.choose('mode', mode);
			await editor.fill(name, reference);
			await editor.executeStep();
			await person.says(new RegExp(settled));
			assert.equal(person.paid - before, atFirst);

			await editor.choose('mode', 'Pay');
			await editor.executeStep();
			await person.says(after);
			assert.equal(person.paid - before, 1);
			assert.equal(person.wallets, 1);

			// The fields must be empty for the next case.
			await editor.choose('mode', mode);
			assert.equal(await editor.field(name).locator('textarea').inputValue(), '');
		});
	}
});
