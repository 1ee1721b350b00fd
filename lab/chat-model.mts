/** A chat model played by the test: no real model, but the real chat model node talks to it over HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { z } from 'zod';

const Message = z.object({
	role: z.string(),
	content: z.unknown(),
	tool_calls: z.array(z.unknown()).optional(),
});
const Completion = z.object({ messages: z.array(Message) });

const PAYMENT = /Pay (?<amountEtb>\d+) ETB to (?<toUserId>[\w-]+)(?<twice> twice)?/;

/** How long the model takes to call a tool again. */
const THINKING_MS = 4_000;

/** A tool that the model calls. */
interface ToolCall {
	name: string;
	input: object;
}

/**
 * What the model does next: reads the balance, or pays what the person's last message asks for, and then repeats
 * the tool's answer. Told to pay twice, it calls the tool a second time.
 */
function next(messages: z.infer<typeof Message>[]): ToolCall | string {
	const asked = messages.findLastIndex(({ role }) => role === 'user');
	const answers = messages.slice(asked).filter(({ role }) => role === 'tool');
	const groups = PAYMENT.exec(JSON.stringify(messages[asked]?.content))?.groups;
	if (answers.length >= (groups?.twice === undefined ? 1 : 2)) {
		return String(answers.at(-1)?.content);
	}
	if (groups === undefined) return { name: 'Read_the_balance', input: {} };
	const toolParameters = { toUserId: groups.toUserId, amountEtb: Number(groups.amountEtb) };
	return { name: 'Pay_a_user', input: { toolParameters, hitlParameters: {} } };
}

/** Answers as OpenAI's chat completions do. */
export async function startChatModel(): Promise<{ url: string; close(): Promise<void> }> {
	const server = fastify();
	let calls = 0;
	server.post('/v1/chat/completions', async ({ body }) => {
		const { messages } = Completion.parse(body);
		const step = next(messages);
		// As a real model: n8n's chat, which looks every 3 s, misses a question that follows the one before at once.
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
	return { url: `${address}/v1`, close: async () => await server.close() };
}
