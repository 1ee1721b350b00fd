/**
 * Each answer that a service can give to a payment, through the whole node: its outcome, and what the next run
 * makes of it.
 */
import {
	resultIn,
	itemsFor,
	pay,
	payInEachTest,
	payments,
	reply,
	sandbox,
} from '../support/engine/paying.mts';
import { paymentAnswers } from '../support/payment-answers.mts';

payInEachTest();

test('a payment is paid only with a proof, and what is unknown is not sent again', async () => {
	const [item] = itemsFor('a');
	const items = paymentAnswers.map((_, line) => ({ ...item, reference: `answer-${line}` }));
	sandbox.faults.plan('POST /disburse', () => {
		const answer = paymentAnswers[payments().length - 1];
		return answer && reply(answer.status, answer.body);
	});
	const run = async (): Promise<unknown[]> => {
		const options = { concurrency: 1 };
		const { output } = await pay(items, { options }, { onError: 'continueRegularOutput' });
		return output.map((each) => resultIn(each).outcome);
	};
	const meanings = paymentAnswers.map(({ meaning }) => meaning);
	expect(await run()).toEqual(meanings);
	const sent = payments().length;
	expect(sent).toBe(paymentAnswers.length);
	const later = { paid: 'alreadyPaid', notPaid: 'paid', unknown: 'unknown' };
	expect(await run()).toEqual(meanings.map((meaning) => later[meaning]));
	expect(payments()).toHaveLength(sent + meanings.filter((each) => each === 'notPaid').length);
});
