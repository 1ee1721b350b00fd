/**
 * Reads the rows of the file: strictly, but as people write them. A row that cannot be read for certain is not guessed:
 * it gets a problem, and nobody is paid for it.
 * In: one item for each row of the sheet, as a list of cells. Out: one item for each row below the headings.
 */
const ZONE = 'Africa/Addis_Ababa';
const { payDay } = $('Settings').first().json;
const upload = $('Upload a list').first().json;

/** The columns, and how their headings may be written. Upper case, blanks and signs do not count. */
const HEADINGS = {
	employee: ['employee', 'employeeno', 'employeenumber', 'employeeid', 'staffno', 'staffid'],
	name: ['name', 'fullname', 'employeename'],
	email: ['email', 'emailaddress'],
	phone: ['phone', 'phonenumber', 'mobile', 'mobilenumber', 'telephone'],
	amountEtb: ['amountetb', 'amount', 'salaryetb', 'salary', 'netsalary', 'netsalaryetb', 'netpay'],
	userId: ['userid', 'wallet', 'walletid'],
	finding: ['finding'],
	outcome: ['outcome'],
	reference: ['reference'],
	time: ['time'],
};

/** A CSV file without a mark of its encoding arrives as single bytes: UTF-8 if they are valid UTF-8, else Windows-1252. */
function decoded(text) {
	if (!/[\u0080-\u00ff]/.test(text) || /[^\u0000-\u00ff]/.test(text)) return text;
	const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}

/** What is written in a cell: one kind of blank, composed letters, without ="…" around a number that must stay text. */
const written = (cell) =>
	decoded(String(cell ?? ''))
		.normalize('NFC')
		.replace(/^="(.*)"$/, '$1')
		.replace(/\s+/g, ' ')
		.trim();

/** Ethiopian mobile numbers in one form, however they are written: 0911…, 911…, 251911…, +251911… */
function phoneNumber(text) {
	const digits = text.replace(/[\s().-]/g, '');
	const [, mobile] = /^(?:\+?251|00251|0)?([79]\d{8})$/.exec(digits) ?? [];
	if (mobile) return `+251${mobile}`;
	return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}

