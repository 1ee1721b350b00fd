/** What protects a payment holds whatever it is given: references, options, limits, dry runs, n8n itself. */
import type { IDataObject, IExecuteFunctions, INodeParameters, INodeType } from 'n8n-workflow';
import type { Fault } from '../../sandbox/faults.mts';
import type { RunOptions, RunResult } from '../../lab/engine/engine.mts';
import {
	credentialFor,
	deduplicator,
	loadPackage,
	updatePackage,
} from '../../lab/engine/engine.mts';
import {
	answerOf,
	itemsFor,
	nodeId,
	outcomesOf,
	paidNames,
	pay,
	payInEachTest,
	payments,
	sandbox,
	user,
} from '../../lab/engine/paying.mts';

payInEachTest();

/** @param options may name a mode too */
const payMapped = async (
	items: IDataObject[],
	{ mode = 'pay', ...options }: INodeParameters = {},
	run: Partial<RunOptions> = {},
): Promise<RunResult> => await pay(items, { mode, options }, run);

describe('Map Automatically with a reference column that is empty', () => {
	test.each([
		['for the only item', 'reference', ''],
		['in all rows', 'reference', null],
		['and almost has the name', 'Reference', ''],
		['and holds blanks', 'reference', '  '],
	])('%s pays nobody', async (_when, column, value) => {
		const toUserId = user('a');
		for (const count of [1, 3]) {
			const items = Array.from({ length: count }, () => ({
				toUserId,
				amountEtb: 10,
				[column]: value,
			}));
			const { error } = await payMapped(items);
			expect(error?.message).toMatch(/Reference is |cannot be used/);
		}
		expect(payments()).toEqual([]);
	});
});

describe('the option checkBalance', () => {
	const payWith = async (checkBalance: string | boolean): Promise<RunResult> => {
		sandbox.books.setTreasuryBalance(1);
		const payment = { mappingMode: 'defineBelow', toUserId: user('a'), amountEtb: '10' };
		return await pay([{}], { ...payment, options: { checkBalance } });
	};

	test.each(['=true', '={{ "true" }}', '={{ true }}', true])('is on as %p', async (value) => {
		const { error } = await payWith(value);
		expect(error?.message).toMatch(/^The treasury holds 1 ETB/);
		expect(payments()).toEqual([]);
	});

	test.each(['={{ 1 }}', '={{ $json.nothing }}', '={{ "yes" }}', '={{ [] }}', '={{ null }}', ''])(
		'is neither on nor off as %p, and nothing is sent',
		async (value) => {
			const { error } = await payWith(value);
			expect(error?.message).toMatch('Check Balance First is ');
			expect(error?.message).toMatch(/neither true nor false$/);
			expect(payments()).toEqual([]);
		},
	);

	test.each([false, '={{ "false" }}', '=false'])('is off as %p', async (value) => {
		await payWith(value);
		expect(payments()).toHaveLength(1);
	});
});

describe('an answer that contradicts itself is unknown', () => {
	test.each([
		'{"success":true,"data":{"success":false}}',
		'{"success":false,"data":{"success":true,"txHash":"0x1"}}',
		'{"success":true,"data":{"success":"true"}}',
		'{"success":false,"success":true}',
		'{"data":{"success":false,"success":true}}',
		'{"succes\\u0073":true,"success":false}',
	])('%s', async (body) => {
		const fault: Fault = { process: 'before-answer', answer: { status: 200, body } };
		sandbox.faults.plan('POST /disburse', () => fault);
		const result = await payMapped(itemsFor('a'), {}, { onError: 'continueErrorOutput' });
		expect(outcomesOf(result)).toEqual(['unknown']);
	});

	test.each([
		['{"success":true,"data":{"success":true},"amountEtb":10}', 'paid'],
		['{"success":true,"note":"\\"success\\": false"}', 'paid'],
		['{"success":true,"steps":[{"success":false}]}', 'paid'],
	])('but not %s', async (body, outcome) => {
		const fault: Fault = { process: 'before-answer', answer: { status: 200, body } };
		sandbox.faults.plan('POST /disburse', () => fault);
		expect(outcomesOf(await payMapped(itemsFor('a')))).toEqual([outcome]);
	});
});

