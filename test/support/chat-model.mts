/** A chat model played by the test: no real model, but the real chat model node talks to it over HTTP. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { z } from 'zod';
import type { Execution, WorkflowFile } from '../../demo/n8n-api.mts';
import type { N8nTestApi } from './n8n/n8n-test-api.mts';

const Message = z.object({
	role: z.string(),
	content: z.unknown(),
	tool_calls: z.array(z.unknown()).optional(),
});
const Completion = z.object({ messages: z.array(Message) });

const PAYMENT = /Pay (?<amountEtb>\d+) ETB to (?<toUserId>[\w-]+)(?<twice> twice)?/;

/** The delay of the model before it calls a tool again. */
const THINKING_MS = 4_000;

/** A tool that the model calls. */
interface ToolCall {
	name: string;
	input: object;
}

/**
 * The next step of the model: it reads the balance, or pays as the person's last message asks, and then repeats
 * the tool's output. Told to pay twice, it calls the tool a second time.
 */
function next(messages: z.infer<typeof Message>[]): ToolCall | string {
	const asked = messages.findLastIndex(({ role }) => role === 'user');
	const outputs = messages.slice(asked).filter(({ role }) => role === 'tool');
	const groups = PAYMENT.exec(JSON.stringify(messages[asked]?.content))?.groups;
	if (outputs.length >= (groups?.twice === undefined ? 1 : 2)) {
		return String(outputs.at(-1)?.content);
	}
	if (groups === undefined) return { name: 'Read_the_balance', input: {} };
	const toolParameters = { toUserId: groups.toUserId, amountEtb: Number(groups.amountEtb) };
	return { name: 'Pay_a_user', input: { toolParameters, hitlParameters: {} } };
}

/** Answers as OpenAI's chat completions do. */
export async function startChatModel() {
	const server = fastify();
	let calls = 0;
	server.post('/v1/chat/completions', async ({ body }) => {
		const { messages } = Completion.parse(body);
		const step = next(messages);
		// n8n's chat polls every 3 s, and misses a question that follows another one at once. A real model is as slow.
		if (messages.at(-1)?.role === 'tool' && typeof step !== 'string') await sleep(THINKING_MS);
		const isText = typeof step === 'string';
		const message = isText
			? { role: 'assistant', content: step }
			: {
					role: 'assistant',
					content: null,
					tool_calls: [
						{
							id: `call-${++calls}`,
							type: 'function',
							function: { name: step.name, arguments: JSON.stringify(step.input) },
						},
					],
				};
		return {
			id: 'completion',
			object: 'chat.completion',
			created: 0,
			model: 'played-by-the-test',
			choices: [{ index: 0, finish_reason: isText ? 'stop' : 'tool_calls', message }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		};
	});
	const address = await server.listen({ port: 0, host: '127.0.0.1' });
	const url = `${address}/v1`;
	return {
		url,
		/** The workflow with this model as its node "Chat model". */
		async inWorkflow(api: N8nTestApi, workflow: WorkflowFile): Promise<WorkflowFile> {
			const name = 'The test that plays a model';
			const id = await api.createCredential(name, 'openAiApi', { apiKey: 'none', url });
			const nodes = workflow.nodes.map((node) =>
				node.name === 'Chat model' ? { ...node, credentials: { openAiApi: { id, name } } } : node,
			);
			return { ...workflow, nodes };
		},
		close: async (): Promise<void> => await server.close(),
	};
}

const Question = z.object({
	text: z.string(),
	buttons: z.array(z.object({ text: z.string(), link: z.string() })),
});

/**
 * Writes into the editor's chat, and stays connected until the response has come.
 * @param choices the button to choose at each question
 * @returns the questions, and the execution once it has ended
 */
export async function chat(
	{ api, n8n }: { api: N8nTestApi; n8n: { url: string } },
	workflowId: string,
	chatInput: string,
	choices: string[],
): Promise<{ questions: string[]; execution: Execution }> {
	const sessionId = randomUUID();
	const executionId = await api.chat(workflowId, 'Chat', { sessionId, chatInput });
	const questions: string[] = [];

	async function choose(message: string): Promise<void> {
		const { text, buttons } = Question.parse(JSON.parse(message));
		const link = buttons.find((button) => button.text === choices[questions.length])?.link;
		questions.push(text);
		if (link === undefined) throw new Error(`unexpected question: ${text}`);
		// n8n does not answer clients that look like robots.
		await fetch(link, { headers: { 'user-agent': 'Mozilla/5.0 Chrome/140.0 Safari/537' } });
	}

	const query = new URLSearchParams({ sessionId, executionId });
	const socket = new WebSocket(`${n8n.url.replace('http', 'ws')}/chat?${query}`);
	const failed = new Promise<never>((_, reject) => {
		socket.onmessage = ({ data }) => {
			const message = String(data);
			if (message === 'n8n|heartbeat') socket.send('n8n|heartbeat-ack');
			if (message.startsWith('{"type":"with-buttons"')) choose(message).catch(reject);
		};
	});
	const execution = await Promise.race([api.endedExecution(executionId), failed]);
	socket.close();
	return { questions, execution };
}
