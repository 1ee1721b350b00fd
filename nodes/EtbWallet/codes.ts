/** The codes that an item can carry: the reasons why a payment ended as it did, and the outcome of each. */
import type { FailureCode } from '../shared/service/judge';

/** `unknown`: the payment may have been made. `ready`: a run with Mode on Pay would send it. */
export type Outcome = 'paid' | 'alreadyPaid' | 'ready' | 'notPaid' | 'unknown';

/** Codes of a failed call of the service: they have the names of `FailureCode`. */
const outcomeByFailureCode = {
	refused: 'notPaid',
	notReached: 'notPaid',
	noAnswer: 'unknown',
	unclear: 'unknown',
} as const satisfies Record<FailureCode, Outcome>;

/** Each code is explained in docs/operations.md; a test compares the two lists. */
export const outcomeByCode = {
	paid: 'paid',
	otherAmount: 'paid',
	paidBefore: 'alreadyPaid',
	settledPaid: 'alreadyPaid',
	ready: 'ready',
	settledNotPaid: 'ready',
	...outcomeByFailureCode,
	otherPayment: 'notPaid',
	invalid: 'notPaid',
	sameReference: 'notPaid',
	aboveMaximum: 'notPaid',
	notCovered: 'notPaid',
	noRecord: 'notPaid',
	settings: 'notPaid',
	inDoubt: 'unknown',
	inFlight: 'unknown',
	notSettled: 'unknown',
	claimUsed: 'unknown',
} as const satisfies Record<string, Outcome>;

export type Code = keyof typeof outcomeByCode;

export const outcomeOf = (code: Code): Outcome => outcomeByCode[code];

/**
 * The part that keeps a payment from being sent: the record, or a field of its item. `aboveMaximum` is also given to
 * every item when the whole run is above its limit (`reportHalt`).
 */
const originByCode: Readonly<Record<Code, 'record' | 'field' | 'other'>> = {
	paidBefore: 'record',
	otherPayment: 'record',
	inDoubt: 'record',
	inFlight: 'record',
	invalid: 'field',
	sameReference: 'field',
	aboveMaximum: 'field',
	paid: 'other',
	otherAmount: 'other',
	settledPaid: 'other',
	ready: 'other',
	settledNotPaid: 'other',
	refused: 'other',
	notReached: 'other',
	noAnswer: 'other',
	unclear: 'other',
	notCovered: 'other',
	noRecord: 'other',
	settings: 'other',
	notSettled: 'other',
	claimUsed: 'other',
};

export const isOfRecord = (code: Code): boolean => originByCode[code] === 'record';
export const isOfField = (code: Code): boolean => originByCode[code] === 'field';
