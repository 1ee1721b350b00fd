// The page "What is open": the register by period, and a question for each unknown payment of this workflow.
const openPage = () => {
	const told = [...Array(20).keys()].flatMap((run) => all('Pay salaries', run));
	const settled = told.filter(({ outcome, reference }) => reference && outcome !== 'unknown');
	const rows = registered().map((row) => {
		const now = settled.find(({ reference }) => reference === row.reference);
		return now
			? { ...row, outcome: now.outcome === 'ready' ? 'notPaid' : 'paid', reason: '' }
			: row;
	});
	const whoOf = ({ reference }) => rows.find((row) => row.reference === reference)?.name;
	const isOwn = ({ workflow }) => !workflow || workflow.endsWith(`(${$workflow.id})`);
	const about = (row) =>
		`${text(row.purpose)} ${text(row.period)}, ${row.userId ? `wallet ${text(row.userId)}, ` : ''}${timeOf(row.updatedAt)}, ${text(row.reference)}<br>${text(row.reason)}${isOwn(row) || row.outcome !== 'unknown' ? '' : `<br>Record it on this page of ${text(row.workflow)}.`}`;
	const [unknown, notPaid] = ['unknown', 'notPaid'].map((each) => rows.filter(is(each)));
	const forWhat = (row) => `${row.period ?? ''} ${row.purpose ?? ''}`;
	const periods = [...new Set(rows.map(forWhat))].sort().reverse();
	const line = (name) => {
		const count = (outcome) =>
			rows.filter((row) => forWhat(row) === name && row.outcome === outcome);
		return `<tr><td><b>${text(name)}</b> ${count('unknown').length} unknown (${sum(count('unknown'))}), ${count('notPaid').length} not paid</td><td>${count('paid').length} paid: ${sum(count('paid'))}</td></tr>`;
	};
	const html = [
		...told
			.filter(({ reference }) => reference)
			.map(
				(row) => `<p><b>${text(whoOf(row))}</b> ${text(row.reference)} ${text(row.message)}</p>`,
			),
		unknown.length + notPaid.length === 0 ? '<p>Nothing is open.</p>' : '',
		section('Unknown', unknown, about) + section('Not paid', notPaid, about),
		`<h3>All payments</h3><table>${periods.map(line).join('')}</table>`,
	].join('');
	const questions = unknown.filter(isOwn).flatMap((row) => {
		const name = encodeURIComponent(row.reference);
		const label = `${row.name ?? row.userId}, ${money(amountOf(row))} ETB (${row.reference})`;
		const options = ['Not known yet', 'It was paid', 'It was not paid'];
		const tx = 'Its transaction, if the service named it';
		return [
			radio(name, label, options, options[0]),
			{ fieldType: 'text', fieldName: `tx ${name}`, fieldLabel: tx },
		];
	});
	return [{ fieldType: 'html', elementName: 'page', html }, ...questions];
};
