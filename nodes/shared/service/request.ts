/** A request to an endpoint of the service: what is sent, and what its answer has to show. */
import type { IDataObject } from 'n8n-workflow';

/** An endpoint of the service document §4 with its values. A `POST` that may have been carried out is never
 * repeated. */
export interface ServiceRequest {
	method: 'GET' | 'PUT' | 'POST';
	/** Below the partners prefix, such as `/balance`. */
	path: string;
	body?: IDataObject;
	/** A field that the answer has (service document §4): without it a write is unknown, and a read failed. */
	answersWith?: string;
	/** Whether it pays somebody: then it counts as done only with a proof (`answer.ts`). */
	movesMoney?: true;
	/** Output of endpoints 4 and 5, whose answers are not documented. Their fields are added to it. */
	defaultOutput?: IDataObject;
	/** The steps for statuses that mean something more at this endpoint. */
	remedies?: Remedies;
}

/** The parts of a request that decide what its answer means. */
export type RequestTraits = Pick<
	ServiceRequest,
	'method' | 'body' | 'answersWith' | 'movesMoney' | 'defaultOutput'
>;

/** Remedies by HTTP status. */
export type Remedies = Readonly<Record<number, string>>;

/** Endpoint 1 of the service document §4. */
export const balanceRequest: ServiceRequest = {
	method: 'GET',
	path: '/balance',
	answersWith: 'treasuryBalance',
};

/** Endpoint 4 of the service document §4. */
export function webhookRequest(url: string): ServiceRequest {
	const body = { webhookUrl: url };
	return { method: 'PUT', path: '/webhook', body, defaultOutput: body };
}

type Method = Pick<ServiceRequest, 'method'>;

/** Whether a repetition is safe: GET and PUT are idempotent, POST creates or pays. */
export const isIdempotent = ({ method }: Method): boolean => method === 'GET' || method === 'PUT';

/** Whether it only reads. */
export const isReadOnly = ({ method }: Method): boolean => method === 'GET';
