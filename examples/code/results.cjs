// The results of a payroll (`results`): how each row of a list ended, or each reference that was settled.
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
const ofPaying = itemsOf(() => $('Pay salaries')).filter(({ mode }) => mode !== 'dryRun');
const sent = new Set(ofPaying.map(({ line }) => line));
const readAt = new Map(itemsOf(() => $('Payments')).map((row) => [row.reference, row.updatedAt]));
// A page can wait for a day. A row that was not sent after it is as the register has it by now: settled, or paid by
// another list.
const asNow = (row) => {
	const now = register.get(row.reference);
	if (now === undefined || sent.has(row.line) || !/^(ready|unknown)$/.test(row.outcome)) return row;
	const isChanged = now.updatedAt !== readAt.get(row.reference);
	if (isChanged && hasOutcome('paid')(now))
		return { ...row, outcome: 'alreadyPaid', paid: now, remarks: [], isPaidMeanwhile: true };
	const isOther = hasOutcome('unknown')(now)
		? hasOutcome('ready')(row)
		: isChanged && hasOutcome('unknown')(row);
	return isOther ? { ...row, outcome: now.outcome, message: now.reason, isAsNow: true } : row;
};
// A payment that is unknown since an earlier list keeps the amount of that list.
const asSent = (row) => {
	const { outcome, askedEtb } = register.get(row.reference) ?? {};
	const isOther = hasOutcome('unknown')(row) && outcome === 'unknown' && askedEtb !== row.amountEtb;
	return isOther ? { ...row, amountEtb: askedEtb, inListEtb: row.amountEtb } : row;
};
const settled = itemsOf(() => $('Pay salaries')).filter(({ reference }) => reference);
const results = isSettling ? settled : [...list.values()].map(asNow).map(asSent);
