/** What the desk reads out of a person's answers, and how it shows what the database gave, without n8n and PostgreSQL. */
import { read } from '../../gate/desk/answer.mts';
import { draw } from '../../gate/desk/page.mts';
import { choices, money, todos } from '../../gate/desk/words.mts';

const found = {
	has_budget: true,
	open: [{ n: 1, reference: 'a', attempt: 2 }],
	unconfirmed: [
		{ n: 1, reference: 'a', attempt: 2 },
		{ n: 2, reference: 'a', attempt: 1 },
	],
	until: '2026-11-03T10:00:00+00:00',
	limits: {
		...{ most_per_day: '10000', most_per_payment: '5000', most_per_month: null },
		...{ only_known_recipients: 'true', only_known_callers: 'true' },
	},
};
const readOf = (todo: string, answer: Record<string, unknown>) =>
	read({ todo, answer, found, budget: 'main', by: 'Almaz' });
/** The last value but the person's name: what is to be changed. */
const changes = (todo: string, answer: Record<string, unknown>): unknown => {
	const result = readOf(todo, answer);
	if (!('values' in result)) return result.missing;
	return JSON.parse(result.values[todo === todos.callers ? 2 : 1] ?? '');
};

describe('an answer that was not given changes nothing', () => {
	const nulls = Object.fromEntries(
		['which', 'answer', 'note', 'what', 'add', 'remove', 'who', 'only_known_recipients'].map(
			(name) => [name, null],
		),
	);
	test.each(Object.values(todos))('%s: nothing was sent', (todo) => {
		expect(readOf(todo, {})).toHaveProperty('missing');
		expect(readOf(todo, nulls)).toHaveProperty('missing');
	});

	const both = (options: Record<string, string>) => Object.values(options);
	test.each([
		['no answer', undefined],
		['an empty one', ''],
		['another one', 'yes'],
		['a name of the record', 'true'],
		['two at once', both(choices.settle)],
	])('settle: %s', (_, answer) => {
		expect(readOf(todos.settle, { which: ['1. a'], note: 'n', answer })).toHaveProperty('missing');
	});

	test.each([undefined, '', 'resume', both(choices.stop)])('stop or resume: %s', (answer) => {
		expect(readOf(todos.stop, { answer })).toHaveProperty('missing');
	});

	test('limits: an empty field, and a choice that was not made, leave what is there', () => {
		expect(
			changes(todos.limits, { most_per_day: '', most_per_payment: null, most_per_month: '70,000' }),
		).toEqual({ most_per_month: '70000' });
		expect(
			changes(todos.limits, { most_per_day: '9', only_known_callers: ['All workflows', ''] }),
		).toEqual({ most_per_day: '9' });
	});
});

describe('what was chosen', () => {
	test('settles the attempt that the person saw', () => {
		const answer = { which: ['1. a: 5 ETB'], answer: choices.settle.false, note: ' Ticket 7 ' };
		expect(readOf(todos.settle, answer)).toEqual({
			values: ['main', 'false', 'Almaz', 'Ticket 7', JSON.stringify(found.open)],
		});
	});

	test('stops and resumes', () => {
		expect(readOf(todos.stop, { answer: choices.stop.true })).toEqual({
			values: ['main', 'true', 'Almaz'],
		});
		expect(readOf(todos.stop, { answer: choices.stop.false })).toEqual({
			values: ['main', 'false', 'Almaz'],
		});
	});

	test('changes the limits that are new, and takes one away only by its words', () => {
		expect(
			changes(todos.limits, {
				...{ most_per_day: '25,000.50', most_per_payment: 'no limit', most_per_month: 'no limit' },
				only_known_recipients: choices.only_known_recipients.false,
			}),
		).toEqual({ most_per_day: '25000.50', most_per_payment: null, only_known_recipients: false });
		for (const wrong of [
			'1.000.000',
			'10.000',
			'10 000',
			"10'000",
			'10,00',
			'ETB 100',
			'-1',
			'1e5',
		])
			expect(changes(todos.limits, { most_per_day: wrong })).toMatch(/not amounts/);
		expect(changes(todos.limits, { most_per_day: '10000' })).toBe('All fields are as they were.');
	});

	test('stopping one caller leaves its limits', () => {
		const answer = { who: 'mcp', most_per_day: '5' };
		expect(changes(todos.callers, { ...answer, answer: choices.callers.stop })).toEqual({
			paused: true,
		});
		expect(changes(todos.callers, { ...answer, answer: choices.callers.allow })).toEqual({
			...{ paused: false, most_per_day: '5' },
		});
		expect(changes(todos.callers, { ...answer, answer: choices.callers.remove })).toBeNull();
	});

	test('takes off the list what was ticked, or all that the page was about', () => {
		expect(changes(todos.unconfirmed, { which: ['1. a: 5 ETB'] })).toEqual({
			payments: [{ reference: 'a', attempt: 2 }],
		});
		const all = { which: ['All of them, those that are not shown too: 1200'] };
		expect(changes(todos.unconfirmed, all)).toEqual({ until: found.until });
	});
});

describe('a page', () => {
	const hostile = `<script>alert(1)</script>"'{{ 1 }}$json`;
	test.each(Object.values(todos))('%s shows what the database gave as text', (todo) => {
		const row = Object.fromEntries(
			['n', 'reference', 'to_user_id', 'requested_by', 'why', 'who', 'by_caller', 'detail', 'state']
				.concat(['event', 'tx_hash', 'now', 'period'])
				.map((name) => [name, hostile]),
		);
		const lists = Object.fromEntries(
			['open', 'in_flight', 'known', 'callers', 'unconfirmed', 'events', 'altogether', 'done']
				.concat(['recipients', 'days', 'payments', 'history'])
				.map((name) => [name, [row]]),
		);
		for (const isAnswer of [false, true]) {
			const page = draw({
				...{ todo, isAnswer, error: hostile },
				found: { has_budget: true, who: hostile, searched: hostile, counts: {}, ...lists },
			});
			expect(page.html + page.text).not.toMatch(/<script|\{\{|\$json/);
			expect(page.fields).not.toMatch(/\$/);
		}
	});

	test.each(Object.values(todos))('%s says that the database could not be asked', (todo) => {
		const page = draw({ todo, isAnswer: false, error: 'Connection refused' });
		expect(page.title).toBe('The desk cannot ask the database');
		expect(page.fields).toBe('');
	});

	test('after a save that failed says what to look at', () => {
		const failed = (todo: string, error: string) => draw({ todo, isAnswer: true, error });
		expect(failed(todos.limits, 'no').title).toBe('Nothing was changed');
		expect(failed(todos.limits, 'Connection terminated').title).toBe('Look whether it was saved');
		expect(failed(todos.stop, 'held').title).toMatch(/look whether payments are stopped/);
	});

	test.each([
		['1200.5', '1,200.50'],
		['0', '0.00'],
		['1234567', '1,234,567.00'],
		['0.000001', '0.000001'],
		['999.10', '999.10'],
	])('shows %s ETB as %s', (etb, shown) => expect(money(etb)).toBe(shown));
});
