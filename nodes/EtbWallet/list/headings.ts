/** Finds the columns of a list, by their exact headings, and its rows. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { messageOf } from '../../shared/unknownValues';
import { decoded, isFormulaError, requireReadable, textOf, valueIn } from './cells';

/** The columns that are read. Upper case, blanks and signs do not count, so `Amount (ETB)` is `amountEtb`. */
export const requiredColumns = ['employee', 'name', 'amountEtb'] as const;
/** Those that a list can have besides. */
export const otherColumns = ['userId', 'email', 'phone'] as const;
/** The period is read if it is there; no list needs it. */
export const columnNames = [...requiredColumns, ...otherColumns, 'period'] as const;
export type Column = (typeof columnNames)[number];

/** The heading of a column: the one in the user's own list, or its name. */
export type HeadingOf = (column: Column) => string;

type Fields = Record<string, unknown>;

/** Rows within which the headings of a sheet have to stand, below a title. */
const rowsWithHeadings = 20;
/** The largest list. Workflows read one row and one column more (A1:CW5001), so that a longer one is noticed and refused. */
const lastRow = 5_000;
const lastColumn = 100;

export type SourceRow = ReturnType<typeof readList>['rows'][number];

/**
 * Returns the rows of a list that are not empty, and the names of its columns that are not empty and not read.
 * @param items either fields by heading, or `{ row: […] }` with the cells of each row of a sheet, from its first row on
 * @throws {InvalidValueError} if the list as a whole cannot be used: it names the columns that are missing and those that
 * are there, or the row
 */
export function readList(items: readonly Fields[], headingOf: HeadingOf) {
	const sheet = sheetOf(items);
	const top = sheet.slice(0, rowsWithHeadings).map((row) => headsIn(row, headingOf));
	const heads = top.reduce((best, each) => (each.fit > best.fit ? each : best));
	const { headings, places } = heads;
	for (const heading of headings) requireReadable(heading, 'The list', 'its headings');
	// A table without rows comes as one item without fields.
	if (headings.some(Boolean)) requireColumns(heads, headingOf);
	const filled = sheet.slice(top.indexOf(heads) + 1).filter(({ cells }) => isFilled(cells));
	if (filled.length === 0) {
		throw new InvalidValueError(
			'The list has nobody in it',
			'Give this node one item for each person. If the list is a file, its first sheet counts.',
		);
	}
	const nameOf = (index: number): string => headings[index] || `column ${letterOf(index)}`;
	for (const { cells, line } of filled)
		for (const [index, cell] of cells.entries())
			requireReadable(cell, `Row ${line} of the list`, show(nameOf(index)));
	requireOneTable(filled, heads);
	const read = new Set([...places.values()].flat());
	const width = Math.max(...filled.map(({ cells }) => cells.length));
	const others = Array.from({ length: width }, (_, index) => index).filter(
		(index) => !read.has(index) && filled.some(({ cells }) => textOf(cells[index]) !== ''),
	);
	const end = headings.findLastIndex(Boolean);
	return {
		rows: filled.map(({ cells, ...row }) => ({
			/** The index of the item that came in, and the line as the spreadsheet numbers it, or counted from 1. */
			...row,
			/** The cells of the columns that are read; undefined without such a column. */
			cells: Object.fromEntries(
				[...places].map(([column, [index = -1]]) => [column, cells[index]]),
			),
			/** The cells of the other columns that have something in some row, by their names. */
			others: Object.fromEntries(others.map((index) => [nameOf(index), cells[index]])),
			/** Whether something stands beyond the last heading: a value with a comma moved the others. */
			isTooLong: isFilled(cells.slice(end + 1)),
		})),
		notRead: others.map(nameOf),
	};
}

const isFilled = (cells: unknown[]): boolean => cells.some((cell) => textOf(cell) !== '');

/** As a spreadsheet names it: A to Z, AA … */
const letterOf = (index: number): string =>
	(index < 26 ? '' : letterOf(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));

/** Fields are a sheet too, with their names as its first row. @throws {InvalidValueError} if nothing could be read, or not all */
function sheetOf(items: readonly Fields[]) {
	const [{ error, ...fields } = {}] = items;
	// A node that fails and goes on, such as one that cannot read the file, gives one item with its error.
	if (items.length === 1 && Object.keys(fields).length === 0 && textOf(error) !== '') {
		throw new InvalidValueError(
			`The list could not be read: ${messageOf(error)}`,
			'If it is a file, save it again as .xlsx or .csv, without a password.',
		);
	}
	const isSheet = items.length > 0 && items.every(({ row }) => Array.isArray(row));
	const keys = isSheet ? [] : [...new Set(items.flatMap((item) => Object.keys(item)))];
	const rows = items.map((item, itemIndex) => {
		// A hole in a row is an empty cell.
		const row = isSheet && Array.isArray(item.row) ? Array.from<unknown>(item.row) : undefined;
		const cells = row ?? keys.map((key) => item[key]);
		// Google Sheets tells the row.
		const line = typeof item.row_number === 'number' ? item.row_number : itemIndex + 1;
		return { itemIndex, line, cells: cells.map(decoded) };
	});
	if (!isSheet) {
		// n8n names a column without a heading `__EMPTY`, `__EMPTY_1`, …
		const names = keys.map((key) => (/^__EMPTY(_\d+)?$/.test(key) ? '' : decoded(key)));
		return [{ itemIndex: -1, line: 0, cells: names }, ...rows];
	}
	if (rows.some(({ cells, line }) => isFilled(line > lastRow ? cells : cells.slice(lastColumn)))) {
		throw new InvalidValueError(
			`The list goes on behind column ${letterOf(lastColumn - 1)}, or below row ${lastRow}`,
			'Make several lists of it, or delete columns, so that nobody and nothing is forgotten.',
		);
	}
	return rows;
}

