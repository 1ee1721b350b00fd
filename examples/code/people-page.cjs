// Who is new, changed, like somebody else, or cannot be used: what a person confirms.
const rows = $input.all().map(({ json }) => json);
const [{ error } = {}] = rows;
const of = (known) => rows.filter((row) => row.status === 'ready' && row.known === known);
const [fresh, changed, same] = ['new', 'changed', 'same'].map(of);
const problems = rows.filter(({ status }) => status === 'problem');
const html = page(
	error
		? `<h2>The list cannot be used</h2><p>${text(error.message)}. ${text(error.remedy)}</p>`
		: `<h2>${people(fresh)} new, ${changed.length} changed, ${same.length} as before</h2>`,
	section('Cannot be used', problems),
	section('New: they get a wallet', fresh),
	section('Changed', changed),
);
const yes = `Set up ${people(fresh)}, change ${changed.length}`;
const options = [...(fresh.length + changed.length > 0 ? [yes] : []), 'Change nothing'];
const fields = [html, radio('decision', 'Your decision', options)];
return [{ json: { page: html.html, fields } }];
