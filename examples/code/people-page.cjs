// Who is new, changed, like somebody else, or cannot be used: what a person confirms.
const rows = $input.all().map(({ json }) => json);
const [first = {}] = rows;
const [ready, bad] = [true, false].map((isReady) =>
	rows.filter(({ status }) => status !== 'noPerson' && (status === 'ready') === isReady),
);
const of = (known) => ready.filter((row) => row.known === known);
const remarks = (row) => text((row.remarks ?? []).map((each) => each.text).join(' '));
const list = (title, some, about) =>
	some.length > 0 &&
	`<h3>${title}: ${people(some)}</h3><table>${some.map((row) => `<tr><td><b>${text(row.name)}</b> ${text(row.employee)}<br>${about(row)}</td><td>${row.amountEtb === undefined ? '' : money(row.amountEtb)}</td></tr>`).join('')}</table>`;
const page = first.error
	? `<h2>The list cannot be used</h2><p>${text(first.error.message ?? first.error)}. ${text(first.error.remedy ?? first.error.description)}</p>`
	: [
			`<h2>${people(of('new'))} new, ${of('changed').length} changed, ${of('same').length} as before</h2>`,
			list('Cannot be used', bad, (row) => `Row ${row.line}. ${text(row.problem)}`),
			list('New: they get a wallet', of('new'), remarks),
			list('Changed', of('changed'), remarks),
		].join('');
const values = [
	...(of('new').length + of('changed').length > 0
		? [`Set up ${people(of('new'))}, change ${of('changed').length}`]
		: []),
	'Change nothing',
].map((option) => ({ option }));
const question = {
	fieldType: 'radio',
	fieldName: 'decision',
	fieldLabel: 'Your decision',
	requiredField: true,
	fieldOptions: { values },
};
return [
	{ json: { page, fields: [{ fieldType: 'html', elementName: 'page', html: page }, question] } },
];
