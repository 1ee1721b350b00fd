// The results of a payroll (`results`), and the rows that the register gets of them (`rows`).
const isSettling = $('What is open').isExecuted;
if (!isSettling && !$('Check List').isExecuted) return [];
const answer = itemsOf(() => $('Ask')).at(-1) ?? {};
const typedFor = ({ reference }) => (answer[`tx ${encodeURIComponent(reference)}`] ?? '').trim();
// A salary is paid by one payroll. Other purposes are paid from a file to everybody.
const payrollOf = new Map(
	itemsOf(() => $('People')).map(({ person, payroll }) => [person, payroll]),
);
const hasList = itemsOf(() => $('Upload a list')).length > 0;
const withPayroll = (row) => {
	const payroll = payrollOf.get(row.person);
	const isElsewhere = hasList && row.status === 'problem' && !row.toUserId && payroll !== 'file';
	return isElsewhere && payroll
		? { ...row, problem: `The salary of this person is paid by the payroll ${payroll}` }
		: row;
};
const checked = itemsOf(() => $('Check List'))
	.filter((row) => !isNoPerson(row))
	.map(withPayroll);
const list = new Map(
	checked.map((row) => [row.line, { ...row, outcome: row.paid ? 'alreadyPaid' : 'notPaid' }]),
);
for (const row of [...itemsOf(() => $('Pay salaries'), 0), ...itemsOf(() => $('Pay salaries'))])
	if (list.get(row.line)?.status === 'ready') list.set(row.line, { ...list.get(row.line), ...row });
// A page can wait for a day. A row that was not sent after it is as the register has it by now: settled, or paid by
// another list.
const ofPaying = itemsOf(() => $('Pay salaries')).filter(({ mode }) => mode !== 'dryRun');
const sent = new Set(ofPaying.map(({ line }) => line));
const readAt = new Map(itemsOf(() => $('Payments')).map((row) => [row.reference, row.updatedAt]));
for (const [line, row] of list) {
	const now = register.get(row.reference);
	if (now === undefined || sent.has(line) || !['ready', 'unknown'].includes(row.outcome)) continue;
	const isChanged = now.updatedAt !== readAt.get(row.reference);
	if (isChanged && hasOutcome('paid')(now))
		list.set(line, {
			...row,
			outcome: 'alreadyPaid',
			paid: now,
			remarks: [],
			isPaidMeanwhile: true,
		});
	else if (
		hasOutcome('unknown')(now) ? hasOutcome('ready')(row) : isChanged && hasOutcome('unknown')(row)
	)
		list.set(line, { ...row, outcome: now.outcome, message: now.reason, isAsNow: true });
}
const settled = itemsOf(() => $('Pay salaries')).filter(({ reference }) => reference);
// A payment that is unknown since an earlier list keeps the amount of that list.
const asSent = (row) => {
	const { outcome, askedEtb } = register.get(row.reference) ?? {};
	const isOther = hasOutcome('unknown')(row) && outcome === 'unknown' && askedEtb !== row.amountEtb;
	return isOther ? { ...row, amountEtb: askedEtb, inListEtb: row.amountEtb } : row;
};
const results = isSettling ? settled : [...list.values()].map(asSent);
// A row without `id` is added to the register. A row with `updatedAt` is not written.
const rows = results.map((row) => {
	const own = row.person && `${row.purpose}-${row.period}-${row.person}`;
	const reference = row.reference ?? own;
	const { updatedAt, createdAt, ...old } = register.get(reference) ?? {};
	const outcome = { alreadyPaid: 'paid', ready: 'notPaid' }[row.outcome] ?? row.outcome;
	// The first reason says more than that it is still unknown.
	const keepsReason = row.isAsNow || (row.code === 'inDoubt' && hasOutcome('unknown')(old));
	const isSaidPaid = answer[encodeURIComponent(reference)] === 'It was paid';
	const isContradicted = isSettling && row.code === 'notSettled' && isSaidPaid;
	const isRefused = isSettling && !isContradicted && !/^(settled|paidBefore)/.test(row.code);
	const isPaidAfterAll = !isSettling && hasOutcome('notPaid')(old) && old.settledBy;
	const changes = (row.remarks ?? []).filter(({ code }) => /^changed/.test(code));
	const whyPaid = [
		isPaidAfterAll && `First recorded as not paid by ${old.settledBy}`,
		...changes.map(({ text }) => text),
	]
		.filter(Boolean)
		.join(' ');
	const answers = `${old.settledBy || 'Somebody'} recorded it as not paid, and ${answer.user?.email} as paid. Ask the partner service once more`;
	const why = isContradicted ? answers : whyNot(row);
	const reason = keepsReason ? old.reason : outcome === 'paid' ? whyPaid : why;
	// A list takes back neither that somebody was paid, nor that it is unknown.
	const isSurer = old.outcome === 'paid' || (!isSettling && rank(old) > rank({ outcome }));
	if (keepsReason || isSurer || isRefused)
		return { ...old, reason: reason || old.reason, updatedAt };
	const { purpose, period, person, employee, name, phone } = { ...old, ...row };
	const { amountEtb = old.askedEtb, requestedAmountEtb: askedEtb = amountEtb } = row;
	const sentAt = updatedAt && new Date(updatedAt).toISOString();
	const isOfEarlierRun = isSettling || hasOutcome('alreadyPaid')(row);
	const approvedBy = isOfEarlierRun ? old.approvedBy : sent.has(row.line) ? answer.user?.email : '';
	return {
		...old,
		reference,
		purpose,
		period,
		person,
		employee,
		name,
		outcome,
		reason,
		askedEtb,
		phone: phone && String(phone),
		userId: row.toUserId ?? old.userId,
		// Somebody can know that a payment was made, and not when: the time at which it was sent is nearest.
		paidAt: row.paidAt ?? (isSettling && outcome === 'paid' ? sentAt : undefined),
		amountEtb: outcome === 'paid' ? amountEtb : undefined,
		txHash: row.txHash ?? (row.code === 'settledPaid' ? typedFor({ reference }) : undefined),
		workflow: `${$workflow.name} (${$workflow.id})`,
		approvedBy,
		// The answer of somebody else stays in the register.
		settledBy:
			row.code === 'paidBefore'
				? undefined
				: isSettling && !isContradicted
					? answer.user?.email
					: '',
	};
});
// "What next?" sends an item to one output, so a row that is written and left is two items. `createdAt` marks those
// to write: the node of the table drops this column.
const isWritten = ({ reference, updatedAt }) => reference && updatedAt === undefined;
const isLeft = ({ outcome }) => !isSettling && ['notPaid', 'unknown'].includes(outcome);
const toPlaces = (rows) => [
	...rows.filter(isWritten).map((row) => ({ ...row, createdAt: true })),
	...rows.filter(isLeft).map((row) => ({ ...row, isLeft: true })),
];
