/**
 * Lets each receipt through once. Everybody who wants to send the receipt of a transaction has written a row with its
 * hash; the first row decides who sends, so two executions at the same time do not both send.
 * Out: the receipts that are to be sent, and the rows that came late. These are taken back: should the first one fail to
 * send, nothing keeps the next one from sending.
 */
const rows = $input
	.all()
	.map(({ json }) => json)
	.sort((one, other) => one.id - other.id);
const first = new Map();
for (const row of rows) if (!first.has(row.txHash)) first.set(row.txHash, row);

const late = [...new Set(rows.map(({ id }) => id))].filter((id) => {
	const { txHash, execution } = rows.find((row) => row.id === id);
	return execution === $execution.id && first.get(txHash).id !== id;
});

const sending = new Set();
return $('Write the receipts')
	.all()
	.filter(({ json: { txHash } }) => {
		const mine = first.get(txHash)?.execution === $execution.id && !sending.has(txHash);
		sending.add(txHash);
		return mine;
	})
	.concat(late.map((id) => ({ json: { late: id } })));
