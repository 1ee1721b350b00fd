// The page "What is open": the register by period, and one question for each unknown payment of this workflow.
const openPage = () => {
	const told = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((run) => all('Pay salaries', run));
	const settled = told.filter(({ outcome, reference }) => reference && outcome !== 'unknown');
	const rows = registered();
	const open = rows.filter(
		({ reference, outcome }) =>
			outcome !== 'paid' && !settled.some((row) => row.reference === reference),
	);
	const isOwn = ({ workflow }) => !workflow || workflow.endsWith(`(${$workflow.id})`);
	const asked = open.filter((row) => is('unknown')(row) && isOwn(row));
	const line = (row) =>
		`<tr><td><b>${text(row.name ?? row.reference)}</b> ${text(row.employee)}<br>${text(row.purpose)} ${text(row.period)}, wallet ${text(row.userId)}, ${timeOf(row.updatedAt)}, ${text(row.reference)}<br>${text(row.reason)}${isOwn(row) ? '' : `<br>Open this page of ${text(row.workflow)}.`}</td><td>${money(amountOf(row))}</td></tr>`;
	const list = (title, some) =>
		some.length === 0
			? ''
			: `<h3>${title}: ${people(some)}, ${sum(some)} ETB</h3><table>${some.map(line).join('')}</table>`;
	const periods = [
		...new Set(rows.map(({ period, purpose }) => `${period ?? ''} ${purpose ?? ''}`)),
	]
		.sort()
		.reverse()
		.map((name) => {
			const of = rows.filter(({ period, purpose }) => `${period ?? ''} ${purpose ?? ''}` === name);
			const [paid, unknown, notPaid] = ['paid', 'unknown', 'notPaid'].map((outcome) =>
				of.filter(is(outcome)),
			);
			return `<tr><td><b>${text(name)}</b> ${unknown.length > 0 ? `<b>${unknown.length} UNKNOWN</b> (${sum(unknown)}), ` : ''}${paid.length} paid, ${notPaid.length} not paid (${sum(notPaid)})</td><td>${sum(paid)}</td></tr>`;
		});
	const html = [
		settled.map((row) => `<p><b>${text(row.reference)}</b> ${text(row.message)}</p>`).join(''),
		told.some(({ code }) => code === 'notSettled') ? '<p>Nothing was recorded.</p>' : '',
		open.length === 0 ? '<p>Nothing is open.</p>' : '',
		list('Unknown', open.filter(is('unknown'))),
		list('Not paid', open.filter(is('notPaid'))),
		`<h3>All payments</h3><table>${periods.join('')}</table>`,
	].join('');
	const questions = asked.flatMap((row) => {
		const name = encodeURIComponent(row.reference);
		const values = ['Not known yet', 'It was paid', 'It was not paid'];
		const who = `${row.name ?? row.userId}, ${money(amountOf(row))} ETB (${row.reference})`;
		return [
			{
				...{ fieldType: 'radio', fieldName: name, fieldLabel: who, requiredField: true },
				defaultValue: 'Not known yet',
				fieldOptions: { values: values.map((option) => ({ option })) },
			},
			{ fieldType: 'text', fieldName: `tx ${name}`, fieldLabel: 'Its transaction, if you know it' },
		];
	});
	return [{ fieldType: 'html', elementName: 'page', html }, ...questions];
};
