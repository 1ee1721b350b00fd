// Writes the page that asks for approval, and the page at the end. Who is paid is decided without it.
const all = (node) =>
	$(node).isExecuted
		? $(node)
				.all()
				.map(({ json }) => json)
		: [];
const rows = $input.all().map(({ json }) => json);
const [upload = {}] = all('Upload a list');
const answer = $('Ask for approval').isExecuted ? $('Ask for approval').last().json : undefined;
const is =
	(...names) =>
	(row) =>
		names.includes(row.outcome) || names.includes(row.code);

const text = (value) =>
	String(value ?? '').replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const plain = (value) => text(value).toLowerCase().replace(/\s/g, '');
const digits = (phone) => plain(phone).replace(/\D/g, '').slice(-9);
const money = (amount) =>
	Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const sum = (list) =>
	money(list.reduce((total, { amountEtb }) => total + Math.round(amountEtb * 100), 0) / 100);
const count = (list) => `${list.length} ${list.length === 1 ? 'person' : 'people'}`;
const timeOf = (time) =>
	time ? DateTime.fromISO(time).setZone('Africa/Addis_Ababa').toFormat('yyyy-LL-dd HH:mm') : '';
const nameOf = (user) =>
	text(user ? `${user.firstName} ${user.lastName} (${user.email})` : 'somebody');
const section = (title, list, about = () => '', more = '') => {
	if (list.length === 0) return '';
	const line = (row) =>
		`<tr><td><b>${text(row.name ?? row.reference)}</b> ${text(row.employee)}<br>${about(row)}</td><td>${row.amountEtb === undefined ? '' : money(row.amountEtb)}</td></tr>`;
	return `<h3>${title}: ${count(list)}</h3>${more}<table>${list.map(line).join('')}</table>`;
};

// What the register knows of payments for the same purpose.
const { period } = rows.find((row) => row.period) ?? {};
const [purpose] = (rows.find((row) => row.reference)?.reference ?? '').split(`-${period}-`);
const register = all('Last time')
	.filter((row) => row.outcome === 'paid' && row.period && row.reference.startsWith(`${purpose}-`))
	.map((row) => ({ ...row, amountEtb: row.amountEtb ?? row.askedEtb }))
	.sort((one, other) => one.period.localeCompare(other.period));
const paidAs = new Map(register.map((row) => [row.reference, row]));
const earlier = register.filter((row) => row.period < period);
const lastOf = new Map(earlier.map((row) => [row.person, row]));
const lastPeriod = earlier.at(-1)?.period;
const missing = earlier.filter(
	(row) => row.period === lastPeriod && !rows.some(({ person }) => person === row.person),
);

function unlikeLastTime(row) {
	const last = lastOf.get(row.person) ?? row;
	const percent = Math.round((row.amountEtb / last.amountEtb - 1) * 100);
	return [
		...(row.remarks ?? []).map((remark) => remark.code !== 'sameName' && remark.text),
		plain(last.name) !== plain(row.name) && `Last time the name was ${last.name}.`,
		digits(last.phone) !== '' &&
			digits(row.phone) !== '' &&
			digits(last.phone) !== digits(row.phone) &&
			`Last time the telephone was ${last.phone}.`,
		(last.userId ?? row.toUserId) !== row.toUserId && `Last time the wallet was ${last.userId}.`,
		Math.abs(percent) > 20 &&
			`${money(last.amountEtb)} in ${last.period}, ${percent > 0 ? '+' : ''}${percent} %.`,
		paidAs.has(row.reference) && 'Another workflow paid this before, says the register.',
	]
		.filter(Boolean)
		.join(' ');
}

const form = `${$execution.resumeFormUrl.split('/form-waiting/')[0]}/form/etb-file-settle`;
const links = (list) =>
	['wasPaid', 'wasNotPaid']
		.map((field) => [field, encodeURIComponent(list.map(({ reference }) => reference).join('\n'))])
		.map(
			([field, names]) =>
				`<a href="${form}?${field}=${names}" target="_blank">${field === 'wasPaid' ? 'It was paid' : 'It was not paid'}</a>`,
		)
		.join(' · ');
