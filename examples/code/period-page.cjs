// The rows for the file. The first one has the page.
const titles = { unknown: 'UNKNOWN', notPaid: 'Not paid', paid: 'Paid' };
const parts = Object.entries(titles).map(([outcome, title]) =>
	section(title, registered.filter(is(outcome))),
);
const [first, ...others] = registered;
const { html } = page(first ? '' : 'There is no payment of this period.', ...parts);
return [{ ...first, page: html }, ...others].map((json) => ({ json }));
