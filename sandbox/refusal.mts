/** Refusals: the responses to requests that the service does not carry out. */
import type { z } from 'zod';
import { BooksError } from './books.mts';

/** A request that the service does not carry out, with the HTTP status and code of its response. */
export class Refusal extends Error {
	readonly status: number;
	readonly code: string;

	constructor(status: number, code: string, message: string) {
		super(message);
		this.status = status;
		this.code = code;
	}
}

/** The sandbox's body of every error response. */
export const errorBody = (code: string, message: string) => ({ error: { code, message } });

const BOOKS_REFUSAL_STATUS: Record<BooksError['reason'], number> = {
	unknown_user: 404,
	duplicate_external_id: 409,
	insufficient_treasury: 422,
};

/** The status and body for an error that was thrown during a request. */
export function errorResponse(error: unknown): { status: number; body: object } {
	if (error instanceof BooksError) {
		const status = BOOKS_REFUSAL_STATUS[error.reason];
		return { status, body: errorBody(error.reason, error.message) };
	}
	if (error instanceof Refusal) {
		return { status: error.status, body: errorBody(error.code, error.message) };
	}
	if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
		return { status: error.statusCode, body: errorBody('invalid_request', error.message) };
	}
	return { status: 500, body: errorBody('internal_error', String(error)) };
}

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/**
 * Reads `body` by the schema.
 * @throws {Refusal} 400 when there is no JSON, 422 when the JSON does not fit the schema
 */
export function parseBody<Body>(
	schema: z.ZodType<Body, z.ZodTypeDef, unknown>,
	body: unknown,
): Body {
	if (body === undefined) throw new Refusal(400, 'invalid_json', 'The body is not JSON.');
	const parsed = schema.safeParse(body);
	if (parsed.success) return parsed.data;
	const reasons = parsed.error.issues.map(
		(issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`,
	);
	throw new Refusal(422, 'invalid_body', reasons.join('; '));
}
