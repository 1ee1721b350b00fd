/** What a person is told about a reference that is not sent, or that a finding settled: the record's answers in words. */
import { show } from '../../shared/invalidValue';
import type { Failure } from '../../shared/service/failure';
import { messageOf } from '../../shared/unknown';
import type { Found } from './ledger';
import { wordOf } from './payment';
import type { Ending, Row, RunOptions } from './run';

const settleSteps =
	'Ask the partner service whether it was paid, while no execution of this workflow is running. Then set Mode to Settle Unknown and Finding to what it said (From Each Item, if it differs), choose Execute step with the same items, and set Mode back to Pay. For From Each Item give your list a column finding with paid or notPaid, and run the node that reads it first. Settling sends nothing.';

interface Answer {
	outcome: 'alreadyPaid' | 'unknown' | 'notPaid' | 'ready';
	message: string;
	remedy?: string;
	settled?: Extract<Ending, { message: string }>['settled'];
}

type Answers = Readonly<Record<Exclude<Found, 'granted'>, Answer>>;

const answers: Answers = {
	// Only a dry run is told so: any other one claims it, or settles.
	unused: { outcome: 'ready', message: 'Dry run: nothing was sent' },
	paid: {
		outcome: 'alreadyPaid',
		message: 'Paid or settled as paid before, not sent again',
		remedy: 'There is nothing to do, unless this is a new payment: that needs a new reference.',
	},
	settledPaid: {
		outcome: 'alreadyPaid',
		message: 'Settled as paid, nothing was sent',
		settled: 'paid',
	},
	newlyPaid: {
		outcome: 'alreadyPaid',
		message:
			'Recorded as paid, and nothing was sent: no run sends it any more. If it was not paid, only another reference pays it',
		settled: 'newlyPaid',
	},
	freed: {
		outcome: 'ready',
		message: 'Settled as not paid before, and not sent since. A run with Mode on Pay sends it',
	},
	settledNotPaid: {
		outcome: 'ready',
		message: 'Settled as not paid, nothing was sent. A run with Mode on Pay sends it',
		settled: 'notPaid',
	},
	inDoubt: {
		outcome: 'unknown',
		message:
			'Not sent again: it was sent before, and how that ended is not known, or it was refused after it had been settled',
		remedy: settleSteps,
	},
	givenUp: {
		outcome: 'unknown',
		message:
			'Not sent: the execution that was sending it was cut off, so it is unknown from now on',
		remedy: settleSteps,
	},
	inFlight: {
		outcome: 'unknown',
		message:
			'Not sent: another execution is using this reference right now, or was cut off while it did',
		remedy:
			'Look at that execution for how it ended. A later run with Mode on Pay waits for it, if the field finding of the item is empty, and tells what became of it.',
	},
	heldByAnother: {
		outcome: 'unknown',
		message:
			'This person may have been paid another amount under this reference, or it is another person’s, so nothing was sent',
		remedy:
			'Find the earlier payment with this reference, ask the partner service what was paid, and settle that one first, with its own person and amount. If it was not paid, run this item again. If it was, pay only the difference, under another reference.',
	},
	paidToAnother: {
		outcome: 'notPaid',
		message: 'Nothing was sent, because another person or amount was paid under this reference',
		remedy:
			'Is it the same payment? Then do not pay it again: also not to another user ID of the same person, and of another amount only the difference. Otherwise give it a reference of its own.',
	},
};

const answersWhenSettling: Answers = {
	...answers,
	unused: {
		outcome: 'ready',
		message:
			'This node knows no unknown payment under this reference, so nothing was settled. A run with Mode on Pay sends it',
	},
	inDoubt: {
		outcome: 'unknown',
		message: 'Not settled, because its Finding is empty or Not Clear Yet: it stays unknown',
		remedy:
			'Ask the partner service whether it was paid, and settle it then. If its finding stands in a table, run the node that reads the table first.',
	},
	givenUp: {
		outcome: 'unknown',
		message:
			'Not settled: another execution was sending it until now, and a finding is about what was asked before',
		remedy: 'Ask the partner service whether it was paid, and settle it by one more run.',
	},
};

