/**
 * Compares what the treasury holds with what is known to have come in and gone out, and names what the gate does not know.
 * Out: one item for each line of the sheet. The first one has the result.
 */
const { month, openedAt, openingEtb, closedAt, closingEtb } = $('Opening and closing').first().json;
const from = DateTime.fromISO(openedAt);
const to = DateTime.fromISO(closedAt);
const within = (time) => DateTime.fromISO(time) > from && DateTime.fromISO(time) <= to;
const round = (amount) => Math.round(amount * 100) / 100;
const sum = (some) => round(some.reduce((total, { amountEtb }) => total + amountEtb, 0));

// Before the first event there is no table; any other error ends here.
const failed = $('Events')
	.all()
	.find(({ json }) => json.error && !/not found/.test(JSON.stringify(json.error)));
if (failed)
	throw new Error(
		`The events could not be read: ${failed.json.error.message ?? failed.json.error}`,
	);

const events = $('Events')
	.all()
	.map(({ json }) => json)
	.filter(({ at }) => at && within(at));
// A deposit for a user does not go into the treasury.
const deposits = events.filter(
	({ event, toUserId }) => event === 'deposit.mint_queued' && !toUserId,
);

/** All payments that were handed out around this time; `claimed_at` is right before each was sent. */
const known = $input
	.all()
	.map(({ json }) => json)
	.filter(({ reference }) => reference)
	.map((row) => ({
		reference: row.reference,
		toUserId: row.to_user_id,
		amountEtb: Number(row.amount_etb),
		txHash: row.tx_hash ?? '',
		time: DateTime.fromJSDate(new Date(row.claimed_at)).toISO(),
		state: row.state,
		counted: row.spent_on !== null,
	}));
// What a person wrote down as paid before there was a gate was paid at another time.
const paid = known.filter(
	({ state, time, counted }) => state === 'paid' && counted && within(time),
);
const unknown = known.filter(({ state, time }) => state === 'unknown' && within(time));
const hashes = new Set(known.map(({ txHash }) => txHash).filter(Boolean));
// The gate knows no hash of what is unknown, or was settled as paid: such a payment explains one event.
const withoutHash = known.filter(
	({ state, txHash }) => txHash === '' && ['paid', 'unknown'].includes(state),
);
const around = events.filter((payment) => {
	if (payment.event !== 'disburse.completed' || hashes.has(payment.txHash)) return false;
	const own = withoutHash.findIndex(
		({ toUserId, amountEtb }) =>
			toUserId === (payment.toUserId || toUserId) && amountEtb === payment.amountEtb,
	);
	if (own !== -1) withoutHash.splice(own, 1);
	return own === -1;
});

const expectedEtb = round(openingEtb + sum(deposits) - sum(paid));
const unexplainedEtb = round(closingEtb - expectedEtb);
const line = (text, amountEtb, more = {}) => ({
	line: text,
	amountEtb,
	time: '',
	reference: '',
	toUserId: '',
	txHash: '',
	...more,
});
const details = (text, some) =>
	some.map(({ amountEtb, time, at, reference = '', toUserId = '', txHash = '' }) =>
		line(text, amountEtb, { time: time ?? at, reference, toUserId, txHash }),
	);

const people = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;
const money = (amount) =>
	amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const message = [
	`${month}: unexplained ${money(unexplainedEtb)} ETB`,
	around.length > 0 &&
		`${people(around.length, 'payment')} around the gate, ${money(sum(around))} ETB: ${around
			.slice(0, 20)
			.map(({ toUserId, txHash }) => `${txHash} to ${toUserId || 'somebody'}`)
			.join(', ')}${around.length > 20 ? ', and others' : ''}`,
	unknown.length > 0 &&
		`${people(unknown.length, 'payment')} unknown at the gate, ${money(sum(unknown))} ETB: settle them at the desk, and close the month again`,
]
	.filter(Boolean)
	.join('. ');

return [
	line(`Opening balance ${month}`, openingEtb, { time: openedAt }),
	line('Deposits', sum(deposits)),
	line('Paid through the gate', -sum(paid)),
	line('Expected closing balance', expectedEtb),
	line('Closing balance', closingEtb, { time: closedAt }),
	line('Unexplained', unexplainedEtb),
	...details('Paid around the gate', around),
	...details('Unknown at the gate', unknown),
	...details('Deposit', deposits),
	...details('Paid through the gate', paid),
].map((json, index) => ({
	json: index === 0 ? { ...json, note: message } : { ...json, note: '' },
}));
