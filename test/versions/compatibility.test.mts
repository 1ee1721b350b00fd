/** docs/compatibility.md agrees with package.json and with the tests about versions of n8n. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { listedDifferences } from '../support/n8n/version-differences.mts';
import { compatibilityFile, rangeOf, readTable, withRows } from './compatibility.mts';
import type { Result, TriedVersion } from './compatibility.mts';

const document = readFileSync(compatibilityFile, 'utf8');
const range = rangeOf(readTable(document)) ?? { oldest: 'none', newest: 'none' };

const row = (version: string, result: Result): TriedVersion => ({
	version,
	result,
	run: 'demo',
});

test('the range ends before a version that failed, and what cannot be installed says nothing', () => {
	const tried = [
		row('2.41.1', 'does not install'),
		row('2.40.7', 'passes'),
		row('2.9.1', 'passes'),
		row('2.39.10', 'passes'),
		row('2.8.4', 'fails'),
		row('2.7.0', 'passes'),
	];
	expect(rangeOf(tried)).toEqual({ oldest: '2.9.1', newest: '2.40.7' });
	expect(rangeOf([row('2.8.4', 'fails')])).toBeUndefined();
});

test('a run replaces the rows of its versions and the range, and leaves the rest of the document', () => {
	const passed = withRows(document, [row('2.99.0', 'passes'), row('2.98.10', 'fails')]);
	expect(readTable(passed)).toEqual([
		row('2.99.0', 'passes'),
		row('2.98.10', 'fails'),
		...readTable(document),
	]);
	expect(passed).toContain('Runs on n8n **2.99.0 to 2.99.0**.');
	const again = withRows(passed, [row('2.98.10', 'passes')]);
	expect(readTable(again)).toHaveLength(readTable(document).length + 2);
	expect(again).toContain(`Runs on n8n **${range.oldest} to 2.99.0**.`);
	const prose = (text: string): string => text.replaceAll(/^(?:\||Runs on).*\n/gm, '');
	expect(prose(again)).toBe(prose(document));
});

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
		.parse(JSON.parse(readFileSync('demo/package.json', 'utf8')));
	const passed = readTable(document).filter(({ result }) => result === 'passes');
	expect(passed.map(({ version }) => version)).toContain(dependencies.n8n);
});