describe('a status that contradicts its body is unknown, and sent once', () => {
	test.each([429, 400, 409, 404, 302])('%i', async (status) => {
		const body = '{"success":true,"amountEtb":10,"txHash":"0x1"}';
		const headers = { 'retry-after': '0' };
		const fault: Fault = { process: 'before-answer', answer: { status, body, headers } };
		sandbox.faults.plan('POST /disburse', () => fault);
		const items = itemsFor('a');
		const result = await payMapped(items, {}, { onError: 'continueErrorOutput' });
		expect(outcomesOf(result)).toEqual(['unknown']);
		sandbox.faults.clear();
		expect(outcomesOf(await payMapped(items))).toEqual(['unknown']);
		expect(paidNames()).toEqual(['a']);
	});

	test.each([
		['{"success":"TRUE"}', 'unknown', 1],
		['{"Success":true}', 'unknown', 1],
		['{"success":1}', 'unknown', 1],
		['{"success":false,"txHash":12}', 'unknown', 1],
		['{"success":false,"txhash": "0x1"}', 'unknown', 1],
		['{"success":false,"txHash":"","note":"0x1"}', 'notPaid', 4],
		['{"success":false,"txHash": null}', 'notPaid', 4],
		['{"success":10}', 'notPaid', 4],
	])('however it says so: 429 %s is %s', async (body, outcome, requests) => {
		const answer = { status: 429, body, headers: { 'retry-after': '0' } };
		sandbox.faults.plan('POST /disburse', (): Fault => ({ process: 'never', answer }));
		const result = await payMapped(itemsFor('a'), {}, { onError: 'continueErrorOutput' });
		expect(outcomesOf(result)).toEqual([outcome]);
		expect(payments()).toHaveLength(requests);
	});
});

test.each(['"note"', '"message"'])(
	'an answer that would exhaust an expression is told, and sent once (%s)',
	async (name) => {
		const body = `{"success":true,${name}:"${sandbox.apiKey.slice(0, 3)}${'<b>'.repeat(300_000)}"}`;
		const fault: Fault = { process: 'before-answer', answer: { status: 200, body } };
		sandbox.faults.plan('POST /disburse', () => fault);
		const result = await payMapped(
			[{ toUserId: user('a'), amountEtb: 10 }],
			{},
			{ retryOnFail: true, maxTries: 3, onError: 'continueErrorOutput' },
		);
		expect(outcomesOf(result)).toEqual(['paid']);
		expect(paidNames()).toEqual(['a']);
	},
);

test.each(['={{ $json.nothing }}', '={{ null }}', ''])(
	'If Reference Was Used as %p is neither Skip nor Fail, and nothing is sent',
	async (ifReferenceUsed) => {
		const { error } = await payMapped(itemsFor('a'), { ifReferenceUsed });
		expect(error?.message).toMatch(/^If Reference Was Used is empty/);
		expect(payments()).toEqual([]);
	},
);

test('a reference that another execution is sending is not told as notPaid when the database fails', async () => {
	sandbox.setLatency(300);
	const items = itemsFor('a');
	const record = deduplicator.checkProcessedAndRecord;
	let calls = 0;
	const first = payMapped(items);
	const second = (async () => {
		while (payments().length === 0) await new Promise(setImmediate);
		jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockImplementation(async (entries, scope, ...more) => {
				const isLook =
					scope === 'node' && entries.some((entry) => String(entry).startsWith('sent:'));
				if (isLook && ++calls === 2) throw new Error('connection lost');
				return await record(entries, scope, ...more);
			});
		return await payMapped(items);
	})();
	expect(outcomesOf(await first)).toEqual(['paid']);
	expect(outcomesOf(await second)).toEqual(['alreadyPaid']);
	expect(paidNames()).toEqual(['a']);
});

test.each(['maxAmountEtb', 'maxTotalEtb'])(
	'%s by an expression holds for the whole run: what differs by item pays nobody',
	async (option) => {
		const items = itemsFor('a', 'b').map((item, index) => ({ ...item, limit: [1000, 5][index] }));
		const { error } = await payMapped(items, { [option]: '={{ $json.limit }}' });
		expect(error?.message).toBe(
			`Options is {"${option}":1000} for item 0, and {"${option}":5} for item 1`,
		);
		expect(payments()).toEqual([]);
		const result = await payMapped(items, { [option]: '={{ $("Start").first().json.limit }}' });
		expect(outcomesOf(result)).toEqual(['paid', 'paid']);
	},
);

test('of equal rows the second is refused, and nobody is led to give it another reference', async () => {
	const [item = {}] = itemsFor('a');
	const { errorOutput } = await pay([item, item], {}, { onError: 'continueErrorOutput' });
	expect(errorOutput.map(answerOf)).toMatchObject([
		{
			message: 'Reference is "pay-a", which item 0 has too',
			description:
				'The same payment? Then remove this row. Another one? Then give it a reference of its own.',
		},
	]);
	expect(paidNames()).toEqual(['a']);
});

