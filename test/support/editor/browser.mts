/** Debian's Chromium, without a window. */
import { existsSync } from 'node:fs';
import { chromium, selectors } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export interface BrowserWindow {
	page: Page;
	close(): Promise<void>;
}

/** The limit of one step on a busy machine, in ms. */
const STEP_WITHIN_MS = 60_000;

/**
 * Opens a window, of 1440 × 900 unless told, that reaches nothing outside this machine.
 * @throws {Error} when there is no Chromium
 */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<BrowserWindow> {
	if (!existsSync(executablePath))
		throw new Error(
			`There is no Chromium at ${executablePath}. Install it with: sudo apt-get install chromium ` +
				'(or say where it is: CHROMIUM=/path/to/chromium)',
		);
	// n8n's own spelling of the attribute.
	selectors.setTestIdAttribute('data-test-id');
	const browser: Browser = await chromium.launch({
		executablePath,
		args: [
			'--no-sandbox',
			'--headless',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
			// Containers have a small /dev/shm, and the browser stops when it is full.
			'--disable-dev-shm-usage',
			// Intercepting requests instead would turn the browser's cache off.
			'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
		],
	});
	const context = await browser.newContext({
		viewport: { width: 1440, height: 900 },
		colorScheme: 'light',
		reducedMotion: 'reduce',
		...options,
	});
	const page = await context.newPage();
	page.setDefaultTimeout(STEP_WITHIN_MS);
	return { page, close: async () => await browser.close() };
}
