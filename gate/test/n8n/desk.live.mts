/** The person's side of the pay gate in the real n8n: set up by its workflow, then the desk in a real browser. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import { readGateWorkflow } from '../../start/workflows.mts';
import { openBrowser, type BrowserWindow } from '../../../test/support/editor/browser.mts';
import { DeskPages, deskLogin } from '../support/desk-pages.mts';
import {
	claim,
	endLeases,
	record,
	rows,
	setRules,
	settle,
	value,
	type Answer,
} from '../support/server.mts';
import { startGateLab, writeFields } from '../support/gate-lab.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const { lab, credentials, superuser, gate } = gateLab;

/** The rows of a query, as they are. */
const found = async (sql: string, values: unknown[] = []): Promise<unknown[]> =>
	await rows(superuser, z.unknown(), sql, values);
const number = async (sql: string): Promise<number> =>
	await value(superuser, z.coerce.number(), sql);

void describe('gate-set-up.json', () => {
	test('n8n keeps no execution that shows the passwords', async () => {
		const { settings } = await readGateWorkflow('gate-set-up.json');
		assert.deepEqual(settings, {
			executionOrder: 'v1',
			saveManualExecutions: false,
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			saveExecutionProgress: false,
		});
	});

	test('reads limits as people write them, keeps those that are there, and refuses what is no amount with what to do', async () => {
		const write = async (changes: Record<string, string>) =>
			await writeFields(lab, gateLab.setUpId, 'Your Budget', changes);
		const limits = 'select most_per_day, most_per_payment from etb_wallet.rules where budget = $1';
		await write({ mostPerDay: '1,250,000.50', mostPerPayment: '' });
		await gateLab.setUpAgain();
		await write({ budget: 'other', newPasswords: 'Yes ' });
		const shown = await gateLab.setUpAgain();
		assert.ok(shown.every(({ Password }) => /^[0-9a-f]{64}$/.test(Password)));
		const [first] = await found(limits, ['main']);
		assert.deepEqual(first, { most_per_day: '10000', most_per_payment: '5000' });
		const [other] = await found(limits, ['other']);
		assert.deepEqual(other, { most_per_day: '1250000.50', most_per_payment: null });
		await write({ budget: 'third', mostPerDay: '10.000', newPasswords: 'no' });
		const { error } = await gateLab.run(gateLab.setUpId, 'Set Up');
		assert.match(error ?? '', /This is not an amount: 10\.000\. In Your Budget write/);
		assert.deepEqual(await found(limits, ['third']), []);
	});
});

test('gate-morning.json ends green when all is well, and red with what needs a person', async () => {
	const id = await gateLab.add(await readGateWorkflow('gate-morning.json'));
	assert.equal((await gateLab.run(id, 'Every Morning')).error, undefined);
	await claim(gate, 'main', [{ reference: 'open-1', toUserId: 'etbw_a', amountEtb: 30 }]);
	await endLeases(superuser, 'sending');
	const { error } = await gateLab.run(id, 'Every Morning');
	assert.match(error ?? '', /1 unknown, 30 ETB: open-1\. Open the desk/);
	await settle(superuser, 'main', 'open-1', false);
});

interface Payment {
	reference: string;
	toUserId: string;
	amountEtb: number;
	requestedBy?: string;
}

let browser: BrowserWindow;
let desk: DeskPages;
after(async () => await browser.close());

