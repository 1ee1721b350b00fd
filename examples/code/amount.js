// Reads an amount as people write it: decimal text such as "12400.50", or undefined if it could mean two things.

/** What somebody wrote, without blanks around it; empty for nothing. */
const textOf = (value) => String(value ?? '').trim();

/**
 * Taken: 12400  12400.5  12400,50  12 400  12,400.50  12.400,50  1,234,567
 * Refused: 12,400 and 12.400, because one separator before three digits may be a thousand or a decimal point.
 */
function readEtb(written) {
	const text = textOf(written);
	// One kind of separator for thousands, in groups of three, then another one for at most two decimals.
	const match =
		/^(?<whole>\d{1,12}|\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,3})(?:[.,](?<cents>\d{1,2}))?$/.exec(
			text,
		) ??
		/^(?<whole>\d{1,3}(?:,\d{3}){1,3})\.(?<cents>\d{1,2})$/.exec(text) ??
		/^(?<whole>\d{1,3}(?:\.\d{3}){1,3}),(?<cents>\d{1,2})$/.exec(text) ??
		/^(?<whole>\d{1,3}(?:,\d{3}){2,3}|\d{1,3}(?:\.\d{3}){2,3})$/.exec(text);
	if (match === null) return undefined;
	const { whole, cents = '' } = match.groups;
	const amount = `${whole.replace(/\D/g, '')}.${cents.padEnd(2, '0')}`;
	return Number(amount) > 0 ? amount : undefined;
}

const refusedAmount = (written) =>
	textOf(written) === ''
		? 'the salary is empty'
		: `the salary ${textOf(written)} is not clear. Write it like 12400 or 12400.50`;

/**
 * What is compared to see whether two values of a column are the same: no case, no blanks, one kind of dashes. A
 * spreadsheet drops the zeros before an employee number, and the person stays the same.
 */
const plain = (value, column) =>
	String(value ?? '')
		.normalize('NFKC')
		.replace(/\s+|^['’]/g, '')
		.replace(/[\p{Pd}\u2212]/gu, '-')
		.toLowerCase()
		.replace(column === 'employee' ? /^0+(?=\d)/ : '', '');

/** The payrolls that a person can belong to; each of them is an example. Add the name of yours. */
const PAYROLLS = ['monthly', 'gate'];
