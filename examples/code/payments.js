// Makes one payment for each person of this payroll in the data table.

const { period, payroll, payDay } = $('Period').first().json;
if (!Number.isInteger(payDay) || payDay < 1 || payDay > 28)
	throw new Error(
		`Nobody was paid, because payDay in Period is ${payDay} instead of a whole number from 1 to 28.`,
	);
// Whoever writes a period by hand must not pay everybody for one that nobody knows, nor early.
const due = $now
	.setZone('Africa/Addis_Ababa')
	.minus({ days: payDay - 1 })
	.startOf('month');
const [oldest, newest] = [due.minus({ months: 12 }), due].map((month) => month.toFormat('yyyy-MM'));
if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(period) || period < oldest || period > newest)
	throw new Error(
		`Nobody was paid, because period in Period is ${period} instead of a month from ${oldest} to ${newest}.`,
	);
// A period that somebody left there by hand would end in green every month, and nobody would be paid.
if ($execution.mode === 'production' && period !== newest)
	throw new Error(
		`Nobody was paid, because this run is for ${period}, and ${newest} is due. Set period in Period back to its expression. For another month choose Execute workflow.`,
	);

// A table without anybody comes as one item without an id.
const everybody = $input
	.all()
	.map(({ json }) => json)
	.filter(({ id }) => id !== undefined);

/** The columns in which two people cannot have the same, each with who has which value. */
const columns = ['employee', 'email', 'userId'].map((column) => {
	const byValue = new Map();
	for (const person of everybody) {
		const value = plain(person[column], column);
		if (value !== '') byValue.set(value, [...(byValue.get(value) ?? []), person]);
	}
	return { column, byValue };
});

const FINDINGS = ['paid', 'notPaid', 'recordPaid'];

/**
 * What somebody found out, written as "2026-10 paid", in the word that Settle Unknown takes. A finding about an earlier
 * period is `unclear` here. One that cannot be read is a text that the node refuses, and that keeps the person from being paid.
 */
function findingOf(person) {
	const text = textOf(person.finding);
	if (text === '') return 'unclear';
	const [, of, word = ''] = /^(\d{4}-(?:0[1-9]|1[0-2]))\s+(\w+)$/.exec(text) ?? [];
	const finding = FINDINGS.find((each) => each.toLowerCase() === word.toLowerCase());
	if (finding === undefined || of > period) return `${text}, not like ${period} paid`;
	return of === period ? finding : 'unclear';
}

/** Why this person cannot be paid; empty when they can. */
function problemOf(person) {
	if (!PAYROLLS.includes(person.payroll))
		return `The payroll is ${person.payroll || 'empty'} instead of ${PAYROLLS.join(' or ')}. Correct it in the table.`;
	if (plain(person.employee) === '') return 'There is no employee. Correct it in the table.';
	if (payroll === 'gate' && findingOf(person) !== 'unclear')
		return `The finding in the table is ${person.finding}, which the pay gate does not read, so it was not asked. Settle at its desk, and empty the finding.`;
	if (plain(person.userId) === '')
		return 'There is no userId. Run Set up people to pay, or write it into the table.';
	if (readEtb(person.salaryEtb) === undefined)
		return `In the table ${refusedAmount(person.salaryEtb)}.`;
	for (const { column, byValue } of columns) {
		const other = byValue.get(plain(person[column], column))?.find((each) => each !== person);
		if (other !== undefined)
			return `${other.name || other.employee} has the same ${column} in the table. Correct the table: until then neither is paid.`;
	}
	return '';
}

const people = everybody.filter(
	(person) => person.payroll === payroll || !PAYROLLS.includes(person.payroll),
);
const nobody = {
	...{ employee: '', name: 'Nobody', toUserId: '', amountEtb: '', reference: '' },
	problem: `Nobody in the table ETB people to pay belongs to the payroll ${payroll}. Run Set up people to pay first.`,
};

function paymentOf(person) {
	const problem = problemOf(person);
	return {
		employee: person.employee,
		name: person.name || person.employee,
		// Who has a problem goes on without a user ID: the next node refuses that payment, and makes the others.
		toUserId: problem === '' ? person.userId.trim() : '',
		amountEtb: readEtb(person.salaryEtb) ?? '',
		// The same when somebody writes the number in another way: a person is paid once for a period.
		reference: `payroll-${period}-${plain(person.employee, 'employee').toUpperCase()}`,
		finding: findingOf(person),
		written: textOf(person.finding),
		problem,
	};
}

const items = (people.length === 0 ? [nobody] : people.map(paymentOf)).map((json) => ({ json }));
