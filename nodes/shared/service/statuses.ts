/**
 * The meanings of HTTP statuses. `judge.ts` has the others: below 300 a success, and from 300 to 499 a refusal of a
 * request that does not pay.
 */

/** Statuses of failures that are usually temporary. */
export const temporaryStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Client errors and redirects that can also follow a request that was carried out: with 408 and 499 a proxy
 * says that it gave up waiting, and with 302 and 303 a service says where its result can be seen.
 */
export const statusesAfterPossibleWork: ReadonlySet<number> = new Set([302, 303, 408, 499]);

/** Success statuses that leave open whether a payment was made: accepted, or done in part. */
export const incompleteSuccessStatuses: ReadonlySet<number> = new Set([202, 207]);

/**
 * The only statuses that refuse a payment. Others can follow a payment that was made, for example when a
 * gateway repeats a request (409, 425) or gives up waiting (408).
 */
export const paymentRefusalStatuses: ReadonlySet<number> = new Set([
	301, 307, 308, 400, 401, 402, 403, 404, 405, 407, 413, 415, 422, 429,
]);

/**
 * Refusal statuses that services also use for failures of their own, even after paying. The words of such a
 * response have to say why it refuses. A response without words counts as one of a check before the payment.
 */
export const statusesNeedingReason: ReadonlySet<number> = new Set([400, 422, 429]);
