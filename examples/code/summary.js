// One sentence for people, and the numbers in it. It names everybody who was not paid.

const rows = $input.all().map(({ json }) => json);
const { period, payDay } = $('Period').first().json;
const due = $now
	.setZone('Africa/Addis_Ababa')
	.minus({ days: payDay - 1 })
	.toFormat('yyyy-MM');

const etb = (amount) =>
	amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const withOutcome = (outcome) => rows.filter((row) => row.outcome === outcome);
const total = (list) =>
	list.reduce((sum, { amountEtb }) => sum + Math.round(amountEtb * 100), 0) / 100;

/** At most 20 people with their reasons, shorter ones if they are many, and the number of the others. */
function names(title, list) {
	if (list.length === 0) return '';
	const longest = list.length > 3 ? 120 : 700;
	const shown = list.slice(0, 20).map(({ name, amountEtb, reason }, index) => {
		const isSame = reason !== '' && reason === list[index - 1]?.reason;
		const why = reason.length > longest ? `${reason.slice(0, longest)}…` : reason;
		return `${name}, ${etb(amountEtb)} ETB${why === '' ? '' : ` (${isSame ? 'the same' : why})`}`;
	});
	const rest = list.length - shown.length;
	return ` ${title}: ${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}.`;
}

const paid = withOutcome('paid');
const ready = withOutcome('ready');
const before = withOutcome('alreadyPaid');
const notPaid = withOutcome('notPaid');
const unknown = withOutcome('unknown');
const beingSent = withOutcome('inFlight');

const mode = rows.find((row) => row.mode !== undefined)?.mode;
/** Those of a run that settles whose reason says this. */
const whenSettling = (list, words) =>
	mode === 'settle' ? list.filter(({ reason }) => words.test(reason)) : [];
// Whoever nobody was asked about: somebody may have left Mode on Settle Unknown, and a whole payroll is still to be paid.
const forgotten = whenSettling(ready, /knows no unknown payment/);
// What the table says was not recorded: it is of another period, cannot be used, or contradicts what the node knows.
const mistaken = [...paid, ...ready, ...before].filter(
	(row) => /^(The table says|Its Finding is) /.test(row.reason) && !forgotten.includes(row),
);
const settled = rows.filter(({ reason }) => /^Settled as /.test(reason)).length;
const NOTHING_SENT = {
	dryRun: 'dry run, nobody was paid',
	settle: `${settled} settled, nobody was paid`,
};
const counts = [
	mode === undefined
		? `${paid.length} paid (${etb(total(paid))} ETB)`
		: `${NOTHING_SENT[mode]}; ${ready.length} ready (${etb(total(ready))} ETB)`,
	`${before.length} paid before`,
	`${notPaid.length} not paid`,
	...(beingSent.length > 0 ? [`${beingSent.length} being sent by another execution`] : []),
	`${unknown.length} unknown`,
];

const items = [
	{
		json: {
			period,
			paid: paid.length,
			paidEtb: total(paid),
			paidBefore: before.length,
			ready: ready.length,
			readyEtb: total(ready),
			notPaid: notPaid.length,
			unknown: unknown.length,
			beingSent: beingSent.length,
			needsYou:
				notPaid.length + unknown.length + beingSent.length + forgotten.length + mistaken.length,
			message:
				`Salaries ${period}${period === due ? '' : ` (${due} is due)`}: ${counts.join(', ')}.` +
				names('Not paid', notPaid) +
				names('Being sent', beingSent) +
				names('Unknown', unknown) +
				names('Finding not recorded', mistaken) +
				names('Still to be paid, with Mode in Pay salaries on Pay', forgotten),
		},
	},
];
