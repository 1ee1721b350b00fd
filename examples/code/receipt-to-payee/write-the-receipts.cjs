/**
 * Writes a receipt for each payment: from the event, or from what a workflow that paid has handed over.
 * Out: one item for each payee who has an address.
 */
const people = new Map(
	$('People')
		.all()
		.map(({ json }) => [json.userId, json]),
);

/** A payment as the event tells it, or as the node that paid gave it. */
const payments = $('ETB Wallet Trigger').isExecuted
	? $('ETB Wallet Trigger')
			.all()
			.map(({ json }) => ({ ...json.data, time: json.timestamp }))
	: $('After a payment')
			.all()
			.map(({ json }) => json)
			.filter(({ outcome }) => outcome === 'paid');

const MONTHS = {
	en: [
		'Meskerem',
		'Tikimt',
		'Hidar',
		'Tahsas',
		'Tir',
		'Yekatit',
		'Megabit',
		'Miyazya',
		'Ginbot',
		'Sene',
		'Hamle',
		'Nehase',
		'Pagume',
	],
	am: [
		'መስከረም',
		'ጥቅምት',
		'ኅዳር',
		'ታኅሣሥ',
		'ጥር',
		'የካቲት',
		'መጋቢት',
		'ሚያዝያ',
		'ግንቦት',
		'ሰኔ',
		'ሐምሌ',
		'ነሐሴ',
		'ጳጉሜን',
	],
};
const gregorianMonths = [
	'ጃንዋሪ',
	'ፌብሩዋሪ',
	'ማርች',
	'ኤፕሪል',
	'ሜይ',
	'ጁን',
	'ጁላይ',
	'ኦገስት',
	'ሴፕቴምበር',
	'ኦክቶበር',
	'ኖቬምበር',
	'ዲሴምበር',
];

/** The day in Ethiopia's calendar; `date` must be in the time zone of Addis Ababa. */
function ethiopian(date) {
	const format = new Intl.DateTimeFormat('en-u-ca-ethiopic-nu-latn', {
		timeZone: date.zoneName,
		day: 'numeric',
		month: 'numeric',
		year: 'numeric',
	});
	const { day, month, year } = Object.fromEntries(
		format.formatToParts(date.toJSDate()).map(({ type, value }) => [type, value]),
	);
	return (language) => `${day} ${MONTHS[language][month - 1]} ${year}`;
}

const receipts = payments.map(({ txHash, toUserId, amountEtb, time, name, email }) => {
	const payee = people.get(toUserId) ?? {};
	const date = time
		? DateTime.fromISO(time, { zone: 'Africa/Addis_Ababa' })
		: $now.setZone('Africa/Addis_Ababa');
	const inEthiopia = ethiopian(date);
	const amount = Number(amountEtb).toLocaleString('en-US', {
		minimumFractionDigits: 2,
		maximumFractionDigits: 2,
	});
	const to = name || payee.name || '';
	return {
		txHash: String(txHash),
		email: email || payee.email || '',
		name: to,
		subject: `የክፍያ ደረሰኝ / Receipt: ${amount} ETB`,
		text: [
			`${to}፣`,
			`${amount} ብር ተከፍሎዎታል።`,
			`ቀን፦ ${inEthiopia('am')} ዓ.ም. (${date.day} ${gregorianMonths[date.month - 1]} ${date.year})`,
			`የግብይት መለያ፦ ${txHash}`,
			'',
			`${to},`,
			`You were paid ${amount} ETB.`,
			`Date: ${date.day} ${date.setLocale('en').toFormat('LLLL yyyy')} (${inEthiopia('en')} in the Ethiopian calendar)`,
			`Transaction: ${txHash}`,
		].join('\n'),
	};
});

// A receipt without a transaction cannot be told apart from another one, and one without an amount says something false.
for (const [name, isUsable] of Object.entries({
	txHash: ({ txHash }) => Boolean(txHash),
	amountEtb: ({ amountEtb }) => Number(amountEtb) > 0,
})) {
	const without = payments.filter((payment) => !isUsable(payment)).length;
	if (without > 0)
		throw new Error(
			`${without} of ${payments.length} payments have no ${name}: no receipt was sent`,
		);
}
return receipts.filter(({ email }) => email !== '').map((json) => ({ json }));
