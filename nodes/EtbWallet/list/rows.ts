/** Reads the rows of a list: who each is for, how much, and what cannot be read. */
import { asInvalidValue, show } from '../../shared/invalidValue';
import { invisible, phoneOf } from '../../shared/lookalikes';
import { amountInCell } from './amounts';
import { isFormulaError, textOf, visibleText, withoutPlaceholder } from './cells';
import type { Column, SourceRow } from './headings';
import type { Person } from './known';
import { employeeIn, isTotal } from './people';
import { remark, type Remark } from './remarks';

/** A row, as far as it can be read. */
export interface ReadRow {
	source: SourceRow;
	/** `nobody`: without a number, an amount, and a wallet or telephone, such as a title or a signature. */
	kind: 'person' | 'total' | 'nobody';
	person: Person;
	/** Why nobody can be paid for it. */
	problems: string[];
	remarks: Remark[];
}

/** @param headingOf how errors call a column */
export function readRow(
	source: SourceRow,
	now: Date,
	headingOf: (column: Column) => string,
): ReadRow {
	const { cells } = source;
	const textIn = (column: Column): string => withoutPlaceholder(visibleText(cells[column]));
	const person: Person = {
		...{ employee: textIn('employee'), key: '', name: textIn('name') },
		...{ phone: textIn('phone'), email: textIn('email') },
		// It is sent as it is.
		userId: withoutPlaceholder(textOf(cells.userId)),
	};
	const kind = kindOf(source, person);
	const [problems, remarks]: [string[], Remark[]] = [[], []];
	const read = (take: () => { remarks: Remark[] }): void => {
		try {
			const { remarks: found, ...facts } = take();
			Object.assign(person, facts);
			remarks.push(...found);
		} catch (error) {
			const { message, remedy } = asInvalidValue(error);
			problems.push(`${message}. ${remedy}`);
		}
	};
	if (kind !== 'person') return { source, kind, person, problems, remarks };
	const comma = 'In a CSV file put a value with a comma into quotes "…".';
	if (source.isTooLong) problems.push(`There are more values than headings. ${comma}`);
	for (const column of ['employee', 'name', 'userId'] as const) {
		const why = oddity(cells[column], person[column]);
		if (why !== '') problems.push(`${headingOf(column)} ${why}.`);
	}
	if (!/\p{L}/u.test(person.name))
		problems.push(`${headingOf('name')} is ${show(textOf(cells.name))}. Write the name.`);
	read(() => employeeIn(cells.employee, now, headingOf('employee')));
	read(() => amountInCell(cells.amountEtb, now, headingOf('amountEtb')));
	if (isTotal(person.employee, person.name) === 'perhaps') remarks.push(remark('totalWord'));
	return { source, kind, person, problems, remarks };
}

function kindOf({ cells, others }: SourceRow, person: Person): ReadRow['kind'] {
	const { employee, name, phone, userId } = person;
	const amount = withoutPlaceholder(visibleText(cells.amountEtb));
	// A title may stand in the column of numbers. Formulas go on below the last person, and give zero.
	const isTitle = !/\p{N}/u.test(employee) && name + phone + userId === '';
	const isZero = Number(amount) === 0 && employee + name === '';
	// Somebody to pay, whose number and amount are missing. A signature may have words beside it.
	const isReachable = name !== '' && (phoneOf(phone) !== '' || /^\S+$/.test(userId));
	const isEmpty = (employee === '' && !isReachable) || isTitle;
	if (isEmpty && (amount === '' || isZero)) return 'nobody';
	const names = employee + name === '' ? [...others.values()].map(textOf) : [name];
	return names.some((text) => isTotal(employee, text) === true) ? 'total' : 'person';
}

/** Why a text that people compare by eye cannot be used; empty for nothing. */
function oddity(cell: unknown, text: string): string {
	const isText = ['string', 'number', 'undefined'].includes(typeof cell);
	if (!isText && cell !== null && !(cell instanceof Date))
		return `is ${show(cell)}, which is not text`;
	if (isFormulaError(text)) return `is ${show(text)}, which is an error of a formula`;
	const isUnseen = /[\p{Co}\p{Cn}]/u.test(text) || text.replace(invisible, '') !== text;
	return isUnseen ? 'has a letter that nobody can see: write it again by hand' : '';
}
