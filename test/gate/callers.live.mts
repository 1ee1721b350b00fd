/** Who pays through the gate in the real n8n: payroll, an agent with approval, MCP clients, and an old workflow that moves to it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { WorkflowFile, type Execution } from '../../n8n/api.mts';
import { readExample } from '../../n8n/examples.mts';
import { readGateWorkflow, withCredentials, withPayGate } from '../../n8n/gate.mts';
import { startChatModel } from '../n8n/chat-model.mts';
import { timesPaid } from '../n8n/n8n-world.mts';
import { setRules } from './gate.mts';
import { startInstalledGate, type InstalledGate } from './installed-gate.mts';

let installed: InstalledGate;
before(async () => {
	installed = await startInstalledGate();
	await setRules(installed.superuser, 'main', {
		most_per_day: 1_000_000,
		most_per_payment: 20_000,
	});
});
after(async () => await installed.stop());

type Item = Record<string, unknown>;

const itemsOf = (execution: Execution, node: string, output = 0): Item[] =>
	execution.nodes[node]?.[0]?.outputs[output] ?? [];

/** Each payment in the books but the first `since`, as "user amount", in order of user. */
const paid = (since: number): string[] =>
	installed.world.sandbox.books
		.disbursements()
		.slice(since)
		.map(({ toUserId, amountEtb }) => `${toUserId} ${amountEtb}`)
		.sort();
const payments = (): number => installed.world.sandbox.books.disbursements().length;

function userId(externalId: string): string {
	const { books } = installed.world.sandbox;
	const user = books.users().find((each) => each.externalId === externalId);
	assert.ok(user, `the sandbox has no user ${externalId}`);
	return user.id;
}

void describe('payroll-through-the-gate.json', () => {
	const report = (execution: Execution): Item => {
		const { payments: lines, needsYou, month, ...numbers } = itemsOf(execution, 'Report')[0] ?? {};
		assert.ok(Array.isArray(lines) && Array.isArray(needsYou) && month);
		return {
			...numbers,
			names: lines.map(({ name }: Item) => name),
			needsYou: needsYou.map(({ name, outcome, reason }: Item) => [name, outcome, reason]),
		};
	};

	test('pays each salary once, whoever asks, and ends in red with those whom the limits did not allow', async () => {
		const id = await installed.add(await readExample('payroll-through-the-gate.json'));
		assert.equal((await installed.run(id, 'Set up people')).status, 'success');
		const already = payments();
		await setRules(installed.superuser, 'main', { most_per_payment: 13_000 });
		const first = await installed.run(id, 'Every 25th');
		assert.match(first.error ?? '', /2 paid, 0 already paid, 1 not paid, 0 being sent, 0 unknown/);
		assert.deepEqual(report(first), {
			...{ paid: 2, paidEtb: 21900.5, alreadyPaid: 0, notPaid: 1, beingSent: 0, unknown: 0 },
			names: ['Abebe Kebede', 'Almaz Tesfaye', 'Dawit Haile'],
			needsYou: [['Dawit Haile', 'notPaid', 'Above the most for one payment, 13000 ETB']],
		});
		await setRules(installed.superuser, 'main', { most_per_payment: 20_000 });

		const second = await installed.run(id, 'Every 25th');
		assert.equal(second.error, undefined);
		// A copy of the workflow, which has no record of its own.
		const copy = await installed.add(await readExample('payroll-through-the-gate.json'));
		const third = await installed.run(copy, 'Every 25th');
		assert.equal(third.error, undefined);
		assert.equal(report(third).alreadyPaid, 3);
		assert.deepEqual(paid(already), [
			`${userId('E-1041')} 12400`,
			`${userId('E-1042')} 9500.5`,
			`${userId('E-1043')} 15250.75`,
		]);
	});
});

const Question = z.object({
	text: z.string(),
	buttons: z.array(z.object({ text: z.string(), link: z.string() })),
});