test('__proto__ in an answer gives the item no fields', async () => {
	sandbox.faults.plan('POST /disburse', () => ({
		process: 'before-answer',
		answer: {
			status: 200,
			body: '{"success":true,"__proto__":{"error":"no"},"data":{"__proto__":{"mode":"dryRun"}}}',
		},
	}));
	const { output } = await pay(itemsFor('a'));
	const { json = {} } = output[0] ?? {};
	expect([json.outcome, json.error, json.mode]).toEqual(['paid', undefined, undefined]);
	expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
});

test('a very long hash or user ID makes no long error', async () => {
	const items = itemsFor('a', 'b', 'x'.repeat(100_000)).map((item, index) => ({
		...item,
		reference: `pay-${index}`,
	}));
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes('xxx')
			? 'error500AfterPaying'
			: {
					process: 'before-answer',
					answer: {
						status: 200,
						body: JSON.stringify({ success: true, txHash: '0'.repeat(500_000) }),
					},
				},
	);
	const { error } = await pay(items);
	expect(error?.message).toMatch(/^It is unknown whether etbw_x{75}… was paid 10 ETB\. /);
	expect(JSON.stringify([error?.message, error?.description, error?.context]).length).toBeLessThan(
		5_000,
	);
});

test('an error names one unknown payment, and how many more are unknown', async () => {
	sandbox.faults.plan('POST /disburse', ({ bodyText }) =>
		bodyText.includes('etbw_a') ? undefined : 'error500AfterPaying',
	);
	const { error } = await pay(itemsFor('a', 'b', 'c'));
	expect(error?.message).toMatch(
		/^It is unknown whether etbw_b was paid 10 ETB, and the same of 1 more\. .* This run: 1 paid, 2 unknown/,
	);
});

test('an https address where plain http is spoken is told as not sent', async () => {
	const credential = { ...credentialFor(sandbox), baseUrl: sandbox.url.replace('http:', 'https:') };
	const items = itemsFor('a');
	const result = await payMapped(items, {}, { credential, onError: 'continueErrorOutput' });
	expect(outcomesOf(result)).toEqual(['notPaid']);
	expect(answerOf(result.errorOutput[0] ?? { json: {} }).message).toMatch(/does not speak https/);
	expect(outcomesOf(await payMapped(items))).toEqual(['paid']);
});

test.each([100000000000000.1, 4503599627370498, 123456789012345.67])(
	'the number %p has more digits than go out as they are, and is refused',
	async (amountEtb) => {
		const { error } = await payMapped([{ toUserId: user('a'), amountEtb }]);
		expect(error?.message).toMatch(/which has more than 15 digits/);
		expect(payments()).toEqual([]);
	},
);

describe('a very long text is read in time', () => {
	test('as an amount', async () => {
		const amountEtb = `${'0'.repeat(333)}.${'0'.repeat(665)}x`;
		const items = Array.from({ length: 2000 }, () => ({ toUserId: 'u', amountEtb }));
		const { error } = await payMapped(items);
		expect(error?.message).toMatch(/^Nobody was paid, because 2000 items cannot be used/);
	});

	test.each(['<a', '<', '<title', '<style', '<script><', '&amp;#43', '%25', ' '])(
		'as an error page of %p',
		async (piece) => {
			// Almost as long as an answer is read.
			const body = piece.repeat(1_000_000 / piece.length);
			sandbox.faults.plan('POST /disburse', () => ({
				process: 'never',
				answer: { status: 422, body },
			}));
			const { error } = await payMapped(itemsFor('a'));
			expect(error?.message).toMatch(/refused the request \(422\)/);
		},
	);
});

