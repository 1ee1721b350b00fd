/** A payment, and responses of the service to judge. */
import type { ServiceResponse } from '../../nodes/shared/service/attempt.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';

/** A payment of 10 ETB. */
export const pay: ServiceRequest = {
	method: 'POST',
	path: '/x',
	responseField: 'txHash',
	movesMoney: true,
	body: { toUserId: 'etbw_a', amountEtb: 10 },
};

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** A response of the service, as the node reads it. */
export const responseWith = (text: string, status = 200): ServiceResponse => ({
	kind: 'response',
	status,
	headers: {},
	text,
	body: parsed(text),
});
