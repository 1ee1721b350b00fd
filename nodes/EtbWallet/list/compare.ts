/** What is odd about a person beside the others of the list, the people and the payments that are known. */
import { decimalText, formatEtb } from '../../shared/decimal';
import { lookOf, phoneOf } from '../../shared/lookalikes';
import type { Payment, Person } from './known';
import type { Period } from './period';
import { remark, type Remark } from './remarks';

/** A payment for another period is told for so long. */
const latelyMs = 10 * 24 * 60 * 60 * 1000;

const emailOf = (text: string): string => (text.includes('@') ? lookOf(text) : '');

/** How each field of a person is compared. An empty look is nobody's. */
const fields = [
	{ field: 'name', look: lookOf, changed: 'changedName', same: 'sameName' },
	{ field: 'phone', look: phoneOf, changed: 'changedPhone', same: 'samePhone' },
	{ field: 'userId', look: lookOf, changed: 'changedWallet', same: 'sameWallet' },
	{ field: 'email', look: emailOf, changed: undefined, same: 'sameEmail' },
] as const;

const etb = (amount: number): string => formatEtb(decimalText(amount) ?? String(amount));

/**
 * How a person differs from what was known of them, as far as both say something.
 * @param when such as `last time (2026-10)`
 */
export function changes(now: Person, before: Person, when: string): Remark[] {
	const [amount = 0, was = 0] = [now.amountEtb, before.amountEtb];
	const isOther = amount > 0 && was > 0 && Math.abs(amount - was) > 0.001;
	const percent = ((amount / was - 1) * 100).toFixed(1).replace(/^(?=\d)/, '+');
	return [
		...(isOther ? [remark('changedAmount', `${etb(was)} ${when}, ${percent} %`)] : []),
		...fields.flatMap(({ field, look, changed }) => {
			const [one, other] = [look(now[field]), look(before[field])];
			if (changed === undefined || one === other || one === '' || other === '') return [];
			return [remark(changed, `${before[field]} ${when}`)];
		}),
	];
}

/** Payments shortly before `now`, with when (in Addis Ababa, without daylight saving time) and how much. */
export const paidLately = (payments: readonly Payment[], period: Period, now: Date): Remark[] =>
	payments
		.filter((payment) => payment.period !== period)
		.filter(({ paidAt }) => Date.parse(paidAt) >= now.getTime() - latelyMs)
		.map(({ amountEtb = 0, period: other, paidAt }) => {
			const local = new Date(Date.parse(paidAt) + 3 * 60 * 60 * 1000).toISOString();
			const time = local.slice(0, 'YYYY-MM-DDTHH:mm'.length).replace('T', ' ');
			return remark('paidLately', `${etb(amountEtb)} for ${other} on ${time}`);
		});

/**
 * Finds who has the same name, telephone, wallet or email address under another employee number.
 * @param people the list first, because the first number that is found of a person is told
 */
export function namesakesAmong(people: readonly Person[]): (person: Person) => Remark[] {
	const indexes = fields.map(({ field, look, same }) => {
		/** The employee numbers of all who look the same, by person. */
		const numbers = new Map<string, Map<string, string>>();
		for (const each of people) {
			const key = look(each[field]);
			if (each.key === '' || key === '') continue;
			const known = numbers.get(key) ?? new Map<string, string>();
			if (!known.has(each.key)) numbers.set(key, known.set(each.key, each.employee));
		}
		const entries = new Map([...numbers].map(([look, known]) => [look, [...known]]));
		return { numbers, entries, same, keyOf: (person: Person) => look(person[field]) };
	});
	return (person) =>
		indexes.flatMap(({ numbers, entries, same, keyOf }) => {
			const look = keyOf(person);
			if (numbers.get(look)?.has(person.key) !== true) return [];
			const known = entries.get(look) ?? [];
			const isSelf = ([key]: [string, string]): boolean => key === person.key;
			if (known.length === 1) return [];
			return [
				remark(
					same,
					othersListed(known, isSelf, ([, employee]) => employee),
				),
			];
		});
}

/**
 * The first three others, and how many more. It is called for each item, so it looks at the first ones alone.
 * @param isSelf says it of exactly one of the items
 */
export function othersListed<Item>(
	items: readonly Item[],
	isSelf: (item: Item) => boolean,
	textOf: (item: Item) => string,
): string {
	const first = items
		.slice(0, 4)
		.filter((item) => !isSelf(item))
		.slice(0, 3);
	const rest = items.length - 1 - first.length;
	return first.map(textOf).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
