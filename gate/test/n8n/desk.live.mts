/** The person's side of the pay gate in the real n8n: set up by its workflow, then the desk in a real browser. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import { readGateWorkflow, withCredentials } from '../../start/workflows.mts';
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
import { startInstalledGate } from '../support/installed-gate.mts';

const installed = await startInstalledGate();
after(async () => await installed.stop());

/** The logins that the set-up makes for this database. */
const loginNames = (): string[] =>
	['pay_desk_', 'pay_gate_'].map((prefix) => `${prefix}${installed.database.database}`);

/** The rows of a query, as they are. */
const found = async (sql: string, values: unknown[] = []): Promise<unknown[]> =>
	await rows(installed.superuser, z.unknown(), sql, values);
const number = async (sql: string): Promise<number> =>
	await value(installed.superuser, z.coerce.number(), sql);

void describe('gate-set-up.json', () => {
	/** Everything in the database that a second set-up could change. */
	const everything = async () =>
		await found(`select c.relname, c.relowner::regrole::text, c.relacl::text, pg_get_viewdef(c.oid) from pg_class c where c.relnamespace = 'etb_wallet'::regnamespace
			 union all select p.oid::regprocedure::text, p.proowner::regrole::text, p.proacl::text, md5(p.prosrc) from pg_proc p where p.pronamespace = 'etb_wallet'::regnamespace
			 union all select rolname, rolpassword, rolcanlogin::text, rolsuper::text from pg_authid
			 union all select m.roleid::regrole::text, m.member::regrole::text, '', '' from pg_auth_members m
			 union all select budget, most_per_day::text, most_per_payment::text, '' from etb_wallet.rules
			 union all select event, by_person, detail, '' from etb_wallet.history order by 1, 2, 3, 4`);

	test('makes record, limits and two logins in one click; a second click changes nothing', async () => {
		assert.equal(
			await number(
				`select most_per_day from etb_wallet.rules where budget = 'main' and requested_by = ''`,
			),
			10_000,
		);
		const before = await everything();
		const again = await installed.setUpAgain();
		assert.deepEqual(
			again.map((login) => [login.User, login.Password]),
			loginNames().map((user) => [user, 'as before: this login was there']),
		);
		assert.deepEqual(await everything(), before);
	});

	test('makes passwords that nobody can guess, and n8n keeps no execution that shows them', async () => {
		const passwords = await rows(
			installed.superuser,
			z.object({ rolpassword: z.string() }),
			'select rolpassword from pg_authid where rolname = any ($1)',
			[loginNames()],
		);
		assert.equal(new Set(passwords.map(({ rolpassword }) => rolpassword)).size, 2);
		const { settings } = await readGateWorkflow('gate-set-up.json');
		assert.deepEqual(settings, {
			executionOrder: 'v1',
			saveManualExecutions: false,
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			saveExecutionProgress: false,
		});
	});

	/** Writes what a person would in Your Budget. */
	async function write(changes: Record<string, string>): Promise<void> {
		const Assignment = z.object({ name: z.string(), value: z.string() }).passthrough();
		const Fields = z.object({ assignments: z.object({ assignments: z.array(Assignment) }) });
		await installed.lab.api.changeWorkflow(installed.setUpId, ({ nodes }) => ({
			nodes: nodes.map((node) => {
				if (node.name !== 'Your Budget') return node;
				const { assignments } = Fields.parse(node.parameters);
				const written = assignments.assignments.map((each) => ({
					...each,
					value: changes[each.name] ?? each.value,
				}));
				return { ...node, parameters: { assignments: { assignments: written }, options: {} } };
			}),
		}));
	}

	test('reads limits as people write them, and refuses what is no amount with what to do', async (t) => {
		t.after(async () => await write({ budget: 'main', mostPerDay: '10000' }));
		await write({ budget: 'other', mostPerDay: '1,250,000.50', mostPerPayment: '' });
		await installed.setUpAgain();
		assert.deepEqual(
			await found(
				`select most_per_day, most_per_payment from etb_wallet.rules where budget = 'other' and requested_by = ''`,
			),
			[{ most_per_day: '1250000.50', most_per_payment: null }],
		);
		await write({ budget: 'third', mostPerDay: '10.000' });
		const { error } = await installed.run(installed.setUpId, 'Set Up');
		assert.match(error ?? '', /This is not an amount: 10\.000\. In Your Budget write/);
		assert.equal(await number(`select count(*) from etb_wallet.rules where budget = 'third'`), 0);
	});

	test('makes new passwords when they are asked for, and only then', async (t) => {
		const passwords = async () =>
			await rows(
				installed.superuser,
				z.object({ rolname: z.string(), rolpassword: z.string() }),
				'select rolname, rolpassword from pg_authid where rolname = any ($1) order by 1',
				[loginNames()],
			);
		t.after(async () => await write({ newPasswords: 'no' }));
		const before = await passwords();
		await write({ newPasswords: 'Yes' });
		const shown = await installed.setUpAgain();
		const now = await passwords();
		assert.equal(new Set([...before, ...now].map(({ rolpassword }) => rolpassword)).size, 4);
		assert.deepEqual(
			shown.map(({ User, Password }) => [User, /^[0-9a-f]{64}$/.test(Password)]),
			now.map(({ rolname }) => [rolname, true]),
		);
	});
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
		const { credentials, lab } = installed;
		credentials[name] = await lab.api.createCredential(name, 'httpBasicAuth', deskLogin);
		const workflow = await readGateWorkflow('gate-desk.json');
		await lab.api.activate(await lab.api.createWorkflow(withCredentials(workflow, credentials)));
		browser = await openBrowser();
		desk = new DeskPages(browser.page, lab.n8n.url);
	});
	beforeEach(async () => {
		await setRules(installed.superuser, 'main', {
			paused: false,
			...{ most_per_day: 10_000, most_per_payment: 5_000, most_per_month: null },
		});
	});

	/** Payments that were handed out and ended with this answer; without one they are being sent. */
	async function sent(payments: Payment[], answer?: Answer): Promise<void> {
		const window = await claim(installed.gate, 'main', payments);
		assert.equal(window.send.length, payments.length, JSON.stringify(window.items));
		if (answer === undefined) return;
		await record(
			installed.gate,
			'main',
			window,
			payments.map(({ toUserId }) => ({ toUserId, ...answer })),
		);
		if (answer.outcome === 'unknown') await endLeases(installed.superuser, 'unknown');
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
			installed.superuser,
			z.string(),
			'select state from etb_wallet.payments where reference = $1 order by attempt desc limit 1',
			[reference],
		);

	test('asks for the login, and says nothing without it', async () => {
		const answer = await fetch(`${installed.lab.n8n.url}/form/pay-gate-desk`);
		assert.equal(answer.status, 401);
		assert.doesNotMatch(await answer.text(), /Pay gate/);
	});

	test('lists what needs somebody, and settles what is ticked as paid and as not paid', async () => {
		await desk.open('See what needs me');
		assert.equal(await desk.title(), 'Nothing needs you');

		await sent(
			[{ reference: 'n-1', toUserId: 'etbw_abebe', amountEtb: 1200.5, requestedBy: 'payroll' }],
			{ outcome: 'unknown', message: 'No answer within 60 s' },
		);
		const failed = { outcome: 'unknown', message: 'Error 500' };
		await sent([{ reference: 'n-2', toUserId: 'etbw_almaz', amountEtb: 950 }], failed);
		await sent([{ reference: 'n-3', toUserId: 'etbw_dawit', amountEtb: 1 }], failed);
		await sent([{ reference: 'n-4', toUserId: 'etbw_eden', amountEtb: 25 }]);
		const before = await number(spentToday);

		await desk.open('See what needs me');
		const listed = await desk.table('To be settled');
		const columns = ['Reference', 'ETB', 'To User ID', 'State', 'Asked for by', 'Why'];
		assert.deepEqual(
			listed.map((row) => columns.map((column) => row[column])),
			[
				['n-1', '1,200.50', 'etbw_abebe', 'unknown', 'payroll', 'No answer within 60 s'],
				['n-2', '950.00', 'etbw_almaz', 'unknown', '', 'Error 500'],
				['n-3', '1.00', 'etbw_dawit', 'unknown', '', 'Error 500'],
			],
		);
		assert.deepEqual(
			(await desk.table('Being sent')).map((row) => row.Reference),
			['n-4'],
		);
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

	test('shows each value of a table at the width of a phone', async (t) => {
		const size = browser.page.viewportSize() ?? { width: 1280, height: 900 };
		t.after(async () => await browser.page.setViewportSize(size));
		await sent([{ reference: 'phone-1', toUserId: 'etbw_phone', amountEtb: 1 }], {
			outcome: 'unknown',
			message: 'No answer within 60 s',
		});
		await browser.page.setViewportSize({ width: 390, height: 844 });
		await desk.open('See what needs me');
		for (const shown of ['State: unknown', 'Why: No answer within 60 s']) {
			const box = await browser.page.locator('td', { hasText: shown }).first().boundingBox();
			assert.ok(box && box.x >= 0 && box.x + box.width <= 390, `${shown} ${JSON.stringify(box)}`);
		}
		await settle(installed.superuser, 'main', 'phone-1', false);
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
		await settle(installed.superuser, 'main', reference, false);
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

	test('says on each page that the database cannot be asked, and that nothing was changed', async (t) => {
		const { lab, credentials, database } = installed;
		const name = 'Pay gate desk';
		const { host, port } = database;
		const reached = {
			...{ host, port, database: database.database, ssl: 'disable' },
			...{ user: loginNames()[0], password: 'not-checked' },
		};
		const use = async (data: object) =>
			await lab.api.updateCredential(z.string().parse(credentials[name]), name, 'postgres', data);
		t.after(async () => await use(reached));
		// Nothing listens on port 1. n8n treats the two differently: only the first ends in the node's error output.
		const tunnel = { sshTunnel: true, sshHost: host, sshPort: 1, sshUser: 'nobody' };
		const unreachable: Array<[object, RegExp, string[]]> = [
			[
				{ port: 1 },
				/Connection refused/,
				[
					...['See what needs me', 'See what was spent', 'Find', 'Stop or resume'],
					...['Change limits', 'Limits of one caller', 'See what happened'],
				],
			],
			[
				{ ...tunnel, sshAuthenticateWith: 'password', sshPassword: 'none' },
				/The desk could not ask the database/,
				['See what needs me'],
			],
		];
		for (const [change, why, todos] of unreachable) {
			await use({ ...reached, ...change });
			for (const todo of todos) {
				await desk.open(todo);
				assert.equal(await desk.title(), 'The desk cannot ask the database', todo);
				assert.match(await desk.text(), /Nothing was changed\. See that PostgreSQL runs/);
			}
			await use(reached);
			await desk.open('Stop or resume');
			await use({ ...reached, ...change });
			await desk.choose('Stop all payments');
			await desk.send('Save');
			assert.match(await desk.title(), /^Nothing was changed/);
			assert.match(await desk.text(), why);
		}
		assert.equal(
			await number("select count(*) from etb_wallet.rules where paused and requested_by = ''"),
			0,
		);
	});
});

test('gate-morning.json ends green when all is well, and red with what needs a person', async () => {
	const { lab, credentials, superuser } = installed;
	await setRules(superuser, 'main', { paused: false });
	await superuser.query('update etb_wallet.rules set paused = false');
	const morning = withCredentials(await readGateWorkflow('gate-morning.json'), credentials);
	const id = await lab.api.createWorkflow(morning);
	for (const { reference } of await rows(
		superuser,
		z.object({ reference: z.string() }),
		'select reference from etb_wallet.open_payments',
	)) {
		await endLeases(superuser, 'sending');
		await settle(superuser, 'main', reference, false);
	}
	assert.equal((await installed.run(id, 'Every Morning')).error, undefined);
	const item = { reference: 'open-1', toUserId: 'etbw_a', amountEtb: 30 };
	await claim(installed.gate, 'main', [item]);
	await endLeases(superuser, 'sending');
	const { error } = await installed.run(id, 'Every Morning');
	assert.match(error ?? '', /1 unknown, 30 ETB: open-1\. Open the desk/);
});
