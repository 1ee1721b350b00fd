/** What an error of a request says before n8n 2.35, where it has no cause. `no-answer.live.mts` does it in real ones. */
import { NodeApiError } from 'n8n-workflow';
import { noAnswerFrom } from '../../nodes/shared/service/attempt.ts';

const node = {
	id: 'node',
	name: 'Pay',
	type: 'etbWallet',
	typeVersion: 1,
	position: [0, 0] satisfies [number, number],
	parameters: {},
};

/** As an older n8n makes it of an error. */
function olderError(message: string, code?: string): NodeApiError {
	const failure = { message, ...(code !== undefined && { code }) };
	return Object.assign(new NodeApiError(node, failure), { cause: undefined });
}

test.each([
	['connect ECONNREFUSED 127.0.0.1:9', 'ECONNREFUSED', false],
	['connect EHOSTUNREACH 10.0.0.1:443', 'EHOSTUNREACH', false],
	['connect ETIMEDOUT 10.0.0.1:443', 'ETIMEDOUT', false],
	['getaddrinfo EAI_FAIL partners.example.com', 'EAI_FAIL', false],
	['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', false],
	['Proxy connection ended before receiving CONNECT response', undefined, false],
	['The request was blocked because it resolves to a restricted IP address', undefined, false],
	['read ETIMEDOUT', 'ETIMEDOUT', true],
	['socket hang up', 'ECONNRESET', true],
	['reconnect failed', undefined, true],
])('%s (%s)', (message, code, sent) => {
	expect(noAnswerFrom(olderError(message, code))).toEqual({
		kind: 'noAnswer',
		code: code ?? message,
		sent,
	});
});
