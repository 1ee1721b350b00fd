/**
 * Each response that a service can give to a payment, through the whole node: its outcome, and what the next run
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
import { paymentResponses } from '../support/payment-responses.mts';

payInEachTest();

test('a payment is paid only with a proof, and what is unknown is not sent again', async () => {
	const [item] = itemsFor('a');
	const items = paymentResponses.map((_, line) => ({ ...item, reference: `response-${line}` }));
	sandbox.faults.plan('POST /disburse', () => {
		const response = paymentResponses[payments().length - 1];
		return response && reply(response.status, response.body);
	});
	const run = async (): Promise<unknown[]> => {
		const options = { concurrency: 1 };
		const { output } = await pay(items, { options }, { onError: 'continueRegularOutput' });
		return output.map((each) => resultIn(each).outcome);
	};
	const meanings = paymentResponses.map(({ meaning }) => meaning);
	expect(await run()).toEqual(meanings);
	const sent = payments().length;
	expect(sent).toBe(paymentResponses.length);
	const later = { paid: 'alreadyPaid', notPaid: 'paid', unknown: 'unknown' };
	expect(await run()).toEqual(meanings.map((meaning) => later[meaning]));
	expect(payments()).toHaveLength(sent + meanings.filter((each) => each === 'notPaid').length);
});
