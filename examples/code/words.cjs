// In front of the other code of each workflow.
const all = (node, ...run) => {
	try {
		const items = $(node).all(0, ...run);
		return items.map(({ json }) => json);
	} catch {
		return []; // The workflow has no such node, or it did not run.
	}
};
const text = (value) => String(value ?? '').replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const amountOf = (row) => Number(row.amountEtb ?? row.paid?.amountEtb ?? row.askedEtb ?? 0);
const sum = (rows) => {
	const total = rows.reduce((before, row) => before + amountOf(row), 0);
	return total.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');
};
const people = ({ length }) => `${length} ${length === 1 ? 'person' : 'people'}`;
const local = (time) => DateTime.fromISO(time).setZone('Africa/Addis_Ababa');
const forWhat = (row) => [row.period, row.purpose].filter(Boolean).join(' ') || 'Other payments';
const is = (outcome) => (row) => row.outcome === outcome;
const remarksOf = (row, ...without) =>
	(row.remarks ?? []).filter(({ code }) => !without.includes(code)).map((remark) => remark.text);
const rank = ({ outcome }) => ['notPaid', 'unknown', 'paid'].indexOf(outcome);
const whyNot = ({ outcome, problem, message, remedy, reason }) => {
	const told = { notPaid: [message, remedy], unknown: [message] }[outcome] ?? [];
	return problem || reason || told.filter(Boolean).join('. ');
};
// The rows of the register, as it was read last: of each reference those that know most, and each transaction, because two workflows
// at once can pay one.
const afterAsking = all('Payments now');
const table = afterAsking.length > 0 ? afterAsking : all('Payments');
const keyed = table.map((row) => [row.reference || row.id, row]).filter(([key]) => key);
const sorted = keyed.sort(([, one], [, other]) => rank(one) - rank(other));
const register = new Map(sorted);
const best = sorted.filter(([key, row]) => row.outcome === register.get(key).outcome);
const registered = [...new Map(best.map(([key, row]) => [`${key} ${row.txHash}`, row])).values()];
// The time at which the register got a payment as unknown. One that it does not have so yet was sent just now.
const sentAt = ({ reference }) => {
	const [known] = [register.get(reference) ?? {}].filter(is('unknown'));
	const updatedAt = known?.updatedAt ?? Date.now();
	return local(new Date(updatedAt).toISOString()).toFormat('yyyy-LL-dd HH:mm');
};
// What a page says below a name. A reason that is that of the row above stands there once.
const tell = (row, index, rows) => {
	const { amountEtb, name, paidAt, txHash, workflow } = { ...row, ...row.paid };
	const [reason, wallet] = [whyNot(row), row.toUserId || row.userId];
	const isRepeated = reason !== '' && index > 0 && reason === whyNot(rows[index - 1]);
	return [
		...[row.line && `Row ${row.line}.`, isRepeated ? 'As above.' : reason],
		row.paid && `Paid ${sum([{ amountEtb }])} ETB to ${name}`,
		...[paidAt && local(paidAt).toFormat('yyyy-LL-dd HH:mm'), txHash],
		...(rank(row) < 0 ? remarksOf(row, 'rounded') : []),
		is('unknown')(row) && `Sent ${sentAt(row)}`,
		...[wallet && `Wallet ${wallet}`, row.phone, is('unknown')(row) && row.reference],
		workflow && `by ${workflow}`,
	];
};
const heading = (title, rows) => {
	const without = rows.filter((row) => !amountOf(row)).length;
	const more = without > 0 ? ` and ${without} without an amount` : '';
	const total = without < rows.length ? `, ${sum(rows)} ETB${more}` : '';
	return `${text(title)}: ${people(rows)}${total}`;
};
const section = (title, rows) => {
	const line = (row, index) =>
		`<tr><td><b>${text(row.name || row.reference)}</b> ${text(row.employee)}<br>${tell(row, index, rows).filter(Boolean).map(text).join(' ')}</td><td>${amountOf(row) ? sum([row]) : ''}</td></tr>`;
	if (rows.length === 0) return '';
	return `<h3>${heading(title, rows)}</h3><table>${rows.map(line).join('')}</table>`;
};
const isNoPerson = ({ status, remarks = [] }) =>
	status === 'noPerson' || remarks.some(({ code }) => code === 'total');
const noPersons = (rows) => {
	const seen = rows.map(({ line, name, employee }) => `${line} ${name || employee || ''}`);
	return seen.length > 0 && `<p>Rows that are no person: ${text(seen.join(', '))}.</p>`;
};
// A transaction is a `code`, which the style shortens.
const page = (...parts) => {
	const html = parts
		.filter(Boolean)
		.join('')
		.replace(/\b0x\w{20,}/g, '<code>$&</code>');
	return { fieldType: 'html', elementName: 'page', html };
};
const radio = (fieldName, fieldLabel, options, defaultValue = '') => {
	const fieldOptions = { values: options.map((option) => ({ option })) };
	const field = { fieldType: 'radio', requiredField: true, fieldOptions, defaultValue };
	return { ...field, fieldName, fieldLabel };
};