void describe('gate-desk.json', () => {
	before(async () => {
		const name = 'Pay gate desk login';
		credentials[name] = await lab.api.createCredential(name, 'httpBasicAuth', deskLogin);
		await lab.api.activate(await gateLab.add(await readGateWorkflow('gate-desk.json')));
		browser = await openBrowser();
		desk = new DeskPages(browser.page, lab.n8n.url);
	});
	beforeEach(async () => {
		await setRules(superuser, 'main', {
			paused: false,
			...{ most_per_day: 10_000, most_per_payment: 5_000, most_per_month: null },
		});
	});

	/** Payments that were handed out and ended with this answer; without one they are being sent. */
	async function sent(payments: Payment[], answer?: Answer): Promise<void> {
		const window = await claim(gate, 'main', payments);
		assert.equal(window.send.length, payments.length, JSON.stringify(window.items));
		if (answer === undefined) return;
		const answers = payments.map(({ toUserId }) => ({ toUserId, ...answer }));
		await record(gate, 'main', window, answers);
		if (answer.outcome === 'unknown') await endLeases(superuser, 'unknown');
	}
	/** Of what is ticked on the open page. */
	async function settleTicked(ended: 'They were paid' | 'They were not paid', note: string) {
		await desk.choose(ended);
		await desk.fill('Who told you', note);
		await desk.send('Settle');
	}
	const spentToday =
		"select amount_etb from etb_wallet.spent where budget = 'main' and scope = 'budget' and period = 'day'";
	const state = async (reference: string): Promise<string> =>
		await value(
			superuser,
			z.string(),
			'select state from etb_wallet.payments where reference = $1 order by attempt desc limit 1',
			[reference],
		);

	test('asks for the login, and says nothing without it', async () => {
		const response = await fetch(`${lab.n8n.url}/form/pay-gate-desk`);
		assert.equal(response.status, 401);
		assert.doesNotMatch(await response.text(), /Pay gate/);
	});

	test('lists what needs somebody, also on a phone, and settles what is ticked as paid and as not paid', async () => {
		await desk.open('See what needs me');
		assert.equal(await desk.title(), 'Nothing needs you');

		const item = (reference: string, amountEtb: number) => ({
			...{ reference, amountEtb, toUserId: `etbw_${reference}`, requestedBy: 'payroll' },
		});
		const unknown = { outcome: 'unknown', message: 'No response within 60 s' };
		await sent([item('n-1', 1200.5)], unknown);
		await sent([item('n-2', 950), item('n-3', 1)], { ...unknown, message: 'Error 500' });
		await sent([item('n-4', 25)]);
		const before = await number(spentToday);

		await desk.open('See what needs me');
		const listed = await desk.table('To be settled');
		const columns = ['Reference', 'ETB', 'To User ID', 'State', 'Asked for by', 'Why'];
		assert.deepEqual(
			listed.map((row) => columns.map((column) => row[column])),
			[
				['n-1', '1,200.50', 'etbw_n-1', 'unknown', 'payroll', 'No response within 60 s'],
				['n-2', '950.00', 'etbw_n-2', 'unknown', 'payroll', 'Error 500'],
				['n-3', '1.00', 'etbw_n-3', 'unknown', 'payroll', 'Error 500'],
			],
		);
		assert.deepEqual(
			(await desk.table('Being sent')).map((row) => row.Reference),
			['n-4'],
		);
		const { page } = browser;
		const size = page.viewportSize() ?? { width: 1280, height: 900 };
		await page.setViewportSize({ width: 390, height: 844 });
		for (const shown of ['State: unknown', 'Why: No response within 60 s']) {
			const box = await page.locator('td', { hasText: shown }).first().boundingBox();
			assert.ok(box && box.x >= 0 && box.x + box.width <= 390, `${shown} ${JSON.stringify(box)}`);
		}
		await page.setViewportSize(size);
		await desk.choose('1. n-1');
		await desk.choose('3. n-3');
		await settleTicked('They were not paid', 'Ticket 77, by telephone');
		assert.equal(await desk.title(), 'Settled');
		assert.deepEqual(await desk.table(), [
			{ 'No.': '1', Reference: 'n-1', State: 'not paid' },
			{ 'No.': '3', Reference: 'n-3', State: 'not paid' },
		]);
		assert.deepEqual(
			[await state('n-1'), await state('n-2'), await state('n-3')],
			['notPaid', 'unknown', 'notPaid'],
		);
		assert.equal(await number(spentToday), before - 1201.5);
		assert.deepEqual(
			await found(
				`select by_person, detail from etb_wallet.history where event = 'saidNotPaid' and reference = 'n-1'`,
			),
			[{ by_person: 'Almaz Tesfaye', detail: 'Ticket 77, by telephone' }],
		);

		await desk.open('See what needs me');
		await desk.choose('1. n-2');
		await settleTicked('They were paid', 'Ticket 78');
		assert.equal(await state('n-2'), 'paid');
	});

	test('shows what it was given as text, whatever it looks like, and settles just that', async () => {
		const reference = `<b>$& {{ $execution.id }} $$ "x" 'y' & <img src=x>`;
		const other = `2. ${reference}`;
		await sent(
			[
				{ reference, toUserId: '<i>{{ 1 + 1 }}</i>', amountEtb: 0.5 },
				{ reference: other, toUserId: 'etbw_b', amountEtb: 1 },
			],
			{ outcome: 'unknown', message: '<a href="https://example.com">click</a>' },
		);
		await desk.open('See what needs me', '<u>{{ 2 + 2 }}</u>');
		const listed = await desk.table('To be settled');
		assert.deepEqual(listed.map((row) => row.Reference).sort(), [reference, other].sort());
		assert.ok(listed.some((row) => row['To User ID'] === '<i>{{ 1 + 1 }}</i>'));
		assert.equal(listed[0]?.Why, '<a href="https://example.com">click</a>');
		assert.equal(await browser.page.locator('td :not(b)').count(), 0);
		const place = listed.findIndex((row) => row.Reference === other) + 1;
		await desk.choose(`${place}. `);
		await settleTicked('They were paid', '{{ $json }} <b>$&');
		assert.equal(await desk.title(), 'Settled');
		assert.deepEqual([await state(other), await state(reference)], ['paid', 'unknown']);
		assert.deepEqual(
			await found('select settled_by, reason from etb_wallet.payments where reference = $1', [
				other,
			]),
			[{ settled_by: '<u>{{ 2 + 2 }}</u>', reason: '{{ $json }} <b>$&' }],
		);
		await settle(superuser, 'main', reference, false);
	});

	test('each of the other pages reads and changes the record', async () => {
		const item = { reference: 'find-1', toUserId: 'etbw_find', amountEtb: 40, requestedBy: 'two' };
		await sent([item], { outcome: 'paid', txHash: '0xf00d' });
		await desk.open('See what was spent');
		const [today] = await desk.table('Altogether');
		assert.equal(Number(today?.Spent?.replaceAll(',', '')), await number(spentToday));
		await desk.open('Find a payment');
		await desk.fill('Reference, To User ID', 'FIND\u2013 1');
		await desk.send('Find');
		const [payment] = await desk.table();
		assert.deepEqual([payment?.Reference, payment?.Transaction], ['find-1', '0xf00d']);
		assert.deepEqual(
			(await desk.table('Its history')).map((row) => row.What),
			['handed out', 'paid'],
		);
		await desk.open('Change limits');
		await desk.fill('Most per day', '25,000.50');
		await desk.fill('Most for one person per day', '');
		await desk.send('Save');
		assert.deepEqual(await desk.table(), [{ What: 'Most per day', Now: '25,000.50 ETB' }]);
		await desk.open('Limits of one caller');
		await desk.fill('Caller, as in', 'two');
		await desk.choose('Stop its payments');
		await desk.send('Save');
		assert.doesNotMatch(await desk.text(), /does not know this name/);
		await desk.open('Stop or resume');
		await desk.choose('Stop all payments');
		await desk.send('Save');
		assert.equal(await desk.title(), 'Payments are stopped');
		await desk.open('See what happened');
		const happened = (await desk.table()).slice(0, 3);
		assert.deepEqual(
			happened.map((row) => [row.Detail, row.Who]),
			['{"paused": true}', 'two: {"paused": true}', '{"most_per_day": "25000.50"}'].map(
				(detail) => [detail, 'Almaz Tesfaye'],
			),
		);
	});

	test('says that the database cannot be asked, and that nothing was changed', async (t) => {
		const name = 'Pay gate desk';
		const use = async (changes: object) => {
			const id = z.string().parse(credentials[name]);
			const login = { ...gateLab.login(name), ...changes };
			await lab.api.updateCredential(id, name, 'postgres', login);
		};
		t.after(async () => await use({}));
		// Nothing listens on port 1. n8n treats the two differently: only the first ends in the node's error output.
		const tunnel = { sshTunnel: true, sshHost: '127.0.0.1', sshPort: 1, sshUser: 'nobody' };
		for (const [unreachable, why] of [
			[{ port: 1 }, /Connection refused/],
			[
				{ ...tunnel, sshAuthenticateWith: 'password', sshPassword: 'none' },
				/The desk could not ask the database/,
			],
		] as const) {
			await use(unreachable);
			await desk.open('See what needs me');
			assert.equal(await desk.title(), 'The desk cannot ask the database');
			assert.match(await desk.text(), /Nothing was changed\. See that PostgreSQL runs/);
			await use({});
			await desk.open('Stop or resume');
			await use(unreachable);
			await desk.choose('Stop all payments');
			await desk.send('Save');
			assert.match(await desk.title(), /^Nothing was changed/);
			assert.match(await desk.text(), why);
		}
		const paused = "select count(*) from etb_wallet.rules where paused and requested_by = ''";
		assert.equal(await number(paused), 0);
	});
});
