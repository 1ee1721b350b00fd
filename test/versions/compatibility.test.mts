/** docs/compatibility.md agrees with package.json and with the tests about versions of n8n. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { listedDifferences } from '../support/n8n/version-differences.mts';
import { compatibilityFile, rangeOf, readTable } from './compatibility.mts';

const document = readFileSync(compatibilityFile, 'utf8');
const range = rangeOf(readTable(document)) ?? { oldest: 'none', newest: 'none' };

test('the document lists all that older versions lack', () => {
	expect(document).toContain(listedDifferences().join('\n'));
});

test('package.json and README state the range of the table', () => {
	const { engines } = z
		.object({ engines: z.object({ n8n: z.string() }) })
		.parse(JSON.parse(readFileSync('package.json', 'utf8')));
	expect(engines.n8n).toBe(`>=${range.oldest}`);
	expect(document).toContain(`Runs on n8n **${range.oldest} to ${range.newest}**.`);
	expect(readFileSync('README.md', 'utf8')).toContain(`n8n ${range.oldest} to ${range.newest}`);
});

test('the pinned version is in the table, and passed', () => {
	const { dependencies } = z
		.object({ dependencies: z.object({ n8n: z.string() }) })
		.parse(JSON.parse(readFileSync('demo/n8n/package.json', 'utf8')));
	const passed = readTable(document).filter(({ result }) => result === 'passes');
	expect(passed.map(({ version }) => version)).toContain(dependencies.n8n);
});
