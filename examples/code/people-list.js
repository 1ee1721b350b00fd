// Checks the whole list, and passes on who is new. If anything is wrong with it, nobody is set up.

const COLUMNS = 'employee,name,email,salaryEtb,payroll';

/** The values of one line; undefined when a double quote stands in a strange place. */
function readLine(line, separator) {
	// Either in double quotes, where two quotes mean one, or without any.
	const value = new RegExp(`^\\s*(?:"((?:[^"]|"")*)"|([^"${separator}]*))\\s*(?=${separator}|$)`);
	const values = [];
	for (let rest = line; ; ) {
		const [all, quoted, bare] = value.exec(rest) ?? [];
		if (all === undefined) return undefined;
		values.push((quoted?.replaceAll('""', '"') ?? bare).trim());
		if (all.length === rest.length) return values;
		rest = rest.slice(all.length + 1);
	}
}

const text = String($('People (CSV)').first().json.csv)
	.replace(/^\ufeff/, '')
	.trim();
const separator = text.split(/\r|\n/)[0].includes(';') ? ';' : ',';
const [header, ...lines] = text.split(/\r\n|\n|\r/).map((line) => readLine(line, separator));

// A table without anybody comes as one item without an id.
const inTable = $input
	.all()
	.map(({ json }) => json)
	.filter(({ id }) => id !== undefined);
/** The rows of the table by what they have in these columns; the first one counts. */
const [byEmployee, byEmail] = ['employee', 'email'].map(
	(column) => new Map(inTable.toReversed().map((row) => [plain(row[column], column), row])),
);
const rowWith = (rows, column, value) =>
	value === '' ? undefined : rows.get(plain(value, column));

const problems = [];
if (header?.join(',') !== COLUMNS) problems.push(`the first line is not ${COLUMNS}`);
else if (lines.length === 0) problems.push('the list is empty');

const seen = new Map();
/** What is wrong with one line; empty when it can be used. */
function problemOf(values) {
	if (values === undefined) return 'a double quote stands in a strange place';
	const [employee, , email, salaryEtb, payroll] = values;
	if (values.length !== 5)
		return `there are ${values.length} values instead of 5. Put a value with a ${separator} in it into double quotes`;
	if (employee === '') return 'there is no employee';
	const amount = readEtb(salaryEtb);
	if (amount === undefined) return refusedAmount(salaryEtb);
	if (!PAYROLLS.includes(payroll))
		return `the payroll is ${payroll || 'empty'} instead of ${PAYROLLS.join(' or ')}`;
	for (const [column, value] of Object.entries({ employee, email })) {
		const key = `${column} ${plain(value, column)}`;
		if (value !== '' && seen.has(key))
			return `the ${column} ${value} is that of ${seen.get(key)}, too`;
		seen.set(key, employee);
	}
	const known = rowWith(byEmployee, 'employee', employee);
	const sameEmail = rowWith(byEmail, 'email', email);
	if (sameEmail !== undefined && sameEmail !== known)
		return `the email ${email} is that of ${sameEmail.employee} in the table`;
	if (known === undefined) return '';
	if (plain(known.employee) !== plain(employee))
		return `the table has ${known.name} as ${known.employee}. If that is this person, write ${known.employee}. Somebody else needs a number that differs in more than zeros`;
	// The table counts. A list that says something else is an error, so that nobody believes it.
	if (readEtb(known.salaryEtb) !== amount)
		return `the salary is ${salaryEtb} here and ${known.salaryEtb} in the table. Correct the one that is wrong`;
	if (known.payroll !== payroll)
		return `the payroll is ${payroll} here and ${known.payroll} in the table. Correct the one that is wrong`;
	return '';
}

if (problems.length === 0) {
	lines.forEach((line, index) => {
		const problem = problemOf(line);
		const [employee = '', name = ''] = line ?? [];
		if (problem !== '') problems.push(`line ${index + 2} (${employee} ${name}): ${problem}`);
	});
}
const newPeople = () =>
	lines
		.map(([employee, name, email, salaryEtb, payroll]) => ({
			json: { problem: '', employee, name, email, salaryEtb: readEtb(salaryEtb), payroll },
		}))
		.filter(({ json }) => rowWith(byEmployee, 'employee', json.employee) === undefined);

const items = problems.length > 0 ? [{ json: { problem: problems.join('; ') } }] : newPeople();
