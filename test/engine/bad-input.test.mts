/** Values that cannot be used: what the user is told, and that nothing is sent for them. Which values: `test/unit/`. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.mts';
import type { CredentialData, NodeRun, RunResult } from '../support/engine/engine.mts';
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
	const created = { status: 200, body: '{"id":"etb_good"}' };
	sandbox.faults.plan('POST /users', () => ({ process: 'never', response: created }));
	sandbox.requests.length = 0;
});

/** A field of an operation, a value that it takes, and what is said about values that it does not take. */
interface FieldRow {
	/** As the editor names it. */
	field: string;
	parameter: string;
	/** All other parameters. */
	parameters: INodeParameters;
	good: unknown;
	/** Values with what the message shows of them, and the remedy. */
	bad: [value: unknown, shown: string, remedy: RegExp][];
}

const payment = { resource: 'disbursement', operation: 'create' };

const rows: FieldRow[] = [
	{
		field: 'Fee Percent',
		parameter: 'feePercent',
		parameters: { resource: 'fee', operation: 'update' },
		good: ' 12 ',
		bad: [
			[100.01, '100.01', /from 0 to 100/],
			['12,50', '"12,50", which is not a', /with a point for decimals/],
			['9'.repeat(100_000), '"9999', /from 0 to 100/],
		],
	},
	{
		field: 'Phone',
		parameter: 'phone',
		parameters: { resource: 'payoutDestination', operation: 'set', type: 'mobile' },
		good: ' +251911234567 ',
		bad: [['+251911234567\r\nX: y', '"+251911234567\\r\\nX: y"', /international format/]],
	},
	{
		field: 'Type',
		parameter: 'type',
		parameters: { resource: 'payoutDestination', operation: 'set', phone: '+251911234567' },
		good: 'mobile',
		bad: [
			[['mobile'], '["mobile"]', /mobile or bank/],
			['', 'empty', /mobile or bank/],
		],
	},
	{
		field: 'External ID',
		parameter: 'externalId',
		parameters: { resource: 'user', operation: 'create' },
		good: 'good-user',
		bad: [[' \t\n\u00a0 ', '" \\t\\n\u00a0 "', /your own ID/]],
	},
	{
		field: 'Email',
		parameter: 'email',
		parameters: { resource: 'user', operation: 'create', externalId: 'with-email' },
		good: 'abebe@example.com',
		bad: [[`${'a'.repeat(100_000)}@`, '"aaaa', /or leave Email empty/]],
	},
	{
		field: 'To User ID',
		parameter: 'toUserId',
		parameters: { ...payment, amountEtb: 10, reference },
		good: userId,
		bad: [[1.5, '1.5', /ID that User → Create returned/]],
	},
	{
		field: 'Amount (ETB)',
		parameter: 'amountEtb',
		parameters: { ...payment, toUserId: userId, reference },
		good: '1250,50',
		bad: [
			['', 'empty', /an amount in ETB above zero/],
			[1e-9, '1e-9, which is below 0.000001', /an amount in ETB above zero/],
			['12,400', '"12,400", which can mean 12400 or 12.4', /two decimals: 12400\.00/],
			[0.1234567890123456, '0.1234567890123456', /Round the amount/],
		],
	},
	{
		field: 'Webhook URL',
		parameter: 'webhookUrl',
		parameters: { resource: 'webhook', operation: 'set' },
		good: 'https://n8n.example.com/hook',
		bad: [['http://n8n.example.com', '"http://n8n.example.com"', /https:\/\/n8n\.example\.com/]],
	},
];

const cases = rows.flatMap((row) =>
	row.bad.map(
		([value, shown, remedy]) =>
			[`${row.field} ${JSON.stringify(value).slice(0, 60)}`, row, value, shown, remedy] as const,
	),
);

const hasNoSecret = ({ everything }: RunResult): void => {
	for (const secret of [sandbox.apiKey, sandbox.webhookSecret, 'Bearer'])
		expect(everything).not.toContain(secret);
};

/** The values come from the items, as in real workflows. */
async function run(
	row: FieldRow,
	values: unknown[],
	onError?: NodeRun['onError'],
): Promise<RunResult> {
	const result = await runNode({
		credential: credentialFor(sandbox),
		parameters: { ...row.parameters, [row.parameter]: '={{ $json.value }}' },
		items: values.map((value, index) => ({ value, row: `row ${index}` }) as IDataObject),
		onError,
	});
	hasNoSecret(result);
	return result;
}

