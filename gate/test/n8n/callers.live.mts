/** The callers that pay through the gate in the real n8n: payroll, an agent with approval, MCP clients, and a list that was paid without it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { z } from 'zod';
import { readGateExample, readGateWorkflow } from '../../start/workflows.mts';
import { START, callOf, list, start, workflow } from '../../../test/support/n8n/workflow.mts';
import { chat, startChatModel } from '../../../test/support/chat-model.mts';
import { paidSince, timesPaid } from '../../../test/support/lab.mts';
import { itemsOf } from '../../../test/support/payroll.mts';
import { PAYMENTS, PEOPLE, addRows, makeTable, rowsOf } from '../../../test/support/people.mts';
import { openBrowser } from '../../../test/support/editor/browser.mts';
import { startGateLab, writeFields } from '../support/gate-lab.mts';
import { setRules, settle, value } from '../support/server.mts';

const gateLab = await startGateLab();
after(async () => await gateLab.stop());
const { lab, superuser, credentials } = gateLab;
const { api, sandbox } = lab;
const setLimits = async (limits: object, caller?: string) =>
	await setRules(superuser, 'main', limits, caller);
await setLimits({ most_per_day: 1_000_000, most_per_payment: 20_000 });

const paid = (since: number): string[] => paidSince(sandbox, since);
const payments = (): number => sandbox.books.disbursements().length;

void describe('payroll-through-the-gate.json', () => {
	test('pays each salary once, whoever asks, and ends in red with those whom the limits did not allow', async () => {
		const people = [
			{ employee: 'E-3041', name: 'Yonas Tadesse', amountEtb: 13_100 },
			{ employee: 'E-3042', name: 'Sara Mengistu', amountEtb: 10_250.5 },
			{ employee: 'E-3043', name: 'Bekele Worku', amountEtb: 9900 },
		].map((person) => ({
			...{ ...person, employeeKey: person.employee.replace('-', ''), payroll: 'other' },
			userId: sandbox.books.addUser({ externalId: person.employee }).id,
		}));
		await makeTable(api, PAYMENTS);
		await addRows(api, PEOPLE, people);
		const pay = async (id: string) => (await gateLab.run(id, 'Every 25th')).error;
		/** The row of the register for each person. */
		const registered = async (column: string) =>
			(await rowsOf(api, PAYMENTS)).map((row) => `${String(row.name)} ${String(row[column])}`);
		const id = await gateLab.add(await readGateExample('payroll-through-the-gate.json'));
		const already = payments();
		await setLimits({ most_per_payment: 12_000 });
		assert.match(
			(await pay(id)) ?? '',
			/: 1 of 3 need you: Yonas Tadesse, .*notPaid: Above the most for one payment, 12000 ETB/,
		);
		assert.deepEqual(await registered('outcome'), [
			'Yonas Tadesse notPaid',
			'Sara Mengistu paid',
			'Bekele Worku paid',
		]);
		await setLimits({ most_per_payment: 20_000 });

		assert.equal(await pay(id), undefined);
		// A copy of the workflow pays nobody again, and keeps the hash that each payment had.
		const copy = await gateLab.add(await readGateExample('payroll-through-the-gate.json'));
		assert.equal(await pay(copy), undefined);
		const books = sandbox.books.disbursements().slice(already);
		assert.deepEqual(
			(await registered('txHash')).sort(),
			people
				.map(({ name, userId }) => {
					const payment = books.find(({ toUserId }) => toUserId === userId);
					return `${name} ${String(payment?.txHash)}`;
				})
				.sort(),
		);
		assert.deepEqual(
			paid(already),
			people.map(({ userId, amountEtb }) => `${userId} ${amountEtb}`),
		);
	});

	test('who is unknown is settled at the desk, and the next run tells the register', async (t) => {
		const { id: userId } = sandbox.books.addUser({ externalId: 'E-3044' });
		const person = { employee: 'E-3044', employeeKey: 'E3044', name: 'Hanna Tesfaye' };
		await addRows(api, PEOPLE, [{ ...person, amountEtb: 70, payroll: 'other', userId }]);
		const id = await gateLab.add(await readGateExample('payroll-through-the-gate.json'));
		const ends = async () => {
			const { error } = await gateLab.run(id, 'Every 25th');
			const rows = await rowsOf(api, PAYMENTS);
			return { error, row: rows.find(({ name }) => name === person.name) };
		};
		sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
			bodyText.includes(userId) ? 'error500AfterPaying' : undefined,
		);
		t.after(() => sandbox.faults.clear());
		const unknown = await ends();
		assert.equal(unknown.row?.['outcome'], 'unknown');
		await settle(superuser, 'main', String(unknown.row['reference']), true);
		const settled = await ends();
		assert.deepEqual([settled.error, settled.row?.['outcome']], [undefined, 'paid']);
		assert.deepEqual(timesPaid(sandbox, [{ toUserId: userId }]), [1]);
	});
});

