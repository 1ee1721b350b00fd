/** Why a payment ended as it did: every code that an item can carry, and the outcome that it stands for. */
import type { FailureCode } from '../../shared/service/answer';

/** `unknown`: it may have been made. `ready`: a run with Mode on Pay would send it. */
export type Outcome = 'paid' | 'alreadyPaid' | 'ready' | 'notPaid' | 'unknown';

interface CodeEntry {
	outcome: Outcome;
	/** For docs/operations.md, whose table a test compares with this one. */
	means: string;
}

/** Those with which a call of the service can fail have the names of `FailureCode`. */
const ofCalls = {
	refused: { outcome: 'notPaid', means: 'The service refused it' },
	notReached: { outcome: 'notPaid', means: 'The service could not be reached' },
	tooLate: { outcome: 'notPaid', means: 'Its time was over before it could be sent' },
	noAnswer: { outcome: 'unknown', means: 'It was sent, and no answer came' },
	unclear: { outcome: 'unknown', means: 'It was sent, and the answer does not say how it ended' },
} as const satisfies Record<FailureCode, CodeEntry>;

export const codes = {
	paid: { outcome: 'paid', means: 'The service paid it' },
	otherAmount: { outcome: 'paid', means: 'The service paid it, and names another amount' },
	paidBefore: {
		outcome: 'alreadyPaid',
		means: 'An earlier run paid it, or it was settled as paid',
	},
	settledPaid: { outcome: 'alreadyPaid', means: 'It was unknown, and is recorded as paid now' },
	recordedPaid: {
		outcome: 'alreadyPaid',
		means: 'This node never sent it, and it is recorded as paid now',
	},
	ready: { outcome: 'ready', means: 'A run with Mode on Pay would send it' },
	settledNotPaid: { outcome: 'ready', means: 'It was unknown, and the next run sends it' },
	neverSent: { outcome: 'ready', means: 'It was to be settled as not paid, and was not unknown' },
	...ofCalls,
	otherPayment: {
		outcome: 'notPaid',
		means: 'Its reference was paid to another person, or with another amount',
	},
	invalid: { outcome: 'notPaid', means: 'A field of the item cannot be used' },
	sameReference: { outcome: 'notPaid', means: 'An earlier item of the run has the same reference' },
	aboveMaximum: { outcome: 'notPaid', means: 'It is above Maximum per Payment' },
	aboveRunMaximum: { outcome: 'notPaid', means: 'The run is above Maximum per Run' },
	notCovered: { outcome: 'notPaid', means: 'The treasury does not cover the run' },
	noBalance: { outcome: 'notPaid', means: 'The treasury balance could not be read' },
	noRecord: { outcome: 'notPaid', means: 'The database of n8n could not record it' },
	settings: { outcome: 'notPaid', means: 'The credential or a setting of the node cannot be used' },
	inDoubt: {
		outcome: 'unknown',
		means: 'It was sent before, and nobody knows how that ended',
	},
	inFlight: { outcome: 'unknown', means: 'Another execution is sending it, or was just cut off' },
	onceOnly: {
		outcome: 'unknown',
		means: 'It was settled as not paid once: a second time only a person in the editor does so',
	},
	notSettled: { outcome: 'unknown', means: 'A run that settles failed, and nothing was sent' },
	claimUsed: { outcome: 'unknown', means: 'The claim of the pay gate was used before' },
	otherExecution: { outcome: 'unknown', means: 'Another execution claimed it at the pay gate' },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof codes;

export const outcomeOf = (code: Code): Outcome => codes[code].outcome;

/** What the record says of a payment that is therefore not sent. */
export const codesOfRecord: ReadonlySet<Code> = new Set<Code>([
	'paidBefore',
	'otherPayment',
	'inDoubt',
	'inFlight',
]);

/** What is wrong with an item before anything is sent. */
export const codesOfFields: ReadonlySet<Code> = new Set<Code>([
	'invalid',
	'sameReference',
	'aboveMaximum',
]);
