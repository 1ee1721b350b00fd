/** Many items: expressions, pairing, error branches, retries and stopping. */
import type { IDataObject } from 'n8n-workflow';
import type { Fault } from '../../sandbox/faults.mts';
import type { ReceivedRequest } from '../../sandbox/sandbox.mts';
import type { NodeRun, RunResult } from '../support/engine/engine.mts';
import { credentialFor, runNode } from '../support/engine/engine.mts';
import { payInEachTest, sandbox } from '../support/engine/paying.mts';

payInEachTest();

const createFromItem = {
	resource: 'user',
	operation: 'create',
	externalId: '={{ $json.name }}',
	email: '={{ $json.name }}@example.com',
};

async function run(
	items: IDataObject[],
	options: Partial<NodeRun> = {},
	parameters: NodeRun['parameters'] = createFromItem,
): Promise<RunResult> {
	return await runNode({ credential: credentialFor(sandbox), parameters, items, ...options });
}

const named = (...names: string[]): IDataObject[] => names.map((name) => ({ name }));
const nameIn = ({ body }: ReceivedRequest): unknown =>
	new Map(Object.entries(Object(body) as object)).get('externalId');
const sentNames = (): unknown[] => sandbox.requests.map(nameIn);
const paired = (items: { pairedItem?: unknown }[]): unknown[] =>
	items.map(({ pairedItem }) => pairedItem);
const pairs = (...items: number[]): unknown[] => items.map((item) => ({ item }));

/** Answers 500 without doing anything for the users of these names. */
const failFor = (...names: string[]): void =>
	sandbox.faults.plan('POST /users', (request) =>
		names.includes(String(nameIn(request))) ? 'error500BeforePaying' : undefined,
	);

test('each item is sent with its own values and its result is paired with it, in order', async () => {
	const names = Array.from({ length: 40 }, (_, index) => `u${index}`);
	const { output } = await run(named(...names));
	expect(sandbox.requests.map(({ body }) => body)).toEqual(
		names.map((name) => ({ externalId: name, email: `${name}@example.com` })),
	);
	expect(output.map(({ json }) => json.externalId)).toEqual(names);
	expect(paired(output)).toEqual(pairs(...names.keys()));
});

test.each(['$json.value', "$json['the value']", '$json["the value"]'])(
	'%s is read as n8n evaluates it',
	async (expression) => {
		const values = ['text', ' padded ', '={{ 1 }}', 12, 1.5, '', true, null, ['a'], { a: 1 }];
		const items = [...values.map((value) => ({ value, 'the value': value })), {}];
		const sentAndRefused = async (externalId: string) => {
			const parameters = { ...createFromItem, externalId: `={{ ${externalId} }}`, email: '' };
			const { errorOutput } = await run(items, { onError: 'continueErrorOutput' }, parameters);
			const refused = errorOutput.filter(({ json }) => !('httpCode' in Object(json.error)));
			return [sandbox.requests.splice(0).map(nameIn), refused];
		};
		// Parentheses leave it to n8n.
		const evaluated = await sentAndRefused('($json.value)');
		expect(evaluated.flat()).toHaveLength(items.length);
		expect(await sentAndRefused(expression)).toEqual(evaluated);
	},
);

test('an expression inside a bank field is evaluated for each item', async () => {
	const bankFields = { field: [{ name: 'accountNumber', value: '={{ $json.account }}' }] };
	const parameters = {
		resource: 'payoutDestination',
		operation: 'set',
		type: 'bank',
		bankFields,
	};
	await run([{ account: '1' }, { account: '2' }], {}, parameters);
	expect(sandbox.requests.map(({ body }) => body)).toEqual([
		{ type: 'bank', accountNumber: '1' },
		{ type: 'bank', accountNumber: '2' },
	]);
});

