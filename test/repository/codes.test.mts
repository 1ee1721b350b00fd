/** docs/operations.md has every code that an item can carry, with its outcome, in the same order. */
import { readFileSync } from 'node:fs';
import { codes } from '../../nodes/EtbWallet/disbursement/codes.ts';

/** The rows of the table below a heading, without code marks. */
function tableBelow(heading: string, file: string): string[][] {
	const [, below = ''] = readFileSync(file, 'utf8').split(`\n${heading}\n`);
	const [section = ''] = below.split('\n#');
	const lines = section.split('\n').filter((line) => line.startsWith('|'));
	return lines.slice(2).map((line) =>
		line
			.slice(1, -1)
			.split('|')
			.map((cell) => cell.trim().replaceAll('`', '')),
	);
}

test('each code stands in the document with its outcome, and what it means', () => {
	const rows = tableBelow('## What each item says', 'docs/operations.md');
	expect(rows.map(([outcome, code]) => [code, outcome])).toEqual(Object.entries(codes));
	for (const [, , means] of rows) expect(means).toMatch(/\w/);
});
