// In front of the other code of a workflow.
const all = (node, ...run) => {
	try {
		const items = $(node).isExecuted ? $(node).all(0, ...run) : [];
		return items.map(({ json }) => json);
	} catch {
		return []; // This workflow has no such node, or it had no such run.
	}
};
const text = (value) => String(value ?? '').replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const amountOf = (row) => Number(row.amountEtb ?? row.askedEtb ?? 0);
const money = (amount) => amount.toFixed(2).replace(/\B(?=(\d{3})+\.)/g, ',');
const sum = (rows) => money(rows.reduce((total, row) => total + amountOf(row), 0));
const people = (rows) => `${rows.length} ${rows.length === 1 ? 'person' : 'people'}`;
const local = (time) => DateTime.fromISO(time).setZone('Africa/Addis_Ababa');
const timeOf = (time) => (time ? local(time).toFormat('yyyy-LL-dd HH:mm') : '');
const is = (outcome) => (row) => row.outcome === outcome;
const remarksOf = (row, ...codes) => (row.remarks ?? []).filter(({ code }) => codes.includes(code));
const whyNot = ({ problem, message, remedy, outcome }) =>
	problem || [message, outcome === 'notPaid' && remedy].filter(Boolean).join('. ');
const rank = (row) => ['notPaid', 'unknown', 'paid'].indexOf(row?.outcome);
const registered = () => {
	const rows = new Map(); // The most that is known of each reference.
	for (const row of [...all('Payments'), ...all('Payments now')])
		if (rank(row) >= rank(rows.get(row.reference))) rows.set(row.reference, row);
	return [...rows].map(([, row]) => row).filter(({ reference }) => reference);
};
const section = (title, rows, about = () => '') => {
	const line = (row) =>
		`<tr><td><b>${text(row.name || row.reference)}</b> ${text(row.employee)}<br>${about(row)}</td><td>${amountOf(row) ? money(amountOf(row)) : ''}</td></tr>`;
	const total = rows.some(amountOf) ? `, ${sum(rows)} ETB` : '';
	if (rows.length === 0) return '';
	return `<h3>${title}: ${people(rows)}${total}</h3><table>${rows.map(line).join('')}</table>`;
};
const radio = (fieldName, fieldLabel, options, defaultValue = '') => {
	const fieldOptions = { values: options.map((option) => ({ option })) };
	return {
		fieldType: 'radio',
		requiredField: true,
		fieldName,
		fieldLabel,
		fieldOptions,
		defaultValue,
	};
};
