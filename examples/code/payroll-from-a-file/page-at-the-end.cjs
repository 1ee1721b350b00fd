/**
 * Makes the page that everybody with the address of this list reads in the end, as often as they open it: who was paid,
 * who was not and why, and the files.
 */
const settings = $('Settings').first().json;
const { about } = $('Read the rows').first().json;
const { verdict = 'done', reason, by, who = [] } = $input.first().json;
const items = $input.all();

const SETTLE = [
	`<p>Ask the partner service about each of them. In still-to-pay.xlsx, write what it said into the column <i>finding</i>: <i>${html(about.period)} paid</i> or <i>${html(about.period)} notPaid</i>. Then whoever runs n8n opens <i>Pay salaries</i> in the workflow:</p>`,
	`<ol><li>Choose <i>Execute step</i>, and upload that file in the form that opens, with <i>${html(about.period)}</i> in <i>Period</i>.</li>`,
	'<li>Does it open no form, or an old error? Reload the page of n8n, and begin again.</li>',
	'<li>Hover over <i>Mode</i>, and choose <i>Fixed</i>, <i>Settle Unknown</i>. Set <i>Finding</i> to <i>From Each Item</i>. Choose <i>Execute step</i> again: nobody is paid by that.</li>',
	'<li>Choose <i>Expression</i> at <i>Mode</i> again, write <i>{{ $json.mode }}</i> in the place of what stands there, and save.</li></ol>',
	`<p>Then empty the column <i>finding</i>, and upload the file as always, with <i>${html(about.period)}</i> in <i>Period</i>: who was not paid is paid once it is approved.</p>`,
].join('');

/** The report: the newest run of "What came of it". */
let rows = [];
if (verdict === 'done') {
	for (let run = 0; ; run++) {
		try {
			rows = $('What came of it')
				.all(0, run)
				.map(({ json }) => json);
		} catch {
			break;
		}
	}
}
const having = (outcome) => rows.filter((row) => row.outcome === outcome);
const paid = having('paid');
const total = paid.reduce((sum, { amountEtb }) => sum + amountEtb, 0);
const approvedBy = paid[0]?.approvedBy;

// Who reads only the heading must not take somebody who may have been paid for somebody who was not.
const NOT_PAID =
	having('unknown').length > 0 ? 'It is unknown whether somebody was paid' : 'Nobody was paid';

/** What happened, in one sentence, and what to do. */
const [heading, sentence] = {
	done: [
		paid.length > 0 ? `${money(total)} ETB paid` : NOT_PAID,
		[
			paid.length > 0 &&
				`to ${people(paid.length)}${approvedBy ? `, approved by ${html(approvedBy)}` : ''}.`,
			having('alreadyPaid').length > 0 &&
				`${people(having('alreadyPaid').length)} had been paid before.`,
			having('notPaid').length > 0 &&
				`${people(having('notPaid').length)} not paid by this list: correct what the reason says, in still-to-pay.xlsx, and upload it. Do not pay them in another way: an earlier list may have paid them.`,
			having('unknown').length > 0 &&
				`${people(having('unknown').length)} may have been paid: do not pay them in another way.`,
		]
			.filter(Boolean)
			.join(' '),
	],
	declined: ['Nobody was paid', `${html(by?.name ?? 'Somebody')} declined this list.`],
	expired: [
		'Nobody was paid',
		`Nobody approved this list within ${settings.hoursToApprove} hours. Upload it again.`,
	],
	changed: [
		'Nobody was paid',
		`The table of people was changed after this list was shown: ${html(who.join(', '))}. Upload it again, and have it approved as it is now.`,
	],
	unreadable: ['Nobody was paid', `${html(reason)}. Correct it, and upload it again.`],
}[verdict];

/** A heading and a table of names and amounts; nothing if there is nobody. */
function section(title, some, detail) {
	if (some.length === 0) return '';
	const amount = ({ amountEtb }) =>
		typeof amountEtb === 'number' ? money(amountEtb) : html(amountEtb);
	const cells = some.map(
		(row) =>
			`<tr><td><b>${html(row.name || 'No name')}</b><br>${[html(row.employee), ...detail(row)].filter(Boolean).join('<br>')}</td><td>${amount(row)}</td></tr>`,
	);
	return `<h3>${title}: ${people(some.length)}</h3><table>${cells.join('')}</table>`;
}

/** A button for each file that has arrived, with the file in it. */
const buttons = items.flatMap(({ binary = {} }, index) =>
	Object.entries(binary).map(async ([name, { fileName, mimeType }]) => {
		const data = (await this.helpers.getBinaryDataBuffer(index, name)).toString('base64');
		const address = `data:${mimeType};base64,${data}`;
		return `<a download="${html(fileName)}" href="${address}">${html(fileName)}</a>`;
	}),
);

const upload = about.uploadedBy
	? `, uploaded by ${html(about.uploadedBy.name)} (${html(about.uploadedBy.email)})`
	: '';
const pageWith = (files) => [
	`<h1>Salaries ${html(about.period ?? '')}</h1><h2>${heading}</h2><p>${sentence}</p>`,
	files.length > 0 ? `<p class="files">${files.join('')}</p>` : '',
	section(
		'May have been paid',
		having('unknown'),
		({ userId, reference, time, line, reason: why }) => [
			`To ${html(userId)}`,
			html(reference),
			time && `Sent at ${html(time)}`,
			// In the files the reason leads to this page.
			`Row ${line}: ${html(why.replace(/(\. )?See the page of this list$/, ''))}`,
		],
	),
	having('unknown').length > 0 ? SETTLE : '',
	section('Not paid', having('notPaid'), ({ line, reason: why }) => [`Row ${line}: ${html(why)}`]),
	section('Paid', paid, ({ txHash }) => [html(txHash)]),
	section('Paid before', having('alreadyPaid'), ({ txHash }) => [html(txHash)]),
	`<footer>${html(about.fileName)}${upload}. You can open this page again: it says how it was on ${$now.setZone('Africa/Addis_Ababa').toFormat('d LLLL yyyy, HH:mm')}, and nothing of later lists.</footer>`,
];
return Promise.all(buttons).then((files) => [{ json: { page: pageWith(files).join('') } }]);