describe('a dry run', () => {
	test('says what would become of each payment, sends nothing and leaves no trace', async () => {
		const fault: Fault = { process: 'never', answer: { status: 500 } };
		sandbox.faults.plan('POST /disburse', ({ body }) =>
			/unknown/.test(JSON.stringify(body)) ? fault : undefined,
		);
		const first = itemsFor('unknown', 'other', 'used');
		await payMapped(first, {}, { onError: 'continueErrorOutput' });
		const before = structuredClone([...deduplicator.rows]);
		const requestsBefore = payments().length;
		const items = [
			...first.map((item, index) => ({
				...item,
				amountEtb: index === 1 ? 11 : 10,
			})),
			...itemsFor('new'),
			{ toUserId: '', amountEtb: 10, reference: 'x' },
		];
		const result = await payMapped(items, { mode: 'dryRun' }, { onError: 'continueErrorOutput' });
		expect(result.output.map(({ json }) => json.outcome)).toEqual([
			'unknown',
			'alreadyPaid',
			'ready',
		]);
		const modes = [...result.output, ...result.errorOutput].map((item) => answerOf(item).mode);
		expect(modes).toEqual(Array(5).fill('dryRun'));
		expect(result.errorOutput.map(answerOf)).toMatchObject([
			{ outcome: 'notPaid', reference: 'pay-other' },
			{ outcome: 'notPaid', message: expect.stringMatching(/^To User ID/) as unknown },
		]);
		expect(result.hints).toEqual([
			'Dry run: 1 ready, 1 already paid, 2 not paid, 1 unknown, total 10 ETB',
		]);
		expect([...deduplicator.rows]).toEqual(before);
		expect(payments()).toHaveLength(requestsBefore);
	});

	test.each([
		['is being sent by another execution', []],
		['was left by one that was cut off', ['sent:pay-a', 'payment:["pay-a","etbw_a","10"]']],
		[
			'was left in the middle of a question',
			['sent:pay-a', 'payment:["pay-a","etbw_a","10"]', 'doubt:sent:pay-a'],
		],
	])('says of a reference that %s what is true of all three', async (_how, marks: string[]) => {
		const items = itemsFor('a');
		let isAnswered = (): void => undefined;
		const answered = new Promise<void>((resolve) => (isAnswered = resolve));
		if (marks.length > 0) deduplicator.rows.set(`wf1:${nodeId}`, ['references', ...marks]);
		sandbox.setLatency(500);
		const other = marks.length > 0 ? undefined : payMapped(items).then(isAnswered);
		while (other !== undefined && payments().length === 0) await new Promise(setImmediate);
		const { output } = await payMapped(items, { mode: 'dryRun' });
		expect(output.map(({ json }) => [json.outcome, json.message])).toEqual([
			[
				'unknown',
				expect.stringMatching(
					/^Not sent: another execution is using this reference right now, or was cut off while it did\. .*A later run with Mode on Pay waits for it/,
				),
			],
		]);
		if (other !== undefined) await answered;
		await other;
	});

	test('of a list is followed by a run that pays all of it', async () => {
		const items = itemsFor(...Array.from({ length: 30 }, (_, index) => `u${index}`));
		const dry = await payMapped(items, { mode: 'dryRun' });
		expect(new Set(outcomesOf(dry))).toEqual(new Set(['ready']));
		expect(dry.hints).toEqual([
			expect.stringMatching(/^This node remembers no payments yet/),
			'Dry run: 30 ready, total 300 ETB',
		]);
		expect(new Set(outcomesOf(await payMapped(items)))).toEqual(new Set(['paid']));
		expect(new Set(outcomesOf(await payMapped(items, { mode: 'dryRun' })))).toEqual(
			new Set(['alreadyPaid']),
		);
	});

	test('checks limits and the balance', async () => {
		sandbox.books.setTreasuryBalance(15);
		const items = itemsFor('a', 'b');
		for (const options of [{ maxTotalEtb: '15' }, { maxAmountEtb: '5' }, { checkBalance: true }]) {
			const { error } = await payMapped(items, { ...options, mode: 'dryRun' });
			expect(`${error?.message} ${error?.description}`).toMatch(/Nobody was paid/);
		}
	});
});

