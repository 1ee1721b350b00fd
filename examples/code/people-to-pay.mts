/** *Page* of `people-to-pay.json`: the people who are new, changed, like somebody else, or cannot be used. */
import {
	columnsNotRead,
	formLink,
	formPaths,
	noPersons,
	pageField,
	radio,
	renamedText,
	section,
	type Part,
} from './page.mts';
import { isFarFrom } from './list-warnings.mts';
import { hasRemark, isTitleOrTotal, rowsLikeOthers } from './payment-row.mts';
import { peopleText, escapeHtml, namesWithNumbers } from './text.mts';
import { itemsOf, type CheckListItem } from './workflow.mts';

const rows = $input.all().map(({ json }) => json);
const [{ error = undefined, notRead = [] } = {}] = rows;
const { payroll = '' } = itemsOf(() => $('Set up people'))[0] ?? {};
const people = itemsOf(() => $('People'));
const others = people.filter((person) => person.payroll !== payroll);

const readyAs = (known: CheckListItem['known']): CheckListItem[] =>
	rows.filter((row) => row.status === 'ready' && row.known === known);
const [fresh, changedAnywhere, same] = [readyAs('new'), readyAs('changed'), readyAs('same')];
const isElsewhere = (row: CheckListItem): boolean =>
	others.some(({ employeeKey }) => employeeKey === row.employeeKey);
const elsewhere = [...changedAnywhere, ...same].filter(isElsewhere);
const changed = changedAnywhere.filter((row) => !isElsewhere(row));
const problems = rows.filter((row) => row.status === 'problem' && !isTitleOrTotal(row));
const listed = new Set(rows.map(({ employeeKey }) => employeeKey));
const notListed = people.filter((one) => one.payroll === payroll && !listed.has(one.employeeKey));
const twice = rowsLikeOthers([...fresh, ...changed]);
const renamed = changed.filter(hasRemark('changedName'));
const namesakes = fresh.filter(hasRemark('sameName')).filter((row) => !twice.includes(row));
const sharing = [...fresh, ...changed].filter(
	(row) => (hasRemark('samePhone')(row) || hasRemark('sameUserId')(row)) && !twice.includes(row),
);
const amounts = new Map(people.map(({ employeeKey, amountEtb }) => [employeeKey, amountEtb]));
const different = changed.filter(({ employeeKey, amountEtb }) => {
	const before = amounts.get(employeeKey) ?? 0;
	return before > 0 && isFarFrom(before, amountEtb ?? before);
});

const named = new Set(elsewhere.map(({ employeeKey }) => employeeKey));
const ofNamed = others.filter(({ employeeKey }) => named.has(employeeKey));
const payrolls = [...new Set(ofNamed.map((one) => one.payroll))].join(', ');
const stays: Part =
	elsewhere.length > 0 &&
	`<h4>${escapeHtml(`Not changed, and not paid by ${payroll}: ${peopleText(elsewhere)}. They stay with ${payrolls}`)}</h4>`;
const withoutNew = (row: CheckListItem): CheckListItem => ({
	...row,
	remarks: row.remarks?.filter(({ code }) => code !== 'new'),
});
const html = pageField(
	error
		? `<h2>The list cannot be used</h2><p>${escapeHtml(error.message)}. ${escapeHtml(error.remedy)}</p><p>Nothing was changed. ${formLink(formPaths.people, 'Upload the list again')}</p>`
		: `<h2>${peopleText(fresh)} new, ${changed.length} changed, ${same.length} as before${problems.length > 0 ? `, ${problems.length} cannot be used` : ''}</h2>`,
	stays,
	twice.length > 0 &&
		`<h2><em>The same person under two numbers? ${namesWithNumbers(twice)}: see below</em></h2>`,
	renamed.length > 0 && `<h2><em>${renamedText(renamed)}</em></h2>`,
	different.length > 0 &&
		`<h2><em>Very different from before: ${namesWithNumbers(different)}. Is the amount right? See below</em></h2>`,
	sharing.length > 0 &&
		`<h4>With the telephone or wallet of another number, see below: ${namesWithNumbers(sharing)}</h4>`,
	namesakes.length > 0 &&
		`<h4>New, with the name of another number, see below: ${namesWithNumbers(namesakes)}</h4>`,
	section('Cannot be used', problems),
	section(`Not changed: they stay with ${payrolls}`, elsewhere),
	section('New: they get a wallet', fresh.map(withoutNew)),
	section('Changed', changed),
	section(`Not in this list: they stay in the table for ${payroll}`, error ? [] : notListed),
	columnsNotRead(notRead),
	noPersons(rows.filter(isTitleOrTotal)),
);

const steps = [
	fresh.length > 0 && `Set up ${peopleText(fresh)} for ${payroll}`,
	changed.length > 0 && `Change ${peopleText(changed)}`,
];
const confirmed = steps.filter(Boolean).join(', ');
const nothing = 'Change nothing';
// People tend to take the first choice, so after a large warning it is to change nothing.
const options = (
	twice.length + renamed.length + different.length > 0 ? [nothing, confirmed] : [confirmed, nothing]
).filter(Boolean);
const item = {
	title: error ? 'Nobody can be set up' : 'Set up these people?',
	page: html.html,
	// There is nothing to decide about a list that cannot be used.
	fields: error ? [html] : [html, radio('decision', 'Your decision', options)],
	confirmed,
	changed: changed.map(({ employeeKey }) => employeeKey),
	// For the page at the end.
	stays: [
		stays,
		problems.length > 0 &&
			`<h4>Cannot be used, nothing was done: ${namesWithNumbers(problems)}</h4>`,
	]
		.filter(Boolean)
		.join(''),
};
export const items = [{ json: item }];
