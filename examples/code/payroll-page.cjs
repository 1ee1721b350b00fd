// The page that asks for approval, or the one at the end, is the first item; the rows of the register follow it.
const [upload = {}] = all('Upload a list');
const { user, decision } = all('Ask').at(-1) ?? {};
const [first = {}] = $input.all().map(({ json }) => json);
const list = first.error ? [] : results();
const of = (outcome) => list.filter(is(outcome));
const [ready, paid, unknown, before] = ['ready', 'paid', 'unknown', 'alreadyPaid'].map(of);
const notPaid = of('notPaid');
const isPaying = $('Ask').isExecuted && first.mode !== 'dryRun' && !isSettling;
const isSelf = user?.id === upload.user?.id && decision?.startsWith('Approve');
const isAsked = $('Ask').isExecuted && !isSelf;
const asks = ready.length > 0 && !isPaying && !isAsked;
const isDeclined = ready.length > 0 && !isPaying && isAsked;
const { period = upload.period, purpose = upload.purpose, notRead = [] } = list[0] ?? {};
const nameOf = (one) => text(one ? `${one.firstName} ${one.lastName} (${one.email})` : 'nobody');
const known = registered().filter((row) => row.outcome === 'paid' && row.period);
const isThis = (row) => row.purpose === purpose && row.period === period;
const isRecent = (row) =>
	(row.paidAt || row.updatedAt) > DateTime.now().minus({ days: 10 }).toISO();
const recent = known.filter((row) => !isThis(row) && isRecent(row));
const both = (row) => recent.filter(({ person }) => person === row.person);
const again = ready.filter((row) => both(row).length > 0);
const same = again.filter((row) => both(row).some((one) => amountOf(one) === row.amountEtb));
const forWhat = [
	...new Set(again.flatMap(both).map((row) => `${row.purpose} ${row.period}`)),
].join();
const { payDay } = $('Check List').params;
const due = local(DateTime.now().toISO())
	.minus({ days: payDay - 1 })
	.toFormat('yyyy-LL');
const earlier = known.filter((row) => row.purpose === purpose && row.period < period);
const [last] = earlier
	.map((row) => row.period)
	.sort()
	.reverse();
const here = new Set([...list, ...known.filter(isThis)].map(({ person }) => person));
const missing = earlier.filter((row) => row.period === last && !here.has(row.person));
const rounded = ready.flatMap((row) =>
	remarksOf(row, 'rounded').map(
		(one) => Number(/([\d.]+) to /.exec(one.text)?.[1]) - row.amountEtb,
	),
);
const more = rounded.reduce((total, one) => total + one, 0);
const quiet = ['new', 'rounded', 'unknownBefore', 'paidLately', 'sameName'];
const words = (remarks) => remarks.map((one) => text(one.text)).join(' ');
const look = ({ remarks = [] }) => words(remarks.filter(({ code }) => !quiet.includes(code)));
const changed = ({ remarks = [] }) =>
	words(remarks.filter(({ code }) => code.startsWith('changed')));
const why = (row) => `Row ${row.line}. ${text(whyNot(row))}`;
const proof = ({ paid: was = {}, ...row }) =>
	`Paid ${money(Number(was.amountEtb ?? row.amountEtb ?? 0))} ETB to ${text(was.name ?? row.name)} ${timeOf(was.paidAt ?? row.paidAt)} ${text(was.txHash ?? row.txHash)} ${was.workflow ? `by ${text(was.workflow)}` : ''} ${changed(row)}`;
const meanwhile = isPaying
	? known.filter((row) => ready.some((one) => one.reference === row.reference))
	: [];
const link = (path, words) =>
	`<a href="${$execution.resumeFormUrl.split('/form-waiting/')[0]}/form/etb-file${path}" target="_blank">${words}</a>`;
const upAgain = link(
	`?period=${period}&purpose=${encodeURIComponent(upload.purpose)}`,
	'Upload the list again',
);
const none =
	before.length > 0 && notPaid.length + ready.length === 0
		? 'All were paid before'
		: 'Nobody was paid';
