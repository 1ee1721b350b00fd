// One row of the register for each row of the list. One without `id` is new, one with `updatedAt` stays as it is.
const isSettling = $('What is open').isExecuted;
const results = () => {
	const outcomeOf = (row) => (row.paid ? 'alreadyPaid' : 'notPaid');
	const rows = new Map(
		all('Check List').map((row) => [row.line, { ...row, outcome: outcomeOf(row) }]),
	);
	for (const row of [...all('Pay salaries', 0), ...all('Pay salaries')])
		if (rows.get(row.line)?.status === 'ready')
			rows.set(row.line, { ...rows.get(row.line), ...row });
	return [...rows]
		.map(([, row]) => row)
		.filter((row) => row.status !== 'noPerson' && remarksOf(row, 'total').length === 0);
};
const registerRows = () => {
	const register = new Map(registered().map((row) => [row.reference, row]));
	const answer = all('Ask').at(-1);
	const named = $input.all().filter(({ json }) => json.reference);
	return (isSettling ? named.map(({ json }) => json) : results()).map((row) => {
		const own = row.person && `${row.purpose}-${row.period}-${row.person}`;
		const reference = row.reference ?? (own || undefined);
		const { updatedAt, createdAt, ...old } = register.get(reference) ?? {};
		const outcome = { alreadyPaid: 'paid', ready: 'notPaid' }[row.outcome] ?? row.outcome;
		const isLess = !isSettling && rank({ outcome }) < rank(old);
		const reason = outcome === 'paid' ? '' : whyNot(row);
		if (isLess) return { ...old, reason, updatedAt };
		if (outcome === 'paid' && old.outcome === 'paid') return { ...old, updatedAt };
		const { amountEtb = old.askedEtb, toUserId = old.userId, phone = old.phone } = row;
		const { purpose, period, person, employee, name } = { ...old, ...row };
		const isSent = row.outcome === 'paid';
		return {
			...{ ...old, reference, purpose, period, person, employee, name, outcome, reason },
			...{ phone: phone && String(phone), userId: toUserId, paidAt: row.paidAt },
			...{
				askedEtb: row.requestedAmountEtb ?? amountEtb,
				workflow: `${$workflow.name} (${$workflow.id})`,
			},
			amountEtb: outcome === 'paid' ? amountEtb : undefined,
			txHash: row.txHash ?? answer?.[`tx ${encodeURIComponent(reference)}`],
			approvedBy: isSent ? answer?.user?.email : old.approvedBy,
			settledBy: isSettling ? answer?.user?.email : undefined,
		};
	});
};
