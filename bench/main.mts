// `npm run bench`: this package side by side with what a builder would wire by hand, in one n8n and one run.
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { projectFolder } from '../demo/folders.mts';
import type { EventSettings } from './events.mts';
import { measureEvents, publishReceivers } from './events.mts';
import { measureFlood } from './flood.mts';
import { measureGate } from './pay-gate.mts';
import { commit, load, machine } from './machine.mts';
import { measureGrowth, measurePaying, publishWays } from './paying.mts';
import { fullSizes, quickSizes, type Section } from './section.mts';
import { startStack } from './stack.mts';
import { digits, table } from './statistics.mts';

const PARTS = ['paying', 'growth', 'gate', 'events', 'flood'] as const;
const HELP = `npm run bench                     all parts, about 30 minutes; writes bench/RESULTS.md
npm run bench -- --quick          small sizes, to see that it works; writes nothing
npm run bench -- --only=paying    some parts (${PARTS.join(', ')}); writes nothing`;

const { values: flags } = parseArgs({
	options: {
		quick: { type: 'boolean', default: false },
		only: { type: 'string' },
		help: { type: 'boolean', default: false },
	},
});
const sizes = flags.quick ? quickSizes : fullSizes;
const wanted = new Set(flags.only?.split(',') ?? PARTS);

/** Ways to run n8n: with the two settings that this project recommends, and without. What has to be reached with each. */
const SETTINGS: Array<EventSettings & { env: Record<string, undefined> }> = [
	{
		name: 'the two settings',
		env: {},
		least: { webhook: 0.9, handWired: 2.5 },
		deliveryFactor: 3,
	},
	{
		name: "n8n's default settings",
		env: {
			N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: undefined,
			N8N_EXPRESSION_ENGINE_COMPILE_CACHE: undefined,
		},
		least: { plainTrigger: 0.95 },
		deliveryFactor: 1,
	},
];

const print = (line: string) => console.log(line);

/** The workflows to measure, published when a part asks for them. */
interface Measured {
	ways(): ReturnType<typeof publishWays>;
	receivers(): ReturnType<typeof publishReceivers>;
}

async function measureAll(): Promise<Section[]> {
	const sections: Section[] = [];
	const add = async (part: (typeof PARTS)[number], measure: () => Promise<Section>) => {
		if (!wanted.has(part)) return;
		const section = await measure().catch((error: unknown): Section => {
			// What was measured is worth keeping.
			process.exitCode = 1;
			return {
				title: `${part}: not measured`,
				text: error instanceof Error ? error.message : String(error),
				targets: [],
			};
		});
		print(`\n## ${section.title}\n\n${section.text}\n`);
		sections.push(section);
	};
	const stack = await startStack(print);
	let ways: ReturnType<Measured['ways']> | undefined;
	let receivers: ReturnType<Measured['receivers']> | undefined;
	const measured: Measured = {
		ways: async () => await (ways ??= publishWays(stack)),
		receivers: async () => await (receivers ??= publishReceivers(stack)),
	};
	const events = async (settings: EventSettings) =>
		await measureEvents(stack, await measured.receivers(), settings, sizes.events, print);
	try {
		await add('paying', async () => measurePaying(stack, await measured.ways(), sizes.pay, print));
		await add('growth', async () =>
			measureGrowth(stack, await measured.ways(), sizes.growth, print),
		);
		await add('gate', async () => await measureGate(stack, sizes.gate, print));
		for (const [index, settings] of SETTINGS.entries()) {
			if (!wanted.has('events') && !wanted.has('flood')) break;
			await measured.receivers();
			if (index > 0) await stack.restart(settings.env);
			await add('events', async () => await events(settings));
			if (index > 0) continue;
			await add('flood', async () =>
				measureFlood(stack, await measured.receivers(), settings.name, sizes.flood),
			);
		}
	} finally {
		await stack.stop();
	}
	return sections;
}

// Only an orderly exit ends n8n too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.once(signal, () => process.exit(1));
}

if (flags.help) {
	print(HELP);
} else {
	const startedAt = new Date();
	const loadBefore = load();
	const sections = await measureAll();
	const minutes = (Date.now() - startedAt.getTime()) / 60_000;
	const targets = sections.flatMap((section) => section.targets);
	const results = [
		'# Results',
		'Written by `npm run bench`; `docs/performance.md` explains them. Each figure is a median, with the lowest and highest of the rounds in parentheses; the ways alternate within each round, and a ratio is taken within its round.',
		`- Commit ${commit()}, ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${digits(minutes)} minutes\n- ${machine()}; n8n, the partner service and the sender of events share it\n- Load of the machine before the run: ${digits(loadBefore)}`,
		'## Targets',
		table(
			['wanted', 'measured', ''],
			targets.map((target) => [target.wanted, target.measured, target.met ? 'met' : 'missed']),
		),
		...sections.map(({ title, text }) => `## ${title}\n\n${text}`),
	].join('\n\n');
	if (flags.quick || flags.only !== undefined) {
		print(
			results.slice(
				results.indexOf('## Targets'),
				results.indexOf('## ', results.indexOf('## Targets') + 3),
			),
		);
	} else {
		const file = join(projectFolder, 'bench', 'RESULTS.md');
		await writeFile(file, results + '\n');
		print(`Written to ${relative(process.cwd(), file)}`);
	}
}
