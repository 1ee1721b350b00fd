/** Finds the columns of a list, by their exact headings, and its rows. */
import { InvalidValueError, show } from '../../shared/invalidValue';
import { messageOf } from '../../shared/unknownValues';
import { decoded, requireReadable, textOf } from './cells';

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

/** The headings in the user's own sheet, of those that are other ones. */
export type OwnHeadings = Partial<Record<Column, string>>;

/** A row that has something in it. */
export interface SourceRow {
	/** Of the items that came in. */
	itemIndex: number;
	/** As the spreadsheet numbers it; of rows that are no spreadsheet's, counted from 1. */
	line: number;
	/** What is in the columns that are read; undefined without such a column. */
	cells: Partial<Record<Column, unknown>>;
	/** The other columns by their headings, as they came, and what is in none. */
	others: Map<string, unknown>;
	/** Whether something stands beyond the last heading: a value with a comma moved the others. */
	isTooLong: boolean;
}

export interface List {
	rows: SourceRow[];
	/** The columns that are not read and have something in them: their headings, or their places. */
	notRead: string[];
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

/**
 * The last row and the last column of a sheet that may have something in them. A workflow reads one more of each (to CW5001),
 * so a list that goes on is refused.
 */
const lastLine = 5_000;
const lastColumn = 100;

/**
 * The rows of a list that have something in them.
 * @param items either fields by heading, or `{ row: […] }` with the cells of each row of a sheet, from its first row on
 * @throws {InvalidValueError} if the list as a whole cannot be used: it names the columns that are missing and those that
 * are there, or the row
 */
export function readList(items: ReadonlyArray<Record<string, unknown>>, own: OwnHeadings): List {
	requireRead(items);
	const sheet = items.flatMap(({ row }) => (Array.isArray(row) ? [row as unknown[]] : []));
	const isSheet = sheet.length === items.length && sheet.length > 0;
	const { headings, place, rows } = isSheet ? tableOfSheet(sheet, own) : tableOfFields(items);
	const indexes = columnsIn(headings, own);
	for (const [index, heading] of headings.entries())
		requireReadable(heading.replace(/\s/g, ' '), 1, nameOf(heading, index));
	// A table without rows comes as one item without fields.
	if (headings.some((heading) => heading !== '')) requireColumns(headings, indexes, own, place);
	const filled = rows.filter(({ cells }) => cells.some((cell) => textOf(cell) !== ''));
	if (filled.length === 0) {
		throw new InvalidValueError(
			'The list has nobody in it',
			'Give this node one item for each person. If the list is a file, its first sheet counts.',
		);
	}
	requireOneTable(filled, headings, indexes);
	const columnAt = new Map(
		columnNames.flatMap((column) => indexes[column].map((index) => [index, column])),
	);
	const last = headings.findLastIndex((heading) => heading !== '');
	const notRead = new Set<number>();
	const found = filled.map(({ itemIndex, line, cells }) => {
		const row: SourceRow = { itemIndex, line, cells: {}, others: new Map(), isTooLong: false };
		for (const column of columnNames) row.cells[column] = cells[indexes[column][0] ?? -1];
		for (const [index, cell] of cells.entries()) {
			const heading = headings[index] ?? '';
			requireReadable(cell, line, nameOf(heading, index));
			if (columnAt.has(index)) continue;
			const isFilled = textOf(cell) !== '';
			if (isFilled) notRead.add(index);
			if (heading === '') row.isTooLong ||= index > last && isFilled;
			else row.others.set(heading, typeof cell === 'string' ? decoded(cell) : cell);
		}
		return row;
	});
	const places = [...notRead].sort((one, other) => one - other);
	return { rows: found, notRead: places.map((index) => headings[index] || nameOf('', index)) };
}

/** As a spreadsheet names it: A to Z, AA … */
const letterOf = (index: number): string =>
	(index < 26 ? '' : letterOf(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26));
const nameOf = (heading: string, index: number): string =>
	heading === '' ? `column ${letterOf(index)}` : show(heading);

/** A node that fails and goes on, such as one that cannot read the file, gives one item with its error. @throws {InvalidValueError} */
function requireRead(items: ReadonlyArray<Record<string, unknown>>): void {
	const [{ error, ...others } = {}] = items;
	if (items.length !== 1 || Object.keys(others).length > 0 || textOf(error) === '') return;
	throw new InvalidValueError(
		`The list could not be read: ${messageOf(error)}`,
		'If it is a file, save it again as .xlsx or .csv, without a password.',
	);
}

function tableOfSheet(sheet: unknown[][], own: OwnHeadings): Table {
	const top = sheet.slice(0, rowsWithHeadings).map((row) => Array.from(row, textOf));
	const rated = top.map((row) => {
		const indexes = columnsIn(row, own);
		const matches = requiredColumns.filter((column) => indexes[column].length > 0).length;
		// A letterhead has few texts beside each other, and a row of people has numbers.
		const texts = row.filter((text) => text !== '' && !/^[-+\d\s.,/():%]+$/.test(text)).length;
		return matches === requiredColumns.length ? Infinity : 3 * matches + texts;
	});
	const index = Math.max(rated.indexOf(Math.max(...rated)), 0);
	const rows = sheet.map((cells, itemIndex) => ({ itemIndex, line: itemIndex + 1, cells }));
	const isFilled = (cells: unknown[]): boolean => cells.some((cell) => textOf(cell) !== '');
	const goesOn = rows.slice(lastLine).some(({ cells }) => isFilled(cells))
		? `below row ${lastLine}`
		: rows.some(({ cells }) => isFilled(cells.slice(lastColumn)))
			? `to the right of column ${letterOf(lastColumn - 1)}`
			: undefined;
	if (goesOn !== undefined) {
		throw new InvalidValueError(
			`The list goes on ${goesOn}`,
			'Make several lists of it, or delete columns, so that nobody and nothing is forgotten.',
		);
	}
	return {
		headings: top[index] ?? [],
		place: ` (row ${index + 1})`,
		// A hole in a row is an empty cell.
		rows: rows.slice(index + 1).map((row) => ({ ...row, cells: Array.from(row.cells) })),
	};
}

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

/** A heading, as it is compared: letters and digits. */
function plainOf(heading: string): string {
	const plain = heading
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
	// Create gives the wallet of a payment as toUserId, so its output can be checked as a list again.
	return plain === 'touserid' ? 'userid' : plain;
}

/** Where each column stands: of a heading of the user's own, first as it is written exactly. */
function columnsIn(headings: string[], own: OwnHeadings): Record<Column, number[]> {
	const plain = headings.map(plainOf);
	const at = (wanted: string, texts: string[]): number[] =>
		wanted === '' ? [] : texts.flatMap((text, index) => (text === wanted ? [index] : []));
	const find = (column: Column): number[] => {
		const exact = at(own[column] ?? '', headings);
		return exact.length > 0 ? exact : at(plainOf(own[column] ?? column), plain);
	};
	return {
		employee: find('employee'),
		name: find('name'),
		amountEtb: find('amountEtb'),
		userId: find('userId'),
		email: find('email'),
		phone: find('phone'),
		period: find('period'),
	};
}

function requireColumns(
	headings: string[],
	indexes: Record<Column, number[]>,
	own: OwnHeadings,
	place: string,
): void {
	const headingOf = (column: Column): string => own[column] ?? column;
	const isOptional = (column: Column): boolean =>
		!requiredColumns.includes(column) && own[column] === undefined;
	const missing = columnNames.filter(
		(column) => indexes[column].length === 0 && !isOptional(column),
	);
	if (missing.length > 0) {
		const there = headings.filter((heading) => heading !== '').map(show);
		throw new InvalidValueError(
			`The list has no column ${missing.map(headingOf).join(' and no column ')}. Its columns are ${listed(there)}${place}`,
			`Write the headings of your own list into Columns of this node, once: which one is ${missing.join(', ')}. Nothing is guessed, so that nobody is paid gross for net.`,
		);
	}
	for (const column of columnNames) {
		const [first = -1] = indexes[column];
		const same = headings.filter(
			(heading, index) =>
				indexes[column].includes(index) ||
				// n8n numbers the second column of a name.
				(first >= 0 && isNumbered(heading, headings[first] ?? '')),
		);
		if (same.length <= 1) continue;
		throw new InvalidValueError(
			`The list has ${same.length} columns for ${show(headingOf(column))}: ${listed(same.map(show))}`,
			'Rename or delete all of them but one, or write the exact heading into Columns of this node.',
		);
	}
}

const isNumbered = (heading: string, other: string): boolean =>
	heading.startsWith(`${other}_`) && /^\d+$/.test(heading.slice(other.length + 1));

const listed = (texts: string[]): string =>
	texts.length === 0 ? 'empty' : texts.slice(0, 30).join(', ') + (texts.length > 30 ? ', …' : '');

/**
 * Below a second row of headings the columns may mean something else, such as gross where net stood.
 * @throws {InvalidValueError} if a row repeats headings; or has nothing but words in all three columns, after a gap, with
 * amounts below it
 */
function requireOneTable(
	rows: Table['rows'],
	headings: string[],
	indexes: Record<Column, number[]>,
): void {
	const read = requiredColumns.map((column) => indexes[column][0] ?? -1);
	const known = new Set(
		columnNames.flatMap((column) => indexes[column].map((index) => plainOf(headings[index] ?? ''))),
	);
	known.delete('');
	const amountIn = (cells: unknown[]): string => textOf(cells[read[2] ?? -1]);
	const lastAmount = rows.findLastIndex(({ cells }) => /\d/.test(amountIn(cells)));
	for (const [place, { cells, line }] of rows.entries()) {
		const headed = (cell: unknown): boolean =>
			typeof cell === 'string' && cell.length < 100 && known.has(plainOf(textOf(cell)));
		const repeated = new Set(cells.filter(headed).map((cell) => plainOf(textOf(cell))));
		const isWords = cells.every((cell) => !/\p{N}/u.test(textOf(cell)));
		const before = rows[place - 1];
		const isApart = before?.line !== line - 1 || !/\d/.test(amountIn(before.cells));
		const isNew =
			isWords &&
			isApart &&
			place > 0 &&
			place < lastAmount &&
			read.every((index) => textOf(cells[index]) !== '');
		if (repeated.size < 2 && !read.some((index) => headed(cells[index])) && !isNew) continue;
		throw new InvalidValueError(
			`Row ${line} of the list looks like a second row of headings: ${listed(cells.map(textOf).filter(Boolean).map(show))}`,
			'Make a list of its own of each table, because below other headings a column may mean something else. If it only repeats the headings, delete the row.',
		);
	}
}
