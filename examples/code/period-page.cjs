// The rows for the file. The first one has the page.
const titles = { unknown: 'UNKNOWN', notPaid: 'Not paid', paid: 'Paid' };
const parts = Object.entries(titles).flatMap(([outcome, title]) => {
	const rows = registered.filter(is(outcome));
	const purposes = [...new Set(rows.map(forWhat))].sort();
	return purposes.map((name) =>
		section(
			`${title}, ${name}`,
			rows.filter((row) => forWhat(row) === name),
		),
	);
});
const [first, ...others] = registered;
const { html } = page(first ? '' : 'There is no payment of this period.', ...parts);
return [{ ...first, page: html }, ...others].map((json) => ({ json }));
