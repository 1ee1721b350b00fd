/** The pages of the pay gate's desk by what a person does on them. */
import type { Page } from 'playwright-core';

/** The user and password that the desk asks for. */
export const deskLogin = { user: 'bookkeeper', password: 'desk-test-1' };

export class DeskPages {
	private readonly page: Page;
	private readonly url: string;

	/** @param url of n8n, without a slash at the end */
	constructor(page: Page, url: string) {
		this.page = page;
		this.url = url;
	}

	/** Opens the desk and logs in. */
	async openFirst(): Promise<void> {
		const login = `${deskLogin.user}:${deskLogin.password}`;
		await this.page.setExtraHTTPHeaders({
			authorization: `Basic ${Buffer.from(login).toString('base64')}`,
		});
		await this.page.goto(`${this.url}/form/pay-gate-desk`, { waitUntil: 'domcontentloaded' });
		await this.page.setExtraHTTPHeaders({});
	}

	/** Opens the desk, logs in, and chooses what to do. */
	async open(todo: string, name = 'Almaz Tesfaye'): Promise<void> {
		await this.openFirst();
		await this.choose(todo);
		await this.fill('Your name', name);
		await this.send('Continue');
	}

	/** Ticks what begins with this text. */
	async choose(text: string): Promise<void> {
		await this.page.locator('.multiselect-option label').filter({ hasText: text }).first().click();
	}

	/** Fills the field whose title begins with this text. */
	async fill(title: string, value: string): Promise<void> {
		await this.page
			.locator('.form-group')
			.filter({ hasText: title })
			.first()
			.locator('input, textarea')
			.first()
			.fill(value);
	}

	/** Chooses the button, and waits for the page after it. */
	async send(button: string): Promise<void> {
		await this.page.getByRole('button', { name: button }).click();
		await this.page.getByRole('button', { name: button }).waitFor({ state: 'detached' });
		await this.page.getByRole('link', { name: 'Back to the desk' }).waitFor();
	}

	async title(): Promise<string> {
		return await this.page.locator('h1').first().innerText();
	}

	/** The text of the page, its tables included. */
	async text(): Promise<string> {
		return await this.page.locator('body').innerText();
	}

	/** The rows of the table below this heading, by their column titles. */
	async table(heading = ''): Promise<Array<Record<string, string>>> {
		const table =
			heading === ''
				? this.page.locator('table').first()
				: this.page.locator(`h2:has-text("${heading}") + table`);
		const titles = await table.locator('th').allInnerTexts();
		const found: Array<Record<string, string>> = [];
		for (const row of await table.locator('tbody tr').all()) {
			const cells = await row.locator('td').allInnerTexts();
			found.push(Object.fromEntries(titles.map((title, index) => [title, cells[index] ?? ''])));
		}
		return found;
	}
}
