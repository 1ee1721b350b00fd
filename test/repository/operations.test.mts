/** docs/operations.md has what the nodes have as data: every code that an item can carry, and every column of a list. */
import { readFileSync } from 'node:fs';
import { checkList } from '../../nodes/EtbWallet/actions/disbursement/checkList.operation.ts';
import { codes } from '../../nodes/EtbWallet/disbursement/codes.ts';
import { columnNames } from '../../nodes/EtbWallet/list/headings.ts';
import { remarkCodes } from '../../nodes/EtbWallet/list/remarks.ts';

test('each code stands in the document below its outcome, with what it means', () => {
	const [, below = ''] = readFileSync('docs/operations.md', 'utf8').split('## What each item says');
	const [section = ''] = below.split('\n## ');
	const lists = section.matchAll(/^`(\w+)`:\n\n((?:- .+\n)+)/gm);
	const outcomes = [...lists].flatMap(([, outcome = '', list = '']) =>
		[...list.matchAll(/^- `(\w+)`: \w/gm)].map(([, code = '']) => [code, outcome]),
	);
	expect(Object.fromEntries(outcomes)).toEqual(codes);
});

test('each remark on a row of a list stands in the document', () => {
	const text = readFileSync('docs/operations.md', 'utf8');
	const [, rows = ''] = /\n\| Remark +\|[^\n]*\n\|[^\n]*\n((?:\|.*\n)+)/.exec(text) ?? [];
	const codesInTable = [...rows.matchAll(/^\| `(\w+)` +\| \w.+\|$/gm)].map(([, code]) => code);
	expect(codesInTable).toEqual(Object.keys(remarkCodes));
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
