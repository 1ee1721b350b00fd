// The page that asks for approval, and the page at the end: the first item. The rows of the register follow it.
const [upload = {}] = all('Upload a list');
const { user, decision } = all('Ask').at(-1) ?? {};
const [first = {}] = $input.all().map(({ json }) => json);
const list = first.error ? [] : results();
const [ready, paid, unknown, before, notPaid] = [
	'ready',
	'paid',
	'unknown',
	'alreadyPaid',
	'notPaid',
].map((each) => list.filter(is(each)));
const isSelf = user?.id === upload.user?.id && decision?.startsWith('Approve');
const asks = ready.length > 0 && first.mode !== 'pay' && (decision === undefined || isSelf);
const { period = upload.period, purpose = upload.purpose, notRead = [] } = list[0] ?? {};
const nameOf = (one) => text(one ? `${one.firstName} ${one.lastName} (${one.email})` : 'nobody');
const known = registered().filter((row) => row.outcome === 'paid' && row.period);
const isThis = (row) => row.purpose === purpose && row.period === period;
const since = DateTime.now().minus({ days: 10 }).toISO();
const lately = known.filter(
	(row) =>
		!isThis(row) &&
		(row.paidAt || row.updatedAt) > since &&
		ready.some(({ person }) => person === row.person),
);
const same = ready.filter((row) =>
	lately.some((other) => other.person === row.person && amountOf(other) === row.amountEtb),
);
const forWhat = [...new Set(lately.map((row) => text(`${row.purpose ?? ''} ${row.period}`)))].join(
	', ',
);
const due = DateTime.now()
	.setZone('Africa/Addis_Ababa')
	.minus({ days: $('Check List').params.payDay - 1 })
	.toFormat('yyyy-LL');
const earlier = known.filter((row) => row.purpose === purpose && row.period < period);
const lastPeriod = earlier
	.map((row) => row.period)
	.sort()
	.at(-1);
const here = new Set([...list, ...known.filter(isThis)].map(({ person }) => person));
const missing = earlier.filter((row) => row.period === lastPeriod && !here.has(row.person));
const rounded = ready
	.filter(has('rounded'))
	.map(
		(row) => row.remarks.find(({ code }) => code === 'rounded').text.split(' ')[0] - row.amountEtb,
	);
const difference = rounded.reduce((total, each) => total + each, 0).toFixed(2);
const lines = { new: 1, rounded: 1, unknownBefore: 1, paidLately: 1 };
const remarksOf = (row) =>
	text(
		(row.remarks ?? [])
			.filter(({ code }) => !lines[code])
			.map((remark) => remark.text)
			.join(' '),
	);
const why = (row) =>
	`Row ${row.line}. ${text(row.problem || [row.message, row.remedy].filter(Boolean).join('. '))}`;
const proof = ({ paid: was = {}, ...row }) =>
	`Paid ${money(was.amountEtb ?? row.amountEtb ?? 0)} ETB to ${text(was.name ?? row.name)} ${timeOf(was.paidAt ?? row.paidAt)} ${text(was.txHash ?? row.txHash)} ${was.workflow ? `by ${text(was.workflow)}` : ''} ${remarksOf(row)}`;
const section = (title, rows, about = () => '') =>
	rows.length === 0
		? ''
		: `<h3>${title}: ${people(rows)}${amountOf(rows[0]) > 0 ? `, ${sum(rows)} ETB` : ''}</h3><table>${rows.map((row) => `<tr><td><b>${text(row.name || row.reference)}</b> ${text(row.employee)}<br>${about(row)}</td><td>${amountOf(row) > 0 ? money(amountOf(row)) : ''}</td></tr>`).join('')}</table>`;
const form = `${$execution.resumeFormUrl.split('/form-waiting/')[0]}/form/`;
const again = `<a href="${form}etb-file?period=${period}&purpose=${purpose}" target="_blank">Upload the list again</a>`;
const open = `<a href="${form}etb-file-open" target="_blank">What is open</a>`;
const nobody =
	before.length > 0 && notPaid.length + ready.length === 0
		? 'All were paid before'
		: 'Nobody was paid';
