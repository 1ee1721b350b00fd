/** The package in the editor of a real n8n, driven by the page alone. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '../../../demo/ports.mts';
import { startStack } from '../../../demo/stack.mts';
import { openBrowser } from '../../support/editor/browser.mts';
import { Editor } from '../../support/editor/editor.mts';

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');
const ENTRY = 'ETB Wallet';

await rm(SCREENSHOTS, { recursive: true, force: true });
await mkdir(SCREENSHOTS, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), 'n8n-e2e-'));
const browser = await openBrowser();
const stack = await startStack({ folder, n8nPort: await freePort(), print: () => undefined });
const editor = new Editor(browser.page, stack.n8n.url);
await editor.signUp('owner@example.com', 'Editor-test-1');
after(async () => {
	await browser.close();
	await stack.stop();
	await rm(folder, { recursive: true, force: true });
});

afterEach(async (context) => {
	if (!('passed' in context) || context.passed) return;
	const path = join(SCREENSHOTS, `failed ${context.name}.png`);
	await editor.page.screenshot({ path, animations: 'disabled' });
});

/** Waits until the page, or a part of it, shows the text. */
const seen = async (text: string | RegExp, part: Pick<Editor['page'], 'getByText'> = editor.page) =>
	await part.getByText(text).first().waitFor();

void describe('the credential', () => {
	test('says why it does not work, and then that it does', async () => {
		await editor.newCredential('ETB Wallet API');
		await editor.fill('baseUrl', stack.sandbox.url);
		await editor.fill('apiKey', 'a-key-of-last-year');
		await editor.fill('webhookSecret', stack.sandbox.webhookSecret);
		await editor.saveCredential();
		await seen('Couldn’t connect with these settings', editor.credential);
		await editor.credential.getByText('More details').click();
		await seen(/does not accept the API key/, editor.credential);
		assert.doesNotMatch(await editor.credential.innerText(), /a-key-of-last-year/);

		await editor.fill('apiKey', stack.sandbox.apiKey);
		await editor.saveCredential();
		await seen('Connection tested successfully', editor.credential);
		await editor.closeCredential();
	});
});

void describe('the list of nodes', () => {
	before(async () => await editor.newWorkflow());

	test('finds both nodes, with their actions and events, by a word of the trade', async () => {
		for (const word of ['ETB Wallet', 'salary']) {
			await editor.search('a word that finds nothing');
			await editor.listed(ENTRY).waitFor({ state: 'hidden' });
			await editor.search(word);
			await editor.openEntry(ENTRY);
			await editor.listed('Pay a user').waitFor();
			await editor.listed('On all events').waitFor();
			await editor.leaveEntry();
		}
	});
});

void describe('payments', () => {
	/** Sees the fields that the node before usually outputs, these first, before anything was run. */
	async function assertPreview(fields: string[]) {
		await seen('Usually outputs the following fields', editor.input);
		let shown: string[] = [];
		// The list fills and moves for a moment.
		for (let tries = 0; tries < 100 && !isDeepStrictEqual(shown, fields); tries += 1) {
			shown = Object.keys(await editor.schema(editor.input)).slice(0, fields.length);
		}
		assert.deepEqual(shown, fields);
	}

	/** Sees the red mark on a node of the canvas, and what it says. */
	async function assertIssue(node: string, text: RegExp) {
		await editor.canvasIssues(node).hover();
		await seen(text);
	}

	test('balance, user wallet and payment, built by hand', async () => {
		await editor.newWorkflow();
		await editor.chooseNode('treasury', ENTRY, 'Get the treasury balance');
		await editor.closeNode();

		await editor.addAfterLast();
		await editor.chooseNode('birr', ENTRY, 'Create a user wallet');
		await assertPreview(['treasuryBalance', 'ethBalance', 'treasuryAddress']);
		await editor.fillExpression(
			'externalId',
			'{{ "employee-" + ($json.treasuryBalance > 1000 ? 7 : 0) }}',
		);
		await editor.fill('email', 'abebe@example.com');
		await editor.closeNode();

		await editor.addAfterLast();
		await editor.chooseNode('payroll', ENTRY, 'Pay a user');
		await assertPreview(['id', 'externalId', 'walletAddress']);
		await editor.closeNode();
		await assertIssue('Pay a user', /Parameter .Reference. is required/);
		await editor.openNode('Pay a user');
		await editor.fillExpression('reference', '{{ "payroll-" + $json.externalId }}');
		await editor.fillExpression('toUserId', '{{ $json.id }}');
		await editor.fillExpression('amountEtb', '{{ 50 * 25.01 }}');
		await editor.closeNode();
		await editor.canvasIssues('Pay a user').waitFor({ state: 'hidden' });

		await editor.addAfterLast();
		await editor.chooseNode('treasury', ENTRY, 'Get the treasury balance');
		await assertPreview(['outcome', 'code', 'reference', 'toUserId', 'amountEtb', 'txHash']);
		await editor.closeNode();

		await editor.executeWorkflow();
		await seen('Workflow executed successfully');

		await editor.openNode('Pay a user');
		const [paid] = stack.sandbox.books.disbursements();
		assert.ok(paid !== undefined, 'nothing was paid');
		const [{ paidAt, walletAddress, ...told } = {}] = await editor.json();
		assert.match(String(walletAddress), /^0x/);
		// The fields of the input item, a user, come along.
		assert.deepEqual(told, {
			outcome: 'paid',
			code: 'paid',
			reference: 'payroll-employee-7',
			toUserId: 'etbw_employee-7',
			amountEtb: 1250.5,
			txHash: paid.txHash,
			id: 'etbw_employee-7',
			externalId: 'employee-7',
			success: true,
		});
		const asText = Object.entries({ ...told, paidAt, walletAddress }).map(([name, value]) => [
			name,
			String(value),
		]);
		assert.deepEqual(await editor.schema(), Object.fromEntries(asText));
	});

	test('an amount that can mean two is an error on the node that says what to enter', async () => {
		await editor.fill('amountEtb', '12,400');
		await editor.fillExpression('reference', 'another-payment');
		await editor.executeStep();
		await seen(/Amount \(ETB\) is "12,400", which can mean 12400 or 12\.4/, editor.output);
		await seen(/Write it with two decimals: 12400\.00/, editor.output);
		assert.equal(stack.sandbox.books.disbursements().length, 1);
		await editor.closeNode();
		await assertIssue('Pay a user', /which can mean 12400 or 12\.4/);
	});
});

void describe('events', () => {
	test('a test listens, and shows the event that arrives', async () => {
		await editor.newWorkflow();
		await editor.chooseNode('deposit', ENTRY, 'On all events');
		await seen('All Events', editor.field('events'));
		await editor.executeStep();
		await editor.page.getByTestId('trigger-listening').waitFor();

		const { id } = stack.sandbox.transfer({ amountEtb: 75 });
		await editor.output.getByText('transfer.completed').first().waitFor();
		const [event] = await editor.json();
		assert.equal(event?.['event'], 'transfer.completed');
		assert.equal(Reflect.get(Object(event?.['data']), 'id'), id);
		assert.equal(Reflect.get(Object(event?.['data']), 'amountEtb'), 75);
		await seen(/^The test has ended\./, editor.output);
		await editor.show('table');
	});
});