void describe('agent-through-the-gate.json', () => {
	test('pays only after a person approved, within the limits of its caller, and once', async (t) => {
		const model = await startChatModel();
		t.after(async () => await model.close());
		const example = await readGateExample('agent-through-the-gate.json');
		const workflowId = await gateLab.add(await model.inWorkflow(lab.api, example));
		await api.activate(workflowId);
		t.after(async () => await api.deactivate(workflowId));
		const toUserId = sandbox.books.addUser({ externalId: 'agent-test' }).id;
		await setLimits({ most_per_day: 100 }, 'agent');

		async function ask(chatInput: string, ...choices: string[]): Promise<string> {
			const { questions, execution } = await chat(lab, workflowId, chatInput, choices);
			assert.equal(questions.length, choices.length);
			for (const question of questions) assert.match(question, new RegExp(toUserId));
			const answered = z.object({ output: z.string() }).safeParse(itemsOf(execution, 'Agent')[0]);
			return answered.data?.output ?? String(execution.error);
		}

		const already = payments();
		await ask(`Pay 50 ETB to ${toUserId}`, 'Decline');
		assert.equal(payments(), already);
		assert.match(await ask(`Pay 75 ETB to ${toUserId}`, 'Approve'), /outcome\W+paid/);
		assert.match(
			await ask(`Pay 30 ETB to ${toUserId}`, 'Approve'),
			/Above the most for this caller and day, 100 ETB/,
		);
		assert.match(
			await ask(`Pay 20 ETB to ${toUserId} twice`, 'Approve', 'Approve'),
			/outcome\W+alreadyPaid/,
		);
		assert.deepEqual(paid(already), [`${toUserId} 20`, `${toUserId} 75`]);
	});
});

