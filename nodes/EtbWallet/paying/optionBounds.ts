/** The bounds of the options, which the editor shows and `options.ts` checks. */

/** The shortest Timeout of a payment, in ms. A 30 that is meant as seconds would leave each payment unknown. */
export const minTimeoutMs = 1_000;

/** The longest Timeout of a payment, in ms. The times of a reservation follow from it (`paymentMarks.ts`). */
export const maxTimeoutMs = 120_000;

/** At most this many payments are under way at once. */
export const maxConcurrency = 100;
