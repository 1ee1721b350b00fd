/**
 * Decides what happens next with each row of the list. Runs again after the answer of the person who approves, and once
 * more when new people have got their wallets.
 * Out: one item for each row; its `next` is where "What next?" sends it.
 */
const settings = $('Settings').first().json;
/** The output of "What next?" that leads to "Create wallets". */
const WALLET_OUTPUT = 1;
const rows = $('Read the rows')
	.all()
	.map(({ json }) => json);
const { about, fileProblem } = rows[0];

/** Items that a node gave on this output, in all its runs. */
function itemsOf(name, output = 0) {
	const items = [];
	for (let run = 0; run <= $runIndex && $(name).isExecuted; run++) {
		try {
			items.push(
				...$(name)
					.all(output, run)
					.map(({ json }) => json),
			);
		} catch {
			// It has not run that often, or gave nothing there.
		}
	}
	return items;
}

const end = (verdict, more) => [{ json: { next: 'end', verdict, about, ...more } }];
if (fileProblem) return end('unreadable', { reason: fileProblem });

/** What looks the same is the same: upper case, blanks and kinds of dashes do not make another person. */
const key = (text) =>
	String(text ?? '')
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[\p{Pd}\u2212]/gu, '-')
		.replace(/\s/g, '');
const money = (amount) =>
	Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const people = $('Everybody')
	.all()
	.map(({ json }) => json)
	.filter(({ employee }) => employee);
const known = new Map(people.map((person) => [key(person.employee), person]));
/** An employee number as a spreadsheet shows it: it drops the zeros before a number, and it stays the same person. */
const withoutZeros = (text) => key(text).replace(/^0+(?=\d)/, '');
/** The rows of a list by what they have in this column. */
function rowsBy(column, some) {
	// Wallets and telephone numbers that differ in zeros are different ones.
	const sameAs = column === 'employee' ? withoutZeros : key;
	const found = new Map();
	for (const each of some) {
		const value = sameAs(each[column]);
		if (value !== '') found.set(value, [...(found.get(value) ?? []), each]);
	}
	return (value) => found.get(sameAs(value)) ?? [];
}
const [ofNumber, ofEmail, ofWallet, ofName, ofPhone] = [
	'employee',
	'email',
	'userId',
	'name',
	'phone',
].map((column) => rowsBy(column, people));
const inList = Object.fromEntries(
	['employee', 'email', 'userId'].map((column) => [column, rowsBy(column, rows)]),
);
const twice = (row, column) => inList[column](row[column]).length > 1;

/** What became of each wallet that was asked for, by employee: the answers come in the order of the questions. */
const answers = itemsOf('Create wallets');
const made = new Map(
	itemsOf('What next?', WALLET_OUTPUT).map(({ employee }, index) => [
		key(employee),
		answers[index],
	]),
);

const lines = rows.map((row) => {
	const person = known.get(key(row.employee));
	const madeNow = made.get(key(row.employee));
	// The table's spelling; without the table, the list's.
	const employee = person?.employee ?? row.employee;
	const tableId = person?.userId || madeNow?.id || '';
	const notThis = (other) => key(other.employee) !== key(row.employee);
	const otherNumber = person === undefined ? ofNumber(row.employee)[0] : undefined;
	// The same for e-1041 and E-1041, for 007 and 7, whatever the table says: a person is paid once for a period.
	const reference = `payroll-${about.period}-${withoutZeros(row.employee).toUpperCase()}`;
	const otherEmail = ofEmail(row.email).find(notThis);
	const otherWallet = ofWallet(row.userId).find(notThis);
	const problems = [
		row.problem,
		otherNumber &&
			`The table of people has ${otherNumber.name || 'somebody'} as ${otherNumber.employee}${otherNumber.lastPeriod === about.period ? `, paid for ${about.period}` : ''}. If that is this person, write ${otherNumber.employee}. Somebody else needs a number that differs in more than zeros`,
		twice(row, 'employee') &&
			`${[...new Set(inList.employee(row.employee).map((each) => each.employee))].join(' or ')} is in the list more than once: leave one row for each person`,
		row.fileReference !== '' &&
			key(row.fileReference) !== key(reference) &&
			`The row has the reference ${row.fileReference}, which is not that of employee ${row.employee}: correct the employee, or empty the reference`,
		twice(row, 'email') && `${row.email} is in the list more than once`,
		twice(row, 'userId') && `The wallet ${row.userId} is in the list more than once`,
		row.userId !== '' &&
			tableId !== '' &&
			row.userId !== tableId &&
			`The list has the wallet ${row.userId}, the table has ${tableId}`,
		otherEmail && `${row.email} belongs to ${otherEmail.employee} in the table`,
		otherWallet && `The wallet ${row.userId} belongs to ${otherWallet.employee} in the table`,
		madeNow?.error &&
			`No wallet could be made: ${[madeNow.error.message ?? madeNow.error, madeNow.error.description].filter(Boolean).join('. ')}`,
	].filter(Boolean);
	const before =
		person?.lastPeriod && person.lastPeriod !== about.period ? person.lastEtb : undefined;
	const change = before ? (row.amountEtb / before - 1) * 100 : 0;
	return {
		...row,
		employee,
		// Whoever the table has with other zeros may be this person.
		mayBePaid: row.mayBePaid || otherNumber !== undefined,
		toUserId: row.userId || tableId,
		reference,
		problem: problems.join('. '),
		paidBefore:
			person?.lastPeriod === about.period
				? { txHash: person.lastTxHash, time: person.lastPaidAt }
				: undefined,
		firstPayment: !person?.lastPeriod,
		// Somebody with a new number would be paid as a new person.
		perhaps: person?.lastPeriod
			? ''
			: [...new Set([...ofName(row.name), ...ofPhone(row.phone)].filter(notThis))]
					.slice(0, 3)
					.map((other) => other.employee)
					.join(', '),
		bigChange: Math.abs(change) > settings.bigChangePercent,
		change:
			before && before !== row.amountEtb
				? `${money(before)} in ${person.lastPeriod}, ${change > 0 ? '+' : ''}${change.toFixed(0)} %`
				: '',
		otherName: person?.name && key(person.name) !== key(row.name) ? person.name : '',
	};
});
const good = lines.filter(({ problem }) => problem === '');
/** What the table and the file know of somebody who is not sent. Of two rows for one employee, one may say more. */
function endIfNotSent(line) {
	if (line.paidBefore) return 'alreadyPaid';
	const rowsOfEmployee = [line, ...inList.employee(line.employee)];
	return rowsOfEmployee.some(({ mayBePaid }) => mayBePaid) ? 'unknown' : 'notPaid';
}
for (const line of lines) line.ifNotSent = endIfNotSent(line);
const leftOut = lines
	.filter(({ problem }) => problem !== '')
	.map((line) => ({
		json: {
			...line,
			next: 'leftOut',
			outcome: line.ifNotSent,
			reason:
				line.ifNotSent === 'unknown'
					? `${line.problem}. Correct this before you settle`
					: line.problem,
		},
	}));
