/** Finds the columns of a list, by their exact names, and its rows. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { messageOf } from '../../shared/unknownValues';
import { decoded, textOf } from './cells';

/** The columns that are read. Upper case, blanks and signs do not count, so `Amount (ETB)` is `amountEtb`. */
export const columnNames = [
	'employee',
	'name',
	'amountEtb',
	'userId',
	'email',
	'phone',
	'period',
] as const;
export type Column = (typeof columnNames)[number];
export const requiredColumns: readonly Column[] = ['employee', 'name', 'amountEtb'];
/** Those that a list can have besides. Whoever writes a list does not need the period. */
export const otherColumns = columnNames.filter(
	(column) => column !== 'period' && !requiredColumns.includes(column),
);

/** A heading such as `E-Mail` leaves as `email`, so that the next nodes find it. */
const isPassedOn = (column: Column): boolean => column === 'email' || column === 'phone';

/** A row that has something in it. */
export interface SourceRow {
	/** Of the items that came in. */
	itemIndex: number;
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	/** What is in the columns that are read; undefined without such a column. */
	cells: Partial<Record<Column, unknown>>;
	/** The other columns by their headings, as they came; those that are passed on by the name that others read. */
	others: Map<string, unknown>;
	/** Whether something stands beyond the last heading: a value with a comma moved the others. */
	isTooLong: boolean;
}

/** A heading and the rows below it. */
interface Table {
	headings: string[];
	/** Where the headings stand, for errors. */
	place: string;
	rows: Array<{ itemIndex: number; line: number; cells: unknown[] }>;
}

/** Rows within which the headings of a sheet have to stand, below a title. */
const rowsWithHeadings = 20;

/** The last row of a sheet that may have something in it. The examples read no further, so a list that goes on is refused. */
const lastLine = 5_000;

/**
 * The rows of a list that have something in them.
 * @param items either fields by heading, or `{ row: […] }` with the cells of each row of a sheet, from its first row on
 * @throws {InvalidValueError} if the list as a whole cannot be used: it names the columns that are missing and those that
 * are there, or the row
 */
export function rowsOf(items: ReadonlyArray<Record<string, unknown>>): SourceRow[] {
	requireRead(items);
	const sheet = items.flatMap(({ row }) => (Array.isArray(row) ? [row as unknown[]] : []));
	const { headings, place, rows } =
		sheet.length === items.length && sheet.length > 0 ? tableOfSheet(sheet) : tableOfFields(items);
	const columns = headings.map(columnNamed);
	// A table without rows comes as one item without fields.
	if (headings.some((heading) => heading !== '')) requireColumns(headings, columns, place);
	const filled = rows.filter(({ cells }) => cells.some((cell) => textOf(cell) !== ''));
	if (filled.length === 0) {
		throw new InvalidValueError(
			'The list has nobody in it',
			'Give this node one item for each person. If the list is a file, its first sheet counts.',
		);
	}
	const last = columns.length - 1 - headings.toReversed().findIndex((heading) => heading !== '');
	return filled.map(({ itemIndex, line, cells }) => {
		const row: SourceRow = { itemIndex, line, cells: {}, others: new Map(), isTooLong: false };
		for (const [index, cell] of cells.entries()) {
			requireOneLine(cell, headings[index] ?? '', line);
			const [column, heading = ''] = [columns[index], headings[index]];
			if (column !== undefined) row.cells[column] = cell;
			if (heading === '') row.isTooLong ||= index > last && textOf(cell) !== '';
			else if (column === undefined || isPassedOn(column))
				row.others.set(column ?? heading, typeof cell === 'string' ? decoded(cell) : cell);
		}
		return row;
	});
}

/** A node that fails and goes on, such as one that cannot read the file, gives one item with its error. @throws {InvalidValueError} */
function requireRead(items: ReadonlyArray<Record<string, unknown>>): void {
	const [{ error, ...others } = {}] = items;
	if (items.length !== 1 || Object.keys(others).length > 0 || textOf(error) === '') return;
	throw new InvalidValueError(
		`The list could not be read: ${messageOf(error)}`,
		'If it is a file, save it again as .xlsx or .csv, without a password.',
	);
}