const headline = asks
	? `${sum(ready)} ETB for ${people(ready)}: ${text(purpose)}, ${text(period)}`
	: [
			unknown.length > 0 && `${unknown.length} UNKNOWN (${sum(unknown)} ETB)`,
			paid.length > 0
				? `${sum(paid)} ETB paid to ${people(paid)}`
				: unknown.length > 0
					? '0 paid'
					: nobody,
			notPaid.length > 0 && `${notPaid.length} not paid`,
		]
			.filter(Boolean)
			.join(', ');
const total = all('Check List').filter(has('total'));
const page = first.error
	? `<h2>Nobody was paid</h2><p>${text(first.error.message ?? first.error)}. ${text(first.error.remedy ?? first.error.description)}</p><p>${again}</p>`
	: [
			`<h2>${headline}</h2>`,
			asks &&
				isSelf &&
				`<h4>Nobody was paid: ${nameOf(user)} uploaded this list, so somebody else has to approve it.</h4>`,
			asks && period < due && `<h4>This is for ${text(period)}. ${due} is due.</h4>`,
			asks &&
				same.length > 0 &&
				`<h4>${same.length} of these ${people(ready)} got the same amount in the last 10 days: ${forWhat}.</h4>`,
			asks &&
				lately.length > same.length &&
				`<h4>${people(lately)} of this list were paid in the last 10 days: ${forWhat}.</h4>`,
			`<p>${text(upload.list?.filename)}, uploaded by ${nameOf(upload.user)}. ${asks ? 'Whoever uploaded it cannot approve it: send the address of this page to somebody else.' : decision ? `${decision.startsWith('Approve') ? 'Approved' : 'Declined'} by ${nameOf(user)}.` : ''}</p>`,
			section(
				'Unknown',
				unknown,
				(row) => `${text(row.message)} Wallet ${text(row.toUserId)}, ${text(row.reference)}`,
			),
			unknown.length > 0 && `<p>Ask the partner service. Then record what it says in ${open}.</p>`,
			section('Not paid, because nobody approved it', asks || first.mode === 'pay' ? [] : ready),
			section(
				'Paid or unknown meanwhile, says the register, and not paid now',
				first.mode === 'pay' ? ready : [],
			),
			section(asks ? 'Will not be paid' : 'Not paid', notPaid, why),
			!asks && unknown.length + notPaid.length > 0 && `<p>${again}: it pays who was not paid.</p>`,
			asks &&
				section(
					'New',
					ready.filter(({ known: is }) => is === 'new'),
					(row) => `Wallet ${text(row.toUserId)} ${text(row.phone)}`,
				),
			asks && section('Look at these', ready.filter(remarksOf), remarksOf),
			asks && section(`Paid in ${lastPeriod}, and not in this list`, missing),
			asks &&
				rounded.length > 0 &&
				`<p>${rounded.length} amounts were rounded to two decimals. The sum of the list is ${difference} ETB ${difference < 0 ? 'less' : 'more'}.</p>`,
			notRead.length > 0 &&
				`<p>Columns that were not read: ${text(notRead.join(', '))}. Only the first sheet counts, and in it hidden rows too.</p>`,
			total.length > 0 &&
				`<p>Totals that were not read: ${total.map((row) => `row ${row.line}`).join(', ')}.</p>`,
			section('Paid before, not again', before, proof),
			section(asks ? 'All who will be paid' : 'Paid', asks ? ready : paid, (row) =>
				asks ? '' : `${timeOf(row.paidAt)} ${text(row.txHash)}`,
			),
		]
			.filter(Boolean)
			.join('');
const approve = `Approve: pay ${sum(ready)} ETB to ${people(ready)}, ${purpose}, ${period}`;
const decide = {
	fieldType: 'radio',
	fieldName: 'decision',
	fieldLabel: 'Your decision',
	requiredField: true,
	fieldOptions: { values: [{ option: approve }, { option: 'Decline: pay nobody' }] },
};
const isOpen = $('What is open').isExecuted;
const fields = isOpen
	? openPage()
	: [{ fieldType: 'html', elementName: 'page', html: page }, decide];
const rows = asks ? [] : registerRows(listed());
const nothing = isOpen ? 'Nothing was recorded' : 'The list cannot be used';
if (rows.length === 0) rows.push({ reason: nothing, updatedAt: '' });
const item = { asks: isOpen ? first.code !== 'notSettled' : asks, approve, fields };
return [{ ...item, page: isOpen ? `<h2>${nothing}</h2>` : page }, ...rows].map((json) => ({
	json,
}));
