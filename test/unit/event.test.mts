/** The bodies that are events, and the events that are the same. */
import {
	allEvents,
	eventIn,
	eventKeyOf,
	eventOptions,
	isWanted,
} from '../../nodes/EtbWalletTrigger/event.ts';

test.each([
	...['', '[]', '"transfer.completed"', 'null', '{"data":{}}', '{"event":1}', '{"event":""}'],
	// Bytes that are no UTF-8.
	'{"event":"\xff"}',
])('%j is no event', (body) => {
	expect(eventIn(Buffer.from(body, 'latin1'))).toBeUndefined();
});

test('an event can begin with a byte order mark', () => {
	expect(eventIn(Buffer.from('\ufeff{"event":"x"}'))).toEqual({ event: 'x' });
});

test.each([
	[['transfer.completed'], true],
	[['disburse.completed'], false],
	[['disburse.completed', 'transfer.completed'], true],
	[['disburse.completed', 'deposit.mint_queued'], false],
	[[allEvents, 'disburse.completed'], true],
	[['disburse.completed', allEvents], true],
	[[], false],
])('of the chosen events %j a transfer is one: %s', (wanted, isOne) => {
	expect(isWanted({ event: 'transfer.completed' }, wanted)).toBe(isOne);
});

const transfer = (id: string, more = ''): string =>
	`{"event":"transfer.completed","data":{"id":"${id}","txHash":"0x${id}"}${more}}`;

/** An event beside transfers, at a second of 10 o'clock. @param data as JSON */
const paid = (data: string, second = 0, more = ''): string =>
	`{"event":"disburse.completed","timestamp":"2026-11-21T10:00:${10 + second}Z","data":${data}${more}}`;
const inBatch = (id: string, second: number): string =>
	paid('{"toUserId":"u","amountEtb":100,"txHash":"0xbatch"}', second, `,"id":"${id}"`);
const queued = (second: number): string =>
	paid('{"amountEtb":5}', second).replace('disburse.completed', 'deposit.mint_queued');

test.each<[what: string, different: number, ...sent: string[]]>([
	[
		'a transfer is the same by its id, whatever else the service sends',
		1,
		transfer('1'),
		transfer('1', ',"timestamp":"2026-11-21T10:00:30Z","attempt":2'),
	],
	[
		'a transfer is the same by its id, also without a transaction or with another one',
		2,
		...['{"id":"1"}', '{"id":"1","txHash":"0x2"}', '{"id":7}'].flatMap((data) =>
			[0, 30].map((second) =>
				paid(data, second).replace('disburse.completed', 'transfer.completed'),
			),
		),
	],
	[
		'other events with one data.id are different events: it may name a user',
		2,
		...['0x1', '0x2'].map((hash) => paid(`{"id":"user-1","txHash":"${hash}"}`)),
		paid('{"id":"user-1","txHash":"0x2"}', 30),
	],
	[
		'the order of keys makes no difference, their nesting and values do',
		3,
		paid('{"toUserId":"u","more":{"a":1,"b":[1,2]},"txHash":"0x1"}'),
		paid('{"txHash":"0x1","more":{"b":[1,2],"a":1},"toUserId":"u"}'),
		paid('{"txHash":"0x1","more":{"b":[2,1],"a":1},"toUserId":"u"}'),
		paid('{"txHash":"0x1","more":[["a",1],["b",[1,2]]],"toUserId":"u"}'),
	],
	[
		'equal payments in one transaction are different events if their ids are',
		2,
		...[inBatch('evt_1', 1), inBatch('evt_2', 2), inBatch('evt_2', 2)],
	],
	[
		'equal payments in one transaction are different events if their ids are different numbers',
		2,
		...[1, 2, 2].map((id) => paid('{"amountEtb":100,"txHash":"0xbatch"}', 0, `,"id":${id}`)),
	],
	...[
		['9007199254740993', '9007199254740992'],
		['1e400', '2e400'],
		['1E-400', '2E-400'],
	].map((blocks): [string, number, ...string[]] => [
		`numbers that only look the same once they are read are different: ${blocks.join(', ')}`,
		2,
		...blocks.map((block) => paid(`{"block":${block},"txHash":"0x1"}`)),
	]),
	[
		'a number of 15 digits does not make an event another one',
		1,
		...[0, 30].map((second) => paid('{"block":123456789012345,"txHash":"0x1"}', second)),
	],
	...['\\"', '\\\\'].map((note): [string, number, ...string[]] => [
		`a long number behind a text that ends with ${note} counts`,
		2,
		...['-9007199254740993', '-9007199254740992'].map((block) =>
			paid(`{"note":"${note}","blocks":[1, ${block}],"txHash":"0x1"}`),
		),
	]),
	...[
		...['100012345678901234567890', 'account 1000123456789012'],
		...['\\"a,\\\\', '1.000.000.000.000.000'],
	].map((account): [string, number, ...string[]] => [
		`digits inside of a text do not make an event another one: ${account}`,
		1,
		...[0, 30].map((second) => paid(`{"account":"${account}","txHash":"0x1"}`, second)),
	]),
	...['{"id":""}', '{"id":null}', '{"id":9007199254740993}', '{"id":["1"]}'].map(
		(data): [string, number, ...string[]] => [
			`what cannot be an id does not make two transfers one: ${data}`,
			2,
			...[0, 1, 1].map((second) =>
				paid(data, second).replace('disburse.completed', 'transfer.completed'),
			),
		],
	),
	...['{"txHash":""}', '{"txHash":["0x1"]}', 'null'].map((data): [string, number, ...string[]] => [
		`what names no transaction does not make two events one: ${data}`,
		2,
		...[0, 1, 1].map((second) => paid(data, second)),
	]),
	[
		'events of one transaction with other names are different',
		2,
		paid('{"txHash":"0x1"}'),
		paid('{"txHash":"0x1"}').replace('disburse.completed', 'deposit.mint_queued'),
	],
	[
		'events without an identity are the same when the body is',
		2,
		...[queued(0), queued(0), queued(1)],
	],
])('%s', (_what, different, ...sent) => {
	const keys = sent.map((text) => {
		const event = eventIn(Buffer.from(text));
		return event && eventKeyOf(event, Buffer.from(text));
	});
	expect(keys).not.toContain(undefined);
	expect(new Set(keys).size).toBe(different);
});

test.each(eventOptions.map(({ value }) => value).filter((name) => name !== 'transfer.completed'))(
	'two transactions with one data.id are two events: %s',
	(event) => {
		const keys = ['0x1', '0x2'].map((txHash) => {
			const sent = { event, data: { id: 'user-1', txHash } };
			return eventKeyOf({ ...sent, event: String(event) }, Buffer.from(JSON.stringify(sent)));
		});
		expect(new Set(keys).size).toBe(2);
	},
);
