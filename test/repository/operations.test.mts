/**
 * The documents have what the nodes have as data: every code that an item can carry, every option and every
 * column of a list.
 */
import { readFileSync } from 'node:fs';
import { checkListOperation as checkList } from '../../nodes/EtbWallet/actions/disbursement/checkList.operation.ts';
import { outcomeByCode } from '../../nodes/EtbWallet/codes.ts';
import { columnNames } from '../../nodes/EtbWallet/list/columns.ts';
import { remarkTexts } from '../../nodes/EtbWallet/list/remarks.ts';
import { defaultOptions } from '../../nodes/EtbWallet/paying/options.ts';
import { optionsOfCreate } from '../support/engine/options-of-create.mts';

test('each code stands in the document below its outcome, with what it means', () => {
	const [, below = ''] = readFileSync('docs/operations.md', 'utf8').split('## What each item says');
	const [section = ''] = below.split('\n## ');
	const lists = section.matchAll(/^`(\w+)`:\n\n((?:- .+\n)+)/gm);
	const outcomes = [...lists].flatMap(([, outcome = '', list = '']) =>
		[...list.matchAll(/^- `(\w+)`: \w/gm)].map(([, code = '']) => [code, outcome]),
	);
	expect(Object.fromEntries(outcomes)).toEqual(outcomeByCode);
});

test('each remark on a row of a list stands in the document', () => {
	const text = readFileSync('docs/operations.md', 'utf8');
	const [, rows = ''] = /\n\| Remark +\|[^\n]*\n\|[^\n]*\n((?:\|.*\n)+)/.exec(text) ?? [];
	const codesInTable = [...rows.matchAll(/^\| `(\w+)` +\| \w.+\|$/gm)].map(([, code]) => code);
	expect(codesInTable).toEqual(Object.keys(remarkTexts));
});

test('each column of a list that is read stands in the document, and beside the fields', () => {
	const [line = ''] =
		/^- \*\*Columns\*\*.*$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
	const [notice] = checkList.fields;
	for (const column of columnNames.filter((name) => name !== 'period')) {
		expect(line).toContain(`\`${column}\``);
		expect(notice?.displayName).toContain(`<b>${column}</b>`);
	}
});

test('the example of a checked list has no column among the others that is read', () => {
	const text = readFileSync('docs/operations.md', 'utf8');
	const [, others = ''] = /"otherColumns": \{(.*)\}/.exec(text) ?? [];
	const headings = [...others.matchAll(/"(\w+)":/g)].map(([, heading = '']) => heading);
	expect(headings).not.toEqual([]);
	const read = columnNames.map((name) => name.toLowerCase());
	expect(headings.filter((heading) => read.includes(heading.toLowerCase()))).toEqual([]);
});

test('each option that can refuse a payment stands in the limits', () => {
	const [, below = ''] = readFileSync('docs/safe-payments.md', 'utf8').split('\n## Limits\n');
	const [limits = ''] = below.split('\n## ');
	const named = [...limits.matchAll(/^- \*\*(.+)\*\*:/gm)].map(([, name]) => name);
	const options = optionsOfCreate.map(({ displayName }) => displayName);
	const others = ['Concurrency', 'Timeout (Ms)'];
	expect([...named, ...others].sort()).toEqual(options.sort());
});

test('an option that always has a value has the same default in the editor', () => {
	const ofEditor = new Map(optionsOfCreate.map((field) => [field.name, field.default]));
	expect(ofEditor.get('concurrency')).toBe(defaultOptions.concurrency);
	expect(ofEditor.get('timeout')).toBe(defaultOptions.timeoutMs);
});
