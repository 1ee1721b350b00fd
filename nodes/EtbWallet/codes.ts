/** The codes that an item can carry: the reasons why a payment ended as it did, and the outcome of each. */
import type { FailureCode } from '../shared/service/judge';

/** `unknown`: the payment may have been made. `ready`: a run with Mode on Pay would send it. */
export type Outcome = 'paid' | 'alreadyPaid' | 'ready' | 'notPaid' | 'unknown';

interface CodeTraits {
	outcome: Outcome;
	/**
	 * The part that keeps the payment from being sent: the record or the table of payments, or its own item, which makes the
	 * entry *unusable*.
	 */
	blockedBy?: 'record' | 'item';
}

/**
 * Codes of a failed call of the service have the names of `FailureCode`. Each code is explained in docs/operations.md; a
 * test compares the two lists.
 */
const codes = {
	paid: { outcome: 'paid' },
	otherAmount: { outcome: 'paid' },
	paidBefore: { outcome: 'alreadyPaid', blockedBy: 'record' },
	settledPaid: { outcome: 'alreadyPaid' },
	ready: { outcome: 'ready' },
	settledNotPaid: { outcome: 'ready' },
	refused: { outcome: 'notPaid' },
	notReached: { outcome: 'notPaid' },
	otherPayment: { outcome: 'notPaid', blockedBy: 'record' },
	invalid: { outcome: 'notPaid', blockedBy: 'item' },
	sameReference: { outcome: 'notPaid', blockedBy: 'item' },
	aboveMaximum: { outcome: 'notPaid', blockedBy: 'item' },
	totalAboveMaximum: { outcome: 'notPaid' },
	notCovered: { outcome: 'notPaid' },
	noRecord: { outcome: 'notPaid' },
	settings: { outcome: 'notPaid' },
	noResponse: { outcome: 'unknown' },
	unclear: { outcome: 'unknown' },
	inDoubt: { outcome: 'unknown', blockedBy: 'record' },
	inFlight: { outcome: 'unknown', blockedBy: 'record' },
	notSettled: { outcome: 'unknown' },
	contradicted: { outcome: 'unknown' },
	claimUsed: { outcome: 'unknown' },
} as const satisfies Record<FailureCode, CodeTraits> & Record<string, CodeTraits>;

export type Code = keyof typeof codes;

const traitsByCode: Readonly<Record<Code, CodeTraits>> = codes;

export const outcomeByCode: Readonly<Record<string, Outcome>> = Object.fromEntries(
	Object.entries(codes).map(([code, { outcome }]) => [code, outcome]),
);

export const outcomeOf = (code: Code): Outcome => traitsByCode[code].outcome;
export const isBlockedByRecord = (code: Code): boolean => traitsByCode[code].blockedBy === 'record';
export const isBlockedByItem = (code: Code): boolean => traitsByCode[code].blockedBy === 'item';
