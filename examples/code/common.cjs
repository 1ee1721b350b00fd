// The functions and the register that the code of all Code nodes uses; each code begins with this file.
// The items of a node. The parameter is a function, because n8n corrects the name behind a dollar sign when
// somebody renames the node.
const itemsOf = (nodeOf, ...run) => {
	try {
		const items = nodeOf().all(0, ...run);
		return items.map(({ json }) => json);
	} catch {
		return []; // The workflow has no such node, or it did not run.
	}
};
const escapeHtml = (value) =>
	String(value ?? '').replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const amountOf = (row) => Number(row.amountEtb ?? row.paid?.amountEtb ?? row.askedEtb ?? 0);
const sum = (rows) => {
	const total = rows.reduce((before, row) => before + amountOf(row), 0);
	return total.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');
};
const countPeople = ({ length }) => `${length} ${length === 1 ? 'person' : 'people'}`;
const local = (time) => DateTime.fromJSDate(new Date(time)).setZone('Africa/Addis_Ababa');
const isOfOther = ({ workflow }) => workflow && !workflow.endsWith(`(${$workflow.id})`);
const minuteOf = (time) => local(time).toFormat('yyyy-LL-dd HH:mm');
const titles = { unknown: 'UNKNOWN', notPaid: 'Not paid', paid: 'Paid' };
// A settled row does not change any more. One that was settled just now is not read yet.
const settledAt = ({ updatedAt }) => minuteOf(updatedAt || Date.now());
// References have hyphens where the words for people have blanks.
const inWords = (purpose) => String(purpose ?? '').replaceAll('-', ' ');
const forWhat = (row) =>
	[row.period, inWords(row.purpose)].filter(Boolean).join(' ') || 'Other payments';
const hasOutcome = (outcome) => (row) => row.outcome === outcome;
const remarksOf = (row, ...without) =>
	(row.remarks ?? []).filter(({ code }) => !without.includes(code)).map((remark) => remark.text);
const likenessOf = ({ remarks = [] }) =>
	remarks.filter(({ code }) => /^same/.test(code)).map(({ text }) => text);
const rank = ({ outcome }) => ['notPaid', 'unknown', 'paid'].indexOf(outcome);
const whyNot = ({ outcome, problem, message, remedy, reason }) => {
	const told = { notPaid: [message, remedy], unknown: [message] }[outcome] ?? [];
	return problem || reason || told.filter(Boolean).join('. ');
};
// The register, as it was read last. `register` has for each reference the row with the surest outcome. `registered` has all
// rows with that outcome, one for each transaction: two workflows at once can pay one reference.
const registerRows =
	[itemsOf(() => $('Payments now')), itemsOf(() => $('Payments'))].find(
		({ length }) => length > 0,
	) ?? [];