describe.each([
	['because the treasury does not cover it', { checkBalance: true }],
	['because it is above its maximum', { maxTotalEtb: '15' }],
])('a run that is refused %s', (_why, options: INodeParameters) => {
	test('says what was paid before and what is unknown, and that the others are not paid', async () => {
		const fault: Fault = { process: 'before-answer', answer: { status: 500 } };
		sandbox.faults.plan('POST /disburse', ({ body }) =>
			JSON.stringify(body).includes('unknown') ? fault : undefined,
		);
		const onError = 'continueErrorOutput';
		const before = itemsFor('used', 'unknown', 'other');
		await payMapped(before, {}, { onError });
		sandbox.books.setTreasuryBalance(15);
		const items = before.map((item, index) => ({ ...item, amountEtb: index === 2 ? 11 : 10 }));
		const run = [...items, ...itemsFor('new'), ...itemsFor('next')];
		const requests = payments().length;
		{
			const { output, errorOutput } = await payMapped(run, options, { onError });
			expect(output.map(({ json }) => [json.reference, json.outcome])).toEqual([
				['pay-used', 'alreadyPaid'],
				['pay-unknown', 'unknown'],
			]);
			expect(errorOutput.map(answerOf)).toMatchObject([
				{
					reference: 'pay-other',
					outcome: 'notPaid',
					message: expect.stringMatching(/^Nothing was sent, because/) as unknown,
				},
				{
					reference: 'pay-new',
					outcome: 'notPaid',
					description: expect.stringMatching(/^Nobody was paid\./) as unknown,
				},
				{ reference: 'pay-next', outcome: 'notPaid' },
			]);
		}
		expect(payments()).toHaveLength(requests);
		const { output } = await payMapped(before);
		expect(output.map(({ json }) => json.outcome)).toEqual([
			'alreadyPaid',
			'unknown',
			'alreadyPaid',
		]);
	});

	test('says not paid of all when its references cannot be looked up', async () => {
		sandbox.books.setTreasuryBalance(15);
		jest
			.spyOn(deduplicator, 'checkProcessedAndRecord')
			.mockRejectedValue(new Error('database is locked'));
		const items = itemsFor('a', 'b');
		const { errorOutput } = await payMapped(items, options, { onError: 'continueErrorOutput' });
		expect(errorOutput.map((item) => answerOf(item).outcome)).toEqual(['notPaid', 'notPaid']);
		expect(payments()).toEqual([]);
	});
});

/** What fails where nothing else catches it, once the payment may be under way. */
test('whatever is thrown while a payment is sent makes it unknown, and shows no secret', async () => {
	const key = sandbox.apiKey;
	let isSending = false;
	const node = await nodeWith((context) => ({
		getExecutionCancelSignal: {
			value: () => {
				const isFirst = isSending;
				isSending = false;
				if (isFirst) throw new Error(`Bearer ${key} and ${encodeURIComponent(`${key}/`)}`);
				return context.getExecutionCancelSignal();
			},
		},
	}));
	sandbox.faults.plan('GET /balance', () => {
		isSending = true;
		return undefined;
	});
	const result = await payMapped(
		[{ toUserId: user('a'), amountEtb: 10 }],
		{ checkBalance: true },
		{ currentNode: () => node, onError: 'continueErrorOutput' },
	);
	expect(outcomesOf(result)).toEqual(['unknown']);
	expect(answerOf(result.errorOutput[0] ?? { json: {} }).message).toBe(
		'Sending the payment failed: Bearer [hidden] and [hidden]%2F',
	);
	expect(result.everything).not.toContain(key);
});

test('what n8n or the network says of a failed connection shows no secret', async () => {
	const key = sandbox.apiKey;
	const node = await nodeWith((context) => ({
		helpers: {
			value: {
				...context.helpers,
				httpRequestWithAuthentication: () =>
					Promise.reject(new Error(`header "Authorization: Bearer ${key}" is not valid`)),
			},
		},
	}));
	const result = await payMapped(
		itemsFor('a'),
		{},
		{ currentNode: () => node, onError: 'continueErrorOutput' },
	);
	expect(outcomesOf(result)).toEqual(['unknown']);
	expect(answerOf(result.errorOutput[0] ?? { json: {} }).message).toContain('[hidden]');
	expect(result.everything).not.toContain(key);
});

/** The node in an n8n that differs. */
async function nodeWith(
	differences: (context: IExecuteFunctions) => PropertyDescriptorMap,
): Promise<INodeType> {
	const original = await updatePackage();
	const node = Object.create(original) as INodeType;
	node.execute = async function (this) {
		const context = Object.create(this, differences(this)) as IExecuteFunctions;
		const output = await original.execute?.bind(context)();
		return Array.isArray(output) ? output : [];
	};
	return node;
}

describe('without what n8n sends requests with', () => {
	test('nothing is sent, and the version that is needed is named', async () => {
		const node = await nodeWith((context) => ({
			helpers: { value: { ...context.helpers, httpRequestWithAuthentication: undefined } },
		}));
		for (const items of [itemsFor('a'), [{ toUserId: 'etbw_u1', amountEtb: 10 }]]) {
			const { error } = await payMapped(items, {}, { currentNode: () => node });
			expect(error?.message).toBe('This version of n8n cannot send requests with a credential');
			expect(error?.description).toMatch(/Update n8n to \d+\.\d+\.\d+ or newer/);
		}
		expect(payments()).toEqual([]);
	});
});

