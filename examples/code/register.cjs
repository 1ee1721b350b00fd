// The rows that the register gets of the results (`rows`).
const referenceOf = ({ reference, person, purpose, period }) =>
	reference ?? (person && `${purpose}-${period}-${person}`);
const endOf = ({ outcome }) => ({ alreadyPaid: 'paid', ready: 'notPaid' })[outcome] ?? outcome;
const saidOf = ({ reference }) => answer[encodeURIComponent(reference)];
// One person said that it was not paid and another one that it was, so the node has it in doubt again.
const isContradicted = (row) =>
	isSettling && row.code === 'notSettled' && saidOf(row) === 'It was paid';
// The first reason says more than that it is still unknown.
const keepsReason = (row, old) =>
	row.isAsNow || (row.code === 'inDoubt' && hasOutcome('unknown')(old));
const reasonOf = (row, old) => {
	if (keepsReason(row, old)) return old.reason;
	if (isContradicted(row))
		return `${old.settledBy || 'Somebody'} recorded it as not paid, and ${answer.user?.email} as paid. Ask the partner service once more`;
	if (endOf(row) !== 'paid') return whyNot(row);
	const changes = (row.remarks ?? []).filter(({ code }) => /^changed/.test(code));
	const isPaidAfterAll = !isSettling && hasOutcome('notPaid')(old) && old.settledBy;
	const first = isPaidAfterAll ? [`First recorded as not paid by ${old.settledBy}`] : [];
	return [...first, ...changes.map(({ text }) => text)].join(' ');
};
// The node sends it again already, because somebody settled it there.
const isUnusedAsSaid = (row) => row.code === 'ready' && saidOf(row) === 'It was not paid';
// A list takes back neither that somebody was paid, nor that it is unknown. An answer that was refused changes nothing.
const staysAsItIs = (row, old) => {
	if (keepsReason(row, old) || hasOutcome('paid')(old)) return true;
	if (!isSettling) return rank(old) > rank({ outcome: endOf(row) });
	return !isContradicted(row) && !isUnusedAsSaid(row) && !/^(settled|paidBefore)/.test(row.code);
};
const approverOf = (row, old) => {
	if (isSettling || hasOutcome('alreadyPaid')(row)) return old.approvedBy;
	return sent.has(row.line) ? answer.user?.email : '';
};
// The answer of somebody else stays in the register.
const settlerOf = (row) => {
	if (row.code === 'paidBefore') return undefined;
	return isSettling && !isContradicted(row) ? answer.user?.email : '';
};
// A row without `id` is added to the register. A row with `updatedAt` is not written.
const rows = results.map((row) => {
	const reference = referenceOf(row);
	const { updatedAt, createdAt, ...old } = register.get(reference) ?? {};
	const [outcome, reason] = [endOf(row), reasonOf(row, old)];
	if (staysAsItIs(row, old)) return { ...old, reason: reason || old.reason, updatedAt };
	const { purpose, period, person, employee, name, phone } = { ...old, ...row };
	const { amountEtb = old.askedEtb, requestedAmountEtb: askedEtb = amountEtb } = row;
	const sentAt = updatedAt && new Date(updatedAt).toISOString();
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
		approvedBy: approverOf(row, old),
		settledBy: settlerOf(row),
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
