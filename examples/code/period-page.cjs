// The rows for the file. The first one has the page. Takes registered, byPeriod, fileRow and page of words.cjs.
const [first = {}, ...others] = registered;
const nothing = first.id ? '' : 'There is no payment of this period.';
const { html } = page(nothing, ...byPeriod(registered));
const inFile = others.map((row) => ({ file: fileRow(row) }));
return [{ page: html, file: fileRow(first) }, ...inFile].map((json) => ({ json }));
