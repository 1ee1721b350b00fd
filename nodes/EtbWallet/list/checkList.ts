/** Makes payments of the rows of a list: who is paid how much, for which period, under which reference. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { lookOf } from '../../shared/lookalikes';
import { decoded, textOf } from './cells';
import { changes, comparedWithOthers, paidLately } from './compare';
import { readList, type Column, type OwnHeadings, type SourceRow } from './headings';
import type { Facts, KnownPayments, KnownPeople, Payment } from './known';
import { ethiopianYearIn, periodIn, type Period } from './period';
import type { Remark } from './remarks';
import { readRow, type ReadRow } from './rows';

export interface ListSettings {
	/** What the list is for. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	/** The headings of the user's own list. */
	columns?: OwnHeadings;
	/** Who has a wallet; undefined if the list itself has it. */
	people?: KnownPeople;
	/** Whether a later node gives a wallet to whoever has none. */
	setsUpPeople?: boolean;
	payments?: KnownPayments;
	/** The workflow of this run, as the register names it. */
	workflowId?: string;
}

/** What the node says of a row; the other columns come along under their headings. */
export interface CheckedRow {
	/** `paidBefore`: the register has this reference as paid. `noPerson`: neither a number nor an amount. */
	status: 'ready' | 'paidBefore' | 'problem' | 'noPerson';
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	employee: string;
	/** The employee number in the form that is compared; empty if it cannot be read. */
	person: string;
	name: string;
	/** Empty if the list has none. */
	toUserId: string;
	/** In ETB. Only of a row that is ready. */
	amountEtb?: number;
	period: Period;
	purpose: string;
	/** `<purpose>-<period>-<person>`. Only of a row that is ready. */
	reference?: string;
	/** Why nobody is paid for this row, and what to do; empty if it is ready or was paid. */
	problem: string;
	/** What whoever approves should know. */
	remarks: Remark[];
	/** Compared with Known People and Known Payments, if they are given. */
	known?: 'new' | 'changed' | 'same';
	/** The last payment of this person for the same purpose. */
	lastTime?: { period: Period; amountEtb?: number; name: string; phone: string; toUserId: string };
	/** Of a row that was paid before: what was paid. */
	paid?: {
		amountEtb?: number;
		name: string;
		toUserId: string;
		paidAt: string;
		txHash: string;
		workflow: string;
	};
	/** The columns of the list that are not read and have something in them; the same for all rows. */
	notRead: string[];
}

export interface CheckedItem {
	/** Of the items that came in. */
	itemIndex: number;
	row: CheckedRow;
	others: Record<string, unknown>;
}

/** A list that was checked before has these columns, and what they say is old. */
const ownNames = {
	status: true,
	line: true,
	employee: true,
	person: true,
	name: true,
	toUserId: true,
	amountEtb: true,
	period: true,
	purpose: true,
	reference: true,
	problem: true,
	remarks: true,
	known: true,
	lastTime: true,
	paid: true,
	notRead: true,
} satisfies Record<keyof CheckedRow, true>;

/**
 * Checks a list, and makes a payment of each row without a problem. The rows stay in order, and those without anything in
 * them are left out. A row with a problem has neither a reference nor an amount, so nothing that comes next can pay it.
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
	for (const row of persons) findWallet(row, settings);
	const besides = comparedWithOthers(persons, settings, headingOf);
	const judge = {
		person: (row: ReadRow) => judgedPerson(row, settings, besides(row)),
		total: () => total,
		nobody: ({ source }: ReadRow) => nobody(source),
	};
	return rows.map((row) => {
		const { facts, source, kind } = row;
		const { status, ...judgement } = judge[kind](row);
		return {
			itemIndex: source.itemIndex,
			row: {
				...{ status, line: source.line },
				...{ employee: facts.employee, person: facts.person, name: facts.name },
				...{ toUserId: facts.userId, period, purpose },
				...judgement,
				notRead,
			},
			others: othersOf(source),
		};
	});
}

/** The columns that are not read; and, under the names that later nodes read, how to reach somebody. */
function othersOf({ cells, others }: SourceRow): Record<string, unknown> {
	const fields = new Map(others);
	for (const column of ['email', 'phone'] as const) {
		const cell = cells[column];
		if (cell !== undefined) fields.set(column, typeof cell === 'string' ? decoded(cell) : cell);
	}
	return Object.fromEntries([...fields].filter(([name]) => !Object.hasOwn(ownNames, name)));
}

type Judgement = Omit<
	CheckedRow,
	'line' | 'employee' | 'person' | 'name' | 'toUserId' | 'period' | 'purpose' | 'notRead'
>;

const isTotal =
	'This row is a total. Delete it. If it is a person, write Ato or W/ro before the name.';
const total: Judgement = {
	...{ status: 'problem', problem: isTotal, remarks: [{ code: 'total', text: isTotal }] },
};

function nobody({ cells, others }: SourceRow): Judgement {
	const texts = [...Object.values(cells), ...others.values()].map(textOf);
	const found = show(texts.find((text) => text !== ''));
	const problem = `Beside ${found} there is no employee number and no amount. If it is a person, write both.`;
	return { status: 'noPerson', problem, remarks: [] };
}

