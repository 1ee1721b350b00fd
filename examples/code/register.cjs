// How each row of the list ended, and the rows of the register. One without `id` is new, one with `updatedAt` stays as it is.
const isSettling = $('What is open').isExecuted;
if (!isSettling && !$('Check List').isExecuted) return [];
const answer = all('Ask').at(-1) ?? {};
const list = new Map(
	all('Check List')
		.filter(
			(row) => row.status !== 'noPerson' && !row.remarks?.some(({ code }) => code === 'total'),
		)
		.map((row) => [row.line, { ...row, outcome: row.paid ? 'alreadyPaid' : 'notPaid' }]),
);
for (const row of [...all('Pay salaries', 0), ...all('Pay salaries')])
	if (list.get(row.line)?.status === 'ready') list.set(row.line, { ...list.get(row.line), ...row });
const settled = isSettling ? all('Pay salaries').filter(({ reference }) => reference) : [];
const results = isSettling ? settled : [...list.values()];
const rows = results.map((row) => {
	const own = row.person && `${row.purpose}-${row.period}-${row.person}`;
	const reference = row.reference ?? own;
	const { updatedAt, createdAt, ...old } = register.get(reference) ?? {};
	const outcome = { alreadyPaid: 'paid', ready: 'notPaid' }[row.outcome] ?? row.outcome;
	const reason = outcome === 'paid' ? '' : whyNot(row);
	// A list takes back neither that somebody was paid, nor that it is unknown.
	const isKnown = old.outcome === 'paid' || (!isSettling && rank(old) > rank({ outcome }));
	if (isKnown) return { ...old, reason, updatedAt };
	const { purpose, period, person, employee, name, phone } = { ...old, ...row };
	const { amountEtb = old.askedEtb, requestedAmountEtb: askedEtb = amountEtb } = row;
	const typed = outcome === 'paid' ? answer[`tx ${encodeURIComponent(reference)}`] : undefined;
	return {
		...{ ...old, reference, purpose, period, person, employee, name, outcome, reason, askedEtb },
		...{ phone: phone && String(phone), userId: row.toUserId ?? old.userId, paidAt: row.paidAt },
		amountEtb: outcome === 'paid' ? amountEtb : undefined,
		txHash: row.txHash ?? typed,
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy: isSettling || is('alreadyPaid')(row) ? old.approvedBy : answer.user?.email,
		settledBy: isSettling ? answer.user?.email : undefined,
	};
});
