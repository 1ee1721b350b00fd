// Why an answer of the page "What is open" is not recorded; empty if it is. The fields of that form have encoded
// names. `npm run examples` writes this function into the nodes that settle too.
const whyNotRecorded = (reference, answers, payments) => {
	const field = encodeURIComponent(reference);
	const typed = (answers[`tx ${field}`] ?? '').trim();
	const isBegunBy = (transaction) =>
		String(transaction ?? '')
			.trim()
			.toLowerCase()
			.startsWith(typed.toLowerCase());
	if (typed === '') return '';
	if (answers[field] === 'It was not paid')
		return 'You named its transaction, so it seems to be paid';
	if (answers[field] !== 'It was paid') return '"It was paid" was not chosen';
	if (!/^\S{20,}$/.test(typed)) return `"${typed}" is no whole transaction`;
	// A beginning of another transaction is one that was cut off.
	const owner = payments.find((row) => row.reference !== reference && isBegunBy(row.txHash));
	if (owner)
		return `That is the transaction of ${owner.name || 'another payment'} (${owner.reference})`;
	const isShorter = ({ txHash }) => typed.length < String(txHash ?? '').trim().length;
	const withTransaction = payments.filter(({ txHash }) => txHash);
	if (withTransaction.length > 0 && withTransaction.every(isShorter))
		return `"${typed}" is shorter than all other transactions`;
	const isTwice = Object.entries(answers).some(
		([name, value]) => /^tx /.test(name) && name !== `tx ${field}` && isBegunBy(value),
	);
	return isTwice ? 'The same transaction was given for two payments' : '';
};
