/**
 * Makes one row for each person of the list from what the node answered: the report. After the dry run it makes the page
 * for the person who approves as well.
 * Out: after the dry run one item with `ask`, the page and its rows; else one item for each person.
 */
const settings = $('Settings').first().json;
const now = $now.setZone('Africa/Addis_Ababa');
const { about } = $('Read the rows').first().json;

/** The rows of the run of "Check the list" that led here: the newest one. */
let lines = [];
for (let run = 0; ; run++) {
	try {
		lines = $('Check the list')
			.all(0, run)
			.map(({ json }) => json);
	} catch {
		break;
	}
}
const { approved = false, approvedBy } = lines.find(({ next }) => next !== 'leftOut') ?? {};

/** The references of those whose finding cannot be read. */
const unread = new Set(
	lines.filter(({ finding }) => / not like /.test(finding)).map(({ reference }) => reference),
);

/** What the node answered, by reference: an item with its outcome, or an error with it. */
const answers = new Map(
	$input.all().map(({ json }) => {
		const {
			reference,
			outcome = 'notPaid',
			txHash = '',
			message = '',
			description = '',
		} = { ...json, ...Object(json.error) };
		const isSentNow = json.error !== undefined;
		const told = typeof json.error === 'string' ? json.error : message;
		let texts = isSentNow ? [told, description] : [outcome === 'paid' ? '' : message];
		// What to do about them stands on the page at the end, once for all.
		if (outcome === 'unknown')
			texts = [isSentNow ? told : message.split('. ')[0], 'See the page of this list'];
		const reason = texts
			.map((text) => String(text ?? '').replace(/\.$/, ''))
			// A finding of this period for a payment of another one would be believed, and nobody paid.
			.map((text) =>
				unread.has(reference)
					? text.replace(
							/Was it paid\? .*$/s,
							`It cannot be read: write ${about.period} paid or ${about.period} notPaid only if the partner service said so about ${reference}, or empty it`,
						)
					: text,
			)
			// In the list a finding has its period.
			.map((text) => text.replace(/\bwrite recordPaid/gi, `write ${about.period} recordPaid`))
			.filter(Boolean)
			.join('. ')
			// In this workflow Mode is an expression, which the person who settled has to put back.
			.replace(
				/(Set Mode to Pay, |Amount \(ETB\) is "not approved: ).*$/s,
				'Nothing was tried: in Pay salaries put the expression {{ $json.mode }} back into Mode, and publish the workflow again',
			);
		return [reference, { outcome, txHash, reason, isSentNow }];
	}),
);

/** What became of this line. A refusal of the whole run, such as a wrong Mode, comes without references. */
function answerTo({ next, reference, outcome = 'notPaid', reason }) {
	const answer = answers.get(reference) ?? (next === 'pay' ? answers.get(undefined) : undefined);
	if (approved && answer?.outcome === 'ready')
		return {
			outcome: 'notPaid',
			txHash: '',
			reason: 'This was only tried: in Pay salaries put the expression $json.mode back into Mode',
		};
	return answer ?? { outcome, txHash: '', reason };
}

const decided = lines
	.filter(({ none }) => !none)
	.map((line) => {
		const told = answerTo(line);
		// What is refused while it is tried was not looked up: "Check the list" knows more of it.
		const isNotAsked = !approved && told.outcome === 'notPaid';
		const outcome = isNotAsked ? line.ifNotSent : told.outcome;
		const answer = { ...told, outcome, isSentNow: told.isSentNow && outcome === told.outcome };
		const earlier = answer.outcome === 'alreadyPaid' ? line.paidBefore : undefined;
		// Who asks the service about an unknown payment tells it the time.
		const isNow = answer.outcome === 'paid' || (answer.outcome === 'unknown' && answer.isSentNow);
		const sentBefore = answer.outcome === 'unknown' ? line.sentAt : undefined;
		const time = isNow ? now.toFormat('yyyy-MM-dd HH:mm') : (earlier?.time ?? sentBefore ?? '');
		const noWalletYet = line.toUserId?.startsWith('a new wallet');
		return {
			...line,
			...answer,
			newWallet: noWalletYet,
			userId: noWalletYet ? '' : line.toUserId || line.userId,
			txHash: answer.txHash || earlier?.txHash || '',
			time,
		};
	});
// Who was refused when it was tried was not sent: what the page said about them stays.
const there = new Set(decided.map(({ line }) => line));
const refused = approved
	? $('What came of it')
			.first(0, 0)
			.json.rows.filter(({ line }) => !there.has(line))
	: [];
const rows = [...decided, ...refused].sort((one, other) => one.line - other.line);

const COLUMNS =
	'line employee name email phone amountEtb userId outcome reference time txHash reason'.split(' ');
const report = rows.map((row) => ({
	...Object.fromEntries(COLUMNS.map((column) => [column, row[column]])),
	approvedBy: row.outcome === 'paid' ? (approvedBy?.name ?? '') : '',
	// What a person wrote about them: still-to-pay.xlsx keeps it, and is uploaded again.
	finding: row.found,
}));
const having = (outcome) => rows.filter((row) => row.outcome === outcome);
const ready = having('ready');
if (approved || ready.length === 0) {
	// n8n shows these beside the execution, and its list of executions can be filtered by them.
	const numbers = {
		period: about.period,
		paid: having('paid').length,
		notPaid: having('notPaid').length,
		unknown: having('unknown').length,
	};
	for (const [name, value] of Object.entries(numbers))
		$execution.customData.set(name, String(value));
	return report.map((row) => ({ json: row }));
}

// The page for the person who approves.
const total = Math.round(ready.reduce((sum, { amountEtb }) => sum + amountEtb, 0) * 100) / 100;
const until = now.plus({ hours: settings.hoursToApprove });
const { treasuryBalance } = $('Treasury').first().json;
const treasury =
	typeof treasuryBalance === 'number'
		? `The treasury holds ${money(treasuryBalance)} ETB, and ${money(treasuryBalance - total)} ETB afterwards.`
		: 'What the treasury holds could not be read.';
const uploader = about.uploadedBy
	? `${about.uploadedBy.name} (${about.uploadedBy.email})`
	: 'somebody without a login';
const OUTCOMES = { notPaid: 'Not paid', unknown: 'May have been paid', alreadyPaid: 'Paid before' };

/** A heading and a table of names and amounts; nothing if there is nobody. */
function section(heading, some, detail) {
	if (some.length === 0) return '';
	const amount = ({ amountEtb }) =>
		typeof amountEtb === 'number' ? money(amountEtb) : html(amountEtb);
	const cells = some.map(
		(row) =>
			`<tr><td><b>${html(row.name || 'No name')}</b><br>${[html(row.employee), ...detail(row)].filter(Boolean).join('<br>')}</td><td>${amount(row)}</td></tr>`,
	);
	return `<h3>${heading}: ${people(some.length)}</h3><table><tbody>${cells.join('')}</tbody></table>`;
}

const page = [
	`<h2>${money(total)} ETB</h2><p>for ${people(ready.length)}, salaries of ${about.period}. ${treasury}</p>`,
	`<p>${html(about.fileName)}, uploaded by ${html(uploader)}. Somebody else approves it, with the address of this page, until ${until.toFormat("d LLLL yyyy, HH:mm '('ZZZZ')'")}.</p>`,
	about.period === about.due
		? ''
		: `<p><b>${about.period} is not the period that is due, which is ${about.due}.</b></p>`,
	about.unknownColumns.length > 0
		? `<p>Not read: the columns ${html(about.unknownColumns.join(', '))}.</p>`
		: '',
	section(
		'Unknown before',
		ready.filter(({ mayBePaid, reason }) => mayBePaid || /^Settled as not paid/.test(reason)),
		({ sentAt }) => [
			sentAt && `Sent at ${html(sentAt)}`,
			'Approve only if the partner service said that it was not paid',
		],
	),
	section(
		`More than ${settings.bigChangePercent} % difference`,
		ready.filter(({ bigChange }) => bigChange),
		({ change }) => [html(change)],
	),
	section(
		'Another amount than the last time',
		ready.filter(({ change, bigChange }) => change && !bigChange),
		({ change }) => [html(change)],
	),
	section(
		'Paid for the first time',
		ready.filter(({ firstPayment }) => firstPayment),
		({ newWallet, userId, perhaps }) => [
			newWallet ? 'Gets a new wallet' : `To ${html(userId)}`,
			perhaps && `Same name or telephone as ${html(perhaps)}: is it the same person?`,
		],
	),
	section(
		'Another name in the table',
		ready.filter(({ otherName }) => otherName),
		({ otherName }) => [`There: ${html(otherName)}`],
	),
	section(
		'Will not be paid',
		rows.filter(({ outcome }) => outcome !== 'ready'),
		({ outcome, line, reason }) => [
			`${OUTCOMES[outcome] ?? outcome}. Row ${line}: ${html(reason)}`,
		],
	),
	section('Will be paid', ready, () => []),
];
return [
	{
		json: {
			ask: true,
			title: `Salaries ${about.period}`,
			page: page.join(''),
			approve: `Approve: pay ${money(total)} ETB to ${people(ready.length)}`,
			decline: 'Decline: pay nobody',
			approveUntil: until.toISO(),
			message: `Salaries ${about.period}: ${money(total)} ETB for ${people(ready.length)} wait for your approval, until ${until.toFormat('d LLLL yyyy, HH:mm')}: ${$execution.resumeFormUrl}`,
			rows,
		},
	},
];
