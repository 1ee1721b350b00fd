/** Makes payments of the rows of a list: who is paid how much, for which period, under which reference. */
import { asInvalidValue, InvalidValueError, show } from '../../shared/invalidValue';
import { amountInCell, sumsOfOthers, type ListAmount } from './amounts';
import { folded, textOf } from './cells';
import { rowsOf, type SourceRow } from './headings';
import { doubleProblems, employeeIn, invisibleProblem, isTotal, type Employee } from './people';
import { periodIn, type Period } from './period';
import type { KnownPeople } from './wallets';

export interface ListSettings {
	/** What the list is for. It begins each reference. */
	purpose: string;
	period: Period;
	now: Date;
	/** Who has a wallet; undefined if the list itself has it. */
	people?: KnownPeople;
}

/** What the node says of a row; the other columns come along under their headings. */
export interface CheckedRow {
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	employee: string;
	/** The employee number in the form that is compared; empty if it cannot be read. */
	person: string;
	name: string;
	/** Empty if the list has none. */
	toUserId: string;
	/** In ETB. Only of a row without a problem. */
	amountEtb?: number;
	period: Period;
	/** `<purpose>-<period>-<person>`. Only of a row without a problem. */
	reference?: string;
	/** Why nobody is paid for this row, and what to do; empty if it can be paid. */
	problem: string;
	/** What whoever approves should know; empty for nothing. */
	remark: string;
}

export interface CheckedItem {
	/** Of the items that came in. */
	itemIndex: number;
	row: CheckedRow;
	others: Record<string, unknown>;
}

/** A list that was checked before has these columns, and what they say is old. */
const ownNames = {
	line: true,
	employee: true,
	person: true,
	name: true,
	toUserId: true,
	amountEtb: true,
	period: true,
	reference: true,
	problem: true,
	remark: true,
} satisfies Record<keyof CheckedRow, true>;

/** A row, as far as it can be read. */
interface ReadRow {
	source: SourceRow;
	written: { employee: string; name: string; userId: string; email: string };
	/** The wallet: the one of the table of people, or the one that is written. */
	toUserId: string;
	employee?: Employee;
	amount?: ListAmount;
	problems: string[];
	remarks: string[];
}

/**
 * Checks a list, and makes a payment of each row without a problem. The rows stay in order, and those without anything in
 * them are left out. A row with a problem has neither a reference nor an amount, so nothing that comes next can pay it.
 *
 * The rules: exact names of columns (`headings.ts`), amounts that can mean only one thing (`amounts.ts`), one row for each
 * employee number, user ID and email address, and no total (`people.ts`). With known people, each row is paid into the wallet
 * of its person (`wallets.ts`).
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet
 * @throws {InvalidValueError} if the list as a whole cannot be used
 */
export function checkList(
	items: ReadonlyArray<Record<string, unknown>>,
	settings: ListSettings,
): CheckedItem[] {
	const sources = rowsOf(items);
	requirePeriod(sources, settings.period);
	const rows = sources.map((source) => readRow(source, settings));
	const doubles = doubleProblems(
		rows.map(({ source: { line }, written, employee, toUserId }) => ({
			line,
			employee: employee?.key ?? '',
			userId: folded(toUserId),
			// N/A and other signs for nothing are nobody's.
			email: written.email.includes('@') ? folded(written.email) : '',
		})),
	);
	const isTotalRow = ({ written: { employee, name } }: ReadRow): boolean => isTotal(employee, name);
	const amounts = rows.flatMap((row) =>
		row.amount === undefined || isTotalRow(row) ? [] : [row.amount.etb],
	);
	const sums = sumsOfOthers(amounts);
	const isSumOfOthers = ({ amount }: ReadRow): boolean =>
		amount !== undefined && sums.has(amount.etb);
	return rows.map((row, index) => {
		const { source, written, employee, amount } = row;
		const total = isTotalRow(row) ? totalByWord : isSumOfOthers(row) ? totalBySum : undefined;
		const problem = total ?? [...row.problems, doubles[index] ?? ''].filter(Boolean).join(' ');
		const isGood = problem === '' && employee !== undefined && amount !== undefined;
		return {
			itemIndex: source.itemIndex,
			others: Object.fromEntries(
				[...source.others].filter(([heading]) => !Object.hasOwn(ownNames, heading)),
			),
			row: {
				line: source.line,
				employee: employee?.shown ?? written.employee,
				person: employee?.key ?? '',
				name: written.name,
				toUserId: row.toUserId,
				...(isGood && { amountEtb: Number(amount.etb) }),
				period: settings.period,
				...(isGood && {
					reference: `${settings.purpose}-${settings.period}-${employee.key}`,
				}),
				problem,
				remark: row.remarks.join(' '),
			},
		};
	});
}

const totalByWord = 'This row is a total. Delete it.';
const totalBySum =
	'The amount is the sum of all others. If the row is a total, delete it. If it is a person, give them a list of their own.';

function readRow(source: SourceRow, { now, people }: ListSettings): ReadRow {
	const { cells, isTooLong } = source;
	const written = {
		employee: textOf(cells.employee),
		name: textOf(cells.name),
		userId: textOf(cells.userId),
		email: textOf(cells.email),
	};
	const problems = [
		isTooLong
			? 'There are more values than headings. In a CSV file put a value with a comma into quotes "…".'
			: '',
		invisibleProblem({
			employee: written.employee,
			name: written.name,
			userId: written.userId,
		}),
		...textColumns.map((column) => shapeProblem(column, cells[column])),
		written.name === '' ? 'name is empty.' : '',
	].filter((text) => text !== '');
	const row: ReadRow = { source, written, toUserId: written.userId, problems, remarks: [] };
	const read = (take: () => void): void => {
		try {
			take();
		} catch (error) {
			const { message, remedy } = asInvalidValue(error);
			problems.push(`${message}. ${remedy}`);
		}
	};
	read(() => {
		row.employee = employeeIn(cells.employee, now);
	});
	read(() => {
		row.amount = amountInCell(cells.amountEtb);
		if (row.amount.remark !== '') row.remarks.push(row.amount.remark);
	});
	if (people === undefined || row.employee === undefined) return row;
	const wallet = people.walletOf(row.employee, written.name, written.userId);
	row.toUserId = wallet.userId;
	if (wallet.problem !== '') problems.push(wallet.problem);
	if (wallet.remark !== '') row.remarks.push(wallet.remark);
	return row;
}

const textColumns = ['employee', 'name', 'userId', 'email'] as const;

/** A cell with a list or an object is nothing that a person wrote. */
const shapeProblem = (column: string, cell: unknown): string =>
	typeof cell === 'object' && cell !== null && !(cell instanceof Date)
		? `${column} is ${show(cell)}, which is not text.`
		: '';

/** A list of another period, such as the result of the last one, must not be paid for this one. @throws {InvalidValueError} */
function requirePeriod(rows: readonly SourceRow[], period: Period): void {
	for (const { cells, line } of rows) {
		const written = textOf(cells.period);
		const other = periodIn(written);
		if (written === '' || other === period) continue;
		throw new InvalidValueError(
			`Row ${line} of the list is for ${show(written)}, and this run is for ${period}`,
			other === undefined
				? `The node cannot read it. Write it like ${period}, in a column that is formatted as Text. If it is no period, rename or delete the column.`
				: `To pay ${other}, name it as Period. To pay ${period}, delete the column period.`,
		);
	}
}