/** How a payment ends that is not sent, by the record's answer. */
export function answerOf(
	{ reference, finding, hasOwnFinding, oldFinding }: Row,
	found: Exclude<Found, 'granted'>,
	{ mode, failsIfUsed }: RunOptions,
): Ending {
	const settles = mode === 'settle';
	const answer = settles ? answersWhenSettling[found] : answers[found];
	const { outcome, message, settled } = answer;
	const isToBeSettled = found === 'inDoubt' && wordOf(oldFinding) !== undefined;
	const remedy = isToBeSettled ? findingIsThere : (answer.remedy ?? '');
	if (found === 'unused' && oldFinding !== undefined)
		return { outcome: 'notPaid', error: stillFound(oldFinding) };
	if (found === 'freed' && finding === 'paid')
		return { outcome: 'ready', message: `${message}. ${howToRecord}`, settled: 'nothing' };
	if (found === 'unused' && (finding === 'paid' || finding === 'recordPaid')) {
		// Who was never sent is no surprise when one finding is chosen for a whole list. What a person records always is.
		const isMeant = hasOwnFinding || finding === 'recordPaid';
		return {
			outcome: 'ready',
			message: `${message}, although its Finding is ${finding}. ${howToRecord}`,
			settled: isMeant ? 'nothing' : undefined,
		};
	}
	if (found === 'paid' && finding === 'notPaid' && hasOwnFinding) {
		const text =
			'Its Finding is notPaid, but this node knows it as paid, maybe since you asked. Ask the partner service again: only if it was not paid, pay it under another reference';
		return { outcome: 'alreadyPaid', message: text, settled: 'nothing' };
	}
	if (outcome === 'ready') return { outcome, message, settled };
	if (outcome === 'notPaid' || (failsIfUsed && !settles))
		return { outcome, error: { message: `${message}: ${show(reference)}`, description: remedy } };
	return { outcome, message: outcome === 'unknown' ? `${message}. ${remedy}` : message, settled };
}

const findingIsThere =
	'Its finding is there: set Mode to Settle Unknown and Finding to From Each Item, and choose Execute step with the same items.';

const howToRecord =
	'If it was paid, write recordPaid into its field finding, and settle with From Each Item';

/** A finding that is there before a payment is sent says nothing about that payment, and could settle it later. */
const stillFound = (finding: string): Failure => ({
	message: `Not sent, because the field finding of this payment is ${show(finding)}`,
	description:
		'Was it paid? Then write recordPaid into that field, and set Mode to Settle Unknown and Finding to From Each Item. Otherwise empty it in your list, and run the node that reads the list: what stays there would settle the next unknown payment too.',
});

/** How a payment ended that was sent with a reference: if that is unknown, with what to do about it. */
export function withSettleSteps(ending: Ending): Ending {
	if (ending.outcome !== 'unknown' || !('error' in ending)) return ending;
	const error = { ...ending.error, description: `It may have been paid. ${settleSteps}` };
	return { ...ending, error };
}

/** Why nothing is sent when n8n's database fails. */
export function notRecorded(error: unknown): Failure {
	return {
		message: 'The reference could not be recorded in the database of n8n, so nothing was sent',
		description: `Run the workflow again. If it then reports this reference as unknown, although it was not used before, this run did not send it. The database said: ${messageOf(error)}`,
	};
}

/** Why it is not certain that a finding was recorded when n8n's database fails. */
export function notSettled(error: unknown): Failure {
	return {
		message: 'It is not certain that the finding was recorded in the database of n8n',
		description: `Nothing was sent. Look with a dry run what this node knows now, and settle again what is still unknown. The database said: ${messageOf(error)}`,
	};
}
