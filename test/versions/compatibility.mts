/**
 * The parts of docs/compatibility.md that `npm run test:versions` writes: the range of versions, the differences
 * of older ones, and a table.
 */
import { listedDifferences } from '../support/n8n/version-differences.mts';
import { compareVersions } from '../support/n8n/version.mts';

export const compatibilityFile = 'docs/compatibility.md';

/** `passes`, or the step that failed. */
const results = ['passes', 'fails', 'does not install'] as const;
export type Result = (typeof results)[number];

export interface TriedVersion {
	version: string;
	result: Result;
	/** The commit that was run, by `git describe`: it ends with `-dirty` if files had changed since. */
	commit: string;
	/** The tests that were run and the number that passed. */
	run: string;
}

const isResult = (text: string | undefined): text is Result =>
	results.some((result) => result === text);

/** The rows of the document's table, newest version first. */
export function readTable(document: string): TriedVersion[] {
	return [...document.matchAll(/^\| (\d+\.\d+\.\d+) \|(.*)\|$/gm)].map(
		([, version = '', rest = '']) => {
			const [result, commit = '', run = ''] = rest.split('|').map((cell) => cell.trim());
			if (!isResult(result)) throw new Error(`${compatibilityFile}: ${version} ${result}`);
			return { version, result, commit, run };
		},
	);
}

/** The oldest and the newest version that passed with none between them that failed. */
interface Range {
	oldest: string;
	newest: string;
}

/** Undefined when no version passed. */
export function rangeOf(tried: TriedVersion[]): Range | undefined {
	const started = tried
		.filter(({ result }) => result !== 'does not install')
		.toSorted((one, other) => compareVersions(other.version, one.version));
	const newest = started.findIndex(({ result }) => result === 'passes');
	if (newest === -1) return undefined;
	const after = started.slice(newest);
	const failed = after.findIndex(({ result }) => result !== 'passes');
	const passed = failed === -1 ? after : after.slice(0, failed);
	return { oldest: passed.at(-1)?.version ?? '', newest: passed[0]?.version ?? '' };
}

/**
 * The document with these rows in its table, in place of older rows of the same versions, and with the list of
 * differences.
 */
export function withRows(document: string, rows: TriedVersion[]): string {
	const others = readTable(document).filter(
		({ version }) => !rows.some((row) => row.version === version),
	);
	const all = [...others, ...rows].toSorted((one, other) =>
		compareVersions(other.version, one.version),
	);
	const range = rangeOf(all);
	const stated = range === undefined ? 'no version yet' : `${range.oldest} to ${range.newest}`;
	const lines = all.map(
		({ version, result, commit, run }) => `| ${version} | ${result} | ${commit} | ${run} |`,
	);
	const table = ['| n8n | Result | Commit | What was run |', '| --- | --- | --- | --- |', ...lines];
	return document
		.replace(/^\| n8n \|.*(?:\n\|.*)*/m, () => table.join('\n'))
		.replace(/^- Before .*(?:\n- Before .*)*/m, () => listedDifferences().join('\n'))
		.replace(/^Runs on n8n .*$/m, () => `Runs on n8n **${stated}**.`);
}
