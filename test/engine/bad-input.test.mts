/** Values that cannot be used: what the user is told, and that nothing is sent for them. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Sandbox } from '../../sandbox/sandbox.mts';
import { startSandbox } from '../../sandbox/sandbox.mts';
import type { CredentialData, RunOptions, RunResult } from '../support/engine/engine.mts';
import { credentialFor, executeNode, runNode } from '../support/engine/engine.mts';

let sandbox: Sandbox;
const userId = 'etbw_abebe';
/** Each item of each execution pays something of its own. */
const reference = '=pay-{{ $execution.id }}-{{ $itemIndex }}';

beforeAll(async () => {
	sandbox = await startSandbox({ apiKey: 'ak-Q7mZ2pX9', webhookSecret: 'ws-K4nV8tR1' });
	sandbox.books.addUser({ externalId: 'abebe' });
});
afterAll(async () => await sandbox.stop());
beforeEach(() => {
	sandbox.faults.clear();
	// Each good item may be the same user again.
	sandbox.faults.plan('POST /users', () => ({
		process: 'never',
		answer: { status: 200, body: '{"id":"etb_good"}' },
	}));
	sandbox.requests.length = 0;
});

/** A field of an operation, and what is said about values it does not take. */
interface FieldRow {
	/** As the editor names it. */
	field: string;
	parameter: string;
	/** All other parameters. */
	parameters: INodeParameters;
	good: unknown;
	remedy: RegExp;
	/** Values with what the message shows of them. */
	bad: [value: unknown, shown: string][];
}

type FieldOnly = Pick<FieldRow, 'field' | 'parameter' | 'parameters'>;

const huge = '9'.repeat(100_000);

/** Refused wherever a plain decimal number is wanted. */
const noNumbers: FieldRow['bad'] = [
	['', 'empty'],
	[null, 'empty'],
	['abc', '"abc"'],
	['1e3', '"1e3"'],
	['0x10', '"0x10"'],
	['١٢', '"١٢"'],
	['１２', '"１２"'],
	['12 USD', '"12 USD"'],
	['Infinity', '"Infinity"'],
	['__proto__', '"__proto__"'],
	['{{ 5 }}', '"{{ 5 }}"'],
	[true, 'true'],
	[false, 'false'],
	[{ valueOf: 5 }, '{"valueOf":5}'],
	[{ constructor: 1 }, '{"constructor":1}'],
	[[5], '[5]'],
	['constructor'.repeat(10_000), '"constructor'],
];

/** Percent as many people write it: the remedy is about the point. */
const withComma: Pick<FieldRow, 'remedy' | 'bad'> = {
	remedy: /with a point for decimals/,
	bad: [
		['12,50', '"12,50", which is not a'],
		['1,000', '"1,000", which is not a'],
		['0,25', '"0,25", which is not a'],
	],
};

/** Refused wherever text is wanted. */
const noTexts: FieldRow['bad'] = [
	['', 'empty'],
	['   ', '"   "'],
	[' \t\n\u00a0 ', '" \\t\\n\u00a0 "'],
	[null, 'empty'],
	[true, 'true'],
	[1.5, '1.5'],
	[{ id: 1 }, '{"id":1}'],
	[['a'], '["a"]'],
	[[], '[]'],
];

const fee: FieldOnly = {
	field: 'Fee Percent',
	parameter: 'feePercent',
	parameters: { resource: 'fee', operation: 'update' },
};
const amount: FieldOnly = {
	field: 'Amount (ETB)',
	parameter: 'amountEtb',
	parameters: { resource: 'disbursement', operation: 'create', toUserId: userId, reference },
};

