/** The sentences of the node that people act on, whole. All other tests look at codes and books. */
import {
	actionType,
	loadPackage,
	nodeTypesOf,
	plainNode,
	workflowOf,
} from '../support/engine/engine.mts';
import {
	itemsFor,
	leaveUnknown,
	pay,
	payInEachTest,
	failFor,
	rejection,
} from '../support/engine/paying.mts';

payInEachTest();

const onError = 'continueErrorOutput';

test('an unknown payment says who, how much, and how to settle it', async () => {
	failFor(['a'], 'error500AfterPaying');
	const { error } = await pay(itemsFor('a'));
	expect(error?.message).toBe(
		'It is unknown whether etbw_a was paid 10 ETB. The service failed (500). The service said: "Something went wrong. Please try again later" [item 0]',
	);
	expect(error?.description).toBe(
		'It may have been paid. Ask the partner service whether it was paid. Then, in the node that paid, set Mode to Settle Unknown, write pay-a into Was Paid or Was Not Paid, choose Execute step, and set Mode back. If this workflow has a form for the answer, use that instead. Settling sends nothing.',
	);
	const again = await pay(itemsFor('a'), {}, { onError });
	expect(again.errorOutput[0]?.json.error).toMatchObject({
		message: 'Not sent again: "pay-a" was sent before, and how that ended is not known',
		remedy:
			'Ask the partner service whether it was paid. Then, in the node that paid, set Mode to Settle Unknown, write pay-a into Was Paid or Was Not Paid, choose Execute step, and set Mode back. If this workflow has a form for the answer, use that instead. Settling sends nothing.',
	});
});

test('a payment that was refused says that nobody was paid', async () => {
	failFor(['a'], rejection);
	const { error } = await pay(itemsFor('a'));
	expect([error?.message, error?.description]).toEqual([
		'The service refused the request (422). The service said: "The wallet is closed" [item 0]',
		'Nobody was paid. Check the treasury balance, the amount and the user ID.',
	]);
	const { errorOutput } = await pay(itemsFor('a'), {}, { onError });
	const [item] = itemsFor('a');
	const message = 'The service refused the request (422). The service said: "The wallet is closed"';
	expect(errorOutput.map(({ json }) => json)).toEqual([
		{
			...item,
			error: {
				outcome: 'notPaid',
				code: 'refused',
				httpCode: '422',
				...item,
				message,
				remedy: 'Check the treasury balance, the amount and the user ID.',
			},
		},
	]);
});

test('a list that was paid in part says that another run does not pay the paid ones again', async () => {
	failFor(['b'], rejection);
	const { error } = await pay(itemsFor('a', 'b'));
	expect(error?.message).toMatch(/ This run: 1 paid, 1 not paid, total 10 ETB \[item 1\]$/);
	expect(error?.description).toMatch(
		/<br\/>Paid, and not again in another run: item 0 pay-a \(etbw_a, 10 ETB, 0x[0-9a-f]+\)<br\/>Not paid: item 1 pay-b /,
	);
});

test('a mode that was left on Settle Unknown says what to set', async () => {
	const { error } = await pay(
		itemsFor('a'),
		{ mode: 'settle', wasPaid: 'pay-a' },
		{ mode: 'trigger' },
	);
	expect([error?.message, error?.description]).toEqual([
		'Mode is on Settle Unknown. Nobody was paid',
		'To pay, set Mode of the node "ETB Wallet" to Pay, publish the workflow again, and run it anew. To settle, start a new execution in the editor, of this very workflow, and one that does not wait.',
	]);
});

test('a run beside its output says what it did, and what the next step is', async () => {
	expect((await pay(itemsFor('a', 'b'))).hints).toEqual([
		'This node remembered no payments before this run. If it is a copy, or was made anew, the other one may have paid these people.',
		'2 paid, total 20 ETB',
	]);
	await leaveUnknown(itemsFor('c'), ['c']);
	const settled = await pay([{}], {
		mode: 'settle',
		wasNotPaid: 'pay-c\npay-d',
		wasPaid: 'pay-a',
	});
	expect(settled.hints).toEqual([
		'Settle Unknown, nothing was sent. If you set Mode by hand, now set it back, and run the workflow again',
	]);
	expect(settled.output.map(({ json: { message, remedy } }) => [message, remedy])).toEqual([
		['It was paid before, and stays paid', undefined],
		['Settled as not paid: the next run with Mode on Pay sends it', undefined],
		[
			'It was not unknown: the next run with Mode on Pay sends it',
			'Is the reference spelled as the error shows it?',
		],
	]);
});

test.each([
	[{ mode: 'pay' }, 'create: disbursement'],
	[{ mode: 'dryRun' }, 'DRY RUN: pays nobody'],
	[{ mode: 'settle' }, 'SETTLE: pays nobody'],
	[{ mode: "={{ $json.isApproved ? 'pay' : 'dryRun' }}" }, 'Mode by expression'],
	[{ resource: 'user' }, 'create: user'],
	[{ operation: 'checkList' }, 'checkList: disbursement'],
])('on the canvas %j has the subtitle %s', async (parameters, subtitle) => {
	const nodeTypes = nodeTypesOf(await loadPackage());
	const node = {
		...plainNode('Pay', actionType),
		parameters: { resource: 'disbursement', operation: 'create', ...parameters },
	};
	const { workflow } = workflowOf([node], {}, nodeTypes);
	const expression = nodeTypes.getByNameAndVersion(actionType, 1).description.subtitle;
	expect(workflow.expression.getSimpleParameterValue(node, expression, 'internal', {})).toBe(
		subtitle,
	);
});
