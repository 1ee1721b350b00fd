const titles = { unknown: 'UNKNOWN', notPaid: 'Not paid', paid: 'Paid' };
const parts = Object.entries(titles).map(([outcome, title]) =>
	section(title, registered.filter(is(outcome))),
);
return page(...parts).html || 'There is no payment of this period.';