const rows: FieldRow[] = [
	{
		...fee,
		good: ' 12 ',
		remedy: /from 0 to 100/,
		bad: [
			...noNumbers,
			[-0.01, '-0.01'],
			[100.01, '100.01'],
			['-1', '"-1"'],
			[1e300, '1e+300'],
			[huge, '"9999'],
		],
	},
	{ ...fee, good: '0.25', ...withComma },
	{
		field: 'Phone',
		parameter: 'phone',
		parameters: { resource: 'payoutDestination', operation: 'set', type: 'mobile' },
		good: ' +251911234567 ',
		remedy: /international format.*for example \+251911234567/,
		bad: [
			['', 'empty'],
			[null, 'empty'],
			['0911234567', '"0911234567"'],
			['251911234567', '"251911234567"'],
			['+25191', '"+25191"'],
			['+2519112345678901', '"+2519112345678901"'],
			['+25191123456a', '"+25191123456a"'],
			['+251 911 234 567', '"+251 911 234 567"'],
			['+251911234567\r\nX: y', '"+251911234567\\r\\nX: y"'],
			['+٢٥١٩١١٢٣٤٥٦٧', '"+٢٥١٩١١٢٣٤٥٦٧"'],
			[251911234567, '251911234567'],
			[['+251911234567'], '["+251911234567"]'],
			[{ phone: '+251911234567' }, '{"phone":"+251911234567"}'],
			[`+${huge}`, '"+9999'],
		],
	},
	{
		field: 'Type',
		parameter: 'type',
		parameters: { resource: 'payoutDestination', operation: 'set', phone: '+251911234567' },
		good: 'mobile',
		remedy: /mobile or bank/,
		bad: [
			['cash', '"cash"'],
			['__proto__', '"__proto__"'],
			['Mobile', '"Mobile"'],
			[['mobile'], '["mobile"]'],
			['', 'empty'],
		],
	},
	{
		field: 'External ID',
		parameter: 'externalId',
		parameters: { resource: 'user', operation: 'create' },
		good: 'good-user',
		remedy: /your own ID/,
		bad: noTexts,
	},
	{
		field: 'Email',
		parameter: 'email',
		parameters: { resource: 'user', operation: 'create', externalId: 'with-email' },
		good: 'abebe@example.com',
		remedy: /or leave Email empty/,
		bad: [
			['abebe', '"abebe"'],
			['abebe@', '"abebe@"'],
			['@example.com', '"@example.com"'],
			['abebe@example', '"abebe@example"'],
			['a b@example.com', '"a b@example.com"'],
			['a@example.com,b@example.com', '"a@example.com,b@example.com"'],
			['a@example.com\r\nBcc: b@example.com', '"a@example.com\\r\\nBcc'],
			[false, 'false'],
			[0, '0'],
			[{ email: 'a@example.com' }, '{"email"'],
			[['a@example.com'], '["a@example.com"]'],
			[`${'a'.repeat(100_000)}@`, '"aaaa'],
		],
	},
	{
		field: 'To User ID',
		parameter: 'toUserId',
		parameters: { resource: 'disbursement', operation: 'create', amountEtb: 10, reference },
		good: userId,
		remedy: /ID that User → Create returned/,
		bad: noTexts,
	},
	{
		...amount,
		good: ' 12 ',
		remedy: /an amount in ETB above zero/,
		bad: [
			...noNumbers,
			[0, '0, which is not above zero'],
			['0.00', '"0.00", which is not above zero'],
			[-5, '-5, which is not above zero'],
			['-5', '"-5", which is not above zero'],
			['-0', '"-0", which is not above zero'],
			[1e-9, '1e-9, which is below 0.000001'],
			[huge, '"9999'],
			[`1.${'0'.repeat(100_000)}1`, '"1.00'],
		],
	},
	{
		...amount,
		good: '1250,50',
		remedy: /two, such as 1250\.50|two decimals: 1\d+\.00/,
		bad: [
			['1.250', '"1.250", which can mean 1250 or 1.25'],
			['12,400', '"12,400", which can mean 12400 or 12.4'],
			['1250.505', '"1250.505", which has more than two decimals'],
		],
	},
	{
		...amount,
		good: 0.3,
		remedy: /Round the amount/,
		bad: [
			['12345678901234.56', '"12345678901234.56"'],
			[0.1234567890123456, '0.1234567890123456'],
			[Number.MAX_VALUE, '1.7976931348623157e+308'],
			['9'.repeat(100), '"9999'],
		],
	},
	{
		field: 'Webhook URL',
		parameter: 'webhookUrl',
		parameters: { resource: 'webhook', operation: 'set' },
		good: 'https://n8n.example.com/hook',
		remedy: /https:\/\/n8n\.example\.com/,
		bad: [
			['', 'empty'],
			['http://n8n.example.com/hook', '"http://n8n.example.com/hook"'],
			['n8n.example.com/hook', '"n8n.example.com/hook"'],
			['ftp://n8n.example.com', '"ftp://n8n.example.com"'],
			['javascript:alert(1)', '"javascript:alert(1)"'],
			[17, '17'],
			[{ href: 'https://n8n.example.com' }, '{"href"'],
			[['https://n8n.example.com'], '["https://n8n.example.com"]'],
		],
	},
];

