/** Remarks on a person beside the others of the list, the people and the payments that are known. */
import { decimalText, formatEtb } from '../../shared/decimal';
import { comparableText, comparablePhone } from '../../shared/lookalikes';
import { dayMs, localTime } from '../../shared/period';
import type { RegisteredPayment } from './known';
import { remarkIf, type Remark } from './remarks';
import type { Person } from './rows';

/** A payment for another period is told for so long. */
const latelyMs = 10 * dayMs;

const comparableEmail = (text: string): string => (text.includes('@') ? comparableText(text) : '');

/** The fields of a person that are compared, by their looks. An empty look is nobody's. */
const fields = [
	{ field: 'name', look: comparableText, changed: 'changedName', same: 'sameName' },
	{ field: 'phone', look: comparablePhone, changed: 'changedPhone', same: 'samePhone' },
	{ field: 'userId', look: comparableText, changed: 'changedWallet', same: 'sameWallet' },
	{ field: 'email', look: comparableEmail, changed: 'changedEmail', same: 'sameEmail' },
] as const;

const etb = (amount: number): string => formatEtb(decimalText(amount) ?? String(amount));

/**
 * The differences between a person and the values that are known of them. Each kind of change is told once, against the newest.
 * @param known with when each was known, such as `last time (2026-10)`, the last one at the end
 */
export function changes(person: Person, known: ReadonlyArray<[Person | undefined, string]>) {
	const found = known.flatMap(([before, when]) => {
		const [amount = 0, was = 0] = [person.amountEtb, before?.amountEtb];
		const isOther = amount > 0 && was > 0 && Math.abs(amount - was) > 0.001;
		const percent = ((amount / was - 1) * 100).toFixed(1).replace(/^(?=\d)/, '+');
		const others = fields.flatMap(({ field, look, changed }) => {
			const looks = [look(person[field]), look(before?.[field] ?? '')];
			const isSame = looks[0] === looks[1] || looks.includes('');
			return isSame ? [] : remarkIf(changed, `${before?.[field]} ${when}`);
		});
		const text = isOther && `${etb(was)} ${when}, ${percent} %`;
		return [...remarkIf('changedAmount', text), ...others];
	});
	return [...new Map(found.map((each) => [each.code, each])).values()];
}

/** Payments shortly before `now`, with when and how much. */
export const paidLately = (payments: readonly RegisteredPayment[], now: Date): Remark[] =>
	payments
		.filter(({ paidAt }) => Date.parse(paidAt) >= now.getTime() - latelyMs)
		.flatMap(({ amountEtb = 0, purpose, period, paidAt }) => {
			const time = localTime(Date.parse(paidAt)).slice(0, 'YYYY-MM-DDTHH:mm'.length);
			return remarkIf(
				'paidLately',
				`${etb(amountEtb)} for ${purpose}, ${period}, on ${time.replace('T', ' ')}`,
			);
		});

/**
 * The amounts, in ETB, that are the sum of all others, as in a row with a total. Three amounts are the least: of two equal ones
 * each is the sum of the rest.
 */
export function sumsOfOthers(amounts: readonly number[]): Set<number> {
	if (amounts.length < 3) return new Set();
	const total = amounts.reduce((sum, amount) => sum + amount, 0);
	// Rounding moves the sum by half a cent for each amount, and adding numbers by far less than a tenth of one.
	const tolerance = 0.005 * amounts.length + 0.001;
	return new Set(amounts.filter((amount) => Math.abs(total - 2 * amount) <= tolerance));
}

/**
 * Finds who has the same name, telephone, wallet or email address under another employee number.
 * @param people the list first, because the first number that is found of a person is told
 */
export function namesakesAmong(people: readonly Person[]): (person: Person) => Remark[] {
	const numbered = people.filter(({ key }) => key !== '');
	const finders = fields.map(({ field, look, same }) => {
		const find = othersAmong(
			numbered.map((each) => ({ look: look(each[field]), id: each.key, name: each.employee })),
		);
		return (person: Person): Remark[] => remarkIf(same, find(look(person[field]), person.key));
	});
	return (person) => finders.flatMap((find) => find(person));
}

/**
 * Finds others that look the same.
 * @param items with the same `id` if they are one, and an empty look if they are like no other
 * @returns a function from the look and the id of an item to the names of at most three others
 */
export function othersAmong(items: ReadonlyArray<{ look: string; id: unknown; name: string }>) {
	const found = new Map<string, Map<unknown, string>>();
	for (const { look, id, name } of items) {
		const names = found.get(look) ?? new Map<unknown, string>();
		// Each of 20,000 may be like all others, so four are kept.
		if (look !== '' && names.size < 4) found.set(look, names.set(id, name));
	}
	return (look: string, id: unknown): string => {
		const others = [...(found.get(look) ?? [])].flatMap(([other, name]) =>
			other === id ? [] : [name],
		);
		return others.slice(0, 3).join(', ');
	};
}
