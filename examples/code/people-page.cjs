// The page that a person confirms: the people who are new, changed, like somebody else, or cannot be used.
const rows = $input.all().map(({ json }) => json);
const [{ error } = {}] = rows;
const ready = (known) => rows.filter((row) => row.status === 'ready' && row.known === known);
const [fresh, changedAnywhere, same] = ['new', 'changed', 'same'].map(ready);
const problems = rows.filter((row) => row.status === 'problem' && !isNoPerson(row));
const { payroll } = itemsOf(() => $('Set up people'))[0];
const others = itemsOf(() => $('People')).filter((one) => one.payroll !== payroll);
const theirs = new Set(others.map(({ person }) => person));
const elsewhere = [...changedAnywhere, ...same].filter(({ person }) => theirs.has(person));
const changed = changedAnywhere.filter(({ person }) => !theirs.has(person));
const named = new Set(elsewhere.map(({ person }) => person));
const ofNamed = others.filter(({ person }) => named.has(person));
const payrolls = [...new Set(ofNamed.map((one) => one.payroll))].join(', ');
const stays =
	elsewhere.length > 0 &&
	`<h4>${escapeHtml(`Not changed, and not paid by ${payroll}: ${countPeople(elsewhere)}. They stay with ${payrolls}`)}</h4>`;
const here = new Set(rows.map(({ person }) => person));
const left = itemsOf(() => $('People')).filter(
	(one) => one.payroll === payroll && !here.has(one.person),
);
const withoutNew = (row) => ({ ...row, remarks: row.remarks.filter(({ code }) => code !== 'new') });
const twice = likeOthers([...fresh, ...changed]);
const renamed = changed.filter(hasRemark('changedName'));
const namesakes = fresh.filter(hasRemark('sameName')).filter((row) => !twice.includes(row));
const { notRead = [] } = rows[0] ?? {};
const html = page(
	error
		? `<h2>The list cannot be used</h2><p>${escapeHtml(error.message)}. ${escapeHtml(error.remedy)}</p>`
		: `<h2>${countPeople(fresh)} new, ${changed.length} changed, ${same.length} as before${problems.length > 0 ? `, ${problems.length} cannot be used` : ''}</h2>`,
	stays,
	twice.length > 0 &&
		`<h2><em>The same person under two numbers? ${numbersOf(twice)}: see below</em></h2>`,
	renamed.length > 0 && `<h4>Another name than before, see below: ${numbersOf(renamed)}</h4>`,
	namesakes.length > 0 &&
		`<h4>New, with the name of another number, see below: ${numbersOf(namesakes)}</h4>`,
	section('Cannot be used', problems),
	section(`Not changed: they stay with ${payrolls}`, elsewhere),
	section('New: they get a wallet', fresh.map(withoutNew)),
	section('Changed', changed),
	section(`Not in this list: they stay in the table for ${payroll}`, error ? [] : left),
	notRead.length > 0 && `<p>Columns that were not read: ${escapeHtml(notRead.join(', '))}.</p>`,
	noPersons(rows.filter(isNoPerson)),
);
const steps = [
	fresh.length > 0 && `Set up ${countPeople(fresh)} for ${payroll}`,
	changed.length > 0 && `Change ${countPeople(changed)}`,
];
const confirmed = steps.filter(Boolean).join(', ');
const nothing = 'Change nothing';
// The first choice is the easy one.
const options = (twice.length > 0 ? [nothing, confirmed] : [confirmed, nothing]).filter(Boolean);
const title = error ? 'Nobody can be set up' : 'Set up these people?';
const fields = [html, radio('decision', 'Your decision', options)];
// For the page at the end.
const stillToDo = [
	stays,
	problems.length > 0 && `<h4>Cannot be used, nothing was done: ${numbersOf(problems)}</h4>`,
];
return [
	{
		json: {
			title,
			page: html.html,
			fields,
			confirmed,
			changed: changed.map(({ person }) => person),
			stays: stillToDo.filter(Boolean).join(''),
		},
	},
];
