// One row of the register for each row of the list. One without `id` is new, one with `updatedAt` stays as it is.
const results = () => {
	const rows = new Map(all('Check List').map((row) => [row.line, row]));
	for (const row of [...all('Pay salaries', 0), ...all('Pay salaries')])
		if (rows.get(row.line)?.status === 'ready')
			rows.set(row.line, { ...rows.get(row.line), ...row });
	return [...rows]
		.map(([, row]) => ({ ...row, outcome: row.outcome ?? (row.paid ? 'alreadyPaid' : 'notPaid') }))
		.filter((row) => row.status !== 'noPerson' && !has('total')(row));
};
const listed = () =>
	$('What is open').isExecuted
		? $input
				.all()
				.map(({ json }) => json)
				.filter(({ reference }) => reference)
		: results();
const registerRows = (list) => {
	const register = new Map(registered().map((row) => [row.reference, row]));
	const { user } = all('Ask').at(-1) ?? {};
	const isSettling = $('What is open').isExecuted;
	return list.map((row) => {
		const reference =
			row.reference ?? (row.person ? `${row.purpose}-${row.period}-${row.person}` : undefined);
		const { updatedAt, createdAt, ...old } = register.get(reference) ?? {};
		const outcome = { alreadyPaid: 'paid', ready: 'notPaid' }[row.outcome] ?? row.outcome;
		const reason = row.problem || [row.message, row.remedy].filter(Boolean).join('. ');
		const isLess = !isSettling && rank[outcome] < rank[old.outcome];
		if (isLess || (outcome === 'paid' && old.outcome === 'paid'))
			return { ...old, reason: isLess ? reason : old.reason, updatedAt };
		const asked = row.requestedAmountEtb ?? row.amountEtb ?? old.askedEtb;
		return {
			...old,
			...{ reference, outcome, reason: outcome === 'paid' ? '' : reason, askedEtb: asked },
			amountEtb: outcome === 'paid' ? (row.amountEtb ?? asked) : undefined,
			workflow: `${$workflow.name} (${$workflow.id})`,
			period: row.period ?? old.period,
			purpose: row.purpose ?? old.purpose,
			person: row.person ?? old.person,
			employee: row.employee ?? old.employee,
			name: row.name ?? old.name,
			phone: row.phone == null ? old.phone : String(row.phone),
			userId: row.toUserId ?? old.userId,
			paidAt: row.paidAt,
			txHash: row.txHash ?? all('Ask').at(-1)?.[`tx ${encodeURIComponent(reference)}`],
			approvedBy: row.outcome === 'paid' ? user?.email : old.approvedBy,
			settledBy: isSettling ? user?.email : undefined,
		};
	});
};
