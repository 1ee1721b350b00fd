/** Makes payments of the rows of a list: payee, amount, period and reference of each. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { comparableText } from '../../shared/lookalikes';
import { ethiopianYearRemark, periodIn, type Period } from '../../shared/period';
import { textOf } from '../../shared/spreadsheet';
import { othersAmong, remarksAmong } from './compare';
import { readList, type Column, type HeadingOf } from './readList';
import { historyIn, paymentsIn, peopleIn, referenceOf } from './known';
import type { History, Known, RegisteredPayment } from './known';
import { remarkIf, type Remark } from './remarks';
import { readRow, type Person, type ReadRow } from './rows';

export interface ListSettings {
	/** The purpose of the list, such as salary. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	/** The headings in the user's own list, of the columns with another heading than their name. */
	columns?: Partial<Record<Column, string>>;
	/** Known People: rows of a table, or n8n's items of them; undefined if the list has the wallets. */
	people?: unknown;
	/** Whether a later node gives a wallet to each person without one. */
	setsUpPeople?: boolean;
	/** Known Payments: the register, in the same forms; undefined if it is not compared. */
	payments?: unknown;
	/** The id of this workflow, by which the register names it. */
	workflowId?: string;
}

/**
 * Checks a list, and makes a payment of each row without a problem. The rows keep their order, and empty rows
 * are left out. Only a row that is ready has a reference and an amount, so no later node can pay another row.
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet
 * @returns the index of the item and the fields of each row, which docs/operations.md describes
 * @throws {InvalidValueError} if the list as a whole cannot be used
 */
export function checkList(items: ReadonlyArray<Record<string, unknown>>, settings: ListSettings) {
	const { columns = {}, now, period, purpose, setsUpPeople = false } = settings;
	const headingOf = (column: Column): string => columns[column] ?? column;
	const { rows: sources, notRead } = readList(items, headingOf);
	const rows = sources.map((source) => readRow(source, now, headingOf));
	const listed = rows.filter(({ kind }) => kind === 'person');
	requirePeriod(listed, settings);
	const known: Known = {
		people: settings.people === undefined ? undefined : peopleIn(settings.people, now),
		payments: settings.payments === undefined ? undefined : paymentsIn(settings.payments, purpose),
	};
	if (known.people) assignWallets(listed, known.people, setsUpPeople);
	else if (!setsUpPeople) reportMissingWallets(listed, headingOf('userId'));
	const duplicatesOf = duplicatesAmong(listed, headingOf);
	const historyOf = historyIn(known, settings);
	const remarksOf = remarksAmong(listed, known, now);

	return rows.map((row) => {
		const { itemIndex, line, cells, others, person } = row;
		const history = historyOf(person.key);
		const problem = problemOf(row, history, duplicatesOf(row));
		const status = statusOf(row, history, problem);
		const remarks = remarksOf(row, history);
		const lastTime = history.forPurpose.at(-1);
		return {
			itemIndex,
			row: {
				status,
				line,
				employee: person.employee,
				person: person.key,
				name: person.name,
				toUserId: person.userId,
				...(cells.email !== undefined && { email: cells.email }),
				...(cells.phone !== undefined && { phone: cells.phone }),
				period,
				purpose,
				problem,
				remarks,
				...(status === 'ready' && payable(person, settings)),
				...(person.key !== '' && (known.people ?? known.payments) && { known: knownAs(remarks) }),
				...(lastTime && { lastTime: registered(lastTime) }),
				...(status === 'paidBefore' && history.paid && { paid: registered(history.paid) }),
				// A heading can be any text, so these never stand among the fields that a later node reads.
				otherColumns: others,
				notRead,
			},
		};
	});
}

