/** Calls of the node for tests of responses and of retries. */
import { ClientRequest } from 'node:http';
import type { INodeParameters } from 'n8n-workflow';
import { presets, type Fault, type PresetName } from '../../../sandbox/faults.mts';
import type { RouteName } from '../../../sandbox/sandbox.mts';

/** One call of each kind of request. */
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
			// Each execution has a reference of its own.
			reference: '=pay-{{ $execution.id }}',
			toUserId: '={{ $json.userId }}',
			amountEtb: 5,
		},
	},
} satisfies Record<string, { route: RouteName; parameters: INodeParameters }>;

export type CallName = keyof typeof calls;

/** Makes the pauses between attempts as short as their jitter allows. */
export function withoutPauses(): void {
	jest.spyOn(Math, 'random').mockReturnValue(0);
}

/** The time in which a request arrives on a busy machine, in ms. */
const shortTimeout = 500;

/** Shortens n8n's timeout for a fault that leaves a request without a response. */
export function withShortTimeoutsFor(fault: Fault | PresetName): void {
	const response = typeof fault === 'string' ? presets[fault].response : fault.response;
	if (response !== 'none') return;
	// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
	const { setTimeout } = ClientRequest.prototype;
	jest.spyOn(ClientRequest.prototype, 'setTimeout').mockImplementation(function (
		this: ClientRequest,
		timeout,
		callback,
	) {
		return setTimeout.call(this, Math.min(timeout, shortTimeout), callback);
	});
}