/** "12400", "12,400.50", "12 400", "12.400,50", "12400 ETB": the text without currency and blanks. */
const amountText = (cell) =>
	typeof cell === 'number'
		? cell
		: written(cell)
				.replace(/^(?:ETB|Birr|Br\.?|ብር)\s*|\s*(?:ETB|Birr|Br\.?|ብር)$/gi, '')
				.replace(/(\d)[ '’](?=\d{3}(?:\D|$))/g, '$1');

/** Which sign groups thousands, as far as this text shows it: two groups, or a group and decimals, can only be read in one way. */
function thousandsSign(text) {
	if (/^\d{1,3}(,\d{3}){2,}$|^\d{1,3}(,\d{3})+\.\d{1,2}$/.test(text)) return ',';
	if (/^\d{1,3}(\.\d{3}){2,}$|^\d{1,3}(\.\d{3})+,\d{1,2}$/.test(text)) return '.';
	return undefined;
}

/** Reads an amount in ETB. `groups` is the thousands sign that the rest of the file shows, if it shows one. */
function readAmount(cell, groups) {
	const text = amountText(cell);
	if (text === '') return { problem: 'The amount is empty' };
	if (typeof text === 'number') {
		// A calculation leaves 9500.500000000001.
		const amountEtb = Math.round(text * 100) / 100;
		if (Math.abs(text - amountEtb) > 1e-6)
			return { problem: `The amount ${text} has more than two decimals` };
		return amountEtb > 0 ? { amountEtb } : { problem: `The amount is ${text}` };
	}
	if (!/^\d[\d.,]*$/.test(text)) return { problem: `The amount "${text}" is not a number` };
	const own = thousandsSign(text);
	if (!own && /^\d{1,3}[.,]\d{3}$/.test(text) && !groups) {
		const [large, small] = [text.replace(/[.,]/, ''), text.replace(',', '.')];
		return {
			problem: `The amount "${text}" can be ${large} or ${Number(small)}: write ${large}.00 or ${Number(small)}`,
		};
	}
	const sign = own ?? groups;
	const grouped = sign && new RegExp(`^\\d{1,3}(\\${sign}\\d{3})+([.,]\\d{1,2})?$`).test(text);
	const plain = (grouped ? text.replaceAll(sign, '') : text).replace(',', '.');
	if (!/^\d{1,12}(\.\d{1,2})?$/.test(plain)) {
		const many = /^\d+\.\d{3,}$/.test(plain);
		return {
			problem: `The amount "${text}" ${many ? 'has more than two decimals' : 'is not a number'}`,
		};
	}
	return Number(plain) > 0 ? { amountEtb: Number(plain) } : { problem: `The amount is ${text}` };
}

/**
 * The period runs from its pay day to the day before the next one. An empty field is the period of the day of the upload,
 * also when this execution is retried later.
 */
function readPeriod(text) {
	const uploaded = DateTime.fromISO(upload.submittedAt, { zone: ZONE });
	if (!uploaded.isValid) throw new Error('The upload does not say when it was made');
	const current = uploaded.minus({ days: payDay - 1 }).startOf('month');
	const due = current.toFormat('yyyy-MM');
	if (text === '') return { period: due, due };
	const wanted = DateTime.fromFormat(text.replace(/[/.]/, '-'), 'yyyy-M', { zone: ZONE });
	if (!wanted.isValid)
		return {
			problem: `The period "${text}" cannot be read: write it like ${due}`,
		};
	const period = wanted.toFormat('yyyy-MM');
	if (wanted > current)
		return {
			problem: `The period ${period} has not begun: its pay day is ${wanted.set({ day: payDay }).toFormat('d LLLL yyyy')}`,
		};
	if (wanted < current.minus({ months: 12 }))
		return { problem: `The period ${period} is more than a year ago` };
	return { period, due };
}

/**
 * What the service said about somebody's payment of a period, such as "2026-10 paid", in the word that Settle Unknown
 * takes. Any other one is a text that the node refuses, and that keeps the person from being paid.
 */
function readFinding(text) {
	if (text === '') return 'unclear';
	const [, of, word = ''] = /^(\d{4}-\d{2}) ((?:not ?|record ?)?paid)$/i.exec(text) ?? [];
	if (of !== period) return `${text}, not like ${period} paid`;
	const FINDINGS = { n: 'notPaid', r: 'recordPaid', p: 'paid' };
	return FINDINGS[word[0].toLowerCase()];
}

const { period, due, problem: periodProblem } = readPeriod(written(upload.period));
const about = {
	period,
	due,
	fileName: upload.list?.filename ?? 'the file',
	uploadedBy: upload.user && {
		id: upload.user.id,
		name: `${upload.user.firstName} ${upload.user.lastName}`.trim(),
		email: upload.user.email,
	},
};
const cannotBeUsed = (problem) => [{ json: { about, fileProblem: problem } }];
if (periodProblem) return cannotBeUsed(periodProblem);

const sheet = $input.all().map(({ json }) => json.row);
if (!sheet.every(Array.isArray))
	return cannotBeUsed(`${about.fileName} is not an Excel, LibreOffice or CSV file, or is damaged`);

/** Names of the columns in this row, if it is the one with the headings. */
const columnsOf = (row) =>
	row.map((cell) => {
		const heading = written(cell)
			.toLowerCase()
			.replace(/[^a-z]/g, '');
		return Object.keys(HEADINGS).find((column) => HEADINGS[column].includes(heading));
	});
// People write a title above the headings.
const top = sheet.slice(0, 10).findIndex((row) => {
	const columns = columnsOf(row);
	return columns.includes('employee') && columns.includes('amountEtb');
});
if (top === -1)
	return cannotBeUsed(
		`${about.fileName} has no headings: one row must have at least "employee", "name" and "amountEtb"`,
	);
const columns = columnsOf(sheet[top]);
const twice = Object.keys(HEADINGS).find(
	(column) => columns.filter((each) => each === column).length > 1,
);
if (twice) return cannotBeUsed(`${about.fileName} has two columns for "${twice}"`);
if (!columns.includes('name')) return cannotBeUsed(`${about.fileName} has no column "name"`);
/** The columns that still-to-pay.xlsx has besides those that are read. */
const ours = ['line', 'txHash', 'reason', 'approvedBy'];
const unknownColumns = sheet[top]
	.filter((cell, index) => columns[index] === undefined && written(cell) !== '')
	.map(written)
	.filter((column) => !ours.includes(column));
const misnamed = unknownColumns.find((column) => /^\W*finding/i.test(column));
if (misnamed)
	return cannotBeUsed(`${about.fileName} has a column "${misnamed}": its name must be "finding"`);

const rows = sheet
	.map((cells, index) => ({ cells, line: index + 1 }))
	.slice(top + 1)
	.filter(({ cells }) => cells.some((cell) => written(cell) !== ''));
if (rows.length === 0) return cannotBeUsed(`${about.fileName} has nobody in it`);

const cellOf = ({ cells }, column) =>
	columns.includes(column) ? cells[columns.indexOf(column)] : '';
const textIn = (row, column) => written(cellOf(row, column));
/** What is written there, with one kind of dash. */
const plainIn = (row, column) =>
	textIn(row, column)
		.normalize('NFKC')
		.replace(/[\p{Pd}\u2212]/gu, '-');
/** The reference of this workflow's payment that the row names, as still-to-pay.xlsx has it; empty for any other one. */
const referenceIn = (row) => /payroll-\d{4}-\d{2}-.*/i.exec(plainIn(row, 'reference'))?.[0] ?? '';
/** The period that a text names, such as 2026-09, 2026/9 or payroll-2026-09-E-1. */
const periodIn = (text) => {
	const [, year, month] = /(?<!\d)(20\d\d) ?[-/._ ] ?(0?[1-9]|1[0-2])(?!\d)/.exec(text) ?? [];
	return year && `${year}-${month.padStart(2, '0')}`;
};
const named = new Set(
	rows
		.flatMap((row) => [referenceIn(row), plainIn(row, 'finding')])
		.map(periodIn)
		.filter(Boolean),
);
if (named.size > 1)
	return cannotBeUsed(
		`${about.fileName} is about several periods, ${[...named].sort().join(' and ')}: make a file for each of them, or empty what is old in the columns finding and reference`,
	);
for (const other of named) {
	if (other === period) continue;
	const lead = readPeriod(other).problem ?? `For ${other}, write that into Period`;
	return cannotBeUsed(
		`${about.fileName} is about ${other}, and this upload is for ${period}. ${lead}. For ${period}, empty the columns finding and reference`,
	);
}
const signs = new Set(
	rows.map((row) => thousandsSign(String(amountText(cellOf(row, 'amountEtb'))))).filter(Boolean),
);
const groups = signs.size === 1 ? [...signs][0] : undefined;

/** Control characters, zero-width and direction marks: two names that look the same must be the same. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u;

return rows.map((row, index) => {
	const [employeeText, name, email, phone, userId] = [
		'employee',
		'name',
		'email',
		'phone',
		'userId',
	].map((column) => textIn(row, column));
	// A person whose number is a telephone number is the same person, however it is written.
	const employee = /^[+\d\s().-]{9,}$/.test(employeeText)
		? (phoneNumber(employeeText) ?? employeeText)
		: employeeText;
	const amount = readAmount(cellOf(row, 'amountEtb'), groups);
	const found = textIn(row, 'finding');
	const reference = referenceIn(row);
	const problems = [
		row.cells.some((cell, column) => written(sheet[top][column]) === '' && written(cell) !== '') &&
			'The row has more values than there are headings: put a value with a comma in quotes',
		[employee, name, email, userId].some((text) => INVISIBLE.test(text)) &&
			'The row has an invisible character: type its values again',
		employee === '' &&
			'There is no employee number: if the row is nobody, such as a total, delete it',
		employee.length > 100 && 'The employee number is longer than 100 letters',
		name === '' && 'There is no name',
		email !== '' &&
			!/^[^\s@,;]+@[^\s@,;]+\.[^\s@.,;]{2,}$/.test(email) &&
			`"${email}" is not an email address`,
		phone !== '' && phoneNumber(phone) === undefined && `"${phone}" is not a telephone number`,
		amount.problem,
	].filter(Boolean);
	return {
		json: {
			...(index === 0 && { about: { ...about, unknownColumns } }),
			line: row.line,
			employee,
			name,
			email: email.toLowerCase(),
			phone: phoneNumber(phone) ?? phone,
			userId,
			// As it was written, where it could not be read: the file of those who are left is corrected and put in again.
			amountEtb: amount.amountEtb ?? textIn(row, 'amountEtb'),
			finding: readFinding(found),
			// As it was written, for still-to-pay.xlsx, which a person uploads again.
			found,
			// It must be that of this employee. Without it the columns outcome and time may be left of another month.
			fileReference: reference,
			mayBePaid:
				found !== '' ||
				(reference !== '' && /^(unknown|paid|alreadyPaid)$/i.test(textIn(row, 'outcome'))),
			sentAt: reference === '' ? '' : textIn(row, 'time'),
			problem: problems.join('. '),
		},
	};
});
