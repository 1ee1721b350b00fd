/** The approver's page in a browser as wide as a phone, where n8n's own script draws the page. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readExample } from '../../../demo/examples.mts';
import { FormVisitor } from '../../support/form-visitor.mts';
import { owner, paidSince, startLab } from '../../support/lab.mts';
import { faultFor } from '../../support/payroll.mts';
import { PAYMENTS, PEOPLE, addRows, duePeriod, makeTable, rowsOf } from '../../support/people.mts';
import { openBrowser } from '../../support/editor/browser.mts';
import { Editor } from '../../support/editor/editor.mts';

const FORM = 'etb-file';
const accountant = { email: 'hiwot@example.com', password: 'Second-person-1' };

const browser = await openBrowser({ viewport: { width: 390, height: 844 } });
const lab = await startLab({
	signUp: async (url) => await new Editor(browser.page, url).signUp(owner.email, owner.password),
});
after(async () => {
	await browser.close();
	await lab.stop();
});

await makeTable(lab.api, PAYMENTS);
await lab.api.activate(await lab.add(await readExample('payroll-from-a-file.json')));
const first = await FormVisitor.logIn(lab.n8n.url, owner);
await lab.api.addMember(accountant, 'Hiwot', 'Alemu');
const uploader = await FormVisitor.logIn(lab.n8n.url, accountant);

const paid = (since = 0) => paidSince(lab.sandbox, since);

test('the approver of a list that was approved meanwhile reads the next step, and then that it was paid', async () => {
	const late = browser.page;
	const { id: userId } = lab.sandbox.books.addUser({ externalId: 'A-1' });
	await addRows(lab.api, PEOPLE, [
		{ employee: 'A-1', name: 'Abebe Kebede', payroll: 'file', userId },
	]);
	const list = { name: 'october.csv', content: 'employee,name,amountEtb\nA-1,Abebe Kebede,100' };
	const address = await uploader.fillIn(FORM, [list, 'salary', duePeriod()]);

	await late.goto(address);
	await late.getByLabel(/^Approve: pay/).check();
	const wide = await late.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
	await first.choose(address, 'Approve');
	assert.match(await first.read(address), /Paid: 1 person, 100\.00 ETB/);

	// n8n never answers a form that is sent while its execution runs.
	const [, execution = ''] = /form-waiting\/(\d+)/.exec(address) ?? [];
	await lab.api.endedExecution(execution);
	await late.locator('#submit-btn').click();
	await late.locator('#n8n-form').waitFor({ state: 'detached' });
	const shown = await late.evaluate(() => [
		getComputedStyle(document.body).fontSize,
		getComputedStyle(document.body, '::after').content,
	]);
	assert.equal(shown[0], '0px', 'the error that n8n wrote over the page can be read');
	assert.match(shown[1] ?? '', /Reload this page/);
	await late.reload();
	await late.getByRole('heading', { level: 2, name: 'Paid: 1 person, 100.00 ETB' }).waitFor();
	const [text, isCut] = await late
		.locator('code')
		.evaluate((hash) => [hash.textContent, hash.scrollWidth > hash.clientWidth]);
	const [payment] = lab.sandbox.books.disbursements();
	assert.deepEqual([text, isCut], [payment?.txHash, true]);
	assert.deepEqual(paid(), [`${userId} 100`]);
});

test('an unknown one that was paid and one that was not are settled on a phone, from the page alone', async () => {
	const phone = browser.page;
	const already = paid().length;
	const people = ['Abebe', 'Almaz', 'Dawit'].map((name, index) => ({
		employee: `P-${index}`,
		employeeKey: `P${index}`,
		name,
		payroll: 'file',
		userId: lab.sandbox.books.addUser({ externalId: name }).id,
	}));
	await addRows(lab.api, PEOPLE, people);
	const content = [
		'employee,name,amountEtb',
		...people.map(({ employee, name }, index) => `${employee},${name},${100 + index}`),
	].join('\n');
	const upload = async () =>
		await uploader.fillIn(FORM, [{ name: 'list.csv', content }, 'salary', duePeriod()]);
	const send = async (answer: RegExp) => {
		await phone.getByText(answer).click();
		await phone.locator('#submit-btn').click();
	};
	faultFor(
		lab,
		new Map([
			['etbw_Abebe', 'error500AfterPaying'],
			['etbw_Almaz', 'error500BeforePaying'],
		]),
	);
	await phone.goto(await upload());
	await send(/^Approve: pay 303\.00 ETB to 3 people/);
	await phone.getByRole('heading', { level: 2, name: 'UNKNOWN: 2 people, 201.00 ETB' }).waitFor();
	lab.sandbox.faults.clear();
	assert.deepEqual(paid(already), ['etbw_Abebe 100', 'etbw_Dawit 102']);

	const opened = phone.context().waitForEvent('page');
	await phone.getByRole('link', { name: 'What is open' }).click();
	const open = await opened;
	const submit = open.locator('#submit-btn');
	// n8n asks at first whether the form may know who this is.
	const allow = open.getByRole('button', { name: 'Allow access' });
	await submit.or(allow).waitFor({ timeout: 60_000 });
	if (await allow.isVisible()) await allow.click();
	await submit.click({ timeout: 60_000 });
	for (const [name, answer] of [
		['Abebe', 'It was paid'],
		['Almaz', 'It was not paid'],
	] as const)
		await open
			.locator('.inputs-wrapper > div', { hasText: `${name}, ` })
			.getByText(answer, { exact: true })
			.click({ timeout: 60_000 });
	const wide = await open.evaluate(() => document.documentElement.scrollWidth);
	assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
	await submit.click();
	await open.getByRole('heading', { name: 'Recorded as paid' }).waitFor();
	await open.getByRole('heading', { name: 'Recorded as not paid' }).waitFor();
	await open.close();
	assert.deepEqual(paid(already), ['etbw_Abebe 100', 'etbw_Dawit 102']);

	await phone.goto(await upload());
	await send(/^Approve: pay 101\.00 ETB to 1 person/);
	await phone.getByRole('heading', { level: 2, name: 'Paid: 1 person, 101.00 ETB' }).waitFor();
	assert.deepEqual(paid(already), ['etbw_Abebe 100', 'etbw_Almaz 101', 'etbw_Dawit 102']);
	assert.deepEqual(
		(await rowsOf(lab.api, PAYMENTS)).slice(already).map((row) => [row['name'], row['outcome']]),
		people.map(({ name }) => [name, 'paid']),
	);
});
