/** Turns the rows of a list into items to pay, with person, amount, period and reference. It sends nothing. */
import { groupBy } from '../../shared/groupBy';
import { InvalidValueError, show } from '../../shared/invalidValue';
import { normalizeText } from '../../shared/normalizeText';
import { ethiopianYearRemark, periodIn } from './period';
import type { ListSettings } from './listSettings';
import { cellText } from './spreadsheet';
import { remarkFinder } from './remarkFinder';
import { sameValueFinder } from './sameValueFinder';
import { uncheckedColumns, type Column, type UncheckedColumn } from './columns';
import { readList, type HeadingOf } from './readList';
import { historyFinder, type History } from './history';
import { readPeople, readRegister } from './knownTables';
import { listReference, type ReferencedRow } from '../../shared/listReference';
import type { KnownTables, RegisteredPayment } from './knownTables';
import { isChange, remark, type Remark } from './remarks';
import { readRow, type ListRow, type Person } from './rows';

/** A payment of the register in the output. */
interface RegisteredFields
	extends Pick<RegisteredPayment, 'reference' | 'period' | 'paidAt' | 'txHash' | 'workflow'>,
		Pick<Person, 'name' | 'phone' | 'amountEtb'> {
	/** The wallet. */
	toUserId: string;
}

/** A row in the output, as docs/operations.md describes it. Amounts are in ETB. */
export interface CheckedRow
	extends Pick<ListRow, 'line'>,
		Pick<Person, 'employee' | 'name' | 'amountEtb' | 'listedAmountEtb'>,
		Pick<ListSettings, 'period' | 'purpose'>,
		Partial<Record<UncheckedColumn, unknown>> {
	/** Only `ready` has a reference and an amount, so no later node can pay another row. */
	status: ReferencedRow['status'];
	/** The key of the employee number. */
	employeeKey: string;
	/** The wallet, also that of Known People. */
	toUserId: string;
	/** All problems in one text; empty if there is none. */
	problem: string;
	remarks: Remark[];
	reference?: string;
	/** It is there only with at least one of the two tables, and an employee number that can be read. */
	known?: 'new' | 'changed' | 'same';
	/** The payment for the same purpose that was the last before this period, or if there is none, the newest. */
	lastTime?: RegisteredFields;
	/** The row of this very payment, with the status `paidBefore`. */
	paid?: RegisteredFields;
	/** The row of this very payment that the register has as unknown; the status is `problem`. */
	unknown?: RegisteredFields;
	/** The cells of the other columns. A heading can be any text, so they have an object of their own. */
	otherColumns: Record<string, unknown>;
	/** The names of these columns. */
	notRead: string[];
}

/**
 * Checks a list, and gives each row without a problem the fields of a payment. The rows keep their order, and empty rows
 * are left out.
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet
 * @returns each row, with the index of its item
 * @throws {InvalidValueError} if the list as a whole cannot be used
 */
export function checkList(
	items: ReadonlyArray<Record<string, unknown>>,
	settings: ListSettings,
): Array<{ itemIndex: number; row: CheckedRow }> {
	const { ownHeadings = {}, now, period, purpose } = settings;
	const headingOf = (column: Column): string => ownHeadings[column] ?? column;
	const { rows: sources, notRead } = readList(items, headingOf);
	const readRows = sources.map((source) => readRow(source, now, headingOf));
	assertPeriod(readRows.filter(isPerson), settings);
	const known: KnownTables = {
		people: settings.people === undefined ? undefined : readPeople(settings.people, now),
		register:
			settings.register === undefined ? undefined : readRegister(settings.register, purpose),
	};
	const withUserId = userIdFiller(
		known.people,
		settings.setsUpPeople === true,
		headingOf('userId'),
	);
	const rows = readRows.map((row) => (isPerson(row) ? withUserId(row) : row));
	const personRows = rows.filter(isPerson);
	const duplicatesOf = duplicateFinder(personRows, headingOf);
	const historyOf = historyFinder(known, settings);
	const remarksOf = remarkFinder(personRows, known, settings);

	return rows.map((row) => {
		const { itemIndex, line, cells, otherCells, person } = row;
		const history = historyOf(person);
		const problem = problemOf(row, history, duplicatesOf(row));
		const status = statusOf(row, history, problem);
		const remarks = remarksOf(row, history);
		const {
			lastTime,
			unknownRows: [firstUnknown],
		} = history;
		return {
			itemIndex,
			row: {
				status,
				line,
				employee: person.employee,
				employeeKey: person.employeeKey,
				name: person.name,
				toUserId: person.userId,
				...uncheckedCells(cells),
				period,
				purpose,
				problem,
				remarks,
				...(status === 'ready' && paymentFieldsOf(person, settings)),
				...(person.employeeKey !== '' &&
					(known.people ?? known.register) && { known: knownAs(remarks) }),
				...(lastTime && { lastTime: registeredFields(lastTime) }),
				...(status !== 'ready' && listedFieldsOf(person)),
				...(history.paidBefore && { paid: registeredFields(history.paidBefore) }),
				...(firstUnknown && { unknown: registeredFields(firstUnknown) }),
				otherColumns: otherCells,
				notRead,
			},
		};
	});
}

/** The cells of the columns that are not checked, as they came. A list may lack a column. */
const uncheckedCells = (cells: ListRow['cells']): Partial<Record<UncheckedColumn, unknown>> =>
	Object.fromEntries(
		uncheckedColumns
			.filter((column) => cells[column] !== undefined)
			.map((column) => [column, cells[column]]),
	);

const isPerson = ({ kind }: ListRow): boolean => kind === 'person';

/**
 * Makes the function that gives the person of a row the user ID in Known People, or a problem. A list may
 * repeat that user ID, but not change it. Without Known People the list has to have the user IDs.
 */
