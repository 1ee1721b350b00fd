/** Makes payments of the rows of a list: who is paid how much, for which period, under which reference. */
import { grouped } from '../../shared/grouped';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { lookOf } from '../../shared/lookalikes';
import { withoutOwnColumns } from '../ownFields';
import { sumsOfOthers } from './amounts';
import { asItCame, textOf } from './cells';
import { changes, namesakesAmong, othersListed, paidLately } from './compare';
import { readList, type Column, type OwnHeadings, type SourceRow } from './headings';
import { referenceOf, type Payment, type Person } from './known';
import { ethiopianYearIn, periodIn, type Period } from './period';
import { remark, type Remark } from './remarks';
import { readRow, type ReadRow } from './rows';

export interface ListSettings {
	/** What the list is for. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	columns?: OwnHeadings;
	/** Who has a wallet; undefined if the list itself has it. */
	people?: readonly Person[];
	/** Whether a later node gives a wallet to whoever has none. */
	setsUpPeople?: boolean;
	/** The rows of the register; undefined if it is not compared. */
	payments?: readonly Payment[];
	/** The id of this workflow, by which the register names it. */
	workflowId?: string;
}

/** What the node says of a row; the other columns come along under their headings. docs/operations.md describes it. */
export interface CheckedRow {
	status: 'ready' | 'paidBefore' | 'problem' | 'noPerson';
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	employee: string;
	/** The employee number in the form that is compared; empty if it cannot be read. */
	person: string;
	name: string;
	/** Empty if there is none. */
	toUserId: string;
	period: Period;
	purpose: string;
	/** Why nobody is paid for this row, and what to do; empty if it is ready or was paid. */
	problem: string;
	remarks: Remark[];
	/** In ETB. Like the reference, `<purpose>-<period>-<person>`, only of a row that is ready. */
	amountEtb?: number;
	reference?: string;
	/** Only if people or payments are given. */
	known?: 'new' | 'changed' | 'same';
	/** The last payment of this person for the same purpose. */
	lastTime?: Fact & Pick<Payment, 'period' | 'phone'>;
	/** What was paid, of a row that was paid before. */
	paid?: Fact & Pick<Payment, 'paidAt' | 'txHash' | 'workflow'>;
	/** The columns of the list that have something in them and are not read; the same for all rows. */
	notRead: string[];
}

type Fact = Pick<Payment, 'name' | 'amountEtb'> & { toUserId: string };

export interface CheckedItem {
	/** Of the items that came in. */
	itemIndex: number;
	row: CheckedRow;
	others: Record<string, unknown>;
}

/**
 * Checks a list, and makes a payment of each row without a problem. The rows stay in order, and those without anything in
 * them are left out. Only a row that is ready has a reference and an amount, so nothing that comes next can pay another one.
 *
 * Nothing is guessed: a row that cannot be read is a problem, and an odd one has remarks for whoever approves it.
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet
 * @throws {InvalidValueError} if the list as a whole cannot be used
 */
export function checkList(
	items: ReadonlyArray<Record<string, unknown>>,
	settings: ListSettings,
): CheckedItem[] {
	const { columns = {}, now, period, purpose } = settings;
	const { rows: sources, notRead } = readList(items, columns);
	const headingOf = (column: Column): string => columns[column] ?? column;
	const rows = sources.map((source) => readRow(source, now, headingOf));
	const persons = rows.filter(({ kind }) => kind === 'person');
	requirePeriod(persons, settings);
	findWallets(persons, settings);
	const judge = { person: judgeOf(persons, settings, headingOf), total: () => total, nobody };
	return rows.map((row) => {
		const { source, person, kind } = row;
		const { status, ...judgement } = judge[kind](row);
		return {
			itemIndex: source.itemIndex,
			row: {
				...{ status, line: source.line, employee: person.employee, person: person.key },
				...{ name: person.name, toUserId: person.userId, period, purpose },
				...judgement,
				notRead,
			},
			others: othersOf(source),
		};
	});
}

/** The columns that are not read; and, under the names that later nodes read, how to reach somebody. */
function othersOf({ cells, others }: SourceRow): Record<string, unknown> {
	const reach = (['email', 'phone'] as const).filter((column) => cells[column] !== undefined);
	const all = [...others, ...reach.map((column) => [column, asItCame(cells[column])] as const)];
	return withoutOwnColumns(Object.fromEntries(all));
}

type Judgement = Pick<CheckedRow, 'status' | 'problem' | 'remarks'> & Partial<CheckedRow>;

