/** Who pays through the gate in the real n8n: payroll, an agent with approval, MCP clients, and an old workflow that moves to it. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { z } from 'zod';
import {
	readGateExample,
	readGateWorkflow,
	withCredentials,
	withPayGate,
} from '../../start/workflows.mts';
import {
	START,
	list,
	node,
	payNode,
	start,
	workflow,
	type NodeFile,
} from '../../../test/support/n8n/workflow.mts';
import { chat, startChatModel } from '../../../test/support/chat-model.mts';
import { paidSince, timesPaid } from '../../../test/support/lab.mts';
import { itemsOf } from '../../../test/support/payroll.mts';
import { PAYMENTS, PEOPLE, addRows, makeTable, rowsOf } from '../../../test/support/people.mts';
import { openBrowser } from '../../../test/support/editor/browser.mts';
import { callOf } from '../../../test/support/callers.mts';
import { callOfGate } from '../support/gate-lab.mts';
import { rows, setRules } from '../support/server.mts';
import { startInstalledGate } from '../support/installed-gate.mts';

const installed = await startInstalledGate();
after(async () => await installed.stop());
const limits = { most_per_day: 1_000_000, most_per_payment: 20_000 };
await setRules(installed.superuser, 'main', limits);

const paid = (since: number): string[] => paidSince(installed.lab.sandbox, since);
const payments = (): number => installed.lab.sandbox.books.disbursements().length;

void describe('payroll-through-the-gate.json', () => {
	test('pays each salary once, whoever asks, and ends in red with those whom the limits did not allow', async () => {
		const { api, sandbox } = installed.lab;
		const people = [
			{ employee: 'E-3041', name: 'Yonas Tadesse', amountEtb: 13_100 },
			{ employee: 'E-3042', name: 'Sara Mengistu', amountEtb: 10_250.5 },
			{ employee: 'E-3043', name: 'Bekele Worku', amountEtb: 9900 },
		].map((person) => ({
			...{ ...person, person: person.employee.replace('-', ''), payroll: 'gate' },
			userId: sandbox.books.addUser({ externalId: person.employee }).id,
		}));
		await makeTable(api, PAYMENTS);
		await addRows(api, PEOPLE, people);
		const pay = async (id: string) => (await installed.run(id, 'Every 25th')).error;
		/** What the register says of each person. */
		const registered = async (column: string) =>
			(await rowsOf(api, PAYMENTS)).map((row) => `${String(row.name)} ${String(row[column])}`);
		const id = await installed.add(await readGateExample('payroll-through-the-gate.json'));
		const already = payments();
		await setRules(installed.superuser, 'main', { most_per_payment: 12_000 });
		assert.match(
			(await pay(id)) ?? '',
			/: 1 of 3 need you: Yonas Tadesse, .*notPaid: Above the most for one payment, 12000 ETB/,
		);
		assert.deepEqual(await registered('outcome'), [
			'Yonas Tadesse notPaid',
			'Sara Mengistu paid',
			'Bekele Worku paid',
		]);
		await setRules(installed.superuser, 'main', { most_per_payment: 20_000 });

		assert.equal(await pay(id), undefined);
		// A copy of the workflow pays nobody again, and keeps the hash that each payment had.
		const copy = await installed.add(await readGateExample('payroll-through-the-gate.json'));
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
});