const keyed = registerRows.map((row) => [row.reference || row.id, row]).filter(([key]) => key);
const bySureness = keyed.sort(([, one], [, other]) => rank(one) - rank(other));
const register = new Map(bySureness);
const surest = bySureness.filter(([key, row]) => row.outcome === register.get(key).outcome);
const registered = [...new Map(surest.map(([key, row]) => [`${key} ${row.txHash}`, row])).values()];
// The lines of a page below a name. A reason that is that of the row above stands there once.
const linesOf = (row, index, rows) => {
	const { amountEtb, name, paidAt, txHash, workflow } = { ...row, ...row.paid };
	const [reason, wallet] = [whyNot(row), row.toUserId || row.userId];
	const isRepeated =
		!hasOutcome('paid')(row) && reason !== '' && reason === whyNot(rows[index - 1] ?? {});
	// One that the register does not have as unknown was sent just now.
	const known = register.get(row.reference) ?? row;
	const settled = row.settledBy ? row : known;
	const isOver = hasOutcome('notPaid')(settled) && /^(paid|unknown)$/.test(row.outcome);
	const sentAt = minuteOf((hasOutcome('unknown')(known) && known.updatedAt) || Date.now());
	return [
		row.line && `Row ${row.line}`,
		isRepeated ? 'As above' : reason,
		row.paid && `Paid ${sum([{ amountEtb }])} ETB to ${name}`,
		paidAt && minuteOf(paidAt),
		txHash,
		...(rank(row) < 0
			? remarksOf(row, 'rounded')
			: hasOutcome('notPaid')(row)
				? likenessOf(row)
				: []),
		...(hasOutcome('unknown')(row) ? [`Unknown since ${sentAt}`, row.reference] : []),
		row.inListEtb && `The list says ${sum([{ amountEtb: row.inListEtb }])} ETB`,
		row.approvedBy && `Approved by ${row.approvedBy}`,
		settled.settledBy &&
			`${isOver ? 'First recorded' : 'Recorded'} as ${hasOutcome('paid')(settled) ? 'paid' : 'not paid'} by ${settled.settledBy} at ${settledAt(settled)}`,
		wallet && `Wallet ${wallet}`,
		row.phone && `Telephone ${row.phone}`,
		isOfOther({ workflow }) && `By ${workflow}`,
	];
};
const heading = (title, rows) => {
	const without = rows.filter((row) => !amountOf(row)).length;
	const more = without > 0 ? ` and ${without} whose amount is not shown` : '';
	// People who are only set up have no outcome: nobody is paid there.
	const total = without < rows.length && rows[0].outcome ? `, ${sum(rows)} ETB${more}` : '';
	// A row of a list counts by itself: two people can have one number by mistake.
	const persons = new Set(rows.map((row) => row.line || row.person || row.userId || row.reference));
	const payments = persons.size < rows.length ? `${rows.length} payments to ` : '';
	const text = `${escapeHtml(title)}: ${payments}${countPeople({ length: persons.size })}${total}`;
	// Somebody has to do something for these, so they are red everywhere.
	return /^(UNKNOWN|Not paid)/.test(title) ? `<em>${text}</em>` : text;
};
const section = (title, rows) => {
	const line = (row, index) =>
		`<tr><td><b>${escapeHtml(row.name || row.reference)}</b> ${escapeHtml(row.employee)}<br>${escapeHtml(linesOf(row, index, rows).filter(Boolean).join(' · ').replaceAll('. ·', ' ·'))}</td><td>${amountOf(row) ? sum([row]) : ''}</td></tr>`;
	if (rows.length === 0) return '';
	return `<h3>${heading(title, rows)}</h3><table>${rows.map(line).join('')}</table>`;
};
// The parts of a page for each period and purpose. Not everybody who was paid has to stand on it.
const byPeriod = (rows, showPaid = section) => {
	const names = [...new Set(rows.map(forWhat))].sort().reverse();
	return names.flatMap((name) => {
		const ended = (outcome) =>
			rows.filter((row) => hasOutcome(outcome)(row) && forWhat(row) === name);
		const open = [section('UNKNOWN', ended('unknown')), section('Not paid', ended('notPaid'))];
		return [`<h2>${escapeHtml(name)}</h2>`, ...open, showPaid('Paid', ended('paid'))];
	});
};
// The cells of a payment in a file for people.
const fileRow = (row) => {
	const cells = {
		Period: row.period,
		Purpose: inWords(row.purpose),
		Employee: row.employee,
		Name: row.name,
		Telephone: row.phone,
		Wallet: row.userId,
		'Amount (ETB)': row.askedEtb,
		'Paid (ETB)': hasOutcome('paid')(row) && amountOf(row),
		Result: titles[row.outcome],
		'Time in Addis Ababa': row.paidAt && minuteOf(row.paidAt),
		Transaction: row.txHash,
		'Approved by': row.approvedBy,
		'Settled by': row.settledBy,
		'Settled at': row.settledBy && settledAt(row),
		Reason: row.reason,
		Workflow: row.workflow,
		Reference: row.reference,
	};
	return Object.fromEntries(Object.entries(cells).map(([title, cell]) => [title, cell || '']));
};
const hasRemark =
	(wanted) =>
	({ remarks = [] }) =>
		remarks.some(({ code }) => code === wanted);
// The amount in ETB by which a list has more than a person was paid for the period. A correction that is unknown may have
// been paid, so it counts too.
const unpaidOf = ({ person, period, paid, listedEtb = 0 }) => {
	const corrections = registered.filter(
		(row) =>
			row.person === person &&
			row.period === period &&
			/^correction/.test(row.purpose) &&
			!hasOutcome('notPaid')(row),
	);
	return corrections.reduce((left, row) => left - amountOf(row), listedEtb - amountOf(paid ?? {}));
};
// People who have the name of another number, and its telephone, email or wallet too.
const likeOthers = (rows) => rows.filter((row) => likenessOf(row).length > 1);
const numbersOf = (rows) =>
	rows.map(({ name, employee }) => escapeHtml(`${name} (${employee})`)).join(', ');
const isNoPerson = (row) => row.status === 'noPerson' || hasRemark('total')(row);
const noPersons = (rows) => {
	const seen = rows.map(({ line, name, employee }) => `${line} ${name || employee || ''}`);
	return seen.length > 0 && `<p>Rows that are no person: ${escapeHtml(seen.join(', '))}.</p>`;
};
// A transaction is a `code`, which the style shortens.
const page = (...parts) => {
	const shown = parts.filter(Boolean).join('');
	const zone = /\d\d:\d\d\b/.test(shown) ? '<p>Times are those of Addis Ababa.</p>' : '';
	const html = shown.replace(/\b0x\w{20,}/g, '<code>$&</code>') + zone;
	return { fieldType: 'html', elementName: 'page', html };
};
const formLink = (path, words) => {
	const [n8n] = $execution.resumeFormUrl.split('/form-waiting/');
	return `<a href="${n8n}/form/${path}" target="_blank">${words}</a>`;
};
// The form of Pay salaries from a file, filled in.
const uploadLink = ({ period, purpose }, words) =>
	formLink(`etb-file?period=${period}&purpose=${encodeURIComponent(inWords(purpose))}`, words);
const radio = (fieldName, fieldLabel, options, defaultValue = '') => ({
	fieldType: 'radio',
	requiredField: true,
	fieldName,
	fieldLabel,
	defaultValue,
	fieldOptions: { values: options.map((option) => ({ option })) },
});
