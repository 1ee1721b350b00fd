// What Check List costs: 20 people in a sheet of 5,001 rows in the real n8n, and 5,000 people beside all that is
// known of them.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../demo/folders.mts';
import { listWorkflow, workbook, type Cell } from '../test/support/list-file.mts';
import { Bench, isQuick, origin, shown, table, writeSection } from './measure.mts';

const rounds = isQuick ? 2 : 7;
const many = isQuick ? 500 : 5_000;
const months = 12;
const origins = origin();

/** The nodes as they are built: what is measured is what n8n runs. */
const built = <Built,>(file: string, shape: z.ZodType<Built, z.ZodTypeDef, unknown>): Built =>
	shape.parse(
		createRequire(import.meta.url)(join(projectFolder, 'dist', 'nodes', 'EtbWallet', 'list', file)),
	);
const any = z.function().args(z.unknown(), z.unknown()).returns(z.array(z.unknown()));
const { checkList } = built('checkList.js', z.object({ checkList: any }));

const headings = ['employee', 'name', 'amountEtb', 'phone'];
const personOf = (index: number): Cell[] => [
	...[`E-${index}`, `Abebe Kebede ${index % 3_000}`, 8_000 + index / 7],
	`+251911${100_000 + index}`,
];

/** CPU in ms. */
function known(): number {
	const sheet = [headings, ...Array.from({ length: many - 1 }, (_, index) => personOf(index))];
	const people = Array.from({ length: many }, (_, index) => {
		const [employee, name, amountEtb, phone] = personOf(index);
		return { json: { employee, name, amountEtb, phone, userId: `etbw_${index}` } };
	});
	const payments = Array.from({ length: months * many }, (_, index) => {
		const period = `2025-${String((index % months) + 1).padStart(2, '0')}`;
		const [employee, name, requestedAmountEtb, phone] = personOf(Math.floor(index / months));
		const person = `E${Math.floor(index / months)}`;
		return {
			json: {
				reference: `salary-${period}-${person}`,
				period,
				purpose: 'salary',
				employeeKey: person,
				employee,
				name,
				phone,
				requestedAmountEtb,
				amountEtb: requestedAmountEtb,
				outcome: 'paid',
				txHash: '0xabc',
				paidAt: `${period}-25T10:00:00.000Z`,
				workflow: 'Pay salaries (abc)',
				userId: `etbw_${Math.floor(index / months)}`,
			},
		};
	});
	const now = new Date('2026-01-26T10:00:00Z');
	const before = process.cpuUsage();
	checkList(
		sheet.map((row) => ({ row })),
		{ purpose: 'salary', period: '2026-01', now, people, register: payments },
	);
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1_000;
}

const bench = await Bench.start();
const times: Record<'first' | 'item', number[]> = { first: [], item: [] };
try {
	const file = workbook([headings, ...Array.from({ length: 20 }, (_, index) => personOf(index))]);
	const ways = {
		first: "={{ $('File').first().json.period ?? '' }}",
		item: "={{ $('File').item.json.period ?? '' }}",
	};
	for (const way of ['first', 'item'] as const) {
		const id = await bench.lab.add(listWorkflow(`${way}.xlsx`, file, { period: ways[way] }));
		for (let round = 0; round < rounds; round++) {
			const before = bench.executions();
			await bench.lab.api.run(id, 'Start');
			const execution = await bench.ended(id, before + 1);
			times[way].push(bench.nodeMs(execution, 'Check List'));
		}
	}
} finally {
	await bench.stop();
}
const cpu = Array.from({ length: rounds }, known);

writeSection(
	'Lists',
	origins,
	table(
		['Check List', 'ms (lowest to highest)'],
		[
			['20 people in a sheet of 5,001 rows, *Period* by `.first()`, in n8n', shown(times.first)],
			['the same, *Period* by `.item`', shown(times.item)],
			[`${many} rows, ${many} known people, ${months * many} known payments: CPU`, shown(cpu)],
		],
	),
);