function paidBefore({ reference }) {
	const { amountEtb, name, paidAt, txHash } = paidAs.get(reference) ?? {};
	return amountEtb === undefined
		? ''
		: text(`${money(amountEtb)} ETB to ${name} ${timeOf(paidAt)} ${txHash ?? ''}`);
}

const [ready, paid, unknown] = ['ready', 'paid', 'unknown'].map((name) => rows.filter(is(name)));
const isApproved = answer?.user !== undefined && answer.decision?.startsWith('Approve') === true;
const isUploader = isApproved && answer.user.id === upload.user?.id;
const isDryRun = rows.some(({ mode }) => mode === 'dryRun');
const asks = isDryRun && ready.length > 0 && (answer === undefined || isUploader);
const [first = {}] = rows;
let page;
if (first.error !== undefined)
	page = `<h2>Nobody was paid</h2><p>${text(first.error.message ?? first.error)}. ${text(first.error.remedy)}</p>`;
else if (first.mode === 'settle')
	page = rows
		.map(({ reference, message }) => `<p><b>${text(reference)}</b> ${text(message)}</p>`)
		.concat('<p>Then upload the list again: it pays who was not paid.</p>')
		.join('');
else
	page = [
		asks && isUploader
			? `<h4>Nobody was paid: ${nameOf(answer.user)} uploaded this list, so somebody else has to approve it.</h4>`
			: '',
		asks
			? `<h2>${sum(ready)} ETB for ${count(ready)}</h2>`
			: `<h2>${paid.length > 0 ? `${sum(paid)} ETB paid to ${count(paid)}` : 'Nobody was paid'}</h2>`,
		`<p>Period ${text(period)}, ${text(upload.list?.filename)}, uploaded by ${nameOf(upload.user)}. Only the first sheet counts, and in it hidden rows too.</p>`,
		asks
			? '<p>Whoever uploaded it cannot approve it: send the address of this page to somebody else.</p>'
			: '',
		answer && !asks
			? `<p>${isApproved ? 'Approved' : answer.decision ? 'Declined' : 'Not decided in time'} by ${nameOf(answer.user)}.</p>`
			: '',
		section(
			'Paid for the first time',
			ready.filter(({ person }) => !lastOf.has(person)),
			(row) => text(`Wallet ${row.toUserId} ${row.phone ?? ''}`),
		),
		section('To be looked at', ready.filter(unlikeLastTime), (row) => text(unlikeLastTime(row))),
		asks ? section(`Paid in ${lastPeriod}, and not in this list`, missing) : '',
		section(
			'It is unknown whether they were paid',
			unknown,
			(row) => `${text(row.message)}<br>${links([row])}`,
			`<p>Ask the partner service. ${unknown.length > 1 ? `All of them: ${links(unknown)}` : ''} ${asks ? 'Who is recorded as not paid before the approval is paid with it.' : 'Then upload the list again: it pays who was not paid.'}</p>`,
		),
		section(
			'The service paid another amount',
			rows.filter(is('otherAmount')),
			(row) => `${money(row.requestedAmountEtb)} was asked for`,
		),
		section(
			'Another amount or person than was paid before',
			rows.filter(is('otherPayment')),
			(row) => `Not paid now. Paid was ${paidBefore(row)}`,
		),
		section(
			asks ? 'Will not be paid' : 'Not paid',
			rows.filter(is('notPaid')).filter((row) => row.code !== 'otherPayment'),
			(row) =>
				`Row ${row.line}. ${text(row.problem || `${row.message}. ${row.remedy ?? ''}`)} ${row.code.startsWith('above') ? 'The maximum stands in Pay salaries: then publish the workflow again.' : ''}`,
		),
		section('Paid before, not again', rows.filter(is('alreadyPaid')), paidBefore),
		section(asks ? 'All who will be paid' : 'Not paid, because nobody approved it', ready),
		section('Paid', paid, (row) => text(`${timeOf(row.paidAt)} ${row.txHash ?? ''}`)),
	].join('');
return [{ json: { asks, approve: `Approve: pay ${sum(ready)} ETB to ${count(ready)}`, page } }];
