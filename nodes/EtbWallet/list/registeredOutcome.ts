/** The outcomes of the register of payments. */
import { normalizeText } from '../../shared/normalizeText';
import { outcomeByCode, type Outcome } from '../codes';

/** The outcome of a row of the register. `notPaid`: no payment is known to have been made. */
export type RegisteredOutcome = 'paid' | 'unknown' | 'notPaid';

/** What each outcome of *Create*, and each code of it, means for a row of the register; by normalized text. */
const meanings: ReadonlyMap<string, RegisteredOutcome> = new Map(
	[
		...Object.values(outcomeByCode).map((outcome) => [outcome, outcome] as const),
		...Object.entries(outcomeByCode),
	].map(([text, outcome]) => [normalizeText(text), meaningOf(outcome)]),
);

function meaningOf(outcome: Outcome): RegisteredOutcome {
	if (outcome === 'unknown') return outcome;
	return outcome === 'paid' || outcome === 'alreadyPaid' ? 'paid' : 'notPaid';
}

/** A text that is no outcome means *unknown*, because somebody may have written that it was paid. */
export const registeredOutcome = (text: string): RegisteredOutcome =>
	meanings.get(normalizeText(text)) ?? 'unknown';
