/** Finds the columns of a list, by their exact headings, and its rows. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { messageOf } from '../../shared/unknownValues';
import { asItCame, isFormulaError, requireReadable, textOf, withoutPlaceholder } from './cells';

/** The columns that are read. Upper case, blanks and signs do not count, so `Amount (ETB)` is `amountEtb`. */
export const requiredColumns = ['employee', 'name', 'amountEtb'] as const;
/** Those that a list can have besides. */
export const otherColumns = ['userId', 'email', 'phone'] as const;
/** Whoever writes a list does not need the period. */
export const columnNames = [...requiredColumns, ...otherColumns, 'period'] as const;
export type Column = (typeof columnNames)[number];

/** The headings in the user's own list, of the columns that have other ones. */
export type OwnHeadings = Partial<Record<Column, string>>;

/** A row that has something in it. */
export interface SourceRow {
	/** Of the items that came in. */
	itemIndex: number;
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	/** What is in the columns that are read; undefined without such a column. */
	cells: Partial<Record<Column, unknown>>;
	/** The other columns by their headings, as they came. */
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
/** What may have something in it. A workflow reads one row and one column more (A1:CW5001), so a list that goes on is refused. */
const lastRow = 5_000;
const lastColumn = 100;

/**
 * The rows of a list that have something in them, and which columns that have something in them are not read.
 * @param items either fields by heading, or `{ row: […] }` with the cells of each row of a sheet, from its first row on
 * @throws {InvalidValueError} if the list as a whole cannot be used: it names the columns that are missing and those that
 * are there, or the row
 */
export function readList(
	items: ReadonlyArray<Record<string, unknown>>,
	own: OwnHeadings,
): { rows: SourceRow[]; notRead: string[] } {
	const { headings, place, rows } = tableIn(items, own);
	const columns = columnsIn(headings, own);
	for (const heading of headings) requireReadable(heading, 'The list', 'its headings');
	// A table without rows comes as one item without fields.
	if (headings.some((heading) => heading !== '')) requireColumns(headings, columns, own, place);
	const filled = rows.filter(({ cells }) => isFilled(cells));
	if (filled.length === 0) {
		const remedy =
			'Give this node one item for each person. If the list is a file, its first sheet counts.';
		throw new InvalidValueError('The list has nobody in it', remedy);
	}
	const placeOf = (index: number): string => headings[index] || `column ${letterOf(index)}`;
	for (const { cells, line } of filled) {
		for (const [index, cell] of cells.entries())
			requireReadable(cell, `Row ${line} of the list`, show(placeOf(index)));
		requireNoHeadings(cells, line, headings, columns);
	}
	const read = new Set([...columns.values()].flat());
	const end = headings.findLastIndex((heading) => heading !== '');
	const isNotRead = (_: unknown, index: number): boolean =>
		!read.has(index) && filled.some(({ cells }) => textOf(cells[index]) !== '');
	const widest = Math.max(...filled.map(({ cells }) => cells.length));
	return {
		rows: filled.map(({ itemIndex, line, cells }) => ({
			...{ itemIndex, line },
			cells: Object.fromEntries([...columns].map(([column, [at = -1]]) => [column, cells[at]])),
			others: new Map(
				headings.flatMap((heading, index) =>
					read.has(index) || heading === '' ? [] : [[heading, asItCame(cells[index])]],
				),
			),
			isTooLong: isFilled(cells.slice(end + 1)),
		})),
		notRead: Array.from({ length: widest }, (_, index) => placeOf(index)).filter(isNotRead),
	};
}

const isFilled = (cells: unknown[]): boolean => cells.some((cell) => textOf(cell) !== '');

/** As a spreadsheet names it: A to Z, AA … */
const letterOf = (index: number): string =>
	(index < 26 ? '' : letterOf(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

/** @throws {InvalidValueError} if nothing could be read, or not all */
function tableIn(items: ReadonlyArray<Record<string, unknown>>, own: OwnHeadings): Table {
	const [{ error, ...others } = {}] = items;
	// A node that fails and goes on, such as one that cannot read the file, gives one item with its error.
	if (items.length === 1 && Object.keys(others).length === 0 && textOf(error) !== '') {
		throw new InvalidValueError(
			`The list could not be read: ${messageOf(error)}`,
			'If it is a file, save it again as .xlsx or .csv, without a password.',
		);
	}
	const sheet = items.flatMap(({ row }) => (Array.isArray(row) ? [row as unknown[]] : []));
	if (sheet.length > 0 && sheet.length === items.length) return tableOfSheet(sheet, own);
	const keys = [...new Set(items.flatMap((item) => Object.keys(item)))];
	return {
		// So n8n names a column of a sheet that has no heading.
		headings: keys.map((key) => (/^__EMPTY(_\d+)?$/.test(key) ? '' : headingIn(key))),
		place: keys.includes('__EMPTY')
			? ': if they stand below a title, switch Header Row off where the file is read'
			: '',
		rows: items.map((item, itemIndex) => ({
			itemIndex,
			// Google Sheets tells the row.
			line: typeof item.row_number === 'number' ? item.row_number : itemIndex + 1,
			cells: keys.map((key) => item[key]),
		})),
	};
}

function tableOfSheet(sheet: unknown[][], own: OwnHeadings): Table {
	const isTooWide = sheet.some((cells) => isFilled(cells.slice(lastColumn)));
	if (isTooWide || sheet.slice(lastRow).some(isFilled)) {
		throw new InvalidValueError(
			`The list goes on ${isTooWide ? `behind column ${letterOf(lastColumn - 1)}` : `below row ${lastRow}`}`,
			'Make several lists of it, or delete columns, so that nobody and nothing is forgotten.',
		);
	}
	const top = sheet.slice(0, rowsWithHeadings).map((row) => Array.from(row, headingIn));
	const fits = top.map((row) => {
		const columns = columnsIn(row, own);
		const found = requiredColumns.filter((column) => columns.get(column)?.length);
		// A letterhead has few texts beside each other, and people have numbers.
		const texts = row.filter((text) => !/^[-+\d\s.,/():%]*$/.test(text));
		return found.length === requiredColumns.length ? Infinity : 3 * found.length + texts.length;
	});
	const index = fits.indexOf(Math.max(...fits));
	// A hole in a row is an empty cell.
	const rows = sheet.map((row, itemIndex) => ({ itemIndex, line: itemIndex + 1, cells: [...row] }));
	return { headings: top[index] ?? [], place: ` (row ${index + 1})`, rows: rows.slice(index + 1) };
}

/** It may have several lines. */
const headingIn = (cell: unknown): string => textOf(cell).replace(/\s+/g, ' ');

/** A heading, as it is compared: its letters and digits. */
function plainOf(heading: string): string {
	const plain = heading.normalize('NFKC').toLowerCase();
	const letters = plain.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
	// Create gives the wallet of a payment as toUserId, so its output can be checked as a list again.
	return letters === 'touserid' ? 'userid' : letters;
}

/** Where each column stands. A heading of the user's own is looked for as it is written first. */
function columnsIn(headings: string[], own: OwnHeadings): Map<Column, number[]> {
	const plain = headings.map(plainOf);
	const find = (wanted: string, texts: string[]): number[] =>
		wanted === '' ? [] : texts.flatMap((text, index) => (text === wanted ? [index] : []));
	return new Map(
		columnNames.map((column) => {
			const exact = find(own[column] ?? '', headings);
			return [column, exact.length > 0 ? exact : find(plainOf(own[column] ?? column), plain)];
		}),
	);
}

/** @throws {InvalidValueError} if a column is missing, or is there twice */
function requireColumns(
	headings: string[],
	columns: Map<Column, number[]>,
	own: OwnHeadings,
	place: string,
): void {
	const needed = new Set<Column>([...requiredColumns, ...columnNames.filter((name) => own[name])]);
	const missing = [...needed].filter((column) => !columns.get(column)?.length);
	if (missing.length > 0) {
		const names = missing.map((column) => own[column] ?? column).join(' and no column ');
		throw new InvalidValueError(
			`The list has no column ${names}. Its columns are ${listed(headings)}${place}`,
			`Write into Columns of this node, once, which of your headings is ${missing.join(', ')}. Nothing is guessed, so that nobody is paid gross for net.`,
		);
	}
	for (const [column, [first = -1, ...more]] of columns) {
		// n8n numbers the second column of a name.
		const numbered = headings.filter((heading) => heading.replace(/_\d+$/, '') === headings[first]);
		const same = more.length > 0 ? [first, ...more].map((at) => headings[at]) : numbered;
		if (same.length < 2) continue;
		throw new InvalidValueError(
			`The list has ${same.length} columns for ${show(own[column] ?? column)}: ${listed(same)}`,
			'Rename or delete all of them but one, or write the exact heading into Columns of this node.',
		);
	}
}

function listed(texts: ReadonlyArray<string | undefined>): string {
	const filled = texts.filter(Boolean).map(show);
	return (filled.slice(0, 30).join(', ') || 'empty') + (filled.length > 30 ? ', …' : '');
}

/** Below a second row of headings the columns may mean something else, such as gross where net stood. @throws {InvalidValueError} */
function requireNoHeadings(
	cells: unknown[],
	line: number,
	headings: string[],
	columns: Map<Column, number[]>,
): void {
	const texts = cells.map((cell) => (typeof cell === 'string' ? plainOf(textOf(cell)) : ''));
	const looks = (column: Column): string[] =>
		(columns.get(column) ?? []).map((at) => plainOf(headings[at] ?? '')).filter(Boolean);
	const repeated = columnNames.flatMap(looks).filter((look) => texts.includes(look));
	const indexOf = (column: Column): number => columns.get(column)?.[0] ?? -1;
	const isInColumn = requiredColumns.some((column) =>
		looks(column).includes(texts[indexOf(column)] ?? ''),
	);
	if (new Set(repeated).size < 2 && !isInColumn)
		return requireNoWords(cells, line, indexOf('amountEtb'));
	throw new InvalidValueError(
		`Row ${line} of the list has headings again: ${listed(cells.map(textOf))}`,
		'Make a list of its own of each table, because below other headings a column may mean something else. If the row only repeats the headings, delete it.',
	);
}

/** Other headings for the same columns: words where the amounts stand, and no digit anywhere. @throws {InvalidValueError} */
function requireNoWords(cells: unknown[], line: number, amountAt: number): void {
	const amount = withoutPlaceholder(textOf(cells[amountAt]));
	const filled = cells.map(textOf).filter(Boolean);
	const isWord = /\p{L}/u.test(amount) && !isFormulaError(amount);
	if (!isWord || filled.length < 2 || filled.some((text) => /\p{N}/u.test(text))) return;
	throw new InvalidValueError(
		`Row ${line} of the list has words alone, also for the amount, as headings have: ${listed(filled)}`,
		'If a second table begins there, make a list of its own of it, because below other headings a column may mean something else. If the row is a person, write the amount. If it is a signature, delete it.',
	);
}
