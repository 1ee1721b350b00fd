/** docs/partner-service.md, compared with the requests and the accepted responses of the nodes. */
import { readFileSync } from 'node:fs';
import { eventOptions } from '../../../nodes/EtbWalletTrigger/event.ts';
import { exampleEvents } from '../../../sandbox/deliveries.mts';
import { routeNames } from '../../../sandbox/partner-api.mts';
import { endpointRows } from '../../support/engine/endpoint-table.mts';

const document = readFileSync('docs/partner-service.md', 'utf8');

/** Cells of the table in a section, without its heads. */
function tableOf(section: number): string[][] {
	const text = document.split(/^## /m).find((part) => part.startsWith(`${section}. `)) ?? '';
	const lines = text.split('\n').filter((line) => line.startsWith('| '));
	return lines.slice(2).map((line) => line.split('|').slice(1, -1));
}

const namesIn = (cell = ''): string[] =>
	[...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

interface Documented {
	sent: string[];
	response: string[];
	isResponseKnown: boolean;
}

const documented = new Map(
	tableOf(4).map(([, method = '', path, sent, response = '']): [string, Documented] => [
		`${method.trim()} ${namesIn(path).join()}`,
		{
			sent: namesIn(sent),
			response: namesIn(response),
			isResponseKnown: !response.includes('not known'),
		},
	]),
);

test('each endpoint is used by an operation, and is in the sandbox, and no other', () => {
	expect(documented.size).toBeGreaterThan(0);
	const endpoints = new Set(documented.keys());
	expect(new Set(endpointRows.map(({ route }) => route))).toEqual(endpoints);
	expect(new Set(routeNames)).toEqual(endpoints);
});

/** The fields of a body that a call can leave out, by route. */
const optionalFields: Readonly<Record<string, string[]>> = { 'POST /users': ['email'] };

describe.each(endpointRows.map((row) => [row.route, row.parameters.type ?? '', row] as const))(
	'%s %s',
	(route, type, row) => {
		const { sent, response, isResponseKnown } = documented.get(route) ?? {
			sent: [],
			response: [],
			isResponseKnown: false,
		};

		test('sends the fields of the body, and those only', () => {
			const isBank = type === 'bank';
			const names = Object.keys(row.sent ?? {});
			// The service document does not show the fields of a bank destination and of a user without an email address.
			expect(sent).toEqual(expect.arrayContaining(isBank ? ['type'] : names));
			const optional = optionalFields[route] ?? [];
			const missing = sent.filter((name) => !names.includes(name));
			if (!isBank) expect(missing.filter((name) => !optional.includes(name))).toEqual([]);
		});

		test('is tested with a response as it is described', () => {
			if (isResponseKnown) expect(Object.keys(row.response)).toEqual(response);
		});
	},
);

/** Sentences that are false as soon as the service document has such an endpoint. */
test.each([
	[
		'docs/operations.md',
		'no way to list people or payments, or to look one up',
		/^GET \/(?:users|disburse)/,
	],
	[
		'docs/partner-service.md',
		'whether users or disbursements can be read or listed',
		/^GET \/(?:users|disburse)/,
	],
	['docs/architecture.md', 'and no way to look one up', /^GET \/disburse/],
	['docs/events.md', 'ask the partner service by the `txHash`', /^GET \/disburse/],
	[
		'README.md',
		'cannot find out whether an unknown payment was made: a person asks',
		/^GET \/disburse/,
	],
	['docs/events.md', 'shows no way to read or remove it', /^(?:GET|DELETE) \/webhook/],
	['docs/architecture.md', 'shows no way to read or remove it', /^(?:GET|DELETE) \/webhook/],
] as const)('%s says %p, as long as that is so', (file, sentence, endpoint) => {
	const says = readFileSync(file, 'utf8').replace(/\s+/g, ' ').includes(sentence);
	expect(says).toBe(![...documented.keys()].some((route) => endpoint.test(route)));
});

const events = tableOf(6).map(([name]) => namesIn(name).join());

test('the trigger knows the events, and the sandbox has an example of each', () => {
	expect(events.length).toBeGreaterThan(0);
	expect(eventOptions.map(({ value }) => value).sort()).toEqual(events.toSorted());
	expect(exampleEvents.toSorted()).toEqual(events.toSorted());
});

test.each(['sandbox/README.md', 'examples/receive-events.json'])(
	'%s has words for each event',
	(file) => {
		const text = readFileSync(file, 'utf8');
		expect(events.filter((event) => !new RegExp(`[\`']${event}[\`']`).test(text))).toEqual([]);
	},
);
