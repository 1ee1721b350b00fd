/** Remarks that compare a person with the others of the list, and with the table of people and the register. */
import { decimalText, formatEtb } from '../../shared/decimal';
import { normalizeText } from '../../shared/normalizeText';
import { comparedColumns } from './columns';
import { dayMs, addisAbabaTime } from './period';
import type { ListSettings } from './listSettings';
import { sameValueFinder } from './sameValueFinder';
import type { History } from './history';
import { isPaid, type KnownTables, type RegisteredPayment } from './knownTables';
import { latelyDays, remark, remarkIf, type Remark } from './remarks';
import type { ListRow, Person } from './rows';

const etb = (amount: number): string => formatEtb(decimalText(amount) ?? String(amount));

/** The purpose and the period of a payment, or the reference of one that has none. */
const titleOf = ({ purpose, period, reference }: RegisteredPayment): string =>
	purpose ? `${purpose}, ${period}` : reference;

/** The settings that the remarks depend on. */
type ComparisonSettings = Pick<ListSettings, 'purpose' | 'period' | 'now' | 'setsUpPeople'>;

/**
 * Makes the function that gives a row all its remarks.
 * @param listed the rows of the list with a person
 */
export function remarkFinder(
	listed: readonly ListRow[],
	known: KnownTables,
	settings: ComparisonSettings,
) {
	const persons = listed.map(({ person }) => person);
	const paidPeople = (known.register ?? []).filter(isPaid).map(({ person }) => person);
	// The list comes first, because a remark names the first numbers that are found.
	const sharedFieldsOf = sharedFieldFinder([...persons, ...(known.people ?? []), ...paidPeople]);
	const sums = sumsOfOthers(persons.flatMap(({ amountEtb = [] }) => amountEtb));
	return ({ person, remarks }: ListRow, history: History): Remark[] => [
		...remarks,
		...history.otherUnknownRows.map((each) => remark('otherUnknown', titleOf(each))),
		...remarkIf('new', person.employeeKey && newnessOf(history, known)),
		...(settings.setsUpPeople === true ? firstValues(person, history.knownPerson) : []),
		...changesOf(person, history, known),
		...sharedFieldsOf(withKnownFields(person, history.knownPerson)),
		...paidLately(person, history, settings),
		...paidForPeriod(person, history, settings),
		...(sums.has(person.amountEtb ?? 0) ? [remark('sumOfOthers')] : []),
	];
}

/** The reason why a person counts as new; empty for a person who is known. */
function newnessOf(
	{ knownPerson, paidBefore, paymentsToPerson }: History,
	{ people, register }: KnownTables,
): string {
	if (paidBefore) return '';
	if (register && paymentsToPerson.length === 0) return 'never paid before';
	return people && !knownPerson ? 'not in the table of people' : '';
}

/** The remarks on differences from the known data of a person: one of each code, from the newest data. */
function changesOf(person: Person, history: History, { register }: KnownTables): Remark[] {
	const { knownPerson, paidBefore, paymentsToPerson } = history;
	if (paidBefore) return differences(person, paidBefore.person, 'when it was paid');
	const last = history.lastTime ?? paymentsToPerson.at(-1);
	const isFirstPayment = register === undefined || paymentsToPerson.length === 0;
	const fromTable = differences(person, knownPerson, 'in the table of people', isFirstPayment);
	// A person confirmed a name that stands in the table of people.
	const isNameConfirmed =
		knownPerson !== undefined &&
		knownPerson.name !== '' &&
		!fromTable.some(({ code }) => code === 'changedName');
	const lastPerson = last && {
		...last.person,
		...(isNameConfirmed && { name: '' }),
		// Only the last amount for the same purpose is compared, because a small bonus is not a lower salary.
		amountEtb: history.lastTime?.person.amountEtb,
	};
	const remarks = [...fromTable, ...differences(person, lastPerson, `last time (${last?.period})`)];
	return [...new Map(remarks.map((each) => [each.code, each])).values()];
}

/** The person with the values that the list lacks and Known People has. */
function withKnownFields(person: Person, knownPerson: Person | undefined): Person {
	if (knownPerson === undefined) return person;
	const filled = { ...person };
	for (const { name } of comparedColumns) filled[name] ||= knownPerson[name];
	return filled;
}

/** The comparison has a tolerance, because a table may store amounts, which have two decimals, in binary. */
const isSameAmount = (one = NaN, other = NaN): boolean => Math.abs(one - other) < 0.001;

/** Remarks on values that Known People lacks, so that they are stored there. The wallet is not one of them. */
function firstValues(person: Person, knownPerson: Person | undefined): Remark[] {
	if (knownPerson === undefined) return [];
	const isFirstAmount = person.amountEtb !== undefined && knownPerson.amountEtb === undefined;
	const codes = comparedColumns
		.filter(({ name }) => name !== 'userId')
		.filter(
			({ name, normalize }) =>
				normalize(person[name]) !== '' && normalize(knownPerson[name]) === '',
		)
		.map(({ changed }) => changed);
	return [...(isFirstAmount ? ['changedAmount' as const] : []), ...codes].map((code) =>
		remark(code, 'none in the table of people'),
	);
}

