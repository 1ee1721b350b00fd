/** The protection of a payment holds with all input: options, responses, n8n itself. */
import type { IExecuteFunctions, INodeType } from 'n8n-workflow';
import { loadAnew } from '../support/engine/engine.mts';
import { optionsOfCreate } from '../support/engine/options-of-create.mts';
import {
	resultIn,
	codesOf,
	failFor,
	itemsFor,
	paidNames,
	pay,
	payInEachTest,
	payments,
	reply,
	sandbox,
} from '../support/engine/paying.mts';

payInEachTest();

const onError = 'continueErrorOutput';

describe('the option checkBalance', () => {
	const payWith = async (checkBalance: string | boolean) => {
		sandbox.books.setTreasuryBalance(1);
		return await pay(itemsFor('a'), { options: { checkBalance } }, { onError });
	};

	test.each(['=true', '={{ "true" }}', '={{ true }}', true])('is on as %p', async (value) => {
		expect(codesOf(await payWith(value))).toEqual(['notCovered']);
		expect(payments()).toEqual([]);
	});

	test.each(['={{ 1 }}', '={{ $json.nothing }}', '={{ "yes" }}', '={{ [] }}', '={{ null }}', ''])(
		'is neither on nor off as %p, and nothing is sent',
		async (value) => {
			const result = await payWith(value);
			expect(codesOf(result)).toEqual(['settings']);
			expect(result.hints.join()).toMatch(/^Check Balance First is .*neither true nor false/);
			expect(payments()).toEqual([]);
		},
	);

	test.each([false, '={{ "false" }}', '=false'])('is off as %p', async (value) => {
		await payWith(value);
		expect(payments()).toHaveLength(1);
	});
});

describe.each(optionsOfCreate.map(({ name }) => name))('the option %s', (option) => {
	test.each(['', '={{ $json.nothing }}', '={{ null }}', '={{ {} }}', 'none'])(
		'is refused as %p, so that no check is off unnoticed',
		async (value) => {
			const result = await pay(itemsFor('a'), { options: { [option]: value } }, { onError });
			expect(codesOf(result)).toEqual(['settings']);
			expect(payments()).toEqual([]);
		},
	);
});

test('a maximum is read as an amount, and is the same for all items', async () => {
	const items = itemsFor('a', 'b').map((item, index) => ({ ...item, limit: [1000, 5][index] }));
	for (const maxTotalEtb of ['5.000', '={{ $json.limit }}']) {
		const { error } = await pay(items, { options: { maxTotalEtb } });
		expect(error?.message).toMatch(/^Maximum per Run is |^Options is .* for item 0, and /);
	}
	expect(payments()).toEqual([]);
	const shared = { options: { maxTotalEtb: '={{ $("Start").first().json.limit }}' } };
	expect(codesOf(await pay(items, shared))).toEqual(['paid', 'paid']);
});

describe('a response that would take long to read is told, and sent once', () => {
	test.each(['note', 'message'])('as %s of a payment', async (name) => {
		const long = `${sandbox.apiKey.slice(0, 3)}${'<b>'.repeat(300_000)}`;
		failFor(['a'], reply(200, { success: true, txHash: '0x1', [name]: long }, 'before-response'));
		const result = await pay(itemsFor('a'), {}, { retryOnFail: true, onError });
		expect(codesOf(result)).toEqual(['paid']);
		expect(payments()).toHaveLength(1);
	});

	test.each(['<a', '<script><', '&amp;#43', ' '])('as an error page of %p', async (piece) => {
		// Almost as long as a response is read.
		failFor(['a'], reply(422, piece.repeat(1_000_000 / piece.length)));
		expect(codesOf(await pay(itemsFor('a'), {}, { onError }))).toEqual(['unclear']);
	});
});

describe('no secret is shown', () => {
	test('of what is thrown while a payment is sent, which makes it unknown', async () => {
		const key = sandbox.apiKey;
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		// That of the request to pay.
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			if (ms > 12_000 && ms <= 12_345)
				throw new Error(`Bearer ${key} and ${encodeURIComponent(`${key}/`)}`);
			return timeout(ms);
		});
		const result = await pay(itemsFor('a'), { options: { timeout: 12_345 } }, { onError });
		expect(codesOf(result)).toEqual(['unclear']);
		expect(result.everything).not.toContain(key);
	});

	test('of what n8n or the network says of a failed connection', async () => {
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
		const result = await pay(itemsFor('a'), {}, { currentNode: () => node, onError });
		expect(codesOf(result)).toEqual(['noResponse']);
		expect(resultIn(result.errorOutput[0] ?? { json: {} }).message).toContain('[hidden]');
		expect(result.everything).not.toContain(key);
	});
});

/** The node in an n8n that differs. */
async function nodeWith(
	differences: (context: IExecuteFunctions) => PropertyDescriptorMap,
): Promise<INodeType> {
	const original = await loadAnew('EtbWallet');
	const node = Object.create(original) as INodeType;
	node.execute = async function (this) {
		const context = Object.create(this, differences(this)) as IExecuteFunctions;
		const output = await original.execute?.bind(context)();
		return Array.isArray(output) ? output : [];
	};
	return node;
}

test('responses that n8n invents, as for the tools of an agent that it evaluates, make a dry run', async () => {
	const node = await nodeWith((context) => ({
		additionalData: {
			value: {
				...(Reflect.get(context, 'additionalData') as object),
				evalLlmMockHandler: () => ({ body: { success: true, txHash: '0xinvented' } }),
			},
		},
	}));
	const { output } = await pay(itemsFor('a'), {}, { currentNode: () => node });
	expect(output.map(({ json }) => [json.code, json.mode])).toEqual([['ready', 'dryRun']]);
	expect(payments()).toEqual([]);
	expect(codesOf(await pay(itemsFor('a')))).toEqual(['paid']);
	expect(paidNames()).toEqual(['a']);
});