void describe('agent-through-the-gate.json', () => {
	test('pays only after a person approved, within the limits of its caller, and once', async (t) => {
		const { world } = installed;
		const model = await startChatModel();
		t.after(async () => await model.close());
		const name = 'The test that plays a model';
		const id = await world.api.createCredential(name, 'openAiApi', {
			apiKey: 'none',
			url: model.url,
		});
		const example = await readExample('agent-through-the-gate.json');
		const workflowId = await installed.add({
			...example,
			nodes: example.nodes.map((node) =>
				node.name === 'Chat model' ? { ...node, credentials: { openAiApi: { id, name } } } : node,
			),
		});
		const toUserId = world.sandbox.books.addUser({ externalId: 'agent-test' }).id;
		await installed.superuser.query(
			`select etb_wallet.set_caller('main', 'agent', '{"most_per_day": 100}', 'Abebe')`,
		);

		async function chat(chatInput: string, ...choices: string[]): Promise<string> {
			const sessionId = randomUUID();
			const executionId = await world.api.chat(workflowId, 'Chat', { sessionId, chatInput });
			let asked = 0;
			async function choose(message: string): Promise<void> {
				const { text, buttons } = Question.parse(JSON.parse(message));
				assert.match(text, new RegExp(toUserId));
				const choice = choices[asked++];
				const link = buttons.find((button) => button.text === choice)?.link;
				assert.ok(link, `unexpected question: ${text}`);
				// n8n answers nothing to what looks like a robot.
				await fetch(link, { headers: { 'user-agent': 'Mozilla/5.0 Chrome/140.0 Safari/537' } });
			}
			const query = new URLSearchParams({ sessionId, executionId });
			const socket = new WebSocket(`${world.n8n.url.replace('http', 'ws')}/chat?${query}`);
			const failed = new Promise<never>((_, reject) => {
				socket.onmessage = ({ data }) => {
					const message = String(data);
					if (message === 'n8n|heartbeat') socket.send('n8n|heartbeat-ack');
					if (message.startsWith('{"type":"with-buttons"')) choose(message).catch(reject);
				};
			});
			const execution = await Promise.race([world.api.endedExecution(executionId), failed]);
			socket.close();
			assert.equal(asked, choices.length);
			const answered = z.object({ output: z.string() }).safeParse(itemsOf(execution, 'Agent')[0]);
			return answered.data?.output ?? String(execution.error);
		}

		const already = payments();
		await chat(`Pay 50 ETB to ${toUserId}`, 'Decline');
		assert.equal(payments(), already);
		assert.match(await chat(`Pay 75 ETB to ${toUserId}`, 'Approve'), /outcome\W+paid/);
		assert.match(
			await chat(`Pay 30 ETB to ${toUserId}`, 'Approve'),
			/Above the most for this caller and day, 100 ETB/,
		);
		assert.match(
			await chat(`Pay 20 ETB to ${toUserId} twice`, 'Approve', 'Approve'),
			/outcome\W+alreadyPaid/,
		);
		assert.deepEqual(paid(already), [`${toUserId} 20`, `${toUserId} 75`]);
	});
});