/** Gives each person the wallet in Known People. A list may repeat that wallet, and not change it. */
function assignWallets(rows: readonly ReadRow[], people: readonly Person[], setsUpPeople: boolean) {
	const byNumber = grouped(people, ({ key }) => key);
	const byWallet = grouped(people, ({ userId }) => comparableText(userId));
	for (const { person, problems, remarks } of rows) {
		if (person.key === '') continue;
		const [known, ...others] = byNumber.get(person.key) ?? [];
		const knownWallet = known?.userId ?? '';
		const wallet = comparableText(person.userId || knownWallet);
		const owners = (wallet !== '' && byWallet.get(wallet)) || [];
		const otherOwner = owners.find((each) => each !== known);
		if (others.length > 0) problems.push('Known People has this employee number twice.');
		else if (otherOwner !== undefined)
			problems.push(
				`The wallet is that of ${otherOwner.employee} (${otherOwner.name}) in Known People. Correct the list or the table.`,
			);
		else if (wallet === '' && !setsUpPeople)
			problems.push('Known People has no wallet of this person. First run Set up people to pay.');
		else if (wallet !== '' && knownWallet === '') remarks.push(...remarkIf('walletInListOnly'));
		else if (wallet !== '' && owners.length === 0)
			problems.push(`Known People has another wallet, ${knownWallet}.`);
		else person.userId = knownWallet;
	}
}

/** Adds a problem to each row without a wallet: without Known People the list has to have the wallets. */
function reportMissingWallets(rows: readonly ReadRow[], heading: string): void {
	for (const { person, problems } of rows)
		if (person.userId === '')
			problems.push(`There is no wallet in ${heading}. Write it, or fill in Known People.`);
}

/** Makes the function that finds the problems of a row with the wallet or employee number of another row. */
function duplicatesAmong(rows: readonly ReadRow[], headingOf: HeadingOf) {
	const finders = (['userId', 'key'] as const).map((field) => {
		const formOf = ({ person }: ReadRow): string => comparableText(person[field]);
		// The row itself is the id, because two sheets in one list have the same lines.
		const nameOf = ({ line, person }: ReadRow): string => `row ${line} (${person.name})`;
		const othersLike = othersAmong(
			rows.map((row) => ({ form: formOf(row), id: row, name: nameOf(row) })),
		);
		const heading = headingOf(field === 'key' ? 'employee' : field);
		return (row: ReadRow): string => {
			const others = othersLike(formOf(row), row);
			return others && `The same ${heading} is in ${others}. Delete or correct one of them.`;
		};
	});
	return (row: ReadRow): string[] => finders.map((find) => find(row));
}

/** All problems of a row as one text. How the row is written is no problem once the person was paid. */
function problemOf(row: ReadRow, history: History, duplicates: string[]): string {
	const unknown = history.unknownElsewhere.map(({ reference, workflow }) => {
		const by = workflow && ` by the workflow ${workflow}`;
		return `It is unknown whether this was paid as ${reference}${by}: settle that first.`;
	});
	return [...(history.paid ? [] : row.problems), ...duplicates, ...unknown]
		.filter(Boolean)
		.join(' ');
}

function statusOf({ kind }: ReadRow, { paid }: History, problem: string) {
	if (kind === 'nobody') return 'noPerson';
	if (problem !== '') return 'problem';
	return paid ? 'paidBefore' : 'ready';
}

/** Whether a person is known, by the remarks on them. */
function knownAs(remarks: readonly Remark[]) {
	if (remarks.some(({ code }) => code === 'new')) return 'new';
	return remarks.some(({ code }) => code.startsWith('changed')) ? 'changed' : 'same';
}

/** The fields by which a row is paid. Amounts are in ETB. */
const payable = ({ key, amountEtb, listedEtb }: Person, { purpose, period }: ListSettings) => ({
	amountEtb,
	reference: referenceOf(purpose, period, key),
	...(listedEtb !== undefined && { listedEtb }),
});

/** A payment of the register in the output. */
const registered = ({ amountEtb, ...payment }: RegisteredPayment) => ({
	period: payment.period,
	name: payment.name,
	phone: payment.phone,
	toUserId: payment.userId,
	...(amountEtb !== undefined && { amountEtb }),
	paidAt: payment.paidAt,
	txHash: payment.txHash,
	workflow: payment.workflow,
});

/**
 * Refuses a list of another period, such as the result of the last one.
 * @throws {InvalidValueError}
 */
function requirePeriod(rows: readonly ReadRow[], { period, now }: ListSettings): void {
	for (const { cells, line } of rows) {
		const written = textOf(cells.period);
		if (written === '' || periodIn(written) === period) continue;
		throw new InvalidValueError(
			`Row ${line} of the list is for ${show(written)}${ethiopianYearRemark(written, now)}, and this run is for ${period}`,
			`To pay another period, name it as Period. To pay ${period}, delete the column period, or write it like this in a column that is formatted as Text.`,
		);
	}
}