/** The wallet of a person is the one of Known People. */
function findWallet(row: ReadRow, { people, setsUpPeople = false }: ListSettings): void {
	const { facts, problems, remarks } = row;
	if (people === undefined || facts.person === '') return;
	const isKnown = (people.of(facts.person)?.userId ?? '') !== '';
	const { userId, problem } = people.walletOf(facts.person, facts.userId, setsUpPeople);
	facts.userId = userId;
	if (problem !== '') problems.push(problem);
	else if (userId !== '' && !isKnown)
		remarks.push({ code: 'walletInListOnly', text: 'The wallet stands in this list alone.' });
}

function judgedPerson(
	row: ReadRow,
	settings: ListSettings,
	besides: ReturnType<ReturnType<typeof comparedWithOthers>>,
): Judgement {
	const { people, payments, period, purpose, now } = settings;
	const { facts } = row;
	const reference = `${purpose}-${period}-${facts.person}`;
	const paid = facts.person === '' ? undefined : payments?.paidAs(reference);
	const before = facts.person === '' ? [] : (payments?.of(facts.person, reference) ?? []);
	const forPurpose = before.filter((payment) => lookOf(payment.purpose) === lookOf(purpose));
	const lastTime = forPurpose.at(-1);
	const unknown = paid ? undefined : payments?.unknownAs(reference);
	const isElsewhere = unknown !== undefined && !isOwn(unknown, settings.workflowId);

	const problems = [besides.problem];
	if (paid === undefined) problems.push(...row.problems);
	if (isElsewhere) {
		problems.push(
			`It is unknown whether the workflow ${unknown.workflow} paid this. Say there what became of it, then check the list again.`,
		);
	}
	const problem = problems.filter(Boolean).join(' ');
	const status = problem !== '' ? 'problem' : paid ? 'paidBefore' : 'ready';

	const newTo = [
		...(people && !people.of(facts.person) ? ['Not in Known People.'] : []),
		...(payments && !paid && before.length === 0 ? ['Never paid before.'] : []),
	];
	const changed = paid
		? changes(facts, paid, 'when it was paid')
		: changesSince(facts, lastTime, before.at(-1), people?.of(facts.person));
	const remarks: Remark[] = [...row.remarks];
	if (facts.person !== '' && newTo.length > 0) remarks.push({ code: 'new', text: newTo.join(' ') });
	remarks.push(...changed);
	if (!paid) remarks.push(...paidLately(forPurpose, period, now));
	if (unknown !== undefined && !isElsewhere) {
		const text = 'This workflow sent this payment before, and it is unknown whether it was paid.';
		remarks.push({ code: 'unknownBefore', text });
	}
	remarks.push(...besides.remarks);
	const known = newTo.length > 0 ? 'new' : changed.length > 0 ? 'changed' : 'same';
	return {
		status,
		problem,
		remarks,
		...(status === 'ready' && { amountEtb: facts.amountEtb, reference }),
		...(facts.person !== '' && (people ?? payments) && { known }),
		...(lastTime && { lastTime: lastPayment(lastTime) }),
		...(status === 'paidBefore' && paid && { paid: proof(paid) }),
	};
}

const isOwn = ({ workflow }: Payment, workflowId = ''): boolean =>
	workflow === '' || (workflowId !== '' && workflow.includes(workflowId));

/** Compared with the last payment, of the same purpose rather than of another one, and with the table. Each change once. */
function changesSince(
	facts: Facts,
	lastTime?: Payment,
	lastOfAny?: Payment,
	inTable?: Facts,
): Remark[] {
	const last = lastTime ?? lastOfAny;
	const withoutAmount = { ...facts, amountEtb: undefined };
	const found = [
		...(last ? changes(lastTime ? facts : withoutAmount, last, `last time (${last.period})`) : []),
		...(inTable ? changes(lastTime ? withoutAmount : facts, inTable, 'in Known People') : []),
	];
	return [...new Map(found.toReversed().map((remark) => [remark.code, remark])).values()].reverse();
}

const lastPayment = ({ period, amountEtb, name, phone, userId }: Payment) => ({
	...{ period, ...(amountEtb !== undefined && { amountEtb }), name, phone, toUserId: userId },
});

const proof = ({ amountEtb, name, userId, paidAt, txHash, workflow }: Payment) => ({
	...(amountEtb !== undefined && { amountEtb }),
	...{ name, toUserId: userId, paidAt, txHash, workflow },
});

/** A list of another period, such as the result of the last one, must not be paid for this one. @throws {InvalidValueError} */
function requirePeriod(rows: readonly ReadRow[], { period, now }: ListSettings): void {
	for (const { source } of rows) {
		const { cells, line } = source;
		const written = textOf(cells.period);
		const other = periodIn(written);
		if (written === '' || other === period) continue;
		const isEthiopian = ethiopianYearIn(written, now) !== undefined;
		throw new InvalidValueError(
			`Row ${line} of the list is for ${show(written)}${isEthiopian ? ', by the Ethiopian calendar' : ''}, and this run is for ${period}`,
			isEthiopian
				? `Periods are months of the Gregorian calendar: if ${period} is meant, write that, or delete the column.`
				: other === undefined
					? `The node cannot read it. Write it like ${period}, in a column that is formatted as Text. If it is no period, rename or delete the column.`
					: `To pay ${other}, name it as Period. To pay ${period}, delete the column period.`,
		);
	}
}