describe('without what n8n keeps references with', () => {
	test('nothing is sent, and the version that is needed is named', async () => {
		const node = await nodeWith((context) => ({
			helpers: { value: { ...context.helpers, getProcessedDataCount: undefined } },
		}));
		const { error } = await payMapped(itemsFor('a'), {}, { currentNode: () => node });
		expect(error?.message).toBe('This version of n8n cannot keep references');
		expect(error?.description).toMatch(/^Nobody was paid\. Update n8n to \d+\.\d+\.\d+ or newer/);
		expect(payments()).toEqual([]);
		const settled = await payMapped(
			itemsFor('b'),
			{ mode: 'settle' },
			{ currentNode: () => node, onError: 'continueErrorOutput' },
		);
		expect(outcomesOf(settled)).toEqual(['unknown']);
	});

	test('hints are left out, and the payments are told all the same', async () => {
		const node = await nodeWith(() => ({ addExecutionHints: { value: undefined } }));
		const result = await payMapped(itemsFor('a', 'b'), {}, { currentNode: () => node });
		expect(outcomesOf(result)).toEqual(['paid', 'paid']);
	});
});

test('answers that n8n invents, as for the tools of an agent that it evaluates, make a dry run', async () => {
	const node = await nodeWith((context) => ({
		additionalData: {
			value: {
				...(Reflect.get(context, 'additionalData') as object),
				evalLlmMockHandler: () => ({ body: { success: true, txHash: '0xinvented' } }),
			},
		},
	}));
	const evaluated = await payMapped(itemsFor('a'), {}, { currentNode: () => node });
	expect(evaluated.output.map(({ json }) => [json.outcome, json.mode])).toEqual([
		['ready', 'dryRun'],
	]);
	expect(payments()).toEqual([]);
	expect(outcomesOf(await payMapped(itemsFor('a')))).toEqual(['paid']);
});

test('an update of the package between two tries pays nobody again', async () => {
	let node = (await loadPackage()).types.get('n8n-nodes-etb-wallet.etbWallet');
	const items = ['a', 'b', 'c'].map((name) => ({ toUserId: user(name), amountEtb: 10 }));
	const updated = await updatePackage();
	let refusals = 0;
	sandbox.faults.plan('POST /disburse', ({ body }) => {
		if (!JSON.stringify(body).includes('etbw_c') || refusals++ > 0) return undefined;
		node = updated;
		return { process: 'never', answer: { status: 422, body: '{"message":"closed"}' } };
	});
	const result = await payMapped(
		items,
		{ concurrency: 1 },
		{ retryOnFail: true, maxTries: 2, currentNode: () => node ?? updated },
	);
	expect(outcomesOf(result)).toEqual(['paid', 'paid', 'paid']);
	expect(node).toBe(updated);
	expect(paidNames()).toEqual(['a', 'b', 'c']);
});

test('many references are hinted at, once a run', async () => {
	jest
		.spyOn(deduplicator, 'getProcessedDataCount')
		.mockImplementation((scope) => Promise.resolve(scope === 'node' ? 480_000 : 0));
	const { hints } = await payMapped(itemsFor('a', 'b'));
	expect(hints).toEqual([
		expect.stringMatching(
			/^This node keeps about 120000 references, so each payment takes about 36 ms longer/,
		),
		'2 paid, total 20 ETB',
	]);
});

test('a run that lacks money looks at references so that no other run sees it', async () => {
	sandbox.books.setTreasuryBalance(15);
	const items = itemsFor('a', 'b');
	const record = deduplicator.checkProcessedAndRecord;
	let rich: Promise<RunResult> | undefined;
	jest
		.spyOn(deduplicator, 'checkProcessedAndRecord')
		.mockImplementation(async (entries, scope, ...more) => {
			const answer = await record(entries, scope, ...more);
			if (rich === undefined && entries.includes('sent:pay-a')) {
				// Another run comes in the middle of the look, and has time to look too.
				rich = payMapped(items.slice(0, 1));
				for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate);
			}
			return answer;
		});
	const poor = await payMapped(items, { checkBalance: true }, { onError: 'continueErrorOutput' });
	expect(rich && outcomesOf(await rich)).toEqual(['paid']);
	// When this run ends, the other one is sending the first, or has sent it.
	expect(['unknown', 'alreadyPaid']).toContain(outcomesOf(poor)[0]);
	expect(outcomesOf(poor)[1]).toBe('notPaid');
});