void describe('agents outside of n8n (MCP)', () => {
	const token = 'mcp-test-token-1';
	const ToolResponse = z.object({ result: z.record(z.unknown()) });
	const Content = z.object({ content: z.array(z.object({ text: z.string() })) });
	const Tools = z.object({
		tools: z.array(
			z.object({ name: z.string(), inputSchema: z.object({ properties: z.record(z.unknown()) }) }),
		),
	});

	/** One MCP session over streamable HTTP. */
	async function session(path: string, authorization = `Bearer ${token}`) {
		const url = `${lab.n8n.url}/mcp/${path}`;
		let sessionId: string | null = null;
		const send = async (body: object): Promise<string> => {
			const response = await fetch(url, {
				method: 'POST',
				headers: {
					...{ authorization, 'content-type': 'application/json' },
					accept: 'application/json, text/event-stream',
					...(sessionId === null ? {} : { 'mcp-session-id': sessionId }),
				},
				body: JSON.stringify({ jsonrpc: '2.0', ...body }),
			});
			sessionId ??= response.headers.get('mcp-session-id');
			const text = await response.text();
			assert.ok(response.ok, `${response.status} ${text}`);
			return /^data: (.*)$/m.exec(text)?.[1] ?? text;
		};
		const call = async (method: string, params: object = {}) =>
			ToolResponse.parse(JSON.parse(await send({ id: randomUUID(), method, params }))).result;
		await call('initialize', {
			protocolVersion: '2025-03-26',
			capabilities: {},
			clientInfo: { name: 'test', version: '1' },
		});
		await send({ method: 'notifications/initialized' });
		return call;
	}

	test('gate-tools.json: a client with the token pays each reference once, within the low limits that the set-up made', async (t) => {
		const name = 'Pay gate token';
		credentials[name] = await api.createCredential(name, 'httpBearerAuth', { token });
		const id = await gateLab.add(await readGateWorkflow('gate-tools.json'));
		await api.activate(id);
		t.after(async () => await api.deactivate(id));
		await assert.rejects(session('pay-gate', 'Bearer wrong'), /40[13]/);

		const call = await session('pay-gate');
		const { tools } = Tools.parse(await call('tools/list'));
		assert.deepEqual(tools.map((tool) => tool.name).sort(), ['Pay_a_User', 'Read_the_Balance']);
		const pay = tools.find((tool) => tool.name === 'Pay_a_User');
		assert.deepEqual(Object.keys(pay?.inputSchema.properties ?? {}).sort(), [
			'amountEtb',
			'reference',
			'toUserId',
		]);

		const toUserId = sandbox.books.addUser({ externalId: 'mcp-test' }).id;
		const already = payments();
		const tell = async (amountEtb: number, reference = 'invoice-1042') => {
			const result = Content.parse(
				await call('tools/call', {
					name: 'Pay_a_User',
					arguments: { reference, toUserId, amountEtb },
				}),
			);
			return result.content.map(({ text }) => text).join('');
		};
		assert.match(await tell(42.5), /outcome\W+paid/);
		assert.match(await tell(42.5), /alreadyPaid/);
		assert.match(await tell(43), /belongs to another payment/);
		assert.match(
			await tell(501, 'invoice-1043'),
			/Above the most for one payment of this caller, 500 ETB/,
		);
		for (const number of [1, 2, 3])
			assert.match(await tell(500, `day-${number}`), /outcome\W+paid/);
		assert.match(await tell(458, 'day-4'), /Above the most for this caller and day, 2000 ETB/);
		assert.equal(payments(), already + 4);
		const caller = "select requested_by from etb_wallet.payments where reference = 'invoice-1042'";
		assert.equal(await value(superuser, z.string(), caller), 'mcp');
	});

	test('gate-tools-with-approval.json: the agent gets a link, and a person behind a login pays', async (t) => {
		const login = { user: 'approver', password: 'approve-test-1' };
		for (const [name, type, data] of [
			['Pay gate token, with approval', 'httpBearerAuth', { token }],
			['Pay gate approval login', 'httpBasicAuth', login],
		] as const) {
			credentials[name] = await api.createCredential(name, type, data);
		}
		const id = await gateLab.add(await readGateWorkflow('gate-tools-with-approval.json'));
		await api.activate(id);
		const browser = await openBrowser();
		t.after(async () => {
			await browser.close();
			await api.deactivate(id);
		});

		const toUserId = sandbox.books.addUser({ externalId: 'approval-test' }).id;
		const already = payments();
		const call = await session('pay-gate-with-approval');
		const { content } = Content.parse(
			await call('tools/call', {
				name: 'Ask_for_a_Payment',
				arguments: { reference: 'invoice & 77', toUserId, amountEtb: 700.5 },
			}),
		);
		const link = /https?:[^"]*/.exec(content[0]?.text ?? '')?.[0] ?? '';
		assert.equal((await fetch(link)).status, 401);

		const { page } = browser;
		/** Opens the agent's link, logs in, and answers; resolves to the page after it. */
		async function answer(choice: string): Promise<string> {
			const basic = Buffer.from(`${login.user}:${login.password}`).toString('base64');
			await page.setExtraHTTPHeaders({ authorization: `Basic ${basic}` });
			await page.goto(link, { waitUntil: 'domcontentloaded' });
			await page.setExtraHTTPHeaders({});
			await page.locator('.form-group', { hasText: 'Your name' }).locator('input').fill('Almaz');
			await page.getByRole('button', { name: 'Continue' }).click();
			await page.getByText(`700.5 ETB to ${toUserId}, for invoice & 77.`).waitFor();
			await page.locator('.multiselect-option label', { hasText: choice }).first().click();
			await page.getByRole('button', { name: 'Send' }).click();
			await page.getByRole('button', { name: 'Send' }).waitFor({ state: 'detached' });
			await page.locator('.header h1').waitFor();
			return await page.locator('.header h1').innerText();
		}
		assert.equal(await answer('Do not pay it'), 'Nothing was paid');
		assert.equal(payments(), already);
		assert.equal(await answer('Pay it'), 'Paid');
		assert.equal(await answer('Pay it'), 'It was paid before');
		assert.deepEqual(paid(already), [`${toUserId} 700.5`]);
	});
});

test('gate-paid-before.json: what was paid without the gate is written down, and the same list through the gate pays nobody of it', async () => {
	const people = Array.from({ length: 6 }, (_, index) => ({
		reference: `moved-${index}`,
		toUserId: sandbox.books.addUser({ externalId: `moved-${index}` }).id,
		amountEtb: 10,
	}));
	// What the node that paid before says in a dry run.
	const told = people.map((each, index) => ({
		...{ ...each, outcome: index < 4 ? 'alreadyPaid' : 'ready', txHash: `0xmoved-${index}` },
	}));
	const id = await gateLab.add(await readGateWorkflow('gate-paid-before.json'));
	const writeDown = async (items: object[]) => {
		const names = ['reference', 'toUserId', 'amountEtb', 'outcome', 'txHash'];
		const fields = Object.fromEntries(names.map((name) => [name, `={{ $json.${name} }}`]));
		const nodes = [start(), list(items), callOf('Write down', id, fields)];
		return await gateLab.run(await api.createWorkflow(workflow('Moving', nodes)), START);
	};
	await api.activate(id);
	assert.match((await writeDown(told.slice(0, 4))).error ?? '', /Say who does it/);
	await writeFields(lab, id, 'Who Says So', {
		...{ yourName: 'Almaz', howYouKnow: 'Paid by the old node' },
	});
	await api.deactivate(id);
	await api.activate(id);
	assert.match(
		(await writeDown(told)).error ?? '',
		/Nothing was written down: 2 of 6 items are not paid, such as moved-4 \(outcome ready\)/,
	);
	for (const outcome of ['written', 'alreadyPaid']) {
		const written = itemsOf(await writeDown(told.slice(0, 4)), 'Write down');
		assert.deepEqual(
			written.map((item) => item.outcome),
			Array(4).fill(outcome),
		);
	}
	const { told: through } = await gateLab.pay(people);
	assert.deepEqual(
		through.map(({ outcome, txHash }) => [outcome, outcome === 'alreadyPaid' && txHash]),
		told.map(({ outcome, txHash }) =>
			outcome === 'ready' ? ['paid', false] : ['alreadyPaid', txHash],
		),
	);
	assert.deepEqual(timesPaid(sandbox, people), [0, 0, 0, 0, 1, 1]);
});
