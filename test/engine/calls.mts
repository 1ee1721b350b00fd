/** Calls of the node that tests of answers and of repeats have in common. */
import { ClientRequest } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import type { RouteName } from '../../sandbox/sandbox.mts';

/** One call of each kind that is treated in its own way. */
export const calls = {
	read: {
		route: 'GET /fee',
		parameters: { resource: 'fee', operation: 'get' },
	},
	write: {
		route: 'PUT /fee',
		parameters: { resource: 'fee', operation: 'update', feePercent: 2 },
	},
	createUser: {
		route: 'POST /users',
		parameters: { resource: 'user', operation: 'create', externalId: 'employee-1' },
	},
	disburse: {
		route: 'POST /disburse',
		parameters: {
			resource: 'disbursement',
			operation: 'create',
			toUserId: '={{ $json.userId }}',
			amountEtb: 5,
		},
	},
} satisfies Record<string, { route: RouteName; parameters: INodeParameters }>;

export type CallName = keyof typeof calls;

/** Makes pauses between attempts as short as their jitter can be. */
export function withoutPauses(): void {
	jest.spyOn(Math, 'random').mockReturnValue(0);
}

/** Lets requests of n8n wait `ms` at most for an answer, whatever longer time they ask for. */
export function withShortTimeouts(ms: number): void {
	// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
	const { setTimeout } = ClientRequest.prototype;
	jest.spyOn(ClientRequest.prototype, 'setTimeout').mockImplementation(function (
		this: ClientRequest,
		timeout,
		callback,
	) {
		return setTimeout.call(this, Math.min(timeout, ms), callback);
	});
}