void describe('gate-tools.json', () => {
	const token = 'mcp-test-token-1';
	const ToolAnswer = z.object({ result: z.record(z.unknown()) });
	const Content = z.object({ content: z.array(z.object({ text: z.string() })) });
	const Tools = z.object({
		tools: z.array(
			z.object({ name: z.string(), inputSchema: z.object({ properties: z.record(z.unknown()) }) }),
		),
	});

	/** One MCP session over streamable HTTP. */
	async function session(authorization = `Bearer ${token}`) {
		const url = `${installed.world.n8n.url}/mcp/pay-gate`;
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

	test('lets an MCP client with the token pay through the gate, each reference once', async (t) => {
		const { world, credentials } = installed;
		const name = 'Pay gate token';
		credentials[name] = await world.api.createCredential(name, 'httpBearerAuth', { token });
		const file = withPayGate(await readGateWorkflow('gate-tools.json'), installed.payGateId);
		const id = await world.api.createWorkflow(withCredentials(file, credentials));
		await world.api.activate(id);
		t.after(async () => await world.api.deactivate(id));
		await assert.rejects(session('Bearer wrong'), /40[13]/);

		const call = await session();
		const { tools } = Tools.parse(await call('tools/list'));
		assert.deepEqual(tools.map((tool) => tool.name).sort(), ['Pay_a_User', 'Read_the_Balance']);
		const pay = tools.find((tool) => tool.name === 'Pay_a_User');
		assert.deepEqual(Object.keys(pay?.inputSchema.properties ?? {}).sort(), [
			'amountEtb',
			'reference',
			'toUserId',
		]);

		const toUserId = world.sandbox.books.addUser({ externalId: 'mcp-test' }).id;
		const already = payments();
		const tell = async (amountEtb: number) => {
			const answer = Content.parse(
				await call('tools/call', {
					name: 'Pay_a_User',
					arguments: { reference: 'invoice-1042', toUserId, amountEtb },
				}),
			);
			return answer.content.map(({ text }) => text).join('');
		};
		assert.match(await tell(42.5), /outcome\W+paid/);
		assert.match(await tell(42.5), /alreadyPaid/);
		assert.match(await tell(43), /belongs to another payment/);
		assert.deepEqual(paid(already), [`${toUserId} 42.5`]);
		const [row] = (
			await installed.superuser.query(
				`select requested_by from etb_wallet.payments where reference = 'invoice-1042'`,
			)
		).rows as unknown[];
		assert.deepEqual(row, { requested_by: 'mcp' });
	});
});

void describe('moving from references of one node to the gate', () => {
	const node = (
		id: string,
		name: string,
		type: string,
		typeVersion: number,
		parameters: object,
	) => ({ id, name, type, typeVersion, parameters, position: [0, 0] });
	const link = (to: string) => [{ node: to, type: 'main', index: 0 }];
	const ids = { rows: randomUUID(), pay: randomUUID() };
	const list = (rows: object[]) =>
		node(ids.rows, 'Rows', 'n8n-nodes-base.code', 2, {
			jsCode: `return ${JSON.stringify(rows)}.map((json) => ({ json }))`,
		});
	const old = (options: object) =>
		node(ids.pay, 'Pay', 'n8n-nodes-etb-wallet.etbWallet', 1, {
			...{
				resource: 'disbursement',
				operation: 'create',
				toUserId: '={{ $json.toUserId }}',
				amountEtb: '={{ $json.amountEtb }}',
				reference: '={{ $json.reference }}',
			},
			options,
		});
	const gate = () =>
		node(randomUUID(), 'Gate', 'n8n-nodes-base.executeWorkflow', 1.2, {
			workflowId: { __rl: true, mode: 'list', value: '', cachedResultName: 'Pay gate' },
			workflowInputs: {
				mappingMode: 'defineBelow',
				matchingColumns: [],
				schema: [],
				value: {
					reference: '={{ $json.reference }}',
					toUserId: '={{ $json.toUserId }}',
					amountEtb: '={{ $json.amountEtb }}',
					requestedBy: 'moved',
				},
			},
			options: {},
		});
	const ifReady = node(randomUUID(), 'Ready?', 'n8n-nodes-base.if', 2.2, {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
			combinator: 'and',
			conditions: [
				{
					id: 'ready',
					leftValue: '={{ $json.outcome }}',
					rightValue: 'ready',
					operator: { type: 'string', operation: 'equals' },
				},
			],
		},
		options: {},
	});
	const start = node(randomUUID(), 'Start', 'n8n-nodes-base.manualTrigger', 1, {});

	test('with the old node in a dry run before the gate nobody is paid twice; without it everybody is', async () => {
		const { sandbox, api } = installed.world;
		const rows = Array.from({ length: 6 }, (_, index) => ({
			reference: `moved-${index}`,
			toUserId: sandbox.books.addUser({ externalId: `moved-${index}` }).id,
			amountEtb: 10,
		}));
		const workflowId = await installed.add(
			WorkflowFile.parse({
				name: 'Old payroll',
				nodes: [start, list(rows.slice(0, 4)), old({})],
				connections: { Start: { main: [link('Rows')] }, Rows: { main: [link('Pay')] } },
				settings: { executionOrder: 'v1' },
			}),
		);
		await installed.run(workflowId, 'Start');
		assert.deepEqual(timesPaid(sandbox, rows), [1, 1, 1, 1, 0, 0]);

		const moved = withPayGate(
			WorkflowFile.parse({
				name: 'x',
				nodes: [start, list(rows), old({ dryRun: true }), ifReady, gate()],
				connections: {
					Start: { main: [link('Rows')] },
					Rows: { main: [link('Pay')] },
					Pay: { main: [link('Ready?')] },
					'Ready?': { main: [link('Gate')] },
				},
			}),
			installed.payGateId,
		);
		await api.changeWorkflow(workflowId, ({ nodes }) => ({
			nodes: moved.nodes.map((each) => ({
				...each,
				credentials: nodes.find(({ name }) => name === each.name)?.credentials,
			})),
			connections: moved.connections,
		}));
		for (const outcome of ['paid', 'alreadyPaid']) {
			const execution = await installed.run(workflowId, 'Start');
			assert.deepEqual(
				itemsOf(execution, 'Gate').map((item) => item.outcome),
				[outcome, outcome],
			);
			assert.deepEqual(timesPaid(sandbox, rows), [1, 1, 1, 1, 1, 1]);
		}

		const straight = await installed.add(
			WorkflowFile.parse({
				name: 'Straight',
				nodes: [start, list(rows), gate()],
				connections: { Start: { main: [link('Rows')] }, Rows: { main: [link('Gate')] } },
				settings: { executionOrder: 'v1' },
			}),
		);
		await installed.run(straight, 'Start');
		assert.deepEqual(timesPaid(sandbox, rows), [2, 2, 2, 2, 1, 1]);
	});
});