type Case = readonly [title: string, row: FieldRow, value: unknown, shown: string];

const cases: Case[] = rows.flatMap((row) =>
	row.bad.map(
		([value, shown]) =>
			[`${row.field} ${JSON.stringify(value).slice(0, 60)}`, row, value, shown] as const,
	),
);

/** The values come from the items, as in real workflows. */
async function run(
	row: FieldRow,
	values: unknown[],
	chosen: Pick<RunOptions, 'onError'> = {},
): Promise<RunResult> {
	return await runNode({
		credential: credentialFor(sandbox),
		parameters: { ...row.parameters, [row.parameter]: '={{ $json.value }}' },
		items: values.map((value, index) => ({ value, row: `row ${index}` }) as IDataObject),
		...chosen,
	});
}

const hasNoSecret = ({ everything }: RunResult): void => {
	for (const secret of [sandbox.apiKey, sandbox.webhookSecret, 'Bearer'])
		expect(everything).not.toContain(secret);
};

/** How the problem with a value reads, whatever follows it. */
const problem = ({ field }: FieldRow, shown: string) =>
	expect.stringContaining(`${field} is ${shown}`) as unknown;

describe.each(cases)('%s', (_title, row, value, shown) => {
	const remedy = expect.stringMatching(row.remedy) as unknown;
	const failure = { message: problem(row, shown), description: remedy };
	const isPayment = row.parameters.resource === 'disbursement';
	const told = isPayment ? { code: 'invalid', message: failure.message, remedy } : failure;

	test('stops the workflow, names item, field, value and remedy, and sends nothing', async () => {
		const result = await run(row, [value]);
		expect(sandbox.requests).toEqual([]);
		expect(result.error).toMatchObject({ ...failure, context: { itemIndex: 0 } });
		expect(result.error?.message).toMatch(/ \[item 0\]$/);
		expect(result.error?.message.length).toBeLessThan(250);
		hasNoSecret(result);
	});

	test('keeps good items before and behind it from being sent', async () => {
		const result = await run(row, [row.good, value, row.good]);
		expect(sandbox.requests).toEqual([]);
		expect(result.error?.message).toMatch(/ \[item 1\]$/);
	});

	test('goes to the error output with its fields, while good items are sent', async () => {
		const result = await run(row, [row.good, value], { onError: 'continueErrorOutput' });
		expect(result.error).toBeUndefined();
		expect(sandbox.requests).toHaveLength(1);
		expect(result.output).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(result.errorOutput).toMatchObject([{ json: { row: 'row 1', error: told } }]);
		hasNoSecret(result);
	});

	test('is an item of the regular output when the node continues there', async () => {
		const result = await run(row, [value, row.good], { onError: 'continueRegularOutput' });
		expect(result.error).toBeUndefined();
		expect(sandbox.requests).toHaveLength(1);
		expect(result.output).toMatchObject([
			{ json: isPayment ? told : { error: told }, pairedItem: { item: 0 } },
			{ pairedItem: { item: 1 } },
		]);
		hasNoSecret(result);
	});
});

describe('bank fields', () => {
	const set = async (...fields: { name: string; value: string }[]) =>
		await runNode({
			credential: credentialFor(sandbox),
			parameters: {
				resource: 'payoutDestination',
				operation: 'set',
				type: 'bank',
				bankFields: { field: fields },
			},
			items: [{ empty: '' }],
		});

	test.each([
		['', '1', 'Name of a bank field is empty', /remove the row/],
		[' ', '1', 'Name of a bank field is " "', /remove the row/],
		['={{ $json.empty }}', '1', 'Name of a bank field is empty', /remove the row/],
		['type', 'mobile', 'Name of a bank field is "type", which is the payout type', /its own name/],
		['code', '2', 'Name of a bank field is "code", which is used twice', /its own name/],
		['iban', '', 'Bank field "iban" is empty', /Enter a value/],
		['iban', '  ', 'Bank field "iban" is "  "', /Enter a value/],
		['iban', '={{ $json.missing }}', 'Bank field "iban" is empty', /Enter a value/],
	])('%p with the value %p is refused', async (name, value, message, remedy) => {
		const { error } = await set({ name: 'code', value: '1' }, { name, value });
		expect(error?.message.startsWith(message)).toBe(true);
		expect(error?.message).toMatch(/ \[item 0\]$/);
		expect(error?.description).toMatch(remedy);
		expect(sandbox.requests).toEqual([]);
	});

	test('may have the names of prototypes, which are sent as any other', async () => {
		await set({ name: '__proto__', value: 'a' }, { name: 'constructor', value: 'b' });
		expect(sandbox.requests.map(({ bodyText }) => bodyText)).toEqual([
			'{"__proto__":"a","constructor":"b","type":"bank"}',
		]);
	});
});

