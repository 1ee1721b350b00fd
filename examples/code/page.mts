/** The parts of the pages: headings, tables of payments, links and questions. */
import { forWhat, peopleText, escapeHtml, minuteOf, formatSum, namesWithNumbers } from './text.mts';
import {
	amountOf,
	hasOtherAmount,
	hasOutcome,
	isPaidByStatement,
	wasSentAgain,
	likenessCodes,
	onePerPayment,
	remarksWith,
	remarksWithout,
	sureness,
	reasonOf,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import { rowOf, registerOf, type Register } from './register.mts';
import { isOfOtherWorkflow } from './workflow.mts';

/** A part of a page; empty or false for one that is left out. */
export type Part = string | false;

/** The lines below a name, in the order of the page. */
function linesOf(row: PaymentRow, before: PaymentRow | undefined, register: Register): string[] {
	const { amountEtb, name, paidAt, txHash, workflow }: RegisterRow = { ...row, ...row.paid };
	const sum = amountEtb ? ` ${formatSum([{ amountEtb }])} ETB` : '';
	// If the amount is not known, the payment is one that the register has lost, and so is its time.
	const hasTime = amountOf(row) > 0;
	const [reason, wallet] = [reasonOf(row), row.toUserId || row.userId];
	// A reason that is that of the row above stands there once.
	const isRepeated = !hasOutcome('paid')(row) && reason !== '' && reason === reasonOf(before ?? {});
	// One that the register does not have as unknown was sent just now.
	const known = row.id ? row : (rowOf(register, row) ?? row);
	const lastSentAt = hasOutcome('unknown')(known) ? known.paidAt || known.updatedAt : undefined;
	const sentAt = row.paidAt || lastSentAt;
	const isPaid = hasOutcome('paid')(row) || row.paid !== undefined;
	const remarksOf = (): string[] => {
		if (sureness(row) < 0) return remarksWithout(row, ['rounded']);
		return hasOutcome('notPaid')(row) ? remarksWith(row, [...likenessCodes, 'changedAmount']) : [];
	};
	return [
		row.line && `Row ${row.line}`,
		isRepeated ? 'As above' : reason,
		row.paid && `Paid${sum} to ${name}`,
		isPaid && hasTime && paidAt && minuteOf(paidAt),
		txHash,
		// Without a purpose, the reference is the only word for it.
		isPaid && !row.purpose && row.reference,
		isPaidByStatement(row) && forWhat(row),
		...remarksOf(),
		...(hasOutcome('unknown')(row)
			? [hasTime && `Unknown since ${minuteOf(sentAt ?? Date.now())}`, row.reference]
			: []),
		hasOutcome('unknown')(row) &&
			hasOtherAmount(row, row) &&
			`The list says ${formatSum([{ amountEtb: row.listedAmountEtb }])} ETB`,
		row.approvedBy && `Approved by ${row.approvedBy}`,
		statementText(row, row.settledBy ? row : known),
		wallet && `Wallet ${wallet}`,
		row.phone && `Telephone ${row.phone}`,
		isOfOtherWorkflow({ workflow }) && `By ${workflow}`,
	].flatMap((line) => line || []);
}

/** The words for a statement that a person gave; empty if nobody did. */
function statementText({ outcome }: PaymentRow, settled: RegisterRow): string {
	const { settledBy, settledAt } = settled;
	// If it was paid by a second sending, `reason` names the person who said that it was not paid.
	if (!settledBy || wasSentAgain(settled)) return '';
	const isSentAgain = !isPaidByStatement(settled) && (outcome === 'paid' || outcome === 'unknown');
	const what = isPaidByStatement(settled) ? 'paid' : 'not paid';
	const time = settledAt ? ` at ${minuteOf(settledAt)}` : '';
	return `${isSentAgain ? 'First recorded' : 'Recorded'} as ${what} by ${settledBy}${time}`;
}

/** The title of some payments. It is red, on every page, if a person has to do something for them. */
export type Title = string | { red: string };

/**
 * The title of some payments, with the number of people and the sum. HTML.
 * @param hasSum without it, whether they have an outcome: people who are only set up are paid nothing there
 */
export function heading(
	title: Title,
	rows: PaymentRow[],
	hasSum = Boolean(rows[0]?.outcome),
): string {
	// A row of a list counts by itself, because two people can have one number by mistake. Two rows of one payment that
	// was sent count once.
	const payments = onePerPayment(rows);
	const without = payments.filter((row) => !amountOf(row)).length;
	const more = without > 0 ? ` (amount not known: ${without})` : '';
	const isSummed = hasSum && without < payments.length;
	const total = isSummed ? `, ${formatSum(payments)} ETB${more}` : '';
	const persons = new Set(
		payments.map((row) => row.line || row.employeeKey || row.userId || row.reference),
	);
	const count = persons.size < payments.length ? `${payments.length} payments to ` : '';
	const numbers = payments.flatMap(({ line, employeeKey }) => (line && employeeKey) || []);
	// By mistake two rows can have one number, so nobody knows how many people they are.
	const isRepeated = new Set(numbers).size < numbers.length;
	const whom = isRepeated ? `${persons.size} rows` : peopleText({ length: persons.size });
	const textOf = (words: string): string => `${escapeHtml(words)}: ${count}${whom}${total}`;
	return typeof title === 'string' ? textOf(title) : `<em>${textOf(title.red)}</em>`;
}

/** A heading with a table of its payments; empty if there is none. @param hasSum as in `heading` */
export function section(
	title: Title,
	rows: PaymentRow[],
	register = registerOf([]),
	hasSum?: boolean,
): string {
	const line = (row: PaymentRow, index: number): string => {
		const below = linesOf(row, rows[index - 1], register)
			.join(' · ')
			.replaceAll('. ·', ' ·');
		return `<tr><td><b>${escapeHtml(row.name || row.reference)}</b> ${escapeHtml(row.employee)}<br>${escapeHtml(below)}</td><td>${amountOf(row) ? formatSum([row]) : ''}</td></tr>`;
	};
	if (rows.length === 0) return '';
	return `<h3>${heading(title, rows, hasSum)}</h3><table>${rows.map(line).join('')}</table>`;
}

/**
 * The parts of a page for each period and purpose.
 * @param showPaid the form of those who were paid: not each of them has to stand on a page
 */
export function byPeriod(rows: PaymentRow[], register: Register, showPaid = section): string[] {
	const names = [...new Set(rows.map(forWhat))].sort().reverse();
	return names.flatMap((name) => {
		const own = rows.filter((row) => forWhat(row) === name);
		return [
			`<h2>${escapeHtml(name)}</h2>`,
			section({ red: 'UNKNOWN' }, own.filter(hasOutcome('unknown')), register),
			section({ red: 'Not paid' }, own.filter(hasOutcome('notPaid')), register),
			showPaid('Paid', own.filter(hasOutcome('paid')), register),
		];
	});
}

/** The question about people who have another name than before. HTML. */
export const renamedText = (rows: PaymentRow[]): string =>
	`Somebody else? ${rows.map((row) => `${namesWithNumbers([row])}. ${escapeHtml(remarksWith(row, ['changedName']).join(' '))}`).join(' ')} A number has one wallet: if it is somebody else, give them an employee number of their own`;

export const noPersons = (rows: PaymentRow[]): Part => {
	const seen = rows.map(({ line, name, employee }) => `${line} ${name || employee || ''}`);
	return seen.length > 0 && `<p>Rows that are no person: ${escapeHtml(seen.join(', '))}.</p>`;
};

export const columnsNotRead = (names: string[]): Part =>
	names.length > 0 && `<p>Columns that were not read: ${escapeHtml(names.join(', '))}.</p>`;

/** The field of a form that shows a page. A transaction is a `code`, which the style shortens. */
export function pageField(...parts: Part[]) {
	const shown = parts.filter(Boolean).join('');
	const zone = /\d\d:\d\d\b/.test(shown) ? '<p>Times are those of Addis Ababa.</p>' : '';
	const html = shown.replace(/\b0x\w{20,}/g, '<code>$&</code>') + zone;
	return { fieldType: 'html', elementName: 'page', html };
}

/** The paths of the forms, as their workflows have them. */
export const formPaths = {
	upload: 'etb-file',
	openOfFile: 'etb-file-open',
	openOfMonth: 'etb-payroll-open',
	payments: 'etb-payments',
	people: 'etb-people',
};

/** A link to a form of n8n. @param words HTML */
export function formLink(path: string, words: string): string {
	const [n8n] = $execution.resumeFormUrl.split('/form-waiting/');
	return `<a href="${n8n}/form/${path}" target="_blank">${words}</a>`;
}

/** A link to the form of *Pay salaries from a file*, filled in. @param words HTML */
export const uploadLink = ({ period, purpose }: RegisterRow, words: string): string =>
	formLink(
		`${formPaths.upload}?period=${encodeURIComponent(period ?? '')}&purpose=${encodeURIComponent(purpose ?? '')}`,
		words,
	);

/** The field of a form with one choice. */
export const radio = (
	fieldName: string,
	fieldLabel: string,
	options: string[],
	defaultValue = '',
) => ({
	fieldType: 'radio',
	requiredField: true,
	fieldName,
	fieldLabel,
	defaultValue,
	fieldOptions: { values: options.map((option) => ({ option })) },
});
