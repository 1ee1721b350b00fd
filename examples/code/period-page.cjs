// The rows for the file. The first one has the page.
const [{ user, period }] = itemsOf(() => $('Which period?'));
// An n8n that does not know the login leaves the form open.
const isAsked = (row) => user?.id && (row.period || forWhat({})) === period;
const [first = {}, ...others] = registered.filter(isAsked);
const nothing = first.id ? '' : 'There is no payment of this period.';
const paid = [first, ...others].filter(hasOutcome('paid'));
const isMixed = new Set(paid.map(forWhat)).size > 1;
const total = isMixed && `<h2>${heading('Paid in all', paid)}</h2>`;
const { html } = page(nothing, total, ...byPeriod([first, ...others].filter(({ id }) => id)));
const inFile = others.map((row) => ({ file: fileRow(row) }));
return [{ page: html, file: fileRow(first) }, ...inFile].map((json) => ({ json }));