type SheetRow = ReturnType<typeof sheetOf>[number];
type Heads = ReturnType<typeof headsIn>;

/** Rates a row as the one with the headings: by the columns that it names, then by its texts without numbers. */
function headsIn({ cells, line }: SheetRow, headingOf: HeadingOf) {
	const headings = cells.map(headingIn);
	const places = placesIn(headings, headingOf);
	const found = requiredColumns.filter((column) => places.get(column)?.length).length;
	const texts = headings.filter((text) => !/^[-+\d\s.,/():%]*$/.test(text)).length;
	const fit = found === requiredColumns.length ? Infinity : 3 * found + texts;
	return { headings, places, line, fit };
}

/** It may have several lines. */
const headingIn = (cell: unknown): string => textOf(cell).replace(/\s+/g, ' ');

/** A heading, as it is compared: its letters and digits. */
const plainOf = (heading: string): string =>
	heading
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{M}\p{N}]/gu, '');

/** The places of each column. A heading that the user wrote is first looked for exactly as it is written. */
function placesIn(headings: string[], headingOf: HeadingOf): Map<Column, number[]> {
	const plain = headings.map(plainOf);
	const find = (wanted: string, texts: string[]): number[] =>
		texts.flatMap((text, index) => (text === wanted && wanted !== '' ? [index] : []));
	return new Map(
		columnNames.map((column) => {
			const heading = headingOf(column);
			const exact = heading === column ? [] : find(heading, headings);
			return [column, exact.length > 0 ? exact : find(plainOf(heading), plain)];
		}),
	);
}

/** @throws {InvalidValueError} if a column is missing, or is there twice */
function requireColumns({ headings, places, line }: Heads, headingOf: HeadingOf): void {
	const isNeeded = (column: Column): boolean =>
		headingOf(column) !== column || requiredColumns.some((each) => each === column);
	const missing = columnNames.filter((column) => isNeeded(column) && !places.get(column)?.length);
	if (missing.length > 0) {
		throw new InvalidValueError(
			`The list has no column ${missing.map(headingOf).join(' and no column ')}. Its columns are ${listed(headings)}${line > 0 ? ` (row ${line})` : ''}`,
			`Rename your headings, or write into Columns of the node that checks the list, once, which of them is ${missing.join(', ')}. Nothing is guessed, so that nobody is paid gross for net.`,
		);
	}
	for (const [column, found] of places) {
		const [first = ''] = found.map((index) => headings[index] ?? '');
		// n8n numbers the second column of a name.
		const same = headings.filter(
			(heading, index) => found.includes(index) || heading.replace(/_\d+$/, '') === first,
		);
		if (found.length === 0 || same.length < 2) continue;
		throw new InvalidValueError(
			`The list has ${same.length} columns for ${show(headingOf(column))}: ${listed(same)}`,
			'Rename or delete all of them but one, or write the exact heading into Columns of this node.',
		);
	}
}

const listed = (texts: string[]): string => texts.filter(Boolean).map(show).join(', ') || 'empty';

/**
 * Below a second row of headings the columns may mean something else, such as gross where net stood. Such a row repeats a
 * heading in its column, or two anywhere, or has words alone, also for the amount.
 * @throws {InvalidValueError}
 */
function requireOneTable(rows: readonly SheetRow[], { headings, places }: Heads): void {
	const plain = headings.map(plainOf);
	const read = new Set([...places.values()].flat().map((index) => plain[index]));
	const [amountAt = -1] = places.get('amountEtb') ?? [];
	for (const { cells, line } of rows) {
		const filled = cells.map(textOf).filter(Boolean);
		const texts = cells.map((cell) => plainOf(textOf(cell)));
		const again = new Set(texts.filter((text) => text !== '' && read.has(text)));
		const isInPlace = texts.some((text, index) => again.has(text) && text === plain[index]);
		const amount = valueIn(cells[amountAt]);
		const isWord = filled.length > 1 && /\p{L}/u.test(amount) && !isFormulaError(amount);
		const hasWordsAlone = isWord && !filled.some((text) => /\p{N}/u.test(text));
		if (again.size < 2 && !isInPlace && !hasWordsAlone) continue;
		throw new InvalidValueError(
			`Row ${line} of the list has headings again, or words alone: ${listed(filled)}`,
			'Make a list of its own of each table, because below other headings a column may mean something else. If the row only repeats the headings, or is a signature, delete it. If it is a person, write the amount.',
		);
	}
}