describe('a credential that cannot be used', () => {
	const password = 'pw-H6bN3wE0';
	const notShown = 'Base URL has a user name, a password, a query or a fragment';
	const badCredentials: [CredentialData, message: string, remedy: RegExp][] = [
		[{ baseUrl: '' }, 'Base URL is empty', /full address/],
		[{ baseUrl: 'ak-live-pasted' }, 'Base URL is not a web address', /full address/],
		[{ baseUrl: 'ftp://example.com' }, 'Base URL is not a web address', /full address/],
		[
			{ baseUrl: 'http://partners.example.com' },
			'Base URL is "http://partners.example.com", which is not encrypted',
			/https:\/\/ address.*Allow Insecure HTTP/,
		],
		[{ baseUrl: `https://user:${password}@example.com` }, notShown, /only the address/],
		[{ baseUrl: `https://example.com?key=${password}` }, notShown, /only the address/],
		[{ baseUrl: `https://example.com#${password}` }, notShown, /only the address/],
		[{ apiKey: '' }, 'API Key is empty', /Enter the API key/],
		[{ apiKey: '   ' }, 'API Key is empty', /Enter the API key/],
		[{ apiKey: `${password}\r\nX: y` }, 'API Key contains a space, a line break', /again/],
		[{ apiKey: `${password}\n${password}` }, 'API Key contains a space, a line break', /again/],
		[{ apiKey: `${password} x` }, 'API Key contains a space', /again/],
		[{ apiKey: `${password}é` }, 'API Key contains', /again/],
	];
	const operations: INodeParameters[] = [
		{ resource: 'balance', operation: 'get' },
		{ resource: 'user', operation: 'create', externalId: 'x' },
		{ resource: 'disbursement', operation: 'create', toUserId: 'x', amountEtb: 1, reference },
	];

	describe.each(badCredentials)('%j', (changes, message, remedy) => {
		test.each(operations)('stops $resource before anything is sent', async (parameters) => {
			const credential = credentialFor(sandbox, changes);
			const result = await runNode({ credential, parameters, items: [{}, {}] });
			expect(result.error?.message.startsWith(message)).toBe(true);
			expect(result.error?.description).toMatch(remedy);
			expect(sandbox.requests).toEqual([]);
			expect(result.everything).not.toContain(password);
			hasNoSecret(result);
		});

		test.each(operations)('fails each item of $resource alike', async (parameters) => {
			const credential = credentialFor(sandbox, changes);
			const result = await runNode({
				credential,
				parameters,
				items: [{ row: 1 }, { row: 2 }],
				onError: 'continueErrorOutput',
			});
			expect(result.errorOutput.map(({ json }) => json)).toMatchObject(
				[1, 2].map((row) => ({
					row,
					error: {
						code: parameters.resource === 'disbursement' ? 'settings' : 'invalid',
						message: expect.stringContaining(message) as unknown,
					},
				})),
			);
			expect(sandbox.requests).toEqual([]);
			expect(result.everything).not.toContain(password);
		});
	});
});

test('an operation that there is not fails each item alike', async () => {
	const parameters = { resource: 'disbursement', operation: 'pay', toUserId: 'x', amountEtb: 1 };
	// It has no schema.
	const { errorOutput } = await executeNode({
		...{ credential: credentialFor(sandbox), parameters, items: [{}, {}] },
		onError: 'continueErrorOutput',
	});
	const error = { code: 'invalid', message: 'There is no operation pay of disbursement' };
	expect(errorOutput).toMatchObject([{ json: { error } }, { json: { error } }]);
	expect(sandbox.requests).toEqual([]);
});
