/** What is odd about a row beside the others, the table of people and the payments before. */
import { decimalText, formatEtb } from '../../shared/decimal';
import { grouped } from '../../shared/grouped';
import { lookOf } from '../../shared/lookalikes';
import { sumsOfOthers } from './amounts';
import type { Column } from './headings';
import { phoneOf, type Facts, type KnownPayments, type KnownPeople, type Payment } from './known';
import type { Remark } from './remarks';
import type { ReadRow } from './rows';

/** A payment for another period is told for so many days. */
const latelyDays = 10;

const dayMs = 24 * 60 * 60 * 1000;
const etb = (amount: number): string => formatEtb(decimalText(amount) ?? String(amount));
const emailOf = (text: string): string => (text.includes('@') ? lookOf(text) : '');

/** What people have of their own, and how it is compared. An empty look is nobody's. */
const fields = {
	name: { word: 'name', lookOf, changed: 'changedName', same: 'sameName' },
	phone: { word: 'telephone', lookOf: phoneOf, changed: 'changedPhone', same: 'samePhone' },
	userId: { word: 'wallet', lookOf, changed: 'changedWallet', same: 'sameWallet' },
	email: { word: 'email address', lookOf: emailOf, changed: undefined, same: 'sameEmail' },
} as const;
const fieldNames = ['name', 'phone', 'userId', 'email'] as const;

/**
 * How a person differs from what is known of them, as far as both say something.
 * @param when such as `last time (2026-10)`
 */
export function changes(facts: Facts, before: Facts, when: string): Remark[] {
	const remarks: Remark[] = [];
	const [amount, was] = [facts.amountEtb, before.amountEtb];
	if (amount !== undefined && was !== undefined && Math.abs(amount - was) > 0.001) {
		const percent = ((amount / was - 1) * 100).toFixed(1).replace(/^(?=\d)/, '+');
		remarks.push({ code: 'changedAmount', text: `${etb(was)} ${when}: ${percent} %.` });
	}
	for (const field of fieldNames) {
		const { changed, word, lookOf: look } = fields[field];
		const [now, then] = [look(facts[field]), look(before[field])];
		if (changed === undefined || now === then || now === '' || then === '') continue;
		remarks.push({ code: changed, text: `The ${word} was ${before[field]} ${when}.` });
	}
	return remarks;
}

/** @returns remarks on payments for another period shortly before `now` */
export const paidLately = (payments: readonly Payment[], period: string, now: Date): Remark[] =>
	payments
		.filter((payment) => payment.period !== period)
		.filter(({ paidAt }) => Date.parse(paidAt) >= now.getTime() - latelyDays * dayMs)
		.map(({ amountEtb = 0, period: other, paidAt }) => ({
			code: 'paidLately',
			text: `Paid ${etb(amountEtb)} for ${other} on ${inAddisAbaba(paidAt)}.`,
		}));

/** Such as `2026-11-26 21:22`. Ethiopia knows no daylight saving time. */
function inAddisAbaba(time: string): string {
	const local = new Date(Date.parse(time) + 3 * 60 * 60 * 1000);
	return local.toISOString().slice(0, 'YYYY-MM-DDTHH:mm'.length).replace('T', ' ');
}

interface Found {
	/** Why the row cannot be paid beside others; empty for nothing. */
	problem: string;
	remarks: Remark[];
}

/** Compares each row with the other rows, and with other people of the table and the register. */
export function comparedWithOthers(
	rows: readonly ReadRow[],
	sources: { people?: KnownPeople; payments?: KnownPayments },
	headingOf: (column: Column) => string,
): (row: ReadRow) => Found {
	const rowsBy = {
		// As the reference is compared.
		employee: grouped(rows, ({ facts }) => lookOf(facts.person)),
		userId: grouped(rows, ({ facts }) => lookOf(facts.userId)),
	};
	const known = [
		...rows.map(({ facts }) => facts),
		...(sources.people?.all ?? []),
		...(sources.payments?.paid ?? []),
	].filter(({ person }) => person !== '');
	const numbersBy = {
		name: numbersByLook(known, 'name'),
		phone: numbersByLook(known, 'phone'),
		userId: numbersByLook(known, 'userId'),
		email: numbersByLook(known, 'email'),
	};
	const sums = sumsOfOthers(rows.flatMap(({ facts: { amountEtb = [] } }) => amountEtb));

	const problemOf = (row: ReadRow): string => {
		const looks = { employee: lookOf(row.facts.person), userId: lookOf(row.facts.userId) };
		for (const column of ['employee', 'userId'] as const) {
			const same = looks[column] === '' ? [] : (rowsBy[column].get(looks[column]) ?? []);
			// Two rows can have the same line: two sheets may come in one list.
			if (same.length < 2) continue;
			const others = firstOf(same, (other) => other !== row);
			const rowsLike = others.map(({ source: { line }, facts: { name } }) => `${line} (${name})`);
			return `Row ${listed(rowsLike, same.length - 1)} has the same ${headingOf(column)}. Delete or correct one of them.`;
		}
		return '';
	};

	return (row) => {
		const { facts } = row;
		const remarks = fieldNames.flatMap((field): Remark[] => {
			const { word, same, lookOf: look } = fields[field];
			const numbers = numbersBy[field].get(look(facts[field]));
			if (numbers?.has(facts.person) !== true || numbers.size === 1) return [];
			const others = firstOf(numbers, ([person]) => person !== facts.person);
			const text = `The same ${word} as ${listed(
				others.map(([, number]) => number),
				numbers.size - 1,
			)}.`;
			return [{ code: same, text }];
		});
		if (facts.amountEtb !== undefined && sums.has(facts.amountEtb))
			remarks.push({ code: 'sumOfOthers', text: 'The amount is the sum of all others.' });
		return { problem: problemOf(row), remarks };
	};
}

/** By how a field looks: the employee numbers of the people who have it, by person. */
function numbersByLook(
	known: readonly Facts[],
	field: (typeof fieldNames)[number],
): Map<string, Map<string, string>> {
	const found = new Map<string, Map<string, string>>();
	for (const facts of known) {
		const look = fields[field].lookOf(facts[field]);
		if (look === '') continue;
		const numbers = found.get(look) ?? new Map<string, string>();
		found.set(look, numbers);
		if (!numbers.has(facts.person)) numbers.set(facts.person, facts.employee);
	}
	return found;
}

/** So many others are named. */
const mostNamed = 3;

/** The first ones that fit. Of thousands with one telephone each names three. */
function firstOf<Item>(items: Iterable<Item>, fits: (item: Item) => boolean): Item[] {
	const found: Item[] = [];
	for (const item of items) {
		if (fits(item)) found.push(item);
		if (found.length === mostNamed) break;
	}
	return found;
}

const listed = (texts: string[], count: number): string =>
	texts.join(', ') + (count > texts.length ? ` and ${count - texts.length} more` : '');
