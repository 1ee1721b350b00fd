/** Reads the rows of a list: who each is for, how much, and what cannot be read. */
import { asInvalidValue, show } from '../../shared/invalidValue';
import { invisible } from '../../shared/lookalikes';
import { amountInCell } from './amounts';
import { isFormulaError, textOf, visibleText, withoutPlaceholder } from './cells';
import type { Column, SourceRow } from './headings';
import type { Facts } from './known';
import { employeeIn, isTotal } from './people';
import type { Remark } from './remarks';

/** A row, as far as it can be read. */
export interface ReadRow {
	source: SourceRow;
	/** `nobody`: without a number and an amount, such as a title or a signature. */
	kind: 'person' | 'total' | 'nobody';
	facts: Facts;
	/** Why nobody can be paid for it; empty for nothing. */
	problems: string[];
	remarks: Remark[];
}

/** @param headingOf how errors call a column */
export function readRow(
	source: SourceRow,
	now: Date,
	headingOf: (column: Column) => string,
): ReadRow {
	const { cells, isTooLong } = source;
	const textIn = (column: Column): string => withoutPlaceholder(visibleText(cells[column]));
	const facts: Facts = {
		...{ employee: textIn('employee'), person: '', name: textIn('name') },
		...{ phone: textIn('phone'), email: textIn('email') },
		userId: withoutPlaceholder(textOf(cells.userId)),
	};
	const row: ReadRow = { source, kind: kindOf(source, facts), facts, problems: [], remarks: [] };
	if (row.kind !== 'person') return row;
	const read = (take: () => Remark[]): void => {
		try {
			row.remarks.push(...take());
		} catch (error) {
			const { message, remedy } = asInvalidValue(error);
			row.problems.push(`${message}. ${remedy}`);
		}
	};
	if (isTooLong)
		row.problems.push(
			'There are more values than headings. In a CSV file put a value with a comma into quotes "…".',
		);
	for (const column of ['employee', 'name', 'userId'] as const) {
		const text = column === 'userId' ? facts.userId : facts[column];
		const why = oddity(cells[column], text);
		if (why !== '') row.problems.push(`${headingOf(column)} ${why}.`);
	}
	if (!/\p{L}/u.test(facts.name))
		row.problems.push(`${headingOf('name')} is ${show(textOf(cells.name))}. Write the name.`);
	read(() => {
		const { shown, person, remarks } = employeeIn(cells.employee, now, headingOf('employee'));
		Object.assign(facts, { employee: shown, person });
		return remarks;
	});
	read(() => {
		const { etb, remarks } = amountInCell(cells.amountEtb, now, headingOf('amountEtb'));
		facts.amountEtb = Number(etb);
		return remarks;
	});
	return row;
}

function kindOf(
	{ cells, others }: SourceRow,
	{ employee, name, phone, userId }: Facts,
): ReadRow['kind'] {
	const amount = withoutPlaceholder(visibleText(cells.amountEtb));
	const isNumbered = /\p{N}/u.test(employee);
	const hasNoNumber =
		employee === '' || (!isNumbered && name === '' && phone === '' && userId === '');
	// Formulas go on below the last person, and give zero.
	const hasNoAmount = amount === '' || (name === '' && employee === '' && Number(amount) === 0);
	if (hasNoNumber && hasNoAmount) return 'nobody';
	const words = employee === '' && name === '' ? [...others.values()].map(textOf) : [name];
	return words.some((text) => isTotal(employee, text) === true) ? 'total' : 'person';
}

/** Why a text that others compare by eye cannot be used; empty for nothing. */
function oddity(cell: unknown, text: string): string {
	// What a person did not write.
	if (typeof cell === 'object' && cell !== null && !(cell instanceof Date))
		return `is ${show(cell)}, which is not text`;
	if (isFormulaError(text)) return `is ${show(text)}, which is an error of a formula`;
	if (/[\p{Co}\p{Cn}]/u.test(text) || text.replace(invisible, '') !== text)
		return 'has a letter that nobody can see: write it again by hand';
	return '';
}
