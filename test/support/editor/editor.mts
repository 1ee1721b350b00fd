/** n8n's editor, driven as a person does. Each method waits for the page to show the result. */
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { eventually } from '../lab.mts';

/** The views of data in the editor. */
type View = 'schema' | 'table' | 'json';

const Items = z.array(z.record(z.unknown()));

export class Editor {
	readonly page: Page;
	private readonly url: string;

	/** @param url of n8n, without a slash at the end */
	constructor(page: Page, url: string) {
		this.page = page;
		this.url = url;
	}

	/** Fills the form that a new n8n shows first. */
	async signUp(email: string, password: string): Promise<void> {
		await this.page.goto(`${this.url}/setup`, { waitUntil: 'domcontentloaded' });
		const fields = { email, firstName: 'Workflow', lastName: 'Builder', password };
		for (const [name, value] of Object.entries(fields)) {
			await this.page.locator(`input[name="${name}"]`).fill(value);
		}
		await this.page.getByTestId('form-submit-button').click();
		await this.page.getByTestId('project-home-menu-item').waitFor();
	}

	// Credentials

	/** Opens the form for a new credential of the type with this name. */
	async newCredential(type: string): Promise<void> {
		await this.page.goto(`${this.url}/home/credentials`, { waitUntil: 'domcontentloaded' });
		await this.page.getByTestId('add-resource-credential').click();
		await this.page.getByTestId('new-credential-type-select').click();
		await this.page.keyboard.type(type);
		await this.page.getByTestId('new-credential-type-select-option').getByText(type).click();
		await this.page.getByTestId('new-credential-type-button').click();
		await this.page.getByTestId('credential-save-button').waitFor();
	}

	get credential(): Locator {
		return this.page.getByRole('dialog');
	}

	/** Saves the open credential, which n8n then tests. */
	async saveCredential(): Promise<void> {
		await this.page.getByTestId('credential-save-button').click();
	}

	async closeCredential(): Promise<void> {
		await this.credential.getByRole('button', { name: 'Close' }).click();
		await this.credential.waitFor({ state: 'hidden' });
	}

	// Finding nodes