describe.each(cases)('%s', (_title, row, value, shown, why) => {
	const remedy = expect.stringMatching(why) as unknown;
	/** How the problem with a value reads, whatever follows it. */
	const message = expect.stringContaining(`${row.field} is ${shown}`) as unknown;
	const isPayment = row.parameters.resource === 'disbursement';
	const told = { code: 'invalid', message, remedy };

	test('stops the workflow before good items are sent, and names item, field, value and remedy', async () => {
		const { error } = await run(row, [row.good, value, row.good]);
		expect(sandbox.requests).toEqual([]);
		expect(error).toMatchObject({ message, description: remedy, context: { itemIndex: 1 } });
		expect(error?.message).toMatch(/ \[item 1\]$/);
		expect(error?.message.length).toBeLessThan(250);
	});

	test('goes to the error output with its fields, or stays in its place, while good items are sent', async () => {
		const { error, output, errorOutput } = await run(row, [row.good, value], 'continueErrorOutput');
		expect([error, sandbox.requests.length]).toEqual([undefined, 1]);
		expect(output).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(errorOutput).toMatchObject([{ json: { row: 'row 1', error: told } }]);
		const continued = await run(row, [value, row.good], 'continueRegularOutput');
		expect([continued.error, sandbox.requests.length]).toEqual([undefined, 2]);
		expect(continued.output).toMatchObject([
			{ json: isPayment ? told : { error: told }, pairedItem: { item: 0 } },
			{ pairedItem: { item: 1 } },
		]);
	});
});

describe('bank fields', () => {
	const set = async (...field: { name: string; value: string }[]) =>
		await runNode({
			credential: credentialFor(sandbox),
			parameters: {
				resource: 'payoutDestination',
				operation: 'set',
				type: 'bank',
				bankFields: { field },
			},
		});

	test.each([
		['', '1', 'Name of a bank field is empty', /remove the row/],
		['={{ $json.empty }}', '1', 'Name of a bank field is empty', /remove the row/],
		['type', 'mobile', 'Name of a bank field is "type", which is the payout type', /its own name/],
		['code', '2', 'Name of a bank field is "code", which is used twice', /its own name/],
		['iban', '  ', 'Bank field "iban" is "  "', /Enter a value/],
		['iban', '={{ $json.missing }}', 'Bank field "iban" is empty', /Enter a value/],
	])('%p with the value %p is refused', async (name, value, message, remedy) => {
		const { error } = await set({ name: 'code', value: '1' }, { name, value });
		expect(error?.message.startsWith(message)).toBe(true);
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
	const badCredentials: [CredentialData, message: string, remedy: RegExp][] = [
		[{ baseUrl: '' }, 'Base URL is empty', /full address/],
		[{ baseUrl: 'http://partners.example.com' }, 'Base URL is "http', /Allow Insecure HTTP/],
		[{ baseUrl: `https://user:${password}@example.com` }, 'Base URL has', /only the address/],
		[{ apiKey: '   ' }, 'API Key is empty', /Enter the API key/],
		[{ apiKey: `${password}\r\nX: y` }, 'API Key contains a space, a line break', /again/],
		[{ apiKey: `${password}é` }, 'API Key contains', /again/],
	];
	const operations: INodeParameters[] = [
		{ resource: 'user', operation: 'create', externalId: 'x' },
		{ ...payment, toUserId: 'x', amountEtb: 1, reference },
	];

	describe.each(badCredentials)('%j', (changes, message, remedy) => {
		test.each(operations)('is told to $resource before anything is sent', async (parameters) => {
			const credential = credentialFor(sandbox, changes);
			const stopped = await runNode({ credential, parameters, items: [{}, {}] });
			expect(stopped.error?.message.startsWith(message)).toBe(true);
			expect(stopped.error?.description).toMatch(remedy);
			const continued = await runNode({
				credential,
				parameters,
				items: [{ row: 1 }, { row: 2 }],
				onError: 'continueErrorOutput',
			});
			const error = { code: 'settings', message: expect.stringContaining(message) as unknown };
			expect(continued.errorOutput.map(({ json }) => json)).toMatchObject(
				[1, 2].map((row) => ({ row, error })),
			);
			expect(sandbox.requests).toEqual([]);
			for (const result of [stopped, continued]) {
				expect(result.everything).not.toContain(password);
				hasNoSecret(result);
			}
		});
	});
});

test('an operation that there is not fails each item alike', async () => {
	const parameters = { resource: 'disbursement', operation: 'pay', toUserId: 'x', amountEtb: 1 };
	// It has no schema.
	const { errorOutput } = await executeNode({
		credential: credentialFor(sandbox),
		parameters,
		items: [{}, {}],
		onError: 'continueErrorOutput',
	});
	const error = { code: 'settings', message: 'There is no operation pay of disbursement' };
	expect(errorOutput).toMatchObject([{ json: { error } }, { json: { error } }]);
	expect(sandbox.requests).toEqual([]);
});