function userIdFiller(people: KnownTables['people'], setsUpPeople: boolean, heading: string) {
	const byEmployee = groupBy(people ?? [], ({ employeeKey }) => employeeKey);
	const byUserId = groupBy(people ?? [], ({ userId }) => normalizeText(userId));
	const problemOfUserId = ({ employeeKey, userId }: Person): string => {
		if (people === undefined)
			return userId === '' && !setsUpPeople
				? `There is no user ID in ${heading}. Write it, or fill in Known People.`
				: '';
		const [known, ...others] = byEmployee.get(employeeKey) ?? [];
		if (others.length > 0) return 'The table of people has this employee number twice.';
		const wanted = normalizeText(userId || (known?.userId ?? ''));
		if (wanted === '')
			return setsUpPeople
				? ''
				: 'This person has no wallet yet. Run Set up people to pay: it gives one, or names the other payroll that keeps the person.';
		const owners = byUserId.get(wanted) ?? [];
		const otherOwner = owners.find((each) => each !== known);
		if (otherOwner !== undefined)
			return `The wallet is that of ${otherOwner.employee} (${otherOwner.name}) in the table of people. Correct the list or the table.`;
		const isOther = known !== undefined && known.userId !== '' && owners.length === 0;
		return isOther ? `The table of people has another wallet, ${known.userId}.` : '';
	};
	return (row: ListRow): ListRow => {
		const { person, problems, remarks } = row;
		if (people !== undefined && person.employeeKey === '') return row;
		const problem = problemOfUserId(person);
		if (problem !== '') return { ...row, problems: [...problems, problem] };
		if (people === undefined) return row;
		const userId = byEmployee.get(person.employeeKey)?.[0]?.userId ?? '';
		if (userId === '' && normalizeText(person.userId) !== '')
			return { ...row, remarks: [...remarks, remark('userIdInListOnly')] };
		return { ...row, person: { ...person, userId } };
	};
}

/** Makes the function that finds the problems of a row with the wallet or employee number of another row. */
function duplicateFinder(rows: readonly ListRow[], headingOf: HeadingOf) {
	const finders = (['userId', 'employeeKey'] as const).map((field) => {
		const normalizedOf = ({ person }: ListRow): string => normalizeText(person[field]);
		// The row itself is the id, because two sheets in one list have the same line numbers.
		const nameOf = ({ line, person }: ListRow): string => `row ${line} (${person.name})`;
		const othersLike = sameValueFinder(
			rows.map((row) => ({ value: normalizedOf(row), id: row, name: nameOf(row) })),
		);
		const heading = headingOf(field === 'employeeKey' ? 'employee' : field);
		return (row: ListRow): string => {
			const others = othersLike(normalizedOf(row), row);
			return others && `The same ${heading} is in ${others}. Delete or correct one of them.`;
		};
	});
	return (row: ListRow): string[] => finders.map((find) => find(row));
}

/** All problems of a row as one text. Mistakes in the row are no problem once the person was paid. */
function problemOf(
	row: ListRow,
	{ paidBefore, unknownRows }: History,
	duplicates: string[],
): string {
	if (paidBefore) return '';
	const toSettle = unknownRows.map(({ reference, workflow }) => {
		const by = workflow && ` by the workflow ${workflow}`;
		return `It is unknown whether this was paid as ${reference}${by}: settle that first.`;
	});
	return [...row.problems, ...duplicates, ...toSettle].filter(Boolean).join(' ');
}

function statusOf(
	{ kind }: ListRow,
	{ paidBefore }: History,
	problem: string,
): CheckedRow['status'] {
	if (kind === 'noPerson') return 'noPerson';
	if (problem !== '') return 'problem';
	return paidBefore ? 'paidBefore' : 'ready';
}

/** Whether a person is known, by the remarks on them. */
function knownAs(remarks: readonly Remark[]): CheckedRow['known'] {
	if (remarks.some(({ code }) => code === 'new')) return 'new';
	return remarks.some(isChange) ? 'changed' : 'same';
}

/** The fields by which a row is paid. Amounts are in ETB. */
const paymentFieldsOf = (
	{ employeeKey, amountEtb, listedAmountEtb }: Person,
	{ purpose, period }: ListSettings,
) => ({
	amountEtb,
	reference: listReference(purpose, period, employeeKey),
	...(listedAmountEtb !== undefined && { listedAmountEtb }),
});

/** The amount in the list of a row that is not paid: no other field gives it. */
const listedFieldsOf = ({ amountEtb, listedAmountEtb = amountEtb }: Person) =>
	listedAmountEtb !== undefined && { listedAmountEtb };

const registeredFields = ({ person, ...payment }: RegisteredPayment): RegisteredFields => ({
	reference: payment.reference,
	period: payment.period,
	name: person.name,
	phone: person.phone,
	toUserId: person.userId,
	...(person.amountEtb !== undefined && { amountEtb: person.amountEtb }),
	paidAt: payment.paidAt,
	txHash: payment.txHash,
	workflow: payment.workflow,
});

/**
 * Throws for a list of another period, such as the result of the last one.
 * @throws {InvalidValueError}
 */
function assertPeriod(rows: readonly ListRow[], { period, now }: ListSettings): void {
	for (const { cells, line } of rows) {
		const written = cellText(cells.period);
		if (written === '' || periodIn(written) === period) continue;
		throw new InvalidValueError(
			`Row ${line} of the list is for ${show(written)}${ethiopianYearRemark(written, now)}, and this run is for ${period}`,
			`To pay another period, name it as Period. To pay ${period}, delete the column period, or write it like this in a column that is formatted as Text.`,
		);
	}
}