const total: Judgement = {
	status: 'problem',
	problem: 'This row is a total. Delete it. If it is a person, write Ato or W/ro before the name.',
	remarks: [remark('total')],
};

function nobody({ source: { cells, others } }: ReadRow): Judgement {
	const texts = [...Object.values(cells), ...others.values()].map(textOf).filter(Boolean);
	const found = texts.find((text) => /\p{L}/u.test(text)) ?? texts[0];
	const problem = `Beside ${show(found)} there is no employee number and no amount. If it is a person, write both.`;
	return { status: 'noPerson', problem, remarks: [] };
}

/** Known People says whose wallet is whose; the list may repeat that, but not change it. */
function findWallets(rows: readonly ReadRow[], { people, setsUpPeople }: ListSettings): void {
	if (people === undefined) return;
	const byNumber = grouped(people, ({ key }) => key);
	const byWallet = grouped(people, ({ userId }) => lookOf(userId));
	for (const { person, problems, remarks } of rows) {
		if (person.key === '') continue;
		const inList = person.userId;
		const [known, ...others] = byNumber.get(person.key) ?? [];
		const wallet = inList || (known?.userId ?? '');
		const owners = wallet === '' ? [] : (byWallet.get(lookOf(wallet)) ?? []);
		const owner = owners.find((each) => each !== known);
		if (others.length > 0) problems.push('Known People has this employee number twice.');
		else if (owner !== undefined)
			problems.push(
				`The wallet is that of ${owner.employee} (${owner.name}) in Known People. Correct the list or the table.`,
			);
		else if (wallet === '') {
			if (setsUpPeople !== true)
				problems.push('Known People has no wallet for this person: set them up first.');
		} else if (known === undefined || known.userId === '') remarks.push(remark('walletInListOnly'));
		else if (owners.length === 0)
			problems.push(`Known People has another wallet, ${known.userId}.`);
		else person.userId = known.userId;
	}
}

/** Why a row cannot be paid beside others. Two of them can have one line, because two sheets may come in one list. */
function doublesIn(
	rows: readonly ReadRow[],
	headingOf: (column: Column) => string,
): Map<ReadRow, string> {
	const found = new Map<ReadRow, string>();
	for (const [column, field] of [
		['userId', 'userId'],
		['employee', 'key'],
	] as const) {
		// As the reference is compared.
		for (const [look, same] of grouped(rows, ({ person }) => lookOf(person[field]))) {
			for (const row of look === '' || same.length === 1 ? [] : same) {
				const named = othersListed(
					same,
					(other) => other === row,
					({ source, person }) => `${source.line} (${person.name})`,
				);
				const remedy = 'Delete or correct one of them.';
				found.set(row, `Row ${named} has the same ${headingOf(column)}. ${remedy}`);
			}
		}
	}
	return found;
}

/** As the register may name a payment that nobody needs again, in the form that is compared. */
const paidOutcomes = new Set(['paid', 'alreadypaid', 'paidbefore', 'settledpaid', 'otheramount']);

/** Each payment under its reference, and under the one that the list would give it. */
function byReference(payments: readonly Payment[]): Map<string, Payment[]> {
	const entries = payments.flatMap((payment) =>
		[...new Set([payment.reference, payment.ownReference])].map((reference) => ({
			...{ reference, payment },
		})),
	);
	const groups = grouped(entries, ({ reference }) => reference);
	return new Map(
		[...groups].map(([reference, same]) => [reference, same.map(({ payment }) => payment)]),
	);
}