	/** An empty workflow with the list of nodes open. */
	async newWorkflow(): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`, { waitUntil: 'domcontentloaded' });
		await this.page.getByTestId('canvas-plus-button').click();
		await this.page.getByTestId('node-creator-search-bar').waitFor();
	}

	/** Entries of the open list of nodes. */
	listed(text: string): Locator {
		return this.page.getByTestId('node-creator-item-name').getByText(text, { exact: true });
	}

	async search(word: string): Promise<void> {
		await this.page.getByTestId('node-creator-search-bar').fill(word);
	}

	/** Opens an entry of the list, such as "ETB Wallet", with all it can do. */
	async openEntry(entry: string): Promise<void> {
		await this.listed(entry).first().click();
		const actions = this.actions;
		await actions.or(this.page.getByTestId('node-creator-item-name')).first().waitFor();
		// On an empty canvas, n8n shows triggers first and folds the actions.
		const folded = (await this.listed('Get the treasury balance').count()) === 0;
		if (folded && (await actions.isVisible())) await actions.click();
	}

	/** Goes back from an entry to the list. */
	async leaveEntry(): Promise<void> {
		await this.page.getByTestId('nodes-list-header').getByRole('button').first().click();
		// The entry moves out of view while the list moves in.
		await this.actions.waitFor({ state: 'hidden' });
	}

	/** The title above the actions of the open entry. */
	private get actions(): Locator {
		return this.page.getByTestId('node-creator-category-item').filter({ hasText: 'Actions' });
	}

	/** Looks for a node, chooses what it is to do, and waits for its fields. */
	async chooseNode(word: string, entry: string, action: string): Promise<void> {
		await this.search(word);
		await this.openEntry(entry);
		await this.listed(action).click();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	/** Clicks the plus behind the last node, which may be outside of the window. */
	async addAfterLast(): Promise<void> {
		await this.page.getByTestId('zoom-to-fit').click();
		await this.page.getByTestId('canvas-handle-plus').last().click();
		await this.page.getByTestId('node-creator-search-bar').waitFor();
	}

	// The canvas

	canvasNode(name: string): Locator {
		return this.page.getByTestId('canvas-node').filter({ hasText: name });
	}

	/** The mark on a node with an issue, which it names under the mouse. */
	canvasIssues(name: string): Locator {
		return this.canvasNode(name).getByTestId('node-issues');
	}

	async openNode(name: string): Promise<void> {
		await this.canvasNode(name).dblclick();
		await this.page.getByTestId('node-parameters').waitFor();
	}

	async executeWorkflow(): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').click();
	}

	// The open node

	async closeNode(): Promise<void> {
		await this.page.getByTestId('ndv-close-button').click();
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	/** A field of the open node or credential, by its parameter name. */
	field(name: string): Locator {
		return this.page.getByTestId(`parameter-input-${name}`);
	}

	async fill(name: string, value: string): Promise<void> {
		await this.switchTo(name, 'fixed');
		const input = this.field(name).locator('input, textarea');
		await input.fill(value);
		await input.blur();
	}

	/**
	 * Switches a field to "Expression" and types one with another value than before. n8n takes it over a
	 * moment later, when the preview below the field changes.
	 */
	async fillExpression(name: string, expression: string): Promise<void> {
		await this.switchTo(name, 'expression');
		await this.leaveField();
		const preview = `[data-test-id="parameter-expression-preview-${name}"]`;
		const before = await this.page.locator(preview).innerText();
		const content = this.field(name).locator('.cm-content');
		await content.click();
		// The field notices a selection by the keyboard at once, and any other one later.
		await this.page.keyboard.press('ControlOrMeta+a');
		await this.page.keyboard.insertText(expression);
		await this.leaveField();
		await this.page.waitForFunction(
			([selector, text]) => document.querySelector<HTMLElement>(selector)?.innerText !== text,
			[preview, before] as const,
		);
	}

	/** Chooses an option of a list by the name it shows, which its description follows; a list of many stays open. */
	async choose(name: string, ...options: string[]): Promise<void> {
		await this.field(name).click();
		for (const option of options) {
			const begin = new RegExp(`^\\s*${option.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
			await this.page.getByRole('option', { name: begin }).click();
		}
	}

	/** Runs the node, and those before it that have no data yet; a trigger listens. */
	async executeStep(): Promise<void> {
		await this.page.getByTestId('node-execute-button').click();
	}

	get input(): Locator {
		return this.page.getByTestId('ndv-input-panel');
	}

	get output(): Locator {
		return this.page.getByTestId('output-panel');
	}

	async show(view: View, panel: Locator = this.output): Promise<void> {
		await panel.getByTestId(`radio-button-${view}`).click();
	}

	/** The items as the JSON view writes them. */
	async json(): Promise<Array<Record<string, unknown>>> {
		await this.show('json');
		const tree = this.output.locator('.vjs-tree');
		// While the view is drawn it shows half of the items.
		return await eventually('items as JSON', async () => {
			const text = (await tree.innerText()).replaceAll('\u00a0', ' ');
			try {
				return Items.parse(JSON.parse(text));
			} catch (error) {
				if (error instanceof SyntaxError) return undefined;
				throw error;
			}
		});
	}

	/** The fields of the schema view of a panel from top to bottom, with the values of the first item if there are any. */
	async schema(panel: Locator = this.output): Promise<Record<string, string>> {
		await this.show('schema', panel);
		const items = panel.getByTestId('run-data-schema-item');
		await items.first().waitFor();
		const found: Array<{ y: number; name: string; value: string }> = [];
		for (const item of await items.all()) {
			const name = await item.getByTestId('run-data-schema-node-name').first().innerText();
			const value = await item.getByTestId('run-data-schema-item-value').first().innerText();
			found.push({ y: (await item.boundingBox())?.y ?? 0, name, value });
		}
		// The page keeps the fields in another order, and places hidden ones above the window.
		const shown = found.filter(({ y }) => y > 0);
		shown.sort((one, other) => one.y - other.y);
		return Object.fromEntries(shown.map(({ name, value }) => [name, value]));
	}

	/** A field shows its switch between "Fixed" and "Expression" while the mouse is over it. */
	private async switchTo(name: string, mode: 'fixed' | 'expression'): Promise<void> {
		const button = this.page
			.getByTestId(`${name}-parameter-input-options-container`)
			.getByTestId(`radio-button-${mode}`);
		if ((await button.count()) === 0) return;
		if ((await button.getAttribute('aria-checked')) === 'true') return;
		await this.field(name).hover();
		await button.click();
	}

	/** Closes the suggestions for the field that is being edited, which cover its neighbours. */
	private async leaveField(): Promise<void> {
		await this.page.getByTestId('tab-params').click();
		await this.page.getByTestId('inline-expression-editor-output').waitFor({ state: 'hidden' });
	}
}
