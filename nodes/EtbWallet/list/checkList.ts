/** Makes payments of the rows of a list: payee, amount, period and reference of each. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { comparableText } from '../../shared/lookalikes';
import { calendarOf, periodIn, type Period } from '../../shared/period';
import { textOf } from './cells';
import { changes, namesakesAmong, othersAmong, paidLately, sumsOfOthers } from './compare';
import { readList, type Column, type HeadingOf } from './headings';
import { paymentsIn, peopleIn, referenceOf, type RegisteredPayment } from './known';
import { remarkIf } from './remarks';
import { readRow, type Person, type ReadRow } from './rows';

export interface ListSettings {
	/** The purpose of the list, such as salary. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	/** The headings in the user's own list, of the columns that have other ones. */
	columns?: Partial<Record<Column, string>>;
	/** The people with their wallets: rows of a table, or n8n's items of them; undefined if the list itself has the wallets. */
	people?: unknown;
	/** Whether a later node gives a wallet to whoever has none. */
	setsUpPeople?: boolean;
	/** The register, in the same forms; undefined if it is not compared. */
	payments?: unknown;
	/** The id of this workflow, by which the register names it. */
	workflowId?: string;
}

/**
 * Checks a list, and makes a payment of each row without a problem. The rows stay in order, and those without anything in
 * them are left out. Only a row that is ready has a reference and an amount, so nothing that comes next can pay another one.
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet
 * @returns of each row the index of its item, and its fields, which docs/operations.md describes
 * @throws {InvalidValueError} if the list as a whole cannot be used
 */
export function checkList(items: ReadonlyArray<Record<string, unknown>>, settings: ListSettings) {
	const { columns = {}, now, period, purpose, setsUpPeople: setsUp = false } = settings;
	const headingOf = (column: Column): string => columns[column] ?? column;
	const { rows: sources, notRead } = readList(items, headingOf);
	const rows = sources.map((source) => readRow(source, now, headingOf));
	const persons = rows.filter(({ kind }) => kind === 'person');
	requirePeriod(persons, settings);
	const people = settings.people === undefined ? undefined : peopleIn(settings.people, now);
	const payments =
		settings.payments === undefined ? undefined : paymentsIn(settings.payments, purpose);
	if (people) findWallets(persons, people, setsUp);
	for (const { person, problems } of people || setsUp ? [] : persons)
		if (person.userId === '')
			problems.push(
				`There is no wallet in ${headingOf('userId')}. Write it, or fill in Known People.`,
			);
	const doubles = doublesAmong(persons, headingOf);
	const checkRow = rowChecker(persons, settings, people, payments);
	return rows.map((row) => {
		const { email, phone } = row.cells;
		const { employee, key, name, userId } = row.person;
		const { status, ...checked } = checkRow(row, doubles(row));
		return {
			itemIndex: row.itemIndex,
			row: {
				...{ status, line: row.line, employee, person: key, name, toUserId: userId },
				...(email !== undefined && { email }),
				...(phone !== undefined && { phone }),
				...{ period, purpose, ...checked },
				// A heading can be any text, so these never stand among the fields that a later node reads.
				...{ otherColumns: row.others, notRead },
			},
		};
	});
}

/** Known People has the wallet of each person. A list may repeat it, and not change it. */
function findWallets(rows: readonly ReadRow[], people: readonly Person[], setsUp: boolean): void {
	const byNumber = grouped(people, ({ key }) => key);
	const byWallet = grouped(people, ({ userId }) => comparableText(userId));
	for (const { person, problems, remarks } of rows) {
		if (person.key === '') continue;
		const [known, ...others] = byNumber.get(person.key) ?? [];
		const inTable = known?.userId ?? '';
		const wallet = comparableText(person.userId || inTable);
		const owners = (wallet !== '' && byWallet.get(wallet)) || [];
		const owner = owners.find((each) => each !== known);
		if (others.length > 0) problems.push('Known People has this employee number twice.');
		else if (owner !== undefined)
			problems.push(
				`The wallet is that of ${owner.employee} (${owner.name}) in Known People. Correct the list or the table.`,
			);
		else if (wallet === '' && !setsUp)
			problems.push('Known People has no wallet. First run the workflow Set up people to pay.');
		else if (wallet !== '' && inTable === '') remarks.push(...remarkIf('walletInListOnly'));
		else if (wallet !== '' && owners.length === 0)
			problems.push(`Known People has another wallet, ${inTable}.`);
		else person.userId = inTable;
	}
}

/** The problems of rows with the same wallet or employee number. Two rows can have one line, because two sheets may come in one list. */
function doublesAmong(rows: readonly ReadRow[], headingOf: HeadingOf): (row: ReadRow) => string[] {
	const finders = (['userId', 'key'] as const).map((field) => {
		const lookIn = ({ person }: ReadRow): string => comparableText(person[field]);
		const nameOf = ({ line, person }: ReadRow): string => `row ${line} (${person.name})`;
		const items = rows.map((row) => ({ look: lookIn(row), id: row, name: nameOf(row) }));
		const find = othersAmong(items);
		const heading = headingOf(field === 'key' ? 'employee' : field);
		return (row: ReadRow): string => {
			const others = find(lookIn(row), row);
			return others && `The same ${heading} is in ${others}. Delete or correct one of them.`;
		};
	});
	return (row) => finders.map((find) => find(row));
}

/** The outcomes and codes of the register that count as paid, in the form that is compared. */
const paidOutcomes = new Set(['paid', 'alreadypaid', 'paidbefore', 'settledpaid', 'otheramount']);
const isPaid = ({ outcome }: RegisteredPayment): boolean => paidOutcomes.has(outcome);

