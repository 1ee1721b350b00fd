/** How a payment ended, as it is read from an answer of the service. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText } from '../../shared/decimal';
import type { ServiceResult } from '../../shared/service/call';
import { unknownRemedy, type Failure, type Remedies } from '../../shared/service/failure';
import { quoted, reasonIn } from '../../shared/service/reason';
import { successIn, tellsOfSuccess } from '../../shared/service/success';
import type { Ending, Row } from './run';

const whatToCheck = 'Check the treasury balance, the amount and the user ID.';

/** What to do when the service refuses a payment. The service document does not say which status means too little money. */
export const refusalRemedies: Remedies = {
	400: whatToCheck,
	402: whatToCheck,
	409: 'If an earlier payment may be the same, check with the partner service before sending it again.',
	422: whatToCheck,
};

const notMade = { problem: 'The service did not make the disbursement' };

/** What an answer of the disburse endpoint means: only `success: true` is a payment (service document §2). */
export function endingOf(result: ServiceResult, hide: (text: string) => string): Ending {
	if (!result.ok) {
		const { outcome, ...error } = result.failure;
		return { outcome: outcome === 'unknown' ? 'unknown' : 'notPaid', error };
	}
	const success = successIn(result);
	if (success === 'yes') return { outcome: 'paid', answer: result.output };
	if (success === 'no' && !tellsOfSuccess(result)) {
		const message = notMade.problem + quoted(reasonIn(result, hide));
		return { outcome: 'notPaid', error: { message, description: whatToCheck } };
	}
	return {
		outcome: 'unknown',
		error: {
			message: 'The service answered without saying whether the disbursement was made',
			description: unknownRemedy,
		},
	};
}

/** Whether it goes to the error output, or stops the run. */
export function hasError(row: Row): row is Row & { ending: { error: Failure } } {
	return row.ending !== undefined && 'error' in row.ending;
}

/** Whether it ended without an error: nothing was sent, and the message says why. */
export const hasMessage = (
	row: Row,
): row is Row & { ending: Extract<Ending, { message: string }> } =>
	row.ending !== undefined && 'message' in row.ending;

export const isUnknown = ({ ending }: Row): boolean => ending?.outcome === 'unknown';

/** The service's answer, if the row was paid by this run. */
export const answerOn = ({ ending }: Row): IDataObject | undefined =>
	ending?.outcome === 'paid' ? ending.answer : undefined;

/** Whether the service says that it paid another amount, for example less a fee. */
export function paidOtherAmount(row: Row): boolean {
	const answered = decimalText(answerOn(row)?.amountEtb);
	return answered !== undefined && answered !== row.amount;
}

/** By what a person knows the payment. */
export const namesOf = ({ reference, toUserId }: Row): Pick<Row, 'reference' | 'toUserId'> => ({
	...(reference !== undefined && { reference }),
	...(toUserId !== undefined && { toUserId }),
});
