/** What a person chose on a page of the pay gate's desk, as the values of the query that writes it down. */
import {
	type Found,
	type Row,
	allOfThem,
	callerLimits,
	choices,
	limits,
	noLimit,
	rowOf,
	rowsOf,
	textOf,
	todos,
} from './words.mts';

/** What n8n's form gives, by the names of the fields: null for a field that was not sent. */
type Answer = Record<string, unknown>;

export interface Reading {
	/** What the person wants to do, as the first page words it. */
	todo: string;
	answer: Answer;
	/** What the page had found when it was drawn. */
	found: Found;
	budget: string;
	/** The person's name. */
	by: string;
}

/** The values of the query, in order, or what is missing. */
type Read = { values: string[] } | { missing: string };

const written = (value: unknown): string => textOf(value).trim();

/** What a choice means in the record. Undefined for no answer, two answers, or another one: those mean nothing. */
const meaning = (options: Record<string, string>, chosen: unknown): string | undefined =>
	Object.entries(options).find(([, words]) => words === chosen)?.[0];

const chooseOne = (options: Record<string, string>): string =>
	`No answer was chosen. Go back, and choose one: ${Object.values(options).join(' / ')}.`;

/** Which payments were ticked, by the number that each tick begins with. */
function ticked({ answer, found }: Reading, list: 'open' | 'unconfirmed'): Row[] {
	const ticks = [answer.which].flat().map(textOf);
	return rowsOf(found[list]).filter(({ n }) =>
		ticks.some((tick) => tick.startsWith(`${textOf(n)}. `)),
	);
}

/** An amount as people write it, as a number in text. 1,250,000.50 is 1250000.50. */
const amount = (text: string): string =>
	text.replace(/^\d{1,3}(,\d{3})+([.]\d+)?$/, (found) => found.replaceAll(',', ''));

/** The limits that were filled in with something new; those that are no amounts stand in `wrong`. */
function limitsOf(names: readonly string[], answer: Answer, now: Row) {
	const filled = names
		.map((name) => [name, written(answer[name])] as const)
		.filter(([name, text]) => text !== '' && text !== textOf(now[name] ?? noLimit))
		.map(([name, text]) => [name, text === noLimit ? null : amount(text)] as const);
	const wrong = filled.filter(([, text]) => text !== null && !/^\d+([.]\d{1,2})?$/.test(text));
	const changes: Row = Object.fromEntries(filled);
	return { changes, wrong: wrong.map(([, text]) => text).join(', ') };
}

const notAmounts = (wrong: string): string =>
	`These are not amounts, so nothing was changed. Write for example 10000 or 1250.50, or "${noLimit}". Found: ${wrong}`;

const readers: Record<string, (reading: Reading) => Read> = {
	[todos.settle]: (reading) => {
		const { budget, answer, by } = reading;
		const wasPaid = meaning(choices.settle, answer.answer);
		const payments = ticked(reading, 'open');
		if (payments.length === 0) {
			return {
				missing: 'Nothing was ticked. Go back, and tick the payments that you asked about.',
			};
		}
		if (wasPaid === undefined) return { missing: chooseOne(choices.settle) };
		return { values: [budget, wasPaid, by, written(answer.note), JSON.stringify(payments)] };
	},
	[todos.find]: ({ budget, answer }) =>
		written(answer.what) === ''
			? { missing: 'Nothing was looked for: the field was empty.' }
			: { values: [budget, written(answer.what)] },
	[todos.stop]: ({ budget, answer, by }) => {
		const paused = meaning(choices.stop, answer.answer);
		if (paused === undefined) return { missing: chooseOne(choices.stop) };
		return { values: [budget, paused, by] };
	},
	[todos.limits]: ({ budget, answer, found, by }) => {
		const now = rowOf(found.limits);
		const { changes, wrong } = limitsOf(Object.keys(limits), answer, now);
		if (wrong !== '') return { missing: notAmounts(wrong) };
		const all: Row = changes;
		for (const rule of ['only_known_recipients', 'only_known_callers'] as const) {
			const value = meaning(choices[rule], answer[rule]);
			if (value !== undefined && value !== (now[rule] ?? 'false')) all[rule] = value === 'true';
		}
		if (Object.keys(all).length === 0) return { missing: 'All fields are as they were.' };
		return { values: [budget, JSON.stringify(all), by] };
	},
	[todos.recipients]: ({ budget, answer, by }) => {
		const ids = (field: string, known: boolean) =>
			[...new Set(written(answer[field]).split(/[\s,;]+/))]
				.filter((id) => id !== '')
				.map((id) => ({ to_user_id: id, known }));
		const list = [...ids('add', true), ...ids('remove', false)];
		if (list.length === 0) return { missing: 'Both fields were empty.' };
		return { values: [budget, by, JSON.stringify(list)] };
	},
	[todos.callers]: ({ budget, answer, by }) => {
		const what = meaning(choices.callers, answer.answer);
		const who = written(answer.who);
		if (who === '') return { missing: 'No caller was named.' };
		if (what === undefined) return { missing: chooseOne(choices.callers) };
		const { changes, wrong } = limitsOf(callerLimits, answer, {});
		if (wrong !== '') return { missing: notAmounts(wrong) };
		const all = what === 'allow' ? { paused: false, ...changes } : { paused: true };
		return { values: [budget, who, what === 'remove' ? 'null' : JSON.stringify(all), by] };
	},
	[todos.unconfirmed]: (reading) => {
		const { budget, answer, found, by } = reading;
		const isAll = [answer.which].flat().some((tick) => textOf(tick).startsWith(allOfThem));
		const payments = ticked(reading, 'unconfirmed').map(({ reference, attempt }) => ({
			reference,
			attempt,
		}));
		if (!isAll && payments.length === 0) {
			return {
				missing: 'Nothing was ticked. Go back, and tick the payments that you asked about.',
			};
		}
		const which = isAll ? { until: found.until } : { payments };
		return { values: [budget, JSON.stringify(which), by, written(answer.note)] };
	},
};

/** Reads what a person chose. What was not answered changes nothing. */
export const read = (reading: Reading): Read =>
	readers[reading.todo]?.(reading) ?? { missing: 'There is nothing to change here.' };
