// The page "What is open": the register by period, a question for each unknown payment of this workflow, and then the record of the answers.
if (isSettling) {
	const periods = [...new Set(registered.map(forWhat))].sort().reverse();
	const parts = periods.flatMap((period) => {
		const of = (outcome) => registered.filter((row) => is(outcome)(row) && forWhat(row) === period);
		const open = [section('Unknown', of('unknown')), section('Not paid', of('notPaid'))];
		return [`<h2>${text(period)}</h2>`, ...open, `<p>${heading('Paid', of('paid'))}</p>`];
	});
	const isOwn = ({ workflow }) => !workflow || workflow.endsWith(`(${$workflow.id})`);
	const toAnswer = registered.filter((row) => is('unknown')(row) && row.reference && isOwn(row));
	const questions = toAnswer.flatMap((row) => {
		const name = encodeURIComponent(row.reference);
		const label = `${row.name ?? row.userId}, ${sum([row])} ETB (${row.reference})`;
		const options = ['Not known yet', 'It was paid', 'It was not paid'];
		const fieldLabel = 'Its transaction, if the service named it';
		return [
			radio(name, label, options, options[0]),
			{ fieldType: 'text', fieldName: `tx ${name}`, fieldLabel },
		];
	});
	const next = 'Recorded: not paid. Pay the list again: it pays who was not paid';
	const told = ({ code, message }) => (code === 'settledNotPaid' ? next : message);
	const recorded = rows.map((row, index) => ({ ...row, reason: told(settled[index]) }));
	const isDone = settled.length > 0;
	const nothing = toAnswer.length === 0 && '<p>Nothing is to be recorded here.</p>';
	const shown = [page(nothing, ...parts), ...questions];
	const fields = isDone ? [page(section('Recorded', recorded))] : shown;
	const asks = isDone || !$('Pay salaries').isExecuted;
	return asks ? [{ asks, fields }, ...toPlaces(rows)].map((json) => ({ json })) : [];
}
