// Who is new, changed, like somebody else, or cannot be used: what a person confirms.
const rows = $input
	.all()
	.map(({ json }) => json)
	.filter(({ status }) => status !== 'noPerson');
const { error } = rows[0] ?? {};
const of = (known) => rows.filter((row) => row.status === 'ready' && row.known === known);
const [fresh, changed, same] = ['new', 'changed', 'same'].map(of);
const about = (row) => text((row.remarks ?? []).map((one) => one.text).join(' '));
const page = error
	? `<h2>The list cannot be used</h2><p>${text(error.message ?? error)}. ${text(error.remedy ?? error.description)}</p>`
	: `<h2>${people(fresh)} new, ${changed.length} changed, ${same.length} as before</h2>${section(
			'Cannot be used',
			rows.filter((row) => row.problem),
			(row) => `Row ${row.line}. ${text(row.problem)}`,
		)}${section('New: they get a wallet', fresh, about)}${section('Changed', changed, about)}`;
const yes = `Set up ${people(fresh)}, change ${changed.length}`;
const options = [...(fresh.length + changed.length > 0 ? [yes] : []), 'Change nothing'];
const html = { fieldType: 'html', elementName: 'page', html: page };
return [{ json: { page, fields: [html, radio('decision', 'Your decision', options)] } }];
