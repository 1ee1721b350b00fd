/** Each row of the endpoint table: what is sent, and what becomes of the response. */
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.mts';
import { credentialFor, onlyJson, runNode } from '../../support/engine/engine.mts';
import { endpointRows, type EndpointRow } from '../../support/engine/endpoint-table.mts';

const name = ({ route, sent }: EndpointRow): string =>
	`${route} ${sent === undefined ? '' : JSON.stringify(sent)}`;

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox();
});
afterAll(async () => await sandbox.stop());
beforeEach(() => {
	sandbox.faults.clear();
	sandbox.requests.length = 0;
});

const reply = (body: object) => ({
	process: 'never' as const,
	response: { status: 200, body: JSON.stringify(body) },
});

const run = async ({ parameters }: EndpointRow) =>
	await runNode({ credential: credentialFor(sandbox), parameters });

describe.each(endpointRows.map((row) => [name(row), row] as const))('%s', (_name, row) => {
	test('sends the documented request, once', async () => {
		sandbox.faults.next(row.route, reply(row.response));
		await run(row);
		expect(sandbox.requests).toHaveLength(1);
		const [request] = sandbox.requests;
		const [method, path] = row.route.split(' ');
		expect(request).toMatchObject({ method, path: `/api/v1/partners${row.path ?? path}` });
		expect(request?.headers).toMatchObject({
			authorization: `Bearer ${sandbox.apiKey}`,
			accept: 'application/json',
		});
		if (row.sent === undefined) {
			expect(request?.bodyText).toBe('');
			expect(request?.headers).not.toHaveProperty('content-type');
		} else {
			expect(request?.body).toEqual(row.sent);
			expect(request?.headers['content-type']).toBe('application/json');
		}
	});

	test.each([
		['unwrapped', row.response],
		['wrapped', { data: row.response }],
	])('gives flat output for an %s body', async (_shape, body) => {
		sandbox.faults.next(row.route, reply(body));
		const items = (await run(row)).output.map(({ json }) => json);
		const anew = Object.fromEntries(
			(row.addedAnew ?? []).map((field) => [field, expect.any(String) as unknown]),
		);
		expect(items).toEqual(row.items ?? [{ ...row.added, ...anew, ...row.response }]);
	});
});

const single = endpointRows.filter(({ items }) => items === undefined);

test.each(single.map((row) => [name(row), row] as const))(
	'%s passes unknown fields through and pairs the item',
	async (_name, row) => {
		const data = { ...row.response, added: { later: 1 } };
		sandbox.faults.next(row.route, reply({ data, requestId: 'r1' }));
		const result = await run(row);
		expect(onlyJson(result)).toMatchObject({ requestId: 'r1', added: { later: 1 } });
		expect(result.output[0]?.pairedItem).toEqual({ item: 0 });
	},
);

/** Rows with a value in the path, and the parameters whose value stands there. */
const valuesInPaths = endpointRows.flatMap((row) => {
	const { route, parameters, path = '' } = row;
	const inPath = Object.entries(parameters).filter(
		([, value]) =>
			typeof value === 'string' && path.split(/[/?]/).includes(encodeURIComponent(value)),
	);
	return route.includes('/:') ? inPath.map(([parameter]) => ({ row, parameter })) : [];
});

test('a value in a path is sent as one part of it, and refused if it leads to another path', async () => {
	const routes = new Set(
		endpointRows.map(({ route }) => route).filter((route) => route.includes('/:')),
	);
	expect(new Set(valuesInPaths.map(({ row }) => row.route))).toEqual(routes);
	for (const { row, parameter } of valuesInPaths) {
		const runWith = async (value: string) =>
			await runNode({
				credential: credentialFor(sandbox),
				parameters: { ...row.parameters, [parameter]: '={{ $json.value }}' },
				items: [{ value }],
			});
		for (const value of ['', ' ', '.', '..', '\ud800']) {
			const { error } = await runWith(value);
			expect(error?.message).toMatch(/ \[item 0\]$/);
			expect(error?.description).not.toMatch(/Check the expressions/);
		}
		expect(sandbox.requests).toEqual([]);
		sandbox.faults.next(row.route, reply(row.response));
		await runWith('a/../b?c#d%');
		expect(sandbox.requests.map(({ path }) => path)).toEqual([
			expect.stringContaining(`/${encodeURIComponent('a/../b?c#d%')}`),
		]);
		sandbox.requests.length = 0;
	}
});