describe('an item that fails', () => {
	test('stops the workflow; those behind it are not sent', async () => {
		failFor('b');
		const { error, output } = await run(named('a', 'b', 'c'));
		expect(error?.message).toMatch(/^The service failed \(500\).* \[item 1\]$/);
		expect(error?.context).toMatchObject({ itemIndex: 1 });
		expect(output).toEqual([]);
		expect(sentNames()).toEqual(['a', 'b']);
	});

	test('leaves on the error output with its fields, or stays in its place; the others keep their pairs', async () => {
		failFor('b', 'd');
		const items = named('a', 'b', 'c', 'd', 'e').map((item, row) => ({ ...item, row }));
		const { output, errorOutput } = await run(items, { onError: 'continueErrorOutput' });
		expect(output.map(({ json }) => json.externalId)).toEqual(['a', 'c', 'e']);
		expect(paired(output)).toEqual(pairs(0, 2, 4));
		expect(errorOutput.map(({ json }) => [json.name, json.row])).toEqual([
			['b', 1],
			['d', 3],
		]);
		expect(paired(errorOutput)).toEqual(pairs(1, 3));
		const { output: all } = await run(named('b', 'f'), { onError: 'continueRegularOutput' });
		expect(all.map(({ json }) => 'error' in json)).toEqual([true, false]);
		expect(paired(all)).toEqual(pairs(0, 1));
	});

	test('because of its expression fails alone', async () => {
		const { output, errorOutput } = await run(
			[{ name: 'a' }, {}, { name: 'c' }],
			{ onError: 'continueErrorOutput' },
			{ ...createFromItem, externalId: '={{ $json.name.toUpperCase() }}', email: '' },
		);
		expect(output.map(({ json }) => json.externalId)).toEqual(['A', 'C']);
		expect(errorOutput).toHaveLength(1);
		expect(sentNames()).toEqual(['A', 'C']);
	});
});

describe('Retry On Fail', () => {
	test('goes on behind the users that exist, and creates none twice', async () => {
		let tries = 0;
		sandbox.faults.plan('POST /users', (request) => {
			const isSecond = nameIn(request) === 'b';
			return isSecond && ++tries < 3 ? { process: 'never', response: { status: 403 } } : undefined;
		});
		const { error, output } = await run(named('a', 'b', 'c'), { retryOnFail: true, maxTries: 3 });
		expect(error).toBeUndefined();
		expect(sentNames()).toEqual(['a', 'b', 'b', 'b', 'c']);
		expect(output.map(({ json }) => json.externalId)).toEqual(['a', 'b', 'c']);
		expect(paired(output)).toEqual(pairs(0, 1, 2));
	});

	test('with an error output, where n8n tries again when the first item failed', async () => {
		sandbox.faults.next('POST /users', 'error500AfterPaying');
		const options = { retryOnFail: true, maxTries: 3, onError: 'continueErrorOutput' } as const;
		const { output, errorOutput } = await run(named('a', 'b', 'c'), options);
		expect(sentNames()).toEqual(['a', 'b', 'c']);
		expect(output.map(({ json }) => json.externalId)).toEqual(['b', 'c']);
		expect(errorOutput.map(({ json }) => json.name)).toEqual(['a']);
		expect(sandbox.books.users()).toHaveLength(3);
	});
});

test('an item that fails tells the users that were created before it', async () => {
	sandbox.faults.plan('POST /users', (request) =>
		nameIn(request) === 'b' ? { process: 'never', response: { status: 403 } } : undefined,
	);
	const { error } = await run(named('a', 'b'));
	expect(error?.description).toContain(`"id":"${sandbox.books.users()[0]?.id}"`);
});

describe('stopping the execution', () => {
	test.each([
		['during a request', { process: 'never', response: 'none' }],
		[
			'in the pause before a retry',
			{ process: 'never', response: { status: 429, headers: { 'retry-after': '1' } } },
		],
	] satisfies [string, Fault][])('%s sends nothing more', async (_when, fault) => {
		let stop = (): void => {};
		sandbox.faults.plan('POST /users', (request) => {
			if (nameIn(request) !== 'b') return undefined;
			setImmediate(stop);
			return fault;
		});
		const started: NodeRun['started'] = (engine) => (stop = () => engine.cancel());
		await run(named('a', 'b', 'c', 'd'), { started }).catch(() => undefined);
		expect(sentNames()).toEqual(['a', 'b']);
	});
});