const ended = [
	unknown.length > 0 && `${unknown.length} UNKNOWN (${sum(unknown)} ETB)`,
	paid.length > 0
		? `${sum(paid)} ETB paid to ${people(paid)}`
		: unknown.length > 0
			? '0 paid'
			: none,
	notPaid.length > 0 && `${notPaid.length} not paid`,
].filter(Boolean);
const total = all('Check List').filter((row) => remarksOf(row, 'total').length > 0);
const red = asks && [
	isSelf &&
		`<h4>Nobody was paid: ${nameOf(user)} uploaded this list, so somebody else has to approve it.</h4>`,
	period < due && `<h4>This is for ${text(period)}. ${due} is due.</h4>`,
	same.length > 0 &&
		`<h4>${same.length} of these ${people(ready)} got the same amount in the last 10 days: ${text(forWhat)}.</h4>`,
	again.length > same.length &&
		`<h4>${again.length} of these ${people(ready)} were paid in the last 10 days: ${text(forWhat)}.</h4>`,
];
const shown = asks && [
	'<p>Whoever uploaded it cannot approve it: send the address of this page to somebody else.</p>',
	section(
		'New',
		ready.filter((row) => row.known === 'new'),
		(row) => `Wallet ${text(row.toUserId)} ${text(row.phone)}`,
	),
	section('Look at these', ready.filter(look), look),
	section(`Paid in ${last}, and not in this list`, missing),
	rounded.length > 0 &&
		`<p>${rounded.length} amounts were rounded to two decimals. The sum of the list is ${Math.abs(more).toFixed(2)} ETB ${more < 0 ? 'less' : 'more'}.</p>`,
];
const page = first.error
	? `<h2>Nobody was paid</h2><p>${text(first.error.message ?? first.error)}. ${text(first.error.remedy ?? first.error.description)}</p><p>${upAgain}</p>`
	: [
			...(red || []),
			`<h2>${asks ? `${sum(ready)} ETB for ${people(ready)}: ${text(purpose)}, ${text(period)}` : ended.join(', ')}</h2>`,
			`<p>${text(upload.list?.filename)}, uploaded by ${nameOf(upload.user)}. ${asks ? '' : isPaying ? `Approved by ${nameOf(user)}.` : decision ? `Declined by ${nameOf(user)}.` : isDeclined ? 'Nobody decided in time.' : ''}</p>`,
			...(shown || []),
			section(
				'Unknown',
				unknown,
				(row) => `${text(row.message)} Wallet ${text(row.toUserId)}, ${text(row.reference)}`,
			),
			unknown.length > 0 &&
				`<p>Ask the partner service. Then record what it says in ${link('-open', 'What is open')}.</p>`,
			section('Not paid, because nobody approved it', isDeclined ? ready : []),
			section(
				'Paid or unknown meanwhile, says the register, and not paid now',
				isPaying ? ready : [],
				(row) => proof(meanwhile.find((one) => one.reference === row.reference) ?? row),
			),
			section(asks ? 'Will not be paid' : 'Not paid', notPaid, why),
			!asks &&
				unknown.length + notPaid.length > 0 &&
				`<p>${upAgain}: it pays who was not paid.</p>`,
			`<p>Only the first sheet counts, and in it hidden rows too. ${notRead.length > 0 ? `Columns that were not read: ${text(notRead.join(', '))}.` : ''}</p>`,
			total.length > 0 &&
				`<p>Totals that were not read: ${total.map((row) => `row ${row.line}`).join(', ')}.</p>`,
			section('Paid before, not again', before, proof),
			before.some((row) => remarksOf(row, 'changedAmount').length > 0) &&
				'<p>Too little was paid? Upload the difference, with the purpose correction.</p>',
			section('Paid', paid, (row) => `${timeOf(row.paidAt)} ${text(row.txHash)}`),
			asks && section('All who will be paid', ready),
		]
			.filter(Boolean)
			.join('');
const approve = `Approve: pay ${sum(ready)} ETB to ${people(ready)}, ${purpose}, ${period}`;
const decide = radio('decision', 'Your decision', [approve, 'Decline: pay nobody']);
const fields = isSettling
	? openPage()
	: [{ fieldType: 'html', elementName: 'page', html: page }, decide];
const declined = ready.map((row) => ({
	reference: row.reference,
	name: row.name,
	outcome: 'not approved',
	updatedAt: '',
}));
const rows = asks ? [] : isDeclined ? declined : registerRows();
const nothing = isSettling ? 'Nothing more was recorded' : 'The list cannot be used';
if (rows.length === 0) rows.push({ reason: nothing, updatedAt: '' });
const item = { asks: isSettling ? first.code !== 'notSettled' : asks, approve, fields };
return [{ ...item, page: isSettling ? `<h2>${nothing}</h2>` : page }, ...rows].map((json) => ({
	json,
}));
