/** The approver's page in a browser, as wide as a phone, where what a person sees is made by n8n's own script. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { FormVisitor } from '../../support/form-visitor.mts';
import { owner, startLab } from '../../support/lab.mts';
import { PEOPLE, addRows } from '../../support/people.mts';
import { missingChromium, openBrowser } from '../../support/editor/browser.mts';
import { Editor } from '../../support/editor/editor.mts';

const missing = missingChromium();
if (missing !== undefined) {
	console.error(missing);
	process.exit(1);
}

const FORM = 'etb-file';
const accountant = { email: 'hiwot@example.com', password: 'Second-person-1' };

test('who approves a list that was approved meanwhile reads what to do, and then that it was paid', async () => {
	const browser = await openBrowser({ viewport: { width: 390, height: 844 } });
	const late = browser.page;
	const lab = await startLab({
		signUp: async (url) => await new Editor(late, url).signUp(owner.email, owner.password),
	});
	try {
		await lab.api.activate(await lab.add(await readExample('payroll-from-a-file.json')));
		const first = await FormVisitor.logIn(lab.n8n.url, owner);
		const uploader = await first.invite(accountant, 'Hiwot', 'Alemu');
		const { id: userId } = lab.sandbox.books.addUser({ externalId: 'A-1' });
		await addRows(lab.api, PEOPLE, [
			{ employee: 'A-1', name: 'Abebe Kebede', payroll: 'file', userId },
		]);
		const list = { name: 'october.csv', content: 'employee,name,amountEtb\nA-1,Abebe Kebede,100' };
		const address = await uploader.fillIn(FORM, [list, '']);

		await late.goto(address);
		await late.getByText(/^Approve: pay/).click();
		const wide = await late.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
		await first.choose(address, 'Approve');
		assert.match(await first.read(address), /100\.00 ETB paid/);

		await late.locator('#submit-btn').click();
		await late.locator('#n8n-form').waitFor({ state: 'detached' });
		const shown = await late.evaluate(() => [
			getComputedStyle(document.body).fontSize,
			getComputedStyle(document.body, '::after').content,
		]);
		assert.equal(shown[0], '0px', 'the error that n8n wrote over the page can be read');
		assert.match(shown[1] ?? '', /Reload this page/);
		await late.reload();
		await late.getByText('100.00 ETB paid').waitFor();
		assert.equal(lab.sandbox.books.disbursements().length, 1);
	} finally {
		await browser.close();
		await lab.stop();
	}
});
