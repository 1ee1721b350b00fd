const rows = registered();
const section = (title, some) =>
	some.length === 0
		? ''
		: `<h3>${title}: ${people(some)}, ${sum(some)} ETB</h3><table>${some.map((row) => `<tr><td><b>${text(row.name ?? row.reference)}</b> ${text(row.employee)}<br>${text(row.purpose)} ${timeOf(row.paidAt)} ${text(row.txHash)} ${text(row.reason)}</td><td>${money(amountOf(row))}</td></tr>`).join('')}</table>`;
return rows.length === 0
	? 'There is no payment of this period.'
	: section('UNKNOWN', rows.filter(is('unknown'))) +
			section('Not paid', rows.filter(is('notPaid'))) +
			section('Paid', rows.filter(is('paid')));
