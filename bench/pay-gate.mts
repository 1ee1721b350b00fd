/** What a payment costs through the pay gate, by what its tables hold; beside it one workflow that pays, and the gate's SQL alone. */
import { callOfGate, gateWorkflow } from '../test/support/gate/gate-lab.mts';
import { readExample } from '../demo/examples.mts';
import {
	logins,
	setRules,
	startGateServer,
	type GateServer,
} from '../test/support/gate/server.mts';
import { measureCalls } from './gate-calls.mts';
import { fillGate } from '../test/support/gate/fill.mts';
import { node } from '../demo/workflow.mts';
import { pay, type Way } from './paying.mts';
import type { Section, Sizes } from './section.mts';
import type { Stack } from './stack.mts';
import { digits, ratios, shown, spread, table } from './statistics.mts';
import { payingWorkflow } from './workflows.mts';

/** Payments before the tables are filled: connections make their plans while they are empty, as those of a gate that grows. */
const WARM_UP_ITEMS = 100;

/** Publishes a workflow that calls one that pays. */
async function publishCaller(
	stack: Stack,
	path: string,
	name: string,
	paysId: string,
): Promise<Way> {
	const { type, typeVersion, parameters } = callOfGate(paysId);
	return {
		name,
		url: `${stack.n8n.url}/webhook/${path}`,
		workflowId: await stack.publish(
			payingWorkflow(path, node('Call', type, parameters, { typeVersion })),
		),
		recordedIn: paysId,
		pays: true,
	};
}

/** Publishes a gate on a database of its own, and a workflow that calls it. */
async function publishGate(stack: Stack, server: GateServer, records: number): Promise<Way> {
	const gate = await server.gate();
	const { host, port, database } = gate;
	const superuser = await gate.connect('superuser');
	await setRules(superuser, 'main', {
		...{ most_per_day: 1e9, most_per_month: 1e9, most_per_payment: 1e6 },
		...{ most_per_recipient_per_day: 1e8, most_per_recipient_per_month: 1e8 },
	});
	const name = `gate ${records}`;
	const postgres = await stack.addCredential(name, 'postgres', {
		...{ host, port, database, user: logins.gate, password: 'not-checked', ssl: 'disable' },
	});
	const gateId = await stack.publish(await gateWorkflow(postgres, { id: '', name: '' }));
	const path = `gate-${records}`;
	const kept = `pay gate, ${digits(records)} payments in its tables`;
	const way = await publishCaller(stack, path, kept, gateId);
	await pay(stack, way, { items: WARM_UP_ITEMS, latencyMs: 0 });
	await fillGate(superuser, records);
	await superuser.query('vacuum analyze');
	await superuser.end();
	return way;
}

/** Time of the node that pays, for one item, in ms; all sizes of both ways alternate within each round. */
export async function measureGate(
	stack: Stack,
	{ records, references, items, rounds }: Sizes['gate'],
	print: (line: string) => void,
): Promise<Section> {
	const server = await startGateServer();
	try {
		const paysId = await stack.publish(await readExample('one-workflow-that-pays.json'));
		const own = await publishCaller(stack, 'one-workflow', 'one workflow that pays', paysId);
		const options = { items, latencyMs: 0 };
		await pay(stack, own, options);
		const gates: Way[] = [];
		for (const size of records) gates.push(await publishGate(stack, server, size));
		for (const gate of gates) await pay(stack, gate, options);
		const ofGates = gates.map((way) => ({
			name: way.name,
			ms: [] as number[],
			run: async () => (await pay(stack, way, options)).nodeMs / items,
		}));
		const ofOwn = references.map((kept) => ({
			name: `one workflow that pays, ${digits(kept)} references kept`,
			ms: [] as number[],
			run: async () => (await pay(stack, own, { ...options, kept })).nodeMs / items,
		}));
		const measured = [...ofGates, ...ofOwn];
		for (let round = 0; round < rounds; round++) {
			for (let turn = 0; turn < measured.length; turn++) {
				const way = measured[(turn + round) % measured.length];
				way?.ms.push(await way.run());
			}
			print(`gate: round ${round + 1} of ${rounds}`);
		}
		const [first] = ofGates;
		const last = ofGates.at(-1);
		const growth = ratios(last?.ms ?? [], first?.ms ?? []);
		const lines = [ofGates, ofOwn].flatMap((group) =>
			group.map(({ name, ms }) => [name, shown(spread(ms)), shown(ratios(ms, group[0]?.ms ?? []))]),
		);
		const calls = await measureCalls(server, { records, rounds });
		return {
			title: 'The pay gate',
			text: [
				`Time of the node that pays, for one item, in ms: *Execute Sub-workflow* with the gate behind it, or with one workflow that pays. ${items} items in each execution, Concurrency 10, ${rounds} rounds; PostgreSQL on the same machine, whose commits do not wait for the disk.`,
				table(['', 'ms', '× none'], lines),
				calls.text,
			].join('\n\n'),
			targets: [
				{
					wanted: `a payment through the gate costs the same with ${digits(records.at(-1) ?? 0)} payments as with none, within 10 %`,
					measured: shown(growth),
					met: growth.median <= 1.1 && growth.median >= 0.9,
				},
				...calls.targets,
			],
		};
	} finally {
		await server.stop();
	}
}
