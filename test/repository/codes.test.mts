/** docs/operations.md has every code that an item can carry, below its outcome. */
import { readFileSync } from 'node:fs';
import { codes } from '../../nodes/EtbWallet/disbursement/codes.ts';

test('each code stands in the document below its outcome, with what it means', () => {
	const [, below = ''] = readFileSync('docs/operations.md', 'utf8').split('## What each item says');
	const [section = ''] = below.split('\n## ');
	const lists = section.matchAll(/^`(\w+)`:\n\n((?:- .+\n)+)/gm);
	const outcomes = [...lists].flatMap(([, outcome = '', list = '']) =>
		[...list.matchAll(/^- `(\w+)`: \w/gm)].map(([, code = '']) => [code, outcome]),
	);
	expect(Object.fromEntries(outcomes)).toEqual(codes);
});