const goOn = (next, all, more) => [
	...all.map((line) => ({ json: { ...line, next, ...more } })),
	...leftOut,
];

// First time: try everybody who can be read. A dry run needs no wallet, so who has none gets a name instead of one.
if (!$('Ask for approval').isExecuted) {
	if (good.length === 0) return goOn('nobody', [{ none: true }]);
	return goOn(
		'pay',
		good.map((line) => ({
			...line,
			toUserId: line.toUserId || `a new wallet for ${line.employee}`,
		})),
		{ approved: false, mode: 'dryRun' },
	);
}

// Somebody has answered, or the time is over.
const answer = itemsOf('Ask for approval').at(-1);
const tried = $('What came of it').first(0, 0).json;
const { approveUntil } = tried;
const { decision, user, submittedAt } = answer;
const by = user && {
	id: user.id,
	name: `${user.firstName} ${user.lastName}`.trim(),
	email: user.email,
};
if (!decision || DateTime.fromISO(submittedAt) > DateTime.fromISO(approveUntil))
	return end('expired', { approveUntil });
if (!decision.startsWith('Approve')) return end('declined', { by });

const ask = (note) => [{ json: { next: 'ask', note } }];
if (!by)
	return ask(
		'Nobody was paid: this page does not know who you are. Set Authentication in "Upload a list" to n8n User Auth.',
	);
if (by.id === about.uploadedBy?.id)
	return ask(`Nobody was paid: ${by.name} uploaded this list, so somebody else must approve it.`);
const approvers = String(settings.approvers ?? '')
	.toLowerCase()
	.split(/[\s,;]+/)
	.filter(Boolean);
if (approvers.length > 0 && !approvers.includes(by.email.toLowerCase()))
	return ask(`Nobody was paid: ${by.email} is not among those who may approve.`);

// Exactly what was on the page: the same people, amounts and wallets, nobody more.
const shown = tried.rows.filter(({ outcome }) => outcome === 'ready');
const now = new Map(lines.map((line) => [line.reference, line]));
const approved = shown.map((each) => ({ each, line: now.get(each.reference) }));
const changed = approved.filter(
	({ each, line }) =>
		!line ||
		(line.problem !== '' && made.size === 0) ||
		line.amountEtb !== each.amountEtb ||
		(each.userId !== '' && line.toUserId !== each.userId),
);
if (changed.length > 0) return end('changed', { by, who: changed.map(({ each }) => each.name) });

const toPay = approved.map(({ line }) => line).filter(({ problem }) => problem === '');
const withoutWallet = toPay.filter(({ toUserId }) => toUserId === '');
if (withoutWallet.length > 0 && made.size === 0) return goOn('wallet', withoutWallet, {});
const decided = { approved: true, mode: 'pay', approvedBy: by, approvedAt: submittedAt };
if (toPay.length === 0) return goOn('nobody', [{ none: true, ...decided }]);
return goOn('pay', toPay, decided);
