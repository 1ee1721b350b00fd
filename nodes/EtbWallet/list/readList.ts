/** Finds the columns of a list by their exact headings, and its rows. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import {
	columnLetters,
	decodeCsv,
	isFormulaError,
	assertReadable,
	cellText,
	visibleText,
} from './spreadsheet';
import { messageOf } from '../../shared/unknownValues';
import { columnNames, requiredColumns, type Column } from './columns';

/** The heading of a column in the user's own list: the name of the column, unless the user named another. */
export type HeadingOf = (column: Column) => string;

type ItemFields = Record<string, unknown>;

/** A row of the list that has a value in a cell. */
export interface SourceRow {
	/** The index of the item, from 0. A row of a sheet comes as an item too. */
	itemIndex: number;
	/** The row as the spreadsheet numbers it, or counted from 1. */
	line: number;
	/** The cells of the known columns; undefined for a column that the list does not have. */
	cells: Partial<Record<Column, unknown>>;
	/** The cells of the other columns, by heading. */
	otherCells: ItemFields;
	/** Whether there is a cell beyond the last heading, for example because a comma in a value moved the cells. */
	isTooLong: boolean;
	/** Whether it has only words, and is below the last amount, as signatures are. */
	isSignature: boolean;
}

/** The number of rows among which the headings of a sheet have to be. A title may be above them. */
const maxHeadingRow = 20;
/** The largest list. Workflows read one row and one column more (A1:CW5001), so a longer list is noticed. */
const maxRows = 5_000;
const maxColumns = 100;

/**
 * Reads the rows of a list. Empty rows and empty columns are left out.
 * @param items fields by heading, or `{ row: […] }` with the cells of each row of a sheet from the first on
 * @returns the rows, and as `notRead` the names of the other columns
 * @throws {InvalidValueError} if the list as a whole cannot be used: it names the columns, or the row
 */
export function readList(
	items: readonly ItemFields[],
	headingOf: HeadingOf,
): { rows: SourceRow[]; notRead: string[] } {
	const sheet = sheetOf(items);
	const candidates = sheet.slice(0, maxHeadingRow).map((row) => headingRow(row, headingOf));
	const top = candidates.reduce((best, each) => (each.fit > best.fit ? each : best));
	const { headings, places } = top;
	for (const heading of headings) assertReadable(heading, 'The list', 'its headings');
	// A table without rows comes as one item without fields.
	if (headings.some(Boolean)) assertColumns(top, headingOf);
	const filled = sheet.slice(candidates.indexOf(top) + 1).filter(({ cells }) => isFilled(cells));
	if (filled.length === 0) {
		throw new InvalidValueError(
			'The list has nobody in it',
			'Give this node one item for each person. If the list is a file, its first sheet counts.',
		);
	}
	const nameOf = (index: number): string => headings[index] || `column ${columnLetters(index)}`;
	for (const { cells, line } of filled)
		for (const [index, cell] of cells.entries())
			assertReadable(cell, `Row ${line} of the list`, show(nameOf(index)));
	const signatures = signaturesIn(filled, places);
	assertOneTable(filled, top, signatures);
	const usedIndexes = new Set([...places.values()].flat());
	const width = Math.max(...filled.map(({ cells }) => cells.length));
	const otherIndexes = Array.from({ length: width }, (_, index) => index).filter(
		(index) => !usedIndexes.has(index) && filled.some(({ cells }) => cellText(cells[index]) !== ''),
	);
	const lastHeading = headings.findLastIndex(Boolean);
	const rows = filled.map((source) => {
		const { cells, ...row } = source;
		return {
			...row,
			isSignature: signatures.has(source),
			cells: Object.fromEntries(
				[...places].map(([column, [index = -1]]) => [column, cells[index]]),
			),
			otherCells: Object.fromEntries(otherIndexes.map((index) => [nameOf(index), cells[index]])),
			isTooLong: isFilled(cells.slice(lastHeading + 1)),
		};
	});
	return { rows, notRead: otherIndexes.map(nameOf) };
}

