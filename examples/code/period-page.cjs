const about = (row) =>
	`${text(row.purpose)} ${timeOf(row.paidAt)} ${text(row.txHash)} ${text(row.reason)}`;
const each = (title, outcome) => section(title, registered().filter(is(outcome)), about);
const page = each('UNKNOWN', 'unknown') + each('Not paid', 'notPaid') + each('Paid', 'paid');
return page || 'There is no payment of this period.';
