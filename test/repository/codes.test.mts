/** docs/operations.md has every code that an item can carry, with its outcome and meaning. */
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

test('each code stands in the document as it stands in the code', () => {
	const rows = Object.entries(codes).map(([code, { outcome, means }]) => [outcome, code, means]);
	expect(tableBelow('## What each item says', 'docs/operations.md')).toEqual(rows);
});