function tableOfSheet(sheet: unknown[][]): Table {
	const top = sheet.slice(0, rowsWithHeadings);
	const found = top.map((row) => new Set(Array.from(row, (cell) => columnNamed(textOf(cell)))));
	const matches = found.map(
		(columns) => requiredColumns.filter((name) => columns.has(name)).length,
	);
	const most = Math.max(...matches);
	// If no row has any of the names, a person recognises the list by its first row with several texts.
	const headed = most > 0 ? matches.indexOf(most) : top.findIndex((row) => textsIn(row) > 1);
	const index = Math.max(headed, 0);
	const rows = sheet.map((cells, itemIndex) => ({ itemIndex, line: itemIndex + 1, cells }));
	const beyond = rows.slice(lastLine).find(({ cells }) => textsIn(cells) > 0);
	if (beyond !== undefined) {
		throw new InvalidValueError(
			`The list goes on below row ${lastLine}`,
			'Make several lists of it, so that nobody is forgotten.',
		);
	}
	return {
		headings: Array.from(sheet[index] ?? [], textOf),
		place: ` (row ${index + 1})`,
		// A hole in a row is an empty cell.
		rows: rows.slice(index + 1).map((row) => ({ ...row, cells: Array.from(row.cells) })),
	};
}

const textsIn = (cells: unknown[]): number =>
	Array.from(cells, textOf).filter((text) => text !== '').length;

/** How n8n names a column of a sheet that has no heading. */
const withoutHeading = /^__EMPTY(_\d+)?$/;

function tableOfFields(items: ReadonlyArray<Record<string, unknown>>): Table {
	const keys = [...new Set(items.flatMap((item) => Object.keys(item)))];
	return {
		headings: keys.map((key) => (withoutHeading.test(key) ? '' : textOf(key))),
		place: '',
		rows: items.map((item, itemIndex) => ({
			itemIndex,
			// Google Sheets tells the row.
			line: typeof item.row_number === 'number' ? item.row_number : itemIndex + 1,
			cells: keys.map((key) => item[key]),
		})),
	};
}

function columnNamed(heading: string): Column | undefined {
	const plain = heading
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]/gu, '');
	// Create gives the wallet of a payment as toUserId, so its output can be checked as a list again.
	const own = plain === 'touserid' ? 'userid' : plain;
	return columnNames.find((column) => column.toLowerCase() === own);
}

function requireColumns(
	headings: string[],
	columns: Array<Column | undefined>,
	place: string,
): void {
	const missing = requiredColumns.filter((name) => !columns.includes(name));
	if (missing.length > 0) {
		const there = headings.filter((heading) => heading !== '').map(show);
		throw new InvalidValueError(
			`The list has no column ${missing.join(' and no column ')}. Its columns are ${listed(there)}${place}`,
			`Rename the headings of your list: ${requiredColumns.join(', ')}, and if you have them ${otherColumns.join(', ')}. Nothing is guessed, so that nobody is paid gross for net.`,
		);
	}
	for (const column of columnNames) {
		const same = headings.filter(
			(heading, index) =>
				columns[index] === column ||
				// n8n numbers the second column of a name.
				headings.some((each, at) => columns[at] === column && isNumbered(heading, each)),
		);
		if (same.length <= 1) continue;
		throw new InvalidValueError(
			`The list has ${same.length} columns for ${show(column)}: ${listed(same.map(show))}`,
			'Rename or delete all of them but one.',
		);
	}
}

const isNumbered = (heading: string, other: string): boolean =>
	heading.startsWith(`${other}_`) && /^\d+$/.test(heading.slice(other.length + 1));

const listed = (texts: string[]): string =>
	texts.length === 0 ? 'empty' : texts.slice(0, 20).join(', ') + (texts.length > 20 ? ', …' : '');

/** A quote without its partner swallows the rows below it, with the people in them. @throws {InvalidValueError} */
function requireOneLine(cell: unknown, heading: string, line: number): void {
	if (typeof cell !== 'string' || !/[\r\n\u2028\u2029]/.test(textOf(cell))) return;
	throw new InvalidValueError(
		`Row ${line} of the list has several lines in ${heading === '' ? 'one cell' : show(heading)}: ${show(textOf(cell))}`,
		'In a CSV file a quote " has no partner, so the rows below are missing: correct it. In a spreadsheet write it in one line.',
	);
}
