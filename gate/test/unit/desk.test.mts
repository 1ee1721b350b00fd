/** The reading of a person's answers by the desk, and the pages that it makes of rows of the database, without n8n and PostgreSQL. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { WorkflowFile } from '../../../demo/n8n-api.mts';

type Run = (...globals: unknown[]) => unknown;
const AsyncFunction = z
	.custom<new (...code: string[]) => Run>()
	.parse((async () => {}).constructor);

const { nodes } = WorkflowFile.parse(
	JSON.parse(readFileSync('gate/workflows/gate-desk.json', 'utf8')),
);
const Coded = z.object({ parameters: z.object({ jsCode: z.string() }) });
const Items = z.array(z.object({ json: z.record(z.unknown()) }));

/** Runs the code of a node as it is in the workflow, with the first items of other nodes and of its input. */
async function run(name: string, input: object, others: Record<string, object>) {
	const { jsCode } = Coded.parse(nodes.find((node) => node.name === name)).parameters;
	const first = (json: object) => ({ isExecuted: true, first: () => ({ json }) });
	const globals = {
		$: (other: string) => (others[other] ? first(others[other]) : { isExecuted: false }),
		$input: first(input),
	};
	const [item] = Items.parse(
		await new AsyncFunction(...Object.keys(globals), jsCode)(...Object.values(globals)),
	);
	return item?.json ?? {};
}

/** The choices of the first page. */
const first = JSON.stringify(nodes.find(({ name }) => name === 'Desk'));
const todos = [...first.matchAll(/"option":"([^"]+)"/g)].map(([, option = '']) => option);
const [settle = '', , find = '', stop = '', limits = '', caller = ''] = todos;

const found = {
	has_budget: true,
	open: [{ n: 1, reference: 'a', attempt: 2, amount_etb: '5', to_user_id: 'u' }],
	limits: { most_per_day: '10000', most_per_payment: '5000', most_per_month: null },
	callers: [{ by_caller: 'mcp', most_per_day: '2000' }],
};
const readOf = async (todo: string, answer: object) =>
	await run('Read the Answer', answer, {
		Budget: { todo, budget: 'main', by: 'Almaz' },
		'Draw the Page': { found },
	});
const valuesOf = async (todo: string, answer: object) => (await readOf(todo, answer)).values;
/** The change that was asked for, or the reason why there is none. */
const changes = async (todo: string, answer: object): Promise<unknown> => {
	const { values, missing } = await readOf(todo, answer);
	if (missing !== undefined) return missing;
	return JSON.parse(z.array(z.string()).parse(values)[1] ?? '');
};
const Page = z.object({
	title: z.string(),
	text: z.string(),
	html: z.string(),
	fields: z.string(),
});
/** A page, before the person has sent one or after. */
const draw = async (todo: string, input: object, isAnswer = false) =>
	Page.parse(
		await run('Draw the Page', input, { Budget: { todo }, ...(isAnswer && { Page: {} }) }),
	);

test('each thing to do has a query of its page', async () => {
	expect(todos.length).toBe(7);
	for (const todo of todos) {
		const asked = await run('What to Find Out', {}, { Budget: { todo, budget: 'main' } });
		expect(asked).toEqual({ query: asked.query, values: ['main'] });
		expect(asked.query).toMatch(/ as found/);
	}
});

describe('an answer that was not given changes nothing', () => {
	const nulls = Object.fromEntries(
		['which', 'answer', 'note', 'what', 'who'].map((name) => [name, null]),
	);
	test.each(todos)('%s: nothing was sent', async (todo) => {
		expect(Object.keys(await readOf(todo, {}))).toEqual(['missing']);
		expect(Object.keys(await readOf(todo, nulls))).toEqual(['missing']);
	});

	const paid = 'They were paid';
	const notPaid = 'They were not paid: they may be sent again';
	test.each([
		['no answer', undefined],
		['an empty one', ''],
		['another one', 'yes'],
		['a name of the record', 'true'],
		['two at once', [paid, notPaid]],
	])('settle: %s', async (_, answer) => {
		expect(await readOf(settle, { which: ['1. a'], note: 'n', answer })).toHaveProperty('missing');
	});

	test.each([undefined, '', 'resume', ['Stop all payments', 'Let payments through']])(
		'stop or resume: %s',
		async (answer) => {
			expect(await readOf(stop, { answer })).toHaveProperty('missing');
		},
	);

	test('limits: an empty field leaves what is there', async () => {
		expect(
			await changes(limits, { most_per_day: '', most_per_payment: null, most_per_month: '70,000' }),
		).toEqual({ most_per_month: '70000' });
	});
});

