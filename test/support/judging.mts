/** A payment, and results of attempts to judge. */
import type { NoResponse, ServiceResponse } from '../../nodes/shared/service/attempt.ts';
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

/** A request that never left. */
export const notSent: NoResponse = {
	kind: 'noResponse',
	errorCode: 'ECONNREFUSED',
	mayHaveBeenSent: false,
};

/** A request that may have been sent, and whose connection ended. */
export const cutOff: NoResponse = {
	kind: 'noResponse',
	errorCode: 'ECONNRESET',
	mayHaveBeenSent: true,
};