/** Makes the function that gives a row its status, by the other rows and by the people and payments that are known. */
function rowChecker(
	rows: readonly ReadRow[],
	{ period, purpose, now, workflowId }: ListSettings,
	people: readonly Person[] | undefined,
	payments: readonly RegisteredPayment[] | undefined,
) {
	const persons = rows.map(({ person }) => person);
	const sums = sumsOfOthers(persons.flatMap(({ amountEtb = [] }) => amountEtb));
	const paid = payments?.filter(isPaid) ?? [];
	const namesakes = namesakesAmong([...persons, ...(people ?? []), ...paid]);
	const inTable = new Map(people?.map((person) => [person.key, person]));
	const paidTo = grouped(paid, ({ key }) => key);
	// Each payment under its reference, and under the one that the list would give it.
	const entries = (payments ?? []).flatMap((payment) =>
		[...new Set([payment.reference, payment.ownReference])].map((look) => ({ look, payment })),
	);
	const byReference = grouped(entries, ({ look }) => look);

	return (row: ReadRow, doubles: string[]) => {
		const { kind, person } = row;
		const { amountEtb, listedEtb } = person;
		const isReadable = person.key !== '';
		const reference = referenceOf(purpose, period, person.key);
		const look = comparableText(reference);
		const same = ((isReadable && byReference.get(look)) || []).map(({ payment }) => payment);
		const payment = same.find(isPaid);
		const before = ((isReadable && paidTo.get(person.key)) || [])
			.filter((each) => !same.includes(each))
			.sort((one, other) => (one.period + one.paidAt < other.period + other.paidAt ? -1 : 1));
		const forPurpose = before.filter(
			(each) => comparableText(each.purpose) === comparableText(purpose),
		);
		const lastTime = forPurpose.at(-1);
		const last = lastTime ?? before.at(-1);

		const problems = [...(payment ? [] : row.problems), ...doubles];
		const remarks = [...row.remarks];
		for (const { outcome, workflow, reference: sent } of payment ? [] : same) {
			if (outcome !== 'unknown') continue;
			// The record knows nothing of another workflow's payment, nor of one under another reference, and would pay.
			const isOwn = workflow === '' || (workflowId && workflow.endsWith(`(${workflowId})`));
			const by = workflow && ` by the workflow ${workflow}`;
			if (isOwn && sent === look) remarks.push(...remarkIf('unknownBefore'));
			else problems.push(`It is unknown whether this was paid as ${sent}${by}: settle that first.`);
		}
		const table = inTable.get(person.key);
		const isUnpaid = payments !== undefined && !payment && before.length === 0;
		const isNew = isReadable && (isUnpaid || (people !== undefined && !table));
		const newness = isUnpaid ? 'never paid before' : 'not in Known People';
		// With Known Payments an amount is compared with the last one for the same purpose: a bonus is not a lower salary.
		const inPeople = table && { ...table, ...(payments && { amountEtb: 0 }) };
		const lastAmount = last && { ...last, amountEtb: lastTime?.amountEtb };
		const beforePaid: Array<[Person | undefined, string]> = [
			[inPeople, 'in Known People'],
			[lastAmount, `last time (${last?.period})`],
		];
		const changed = changes(person, payment ? [[payment, 'when it was paid']] : beforePaid);
		remarks.push(...remarkIf('new', isNew && newness), ...changed, ...namesakes(person));
		// The same amount for another purpose can be one list under two purposes. Any other amount is usual there.
		const alike = before.filter((one) => forPurpose.includes(one) || one.amountEtb === amountEtb);
		if (!payment) remarks.push(...paidLately(alike, now));
		if (sums.has(amountEtb ?? 0)) remarks.push(...remarkIf('sumOfOthers'));

		const problem = problems.filter(Boolean).join(' ');
		const unpaid = kind === 'nobody' ? 'noPerson' : problem !== '' ? 'problem' : 'ready';
		const status = unpaid === 'ready' && payment ? 'paidBefore' : unpaid;
		const known = isNew ? 'new' : changed.length > 0 ? 'changed' : 'same';
		return {
			...{ status, problem, remarks },
			...(status === 'ready' && { amountEtb, reference }),
			...(status === 'ready' && listedEtb !== undefined && { listedEtb }),
			...(isReadable && (people ?? payments) && { known }),
			...(lastTime && { lastTime: shown(lastTime) }),
			...(status === 'paidBefore' && payment && { paid: shown(payment) }),
		} as const;
	};
}

/** A payment in the output. */
const shown = ({ amountEtb, ...payment }: RegisteredPayment) => ({
	...{ period: payment.period, name: payment.name, phone: payment.phone },
	...{ toUserId: payment.userId, ...(amountEtb !== undefined && { amountEtb }) },
	...{ paidAt: payment.paidAt, txHash: payment.txHash, workflow: payment.workflow },
});

/** A list of another period, such as the result of the last one, must not be paid for this one. @throws {InvalidValueError} */
function requirePeriod(rows: readonly ReadRow[], { period, now }: ListSettings): void {
	for (const { cells, line } of rows) {
		const written = textOf(cells.period);
		if (written === '' || periodIn(written) === period) continue;
		throw new InvalidValueError(
			`Row ${line} of the list is for ${show(written)}${calendarOf(written, now)}, and this run is for ${period}`,
			`To pay another period, name it as Period. To pay ${period}, delete the column period, or write it like this in a column that is formatted as Text.`,
		);
	}
}