/** What becomes of each row, beside the other rows, the people and the payments that are known. */
function judgeOf(
	rows: readonly ReadRow[],
	settings: ListSettings,
	headingOf: (column: Column) => string,
): (row: ReadRow) => Judgement {
	const { people, payments, period, purpose, now } = settings;
	const doubles = doublesIn(rows, headingOf);
	const persons = rows.map(({ person }) => person);
	const sums = sumsOfOthers(persons.flatMap(({ amountEtb = [] }) => amountEtb));
	const inTable = new Map(people?.map((person) => [person.key, person]));
	const paid = payments?.filter(({ outcome }) => paidOutcomes.has(outcome)) ?? [];
	const paidUnder = byReference(paid);
	const unknownUnder = byReference(payments?.filter(({ outcome }) => outcome === 'unknown') ?? []);
	const paidTo = grouped(paid, ({ key }) => key);
	const namesakes = namesakesAmong([...persons, ...(people ?? []), ...paid]);

	return (row) => {
		const { person } = row;
		const isReadable = person.key !== '';
		const reference = referenceOf(purpose, period, person.key);
		const look = isReadable ? lookOf(reference) : '';
		const [payment] = paidUnder.get(look) ?? [];
		const before = ((isReadable && paidTo.get(person.key)) || [])
			.filter((each) => each.reference !== look && each.ownReference !== look)
			.sort((one, other) => (one.period + one.paidAt < other.period + other.paidAt ? -1 : 1));
		const forPurpose = before.filter((each) => lookOf(each.purpose) === lookOf(purpose));
		const lastTime = forPurpose.at(-1);

		const problems = [...(payment ? [] : row.problems), doubles.get(row) ?? ''];
		const remarks = [...row.remarks];
		for (const { workflow, reference: sent } of payment ? [] : (unknownUnder.get(look) ?? [])) {
			// The record knows nothing of another workflow's payment, nor of one under another reference, and would pay.
			if (!isOwn(workflow, settings))
				problems.push(`It is unknown whether the workflow ${workflow} paid this: settle it there.`);
			else if (sent !== look)
				problems.push(`It is unknown whether this was paid as ${sent}: settle that first.`);
			else remarks.push(remark('unknownBefore'));
		}
		const unknownTo = [
			...(people && !inTable.has(person.key) ? ['not in Known People'] : []),
			...(payments && !payment && before.length === 0 ? ['never paid before'] : []),
		];
		const isNew = isReadable && unknownTo.length > 0;
		if (isNew) remarks.push(remark('new', unknownTo.join(', ')));
		const changed = payment
			? changes(person, payment, 'when it was paid')
			: changesSince(person, lastTime, before.at(-1), inTable.get(person.key));
		remarks.push(...changed, ...namesakes(person));
		if (!payment) remarks.push(...paidLately(forPurpose, period, now));
		if (sums.has(person.amountEtb ?? 0)) remarks.push(remark('sumOfOthers'));

		const problem = problems.filter(Boolean).join(' ');
		const status = problem !== '' ? 'problem' : payment ? 'paidBefore' : 'ready';
		const known = isNew ? 'new' : changed.length > 0 ? 'changed' : 'same';
		return {
			...{ status, problem, remarks },
			...(status === 'ready' && { amountEtb: person.amountEtb, reference }),
			...(isReadable && (people ?? payments) && { known }),
			...(lastTime && {
				lastTime: { period: lastTime.period, ...factOf(lastTime), phone: lastTime.phone },
			}),
			...(payment &&
				status === 'paidBefore' && { paid: { ...factOf(payment), ...proofOf(payment) } }),
		};
	};
}

/** Whether the register means this workflow; also if it does not say which. */
const isOwn = (workflow: string, { workflowId = '' }: ListSettings): boolean =>
	workflow === '' || (workflowId !== '' && workflow.endsWith(`(${workflowId})`));

/** Compared with the last payment, of the same purpose rather than of another one, and with the table. */
function changesSince(
	person: Person,
	lastTime: Payment | undefined,
	lastOfAny: Payment | undefined,
	inTable: Person | undefined,
): Remark[] {
	const last = lastTime ?? lastOfAny;
	const withoutAmount = { ...person, amountEtb: undefined };
	const found = [
		...(inTable ? changes(lastTime ? withoutAmount : person, inTable, 'in Known People') : []),
		...(last ? changes(lastTime ? person : withoutAmount, last, `last time (${last.period})`) : []),
	];
	// Each change once: since the last time.
	return [...new Map(found.map((remark) => [remark.code, remark])).values()];
}

const factOf = ({ name, amountEtb, userId }: Payment): Fact => ({
	...{ ...(amountEtb !== undefined && { amountEtb }), name, toUserId: userId },
});

const proofOf = ({ paidAt, txHash, workflow }: Payment) => ({ paidAt, txHash, workflow });

/** A list of another period, such as the result of the last one, must not be paid for this one. @throws {InvalidValueError} */
function requirePeriod(rows: readonly ReadRow[], { period, now }: ListSettings): void {
	for (const { source } of rows) {
		const written = textOf(source.cells.period);
		const other = periodIn(written);
		if (written === '' || other === period) continue;
		const year = ethiopianYearIn(written, now);
		const remedy =
			year !== undefined
				? `${year} is a year of the Ethiopian calendar. If ${period} of the Gregorian calendar is meant, write that, or delete the column.`
				: other === undefined
					? `The node cannot read it. Write it like ${period}, in a column that is formatted as Text. If it is no period, rename or delete the column.`
					: `To pay ${other}, name it as Period. To pay ${period}, delete the column period.`;
		throw new InvalidValueError(
			`Row ${source.line} of the list is for ${show(written)}, and this run is for ${period}`,
			remedy,
		);
	}
}
