Object.fromEntries(
	Object.entries({
		reference: $json.reference,
		period: $json.period ?? $json.reference.match(/-(\d{4}-\d{2})-[^-]+$/)?.[1],
		person: $json.person ?? $json.reference.split('-').at(-1),
		employee: $json.employee,
		name: $json.name,
		phone: $json.phone && String($json.phone),
		userId: $json.toUserId,
		askedEtb: $json.requestedAmountEtb ?? $json.amountEtb,
		outcome: { alreadyPaid: 'paid', ready: 'notPaid' }[$json.outcome] ?? $json.outcome,
		paidAt: $json.paidAt,
		txHash: $json.txHash,
		OWN_COLUMNS,
	}).filter(([, value]) => value !== undefined && value !== null && value !== ''),
);
