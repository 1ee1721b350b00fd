// In front of the other code of a workflow.
const all = (node, ...run) => {
	try {
		return $(node).isExecuted
			? $(node)
					.all(0, ...run)
					.map(({ json }) => json)
			: [];
	} catch {
		return []; // There is no such node in this workflow, or no such run.
	}
};
const text = (value) =>
	String(value ?? '').replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const amountOf = (row) => Number(row.amountEtb ?? row.askedEtb ?? 0);
const money = (amount) =>
	Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const sum = (rows) =>
	money(rows.reduce((total, row) => total + Math.round(amountOf(row) * 100), 0) / 100);
const people = (rows) => `${rows.length} ${rows.length === 1 ? 'person' : 'people'}`;
const timeOf = (time) =>
	time ? DateTime.fromISO(time).setZone('Africa/Addis_Ababa').toFormat('yyyy-LL-dd HH:mm') : '';
const is = (outcome) => (row) => row.outcome === outcome;
const has =
	(...codes) =>
	({ remarks = [] }) =>
		remarks.some(({ code }) => codes.includes(code));
const rank = { notPaid: 1, unknown: 2, paid: 3 };
// (n8n's expressions have a `values()` of their own, which knows no Map.)
const registered = () => {
	const rows = new Map(); // The most that is known of each reference.
	for (const row of [...all('Payments'), ...all('Payments now')])
		if ((rank[row.outcome] ?? 0) >= (rank[rows.get(row.reference)?.outcome] ?? 0))
			rows.set(row.reference, row);
	return [...rows].map(([, row]) => row).filter(({ reference }) => reference);
};