/** Whether a row has several words, one of them for the amount, and no number. */
function hasOnlyWords(cells: unknown[], amountAt: number): boolean {
	const texts = cells.map(cellText).filter(Boolean);
	const amount = visibleText(cells[amountAt]);
	const isWord = /\p{L}/u.test(amount) && !isFormulaError(amount);
	return texts.length > 1 && isWord && !texts.some((text) => /\p{N}/u.test(text));
}

/**
 * The rows with only words below the last amount. Above an amount, such a row can be a second table's
 * headings.
 */
function signaturesIn(rows: readonly SheetRow[], places: HeadingRow['places']): Set<SheetRow> {
	const [amountAt = -1] = places.get('amountEtb') ?? [];
	const last = rows.findLastIndex(({ cells }) => /\p{N}/u.test(visibleText(cells[amountAt])));
	const below = last < 0 ? [] : rows.slice(last + 1);
	return new Set(below.filter(({ cells }) => hasOnlyWords(cells, amountAt)));
}

const isFilled = (cells: unknown[]): boolean => cells.some((cell) => cellText(cell) !== '');

/** A row of the sheet. For items with fields, the first row has the names of the fields, and `line` 0. */
type SheetRow = Pick<SourceRow, 'itemIndex' | 'line'> & { cells: unknown[] };

/** @throws {InvalidValueError} for an item with an error, or a sheet that is too large */
function sheetOf(items: readonly ItemFields[]): SheetRow[] {
	const [{ error, ...fields } = {}] = items;
	// A node before this one that fails and continues gives one item with its error.
	if (items.length === 1 && Object.keys(fields).length === 0 && cellText(error) !== '') {
		throw new InvalidValueError(
			`The list could not be read: ${messageOf(error)}`,
			'If it is a file, save it again as .xlsx or .csv, without a password.',
		);
	}
	const isSheet = items.length > 0 && items.every(({ row }) => Array.isArray(row));
	const keys = isSheet ? [] : [...new Set(items.flatMap((item) => Object.keys(item)))];
	const rows = items.map((item, itemIndex) => {
		// A hole in the array of a row is an empty cell.
		const row = isSheet && Array.isArray(item.row) ? Array.from<unknown>(item.row) : undefined;
		const cells = row ?? keys.map((key) => item[key]);
		// The node of Google Sheets gives the number of the row.
		const line = typeof item.row_number === 'number' ? item.row_number : itemIndex + 1;
		return { itemIndex, line, cells: cells.map(decodeCsv) };
	});
	if (!isSheet) {
		// n8n names a column without a heading `__EMPTY`, `__EMPTY_1`, …
		const names = keys.map((key) => (/^__EMPTY(_\d+)?$/.test(key) ? '' : decodeCsv(key)));
		return [{ itemIndex: -1, line: 0, cells: names }, ...rows];
	}
	if (rows.some(({ cells, line }) => isFilled(line > maxRows ? cells : cells.slice(maxColumns)))) {
		throw new InvalidValueError(
			`The list goes on behind column ${columnLetters(maxColumns - 1)}, or below row ${maxRows}`,
			'Make several lists of it, or delete columns, so that nobody and nothing is forgotten.',
		);
	}
	return rows;
}

type HeadingRow = ReturnType<typeof headingRow>;

/** Reads a row as the headings. `fit` grows with the required columns it names, and less with its texts. */
function headingRow({ cells, line }: SheetRow, headingOf: HeadingOf) {
	const headings = cells.map(headingText);
	const places = placesIn(headings, headingOf);
	const found = requiredColumns.filter((column) => places.get(column)?.length).length;
	const texts = headings.filter((text) => !/^[-+\d\s.,/():%]*$/.test(text)).length;
	const fit = found === requiredColumns.length ? Infinity : 3 * found + texts;
	return { headings, places, line, fit };
}

