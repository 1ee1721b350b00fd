/**
 * Finds the two balances between which the month lies: the first one of its first two days, and the first one after it.
 * The closing balance of one month is so the opening balance of the next, also when n8n was down at midnight.
 */
const { month } = $('Month').first().json;
const start = DateTime.fromFormat(month, 'yyyy-MM', { zone: 'Africa/Addis_Ababa' });
if (!start.isValid)
	throw new Error(`The month "${month}" cannot be read: write it like ${$now.toFormat('yyyy-MM')}`);
const end = start.plus({ months: 1 });

// Before the first night there is no table; any other error ends here.
const failed = $input
	.all()
	.find(({ json }) => json.error && !/not found/.test(JSON.stringify(json.error)));
if (failed)
	throw new Error(
		`The balances could not be read: ${failed.json.error.message ?? failed.json.error}`,
	);

const balances = $input
	.all()
	.map(({ json }) => json)
	.filter(({ takenAt, balanceEtb }) => takenAt && typeof balanceEtb === 'number')
	.map((balance) => ({ ...balance, time: DateTime.fromISO(balance.takenAt) }))
	.sort((one, other) => one.time - other.time);
const opening = balances.find(({ time }) => time >= start && time < start.plus({ days: 2 }));
const closing = balances.find(({ time }) => time >= end);
if (!opening)
	throw new Error(
		`There is no balance of the first two days of ${month} in the table: "Every night" has to be published before the month begins`,
	);
if (!closing)
	throw new Error(`There is no balance after the end of ${month} yet: close it on the day after`);
return [
	{
		json: {
			month,
			openedAt: opening.takenAt,
			openingEtb: opening.balanceEtb,
			closedAt: closing.takenAt,
			closingEtb: closing.balanceEtb,
		},
	},
];
