// Why an answer of the page "What is open" is not recorded; empty if it is. The fields of that form have encoded
// names. `npm run examples` writes this function into the nodes that settle too.
const whyNotRecorded = (reference, answers, payments) => {
	const field = encodeURIComponent(reference);
	const typed = (answers[`tx ${field}`] ?? '').trim();
	const isTyped = (transaction) =>
		String(transaction ?? '')
			.trim()
			.toLowerCase() === typed.toLowerCase();
	if (typed === '') return '';
	if (answers[field] === 'It was not paid')
		return 'You named its transaction, so it seems to be paid';
	if (answers[field] !== 'It was paid') return '"It was paid" was not chosen';
	if (!/^\S{20,}$/.test(typed)) return `"${typed}" is no whole transaction`;
	const owner = payments.find((row) => row.reference !== reference && isTyped(row.txHash));
	if (owner)
		return `That is the transaction of ${owner.name || 'another payment'} (${owner.reference})`;
	const isTwice = Object.entries(answers).some(
		([name, value]) => /^tx /.test(name) && name !== `tx ${field}` && isTyped(value),
	);
	return isTwice ? 'The same transaction was given for two payments' : '';
};