void describe('agent-through-the-gate.json', () => {
	test('pays only after a person approved, within the limits of its caller, and once', async (t) => {
		const { lab } = installed;
		const model = await startChatModel();
		t.after(async () => await model.close());
		const example = await readGateExample('agent-through-the-gate.json');
		const workflowId = await installed.add(await model.inWorkflow(lab.api, example));
		await lab.api.activate(workflowId);
		t.after(async () => await lab.api.deactivate(workflowId));
		const toUserId = lab.sandbox.books.addUser({ externalId: 'agent-test' }).id;
		await installed.superuser.query(
			`select etb_wallet.set_rules('main', '{"most_per_day": 100}', 'Abebe', 'agent')`,
		);

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
	const ToolAnswer = z.object({ result: z.record(z.unknown()) });
	const Content = z.object({ content: z.array(z.object({ text: z.string() })) });
	const Tools = z.object({
		tools: z.array(
			z.object({ name: z.string(), inputSchema: z.object({ properties: z.record(z.unknown()) }) }),
		),
	});

	/** One MCP session over streamable HTTP. */
	async function session(path: string, authorization = `Bearer ${token}`) {
		const url = `${installed.lab.n8n.url}/mcp/${path}`;
		let sessionId: string | null = null;
		let count = 0;
		const send = async (body: object) => {
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
			return response;
		};
		const call = async (method: string, params: object = {}) => {
			const response = await send({ id: ++count, method, params });
			const text = await response.text();
			assert.ok(response.ok, `${response.status} ${text}`);
			const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '');
			return ToolAnswer.parse(JSON.parse(data)).result;
		};
		await call('initialize', {
			protocolVersion: '2025-03-26',
			capabilities: {},
			clientInfo: { name: 'test', version: '1' },
		});
		await (await send({ method: 'notifications/initialized' })).text();
		return call;
	}

	test('gate-tools.json: a client with the token pays each reference once, within the low limits that the set-up made', async (t) => {
		const { lab, credentials } = installed;
		const name = 'Pay gate token';
		credentials[name] = await lab.api.createCredential(name, 'httpBearerAuth', { token });
		const file = withPayGate(await readGateWorkflow('gate-tools.json'), installed.payGateId);
		const id = await lab.api.createWorkflow(withCredentials(file, credentials));
		await lab.api.activate(id);
		t.after(async () => await lab.api.deactivate(id));
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

		const toUserId = lab.sandbox.books.addUser({ externalId: 'mcp-test' }).id;
		const already = payments();
		const tell = async (amountEtb: number, reference = 'invoice-1042') => {
			const answer = Content.parse(
				await call('tools/call', {
					name: 'Pay_a_User',
					arguments: { reference, toUserId, amountEtb },
				}),
			);
			return answer.content.map(({ text }) => text).join('');
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
		assert.deepEqual(
			await rows(
				installed.superuser,
				z.unknown(),
				`select requested_by from etb_wallet.payments where reference = 'invoice-1042'`,
			),
			[{ requested_by: 'mcp' }],
		);
	});

	test('gate-tools-with-approval.json: the agent gets a link, and a person behind a login pays', async (t) => {
		const { lab, credentials } = installed;
		const login = { user: 'approver', password: 'approve-test-1' };
		for (const [name, type, data] of [
			['Pay gate token, with approval', 'httpBearerAuth', { token }],
			['Pay gate approval login', 'httpBasicAuth', login],
		] as const) {
			credentials[name] = await lab.api.createCredential(name, type, data);
		}
		const id = await installed.add(await readGateWorkflow('gate-tools-with-approval.json'));
		await lab.api.activate(id);
		const browser = await openBrowser();
		t.after(async () => {
			await browser.close();
			await lab.api.deactivate(id);
		});

		const toUserId = lab.sandbox.books.addUser({ externalId: 'approval-test' }).id;
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

void describe('moving from references of one node to the gate', () => {
	const pays = payNode();
	const isPaid = {
		id: 'paid',
		leftValue: '={{ $json.outcome }}',
		rightValue: 'alreadyPaid',
		operator: { type: 'string', operation: 'equals' },
	};
	const ifPaid = node(
		'Paid?',
		'if',
		{
			conditions: {
				options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
				...{ combinator: 'and', conditions: [isPaid] },
			},
			options: {},
		},
		{ typeVersion: 2.2 },
	);
	const writeDown = (workflowId: string) => {
		const names = ['reference', 'toUserId', 'amountEtb', 'outcome', 'txHash'];
		const value = Object.fromEntries(names.map((name) => [name, `={{ $json.${name} }}`]));
		return callOf('Write down', workflowId, value);
	};
	/** The workflow of before, whose node keeps its id. */
	const old = (mode: 'pay' | 'dryRun', people: object[], ...behind: NodeFile[]) =>
		workflow('Old payroll', [
			...[start(), list(people)],
			...[{ ...pays, parameters: { ...pays.parameters, mode } }, ...behind],
		]);

	test('what the old node paid is written down as paid; then the same list through the gate pays nobody of it', async () => {
		const { sandbox, api } = installed.lab;
		const people = Array.from({ length: 6 }, (_, index) => ({
			reference: `moved-${index}`,
			toUserId: sandbox.books.addUser({ externalId: `moved-${index}` }).id,
			amountEtb: 10,
		}));
		const workflowId = await installed.add(old('pay', people.slice(0, 4)));
		await installed.run(workflowId, START);
		assert.deepEqual(timesPaid(sandbox, people), [1, 1, 1, 1, 0, 0]);

		const paidBefore = await readGateWorkflow('gate-paid-before.json');
		const changed = async (name: string, value: string) =>
			await api.changeWorkflow(paidBeforeId, ({ nodes }) => ({
				nodes: nodes.map((each) => {
					if (each.name !== 'Who Says So') return each;
					const Fields = z.object({
						assignments: z.object({
							assignments: z.array(z.object({ name: z.string() }).passthrough()),
						}),
					});
					const fields = Fields.passthrough().parse(each.parameters);
					const assignments = fields.assignments.assignments.map((field) =>
						field.name === name ? { ...field, value } : field,
					);
					return { ...each, parameters: { ...fields, assignments: { assignments } } };
				}),
			}));
		const paidBeforeId = await installed.add(paidBefore);
		await api.activate(paidBeforeId);

		/** The old workflow in a dry run, with what is behind its node. */
		async function tryOut(...names: Array<'Paid?' | 'Write down'>) {
			const behind = names.map((name) => (name === 'Paid?' ? ifPaid : writeDown(paidBeforeId)));
			const changed = old('dryRun', people, ...behind);
			await api.changeWorkflow(workflowId, ({ nodes }) => ({
				...changed,
				nodes: changed.nodes.map((each) => ({
					...each,
					credentials: nodes.find(({ name }) => name === each.name)?.credentials,
				})),
			}));
			return await installed.run(workflowId, START);
		}
		assert.match((await tryOut('Paid?', 'Write down')).error ?? '', /Say who does it/);
		await changed('yourName', 'Almaz');
		await changed('howYouKnow', 'Paid by the old node');
		await api.deactivate(paidBeforeId);
		await api.activate(paidBeforeId);
		assert.match(
			(await tryOut('Write down')).error ?? '',
			/Nothing was written down: 2 of 6 items are not paid, such as moved-4 \(outcome ready\)/,
		);
		const outcomes = async () =>
			itemsOf(await tryOut('Paid?', 'Write down'), 'Write down').map((item) => item.outcome);
		assert.deepEqual(await outcomes(), Array(4).fill('written'));
		assert.deepEqual(await outcomes(), Array(4).fill('alreadyPaid'));

		const gate = callOfGate(installed.payGateId);
		const straight = await installed.add(workflow('Straight', [start(), list(people), gate]));
		const execution = await installed.run(straight, START);
		assert.deepEqual(
			itemsOf(execution, 'Pay').map((item) => item.outcome),
			[...Array<string>(4).fill('alreadyPaid'), 'paid', 'paid'],
		);
		assert.deepEqual(timesPaid(sandbox, people), [1, 1, 1, 1, 1, 1]);
	});
});