/** The heading in a cell, on one line. */
const headingText = (cell: unknown): string => cellText(cell).replace(/\s+/g, ' ');

/** A normalized heading: its letters and digits. */
const normalizeHeading = (heading: string): string =>
	heading
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{M}\p{N}]/gu, '');

/** The indexes of each column. A heading that the user named is first looked up exactly as written. */
function placesIn(headings: string[], headingOf: HeadingOf): Map<Column, number[]> {
	const normalized = headings.map(normalizeHeading);
	const find = (wanted: string, texts: string[]): number[] =>
		texts.flatMap((text, index) => (text === wanted && wanted !== '' ? [index] : []));
	return new Map(
		columnNames.map((column) => {
			const heading = headingOf(column);
			const exact = heading === column ? [] : find(heading, headings);
			return [column, exact.length > 0 ? exact : find(normalizeHeading(heading), normalized)];
		}),
	);
}

/** @throws {InvalidValueError} if a column is missing, or is there twice */
function assertColumns({ headings, places, line }: HeadingRow, headingOf: HeadingOf): void {
	const isNeeded = (column: Column): boolean =>
		headingOf(column) !== column || requiredColumns.some((required) => required === column);
	const missing = columnNames.filter((column) => isNeeded(column) && !places.get(column)?.length);
	if (missing.length > 0) {
		throw new InvalidValueError(
			`The list has no column ${missing.map(headingOf).join(' and no column ')}. Its columns are ${quotedList(headings)}${line > 0 ? ` (row ${line})` : ''}`,
			`Rename your headings. Or let whoever made the workflow write under Columns of Check List, once, which of them is ${missing.join(', ')}.`,
		);
	}
	for (const [column, found] of places) {
		const [first = ''] = found.map((index) => headings[index] ?? '');
		// n8n adds a number to the second column with the same heading.
		const same = headings.filter(
			(heading, index) => found.includes(index) || heading.replace(/_\d+$/, '') === first,
		);
		if (found.length === 0 || same.length < 2) continue;
		throw new InvalidValueError(
			`The list has ${same.length} columns for ${show(headingOf(column))}: ${quotedList(same)}`,
			'Rename or delete all of them but one. Or let whoever made the workflow write the exact heading under Columns of Check List.',
		);
	}
}

const quotedList = (texts: string[]): string =>
	texts.filter(Boolean).map(show).join(', ') || 'empty';

/**
 * Throws for a second row of headings, below which a column may mean something else, such as gross instead of
 * net. Such a row repeats a heading in its column, or two headings anywhere, or has only words, also for the
 * amount.
 * @throws {InvalidValueError}
 */
function assertOneTable(
	rows: readonly SheetRow[],
	{ headings, places }: HeadingRow,
	signatures: ReadonlySet<SheetRow>,
): void {
	const normalized = headings.map(normalizeHeading);
	const usedHeadings = new Set([...places.values()].flat().map((index) => normalized[index]));
	const [amountAt = -1] = places.get('amountEtb') ?? [];
	for (const row of rows) {
		const { cells, line } = row;
		const filled = cells.map(cellText).filter(Boolean);
		const texts = cells.map((cell) => normalizeHeading(cellText(cell)));
		const repeated = new Set(texts.filter((text) => text !== '' && usedHeadings.has(text)));
		const isInPlace = texts.some((text, index) => repeated.has(text) && text === normalized[index]);
		const isOfWords = hasOnlyWords(cells, amountAt) && !signatures.has(row);
		if (repeated.size < 2 && !isInPlace && !isOfWords) continue;
		throw new InvalidValueError(
			`Row ${line} of the list has headings again, or words alone: ${quotedList(filled)}`,
			'Make a list of its own of each table, because below other headings a column may mean something else. If the row only repeats the headings, or is a signature, delete it. If it is a person, write the amount.',
		);
	}
}
