/** A request to an endpoint of the service: the values to send, and the demands on its response. */
import type { IDataObject } from 'n8n-workflow';
import { readText } from '../fields';
import { assertValue } from '../invalidValue';

/** A request to an endpoint (service document §4). A `POST` that may have been carried out is never repeated. */
export interface ServiceRequest {
	method: 'GET' | 'PUT' | 'POST';
	/** Below the partners prefix, such as `/balance`. */
	path: string;
	body?: IDataObject;
	/** A field that responses must have (service document §4). Without it a write is unknown, and a read failed. */
	responseField?: string;
	/** Whether the request pays somebody. Then it counts as done only with a proof (see `judge.ts`). */
	movesMoney?: true;
	/** The output of endpoints 4 and 5, whose responses are not documented. Fields of a response are added to it. */
	defaultOutput?: IDataObject;
	/** The remedies for statuses that have a more precise meaning at this endpoint. */
	remedies?: Remedies;
}

/** The parts of a request that decide what its response means. */
export type RequestTraits = Pick<
	ServiceRequest,
	'method' | 'body' | 'responseField' | 'movesMoney' | 'defaultOutput'
>;

/** Remedies by HTTP status. */
export type Remedies = Readonly<Record<number, string>>;

/** Endpoint 1 of the service document §4. */
export const balanceRequest: ServiceRequest = {
	method: 'GET',
	path: '/balance',
	responseField: 'treasuryBalance',
};

/** Endpoint 4 of the service document §4. */
export function setWebhookRequest(url: string): ServiceRequest {
	const body = { webhookUrl: url };
	return { method: 'PUT', path: '/webhook', body, defaultOutput: body };
}

type Method = Pick<ServiceRequest, 'method'>;

/** Whether a repetition is safe: GET and PUT are idempotent, POST creates or pays. */
export const isIdempotent = ({ method }: Method): boolean => method === 'GET' || method === 'PUT';

/** Whether a request only reads. */
export const isReadOnly = ({ method }: Method): boolean => method === 'GET';

/**
 * A value of the user as a part of a path. A text such as `..` would lead to another endpoint.
 * @throws {InvalidValueError} if it is empty, `.` or `..`, or has half of a character
 */
export function readPathSegment(field: string, value: unknown, remedy: string): string {
	const text = readText(field, value, remedy);
	assertValue(field, text, [
		[/^\.{1,2}$/.test(text), 'means another path', remedy],
		[!text.isWellFormed(), 'has half of a character', remedy],
	]);
	return encodeURIComponent(text);
}
