/** A payment, and answers of the service to judge. */
import type { Answer } from '../../nodes/shared/service/attempt.ts';
import type { ServiceRequest } from '../../nodes/shared/service/request.ts';

/** A payment of 10 ETB. */
export const pay: ServiceRequest = {
	method: 'POST',
	path: '/x',
	answersWith: 'txHash',
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

/** An answer of the service, as the node reads it. */
export const answered = (text: string, status = 200): Answer => ({
	kind: 'answer',
	status,
	headers: {},
	text,
	body: parsed(text),
});
