// The page "What is open", and after the answers the page of the rows that were recorded.
if (isSettling) {
	const changed = new Map(rows.map((row) => [row.reference, row]));
	const now = registered.map((row) => changed.get(row.reference) ?? row);
	const parts = byPeriod(now, (...paid) => `<p>${heading(...paid)}</p>`);
	const unknown = now.filter(hasOutcome('unknown'));
	const [elsewhere, own] = [unknown.filter(isOfOther), unknown.filter((row) => !isOfOther(row))];
	const toAnswer = own.filter(({ reference }) => reference);
	const options = ['Not known yet', 'It was paid', 'It was not paid'];
	const questions = toAnswer.flatMap((row) => {
		const name = encodeURIComponent(row.reference);
		const label = `${row.name ?? row.userId}, ${sum([row])} ETB (${row.reference})`;
		const fieldLabel = 'Its whole transaction, if the service named it';
		const transaction = { fieldType: 'text', fieldName: `tx ${name}`, fieldLabel };
		return [radio(name, label, options, options[0]), transaction];
	});
	const codeOf = (row) => (isUnusedAsSaid(row) ? 'settledNotPaid' : row.code);
	const codes = new Map(results.map((row) => [row.reference, codeOf(row)]));
	const [paid, notPaid, before] = ['settledPaid', 'settledNotPaid', 'paidBefore'].map((code) =>
		rows.filter(({ reference }) => codes.get(reference) === code),
	);
	const refused = results
		.filter((row) => !/^(settled|paidBefore)/.test(codeOf(row)))
		.map(({ reference, message }) => ({ ...register.get(reference), reference, why: message }));
	const payments = itemsOf(() => $('Payments'));
	const rejected = toAnswer
		.map((row) => ({ ...row, why: whyNotRecorded(row.reference, answer, payments) }))
		.filter(({ why }) => why);
	const notRecorded = [...refused, ...rejected].map(
		({ name = '', reference, why }) => `${name} (${reference}): ${why}`,
	);
	const isSaid = Object.values(answer).some((said) => options.indexOf(said) > 0);
	const why = isSaid ? whyNot(itemsOf(() => $('Pay salaries'))[0]) : 'Nothing was recorded';
	const recorded = [
		...[section('Recorded as paid', paid), section('Recorded as not paid', notPaid)],
		section('Paid before, and it stays paid', before),
		notRecorded.length > 0 &&
			`<h4>Not recorded: ${escapeHtml(notRecorded.join('. '))}.${rejected.length > 0 ? ' Give the whole transaction of this payment, or none.' : ''}</h4>`,
		paid.length + notPaid.length + notRecorded.length === 0 &&
			`<h3>${unknown.length > 0 ? heading(`${why}. Still unknown`, unknown) : why}</h3>`,
	];
	const { path } = $('What is open').params.options;
	const hasList = path === 'etb-file-open'; // The monthly payroll has no list.
	const otherPath = hasList ? 'etb-payroll-open' : 'etb-file-open';
	const unpaid = new Map(now.filter(hasOutcome('notPaid')).map((row) => [forWhat(row), row]));
	const left = [
		$runIndex === 0 &&
			toAnswer.length > 0 &&
			'<h4>UNKNOWN: it may have been paid, also where a reason says that it failed. Ask the partner service, with wallet, amount and time. Until you know, leave <i>Not known yet</i>.</h4>',
		toAnswer.length + elsewhere.length === 0 && '<p>Nothing more is to be recorded.</p>',
		elsewhere.length > 0 &&
			`<h4>UNKNOWN, sent by another workflow: ${countPeople(elsewhere)}. Each row names the workflow. Record the answer there: if it is the other payroll, on ${formLink(otherPath, 'its page What is open')}, else in its node that pays, with <i>Mode</i> on <i>Settle Unknown</i>. Then run that workflow again.</h4>`,
	];
	const links = [...unpaid]
		.filter(([, row]) => hasList && row.purpose)
		.map(
			([name, row]) => `<p>${uploadLink(row, `Upload the list of ${escapeHtml(name)} again`)}</p>`,
		);
	const openAgain =
		toAnswer.length > 0 && `<p>To record more: ${formLink(path, 'What is open')}</p>`;
	const fields =
		$runIndex === 0
			? [page(...left, ...links, ...parts), ...questions]
			: [page(...recorded, ...left, openAgain, ...links, ...parts)];
	// The second page has no button: its time runs out, and then nothing is asked any more.
	const asked = $runIndex < 2 ? [{ asks: true, fields }] : [];
	return [...asked, ...toPlaces(rows)].map((json) => ({ json }));
}