/** @param when the time of `known`, such as `last time (2026-10)` */
function differences(person: Person, known: Person | undefined, when: string, withAmount = true) {
	if (known === undefined) return [];
	const { amountEtb: amount = 0 } = person;
	const { amountEtb: was = 0 } = known;
	const isOther = withAmount && amount > 0 && was > 0 && !isSameAmount(amount, was);
	const percent = ((amount / was - 1) * 100).toFixed(1).replace(/^(?=\d)/, '+');
	const others = comparedColumns.flatMap(({ name, normalize, changed }) => {
		const normalized = [normalize(person[name]), normalize(known[name])];
		const isSame = normalized[0] === normalized[1] || normalized.includes('');
		return isSame ? [] : remarkIf(changed, `${known[name]} ${when}`);
	});
	return [
		...remarkIf(
			'changedAmount',
			isOther && `${etb(was)} ${when}, now ${etb(amount)}, ${percent} %`,
		),
		...others,
	];
}

/**
 * Remarks on other payments that the person got in the last `latelyDays` days, for the same purpose or with the
 * same amount. There are none if this payment itself is paid. The same amount for another purpose can mean that one
 * list was paid under two purposes. A different amount is usual.
 */
const paidLately = (
	person: Person,
	{ paidBefore, paymentsToPerson, walletPayments }: History,
	{ now, purpose }: ComparisonSettings,
) =>
	[...paymentsToPerson, ...walletPayments]
		.filter((each) => !paidBefore && Date.parse(each.paidAt) >= now.getTime() - latelyDays * dayMs)
		.flatMap((each) => {
			const { person: was, paidAt } = each;
			const isSamePurpose = normalizeText(each.purpose) === normalizeText(purpose);
			if (!isSamePurpose && !isSameAmount(was.amountEtb, person.amountEtb)) return [];
			const time = addisAbabaTime(Date.parse(paidAt)).slice(0, 'YYYY-MM-DDTHH:mm'.length);
			return remark(
				isSamePurpose ? 'paidLately' : 'sameAmountLately',
				`${etb(was.amountEtb ?? 0)} for ${titleOf(each)}, on ${time.replace('T', ' ')}`,
			);
		});

/**
 * A remark on a person who was paid for the same period with another purpose, if this looks like the same
 * payment: its amount is that of one of those payments, or between half and double of their sum. Less is a correction or
 * a bonus, and more is a salary after an allowance.
 */
function paidForPeriod(person: Person, history: History, { period }: ComparisonSettings): Remark[] {
	if (history.paidBefore) return [];
	// A payment for the same purpose and period is this very payment, and not among the others.
	const ofPeriod = history.paymentsToPerson.filter((each) => each.period === period);
	// Two lists at once can write one payment twice, so only the newest row of a reference counts.
	const others = [...new Map(ofPeriod.map((each) => [each.referenceKey, each])).values()];
	const sum = others.reduce((total, each) => total + (each.person.amountEtb ?? 0), 0);
	const { amountEtb: amount = 0 } = person;
	const isLikeOne =
		others.some((each) => isSameAmount(each.person.amountEtb, person.amountEtb)) ||
		(amount > sum / 2 && amount < sum * 2);
	const told = others.map((each) => `${etb(each.person.amountEtb ?? 0)} for ${each.purpose}`);
	return isLikeOne ? [remark('paidForPeriod', told.join(', '))] : [];
}

/**
 * The amounts that are the sum of all others, as in a row with a total. Among fewer than three amounts there
 * is none, because each of two equal amounts would be the sum of the rest.
 * @param amounts in ETB
 */
function sumsOfOthers(amounts: readonly number[]): Set<number> {
	if (amounts.length < 3) return new Set();
	const total = amounts.reduce((sum, amount) => sum + amount, 0);
	// Rounding moves the sum by half a cent for each amount. Binary addition moves it by far less than 0.001.
	const tolerance = 0.005 * amounts.length + 0.001;
	return new Set(amounts.filter((amount) => Math.abs(total - 2 * amount) <= tolerance));
}

/** Makes one spelling of Tadesse and Tadese, because Ethiopian names have several in Latin letters. */
const withoutDoubles = (name: string): string => name.replace(/(\p{L})\1+/gu, '$1');

/** Makes the function that remarks on what somebody with another number has too, such as a telephone. */
function sharedFieldFinder(people: readonly Person[]): (person: Person) => Remark[] {
	const numbered = people.filter(({ employeeKey }) => employeeKey !== '');
	const finders = comparedColumns.map(({ name, normalize, same }) => {
		const likenessOf = (person: Person): string =>
			name === 'name' ? withoutDoubles(normalize(person.name)) : normalize(person[name]);
		const othersLike = sameValueFinder(
			numbered.map((each) => ({
				value: likenessOf(each),
				id: each.employeeKey,
				name: each.employee,
			})),
		);
		return (person: Person): Remark[] =>
			remarkIf(same, othersLike(likenessOf(person), person.employeeKey));
	});
	return (person) => finders.flatMap((find) => find(person));
}