describe('what was chosen', () => {
	test('settles the attempt that the person saw', async () => {
		const which = ['1. a: 5.00 ETB to u'];
		const answer = { which, answer: 'They were not paid: they may be sent again', note: ' T 7 ' };
		expect(await valuesOf(settle, answer)).toEqual([
			...['main', 'false', 'Almaz', 'T 7'],
			JSON.stringify([{ n: 1, reference: 'a', attempt: 2 }]),
		]);
	});

	test('stops, resumes and finds', async () => {
		for (const [answer, changed] of [
			['Stop all payments', '{"paused":true}'],
			['Let payments through', '{"paused":false}'],
		])
			expect(await valuesOf(stop, { answer })).toEqual(['main', changed, 'Almaz']);
		expect(await valuesOf(find, { what: ' payroll-2026 ' })).toEqual(['main', 'payroll-2026']);
	});

	test('changes the limits that are new, and takes one away only by its words', async () => {
		expect(
			await changes(limits, {
				...{ most_per_day: '25,000.50', most_per_payment: 'no limit', most_per_month: 'no limit' },
			}),
		).toEqual({ most_per_day: '25000.50', most_per_payment: null });
		for (const wrong of "1.000.000|10.000|10 000|10'000|10,00|ETB 100|-1|1e5".split('|'))
			expect(await changes(limits, { most_per_day: wrong })).toMatch(/not amounts/);
		expect(await changes(limits, { most_per_day: '10000' })).toBe('All fields are as they were.');
	});

	test('stopping one caller leaves its limits', async () => {
		const [allow, none] = ['Allow it, with the limits below', 'no limit'];
		for (const [answer, expected] of [
			[{ answer: 'Stop its payments', most_per_day: '5' }, { paused: true }],
			[
				{ answer: allow, most_per_day: '5' },
				{ paused: false, most_per_day: '5' },
			],
			[
				{ answer: allow, most_per_day: none, most_per_month: none },
				{ paused: false, most_per_day: null },
			],
		] as const)
			expect(await changes(caller, { who: 'mcp', ...answer })).toEqual(expected);
	});
});

describe('a page', () => {
	const hostile = `<script>alert(1)</script>"'{{ 1 }}$json`;
	test.each(todos)('%s shows what the database gave as text', async (todo) => {
		const row = Object.fromEntries(
			['n', 'reference', 'to_user_id', 'requested_by', 'why', 'who', 'by_caller', 'detail', 'state']
				.concat(['event', 'tx_hash', 'now', 'period'])
				.map((name) => [name, hostile]),
		);
		const lists = Object.fromEntries(
			['open', 'in_flight', 'callers', 'events', 'altogether', 'done']
				.concat(['recipients', 'days', 'payments', 'history'])
				.map((name) => [name, [row]]),
		);
		const given = { has_budget: true, who: hostile, searched: hostile, counts: {}, ...lists };
		for (const isAnswer of [false, true]) {
			// (Some only show.)
			if (isAnswer && 'missing' in (await readOf(todo, { what: 'x', which: ['1. a'] }))) continue;
			const page = await draw(todo, { found: given }, isAnswer);
			expect(page.html + page.text).not.toMatch(/<script|\{\{|\$json/);
			expect(page.fields).not.toMatch(/\$/);
		}
		const failed = await draw(todo, { error: hostile }, true);
		expect(failed.text).not.toMatch(/<script|\{\{|\$json/);
	});

	test.each(todos)('%s says that the database could not be asked', async (todo) => {
		for (const input of [
			{ error: 'Connection refused' },
			{ message: 'Connection refused' },
			// The item that n8n passes on when it could not even try.
			{ query: 'select', values: ['main'] },
		]) {
			const page = await draw(todo, input);
			expect(page.title).toBe('The desk cannot ask the database');
			expect(page.fields).toBe('');
		}
	});

	test('after a save that failed says what to look at', async () => {
		const title = async (todo: string, error: string) => (await draw(todo, { error }, true)).title;
		expect(await title(limits, 'no')).toBe('Nothing was changed');
		expect(await title(limits, 'Connection terminated')).toBe('Look whether it was saved');
		expect(await title(stop, 'held')).toMatch(/look whether payments are stopped/);
	});

	test('shows amounts as people read them', async () => {
		for (const [etb, shown] of [
			['1200.5', '1,200.50'],
			['0', '0.00'],
			['1234567', '1,234,567.00'],
			['0.000001', '0.000001'],
			['999.10', '999.10'],
		] as const) {
			const open = [{ n: 1, reference: 'a', amount_etb: etb, to_user_id: 'u', state: 'unknown' }];
			const page = await draw(settle, {
				found: { has_budget: true, counts: { unknown: 1 }, open },
			});
			expect(page.html).toContain(`<b>ETB: </b>${shown}<`);
		}
	});
});
