/**
 * `npm run release`: checks that the version in package.json can be released and pushes its tag, which makes
 * the publish workflow test and publish it. With `--dry-run` it does everything but the tag.
 * Exits 1 when a check fails.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const dryRun = values['dry-run'];

const manifest = z.object({ version: z.string() });
const { version } = manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')));
const tag = `v${version}`;

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
const npm = (...args: string[]) => execFileSync('npm', args, { stdio: 'inherit' });

const changelog = readFileSync('CHANGELOG.md', 'utf8');
const isInChangelog = changelog
	.split('\n')
	.some((line) => line.startsWith(`## [${version}] - `) && /\d{4}-\d\d-\d\d$/.test(line));

git('fetch', '--quiet', '--tags', 'origin', 'main');
const conditions: Array<[holds: boolean, problem: string]> = [
	[git('branch', '--show-current') === 'main', 'The branch is not main'],
	[git('status', '--porcelain') === '', 'There are changes that are not committed'],
	[git('rev-parse', 'HEAD') === git('rev-parse', 'FETCH_HEAD'), 'main is not what origin has'],
	[git('tag', '--list', tag) === '', `${tag} was released: raise the version in package.json`],
	[isInChangelog, `CHANGELOG.md has no section "## [${version}] - <date>"`],
];
const problems = conditions.filter(([holds]) => !holds).map(([, problem]) => problem);
if (problems.length > 0) {
	console.error(`${tag} cannot be released:\n${problems.map((text) => `- ${text}`).join('\n')}`);
	process.exitCode = 1;
}

if (problems.length === 0 || dryRun) {
	npm('test');
	// Only the publish workflow can make a provenance statement.
	npm('publish', '--dry-run', '--provenance=false');
	if (dryRun) {
		console.log(`Dry run: ${tag} was not made, nothing was pushed or published.`);
	} else {
		git('tag', '--annotate', tag, '--message', tag);
		git('push', 'origin', tag);
		console.log(`Pushed ${tag}. The publish workflow tests and publishes it.`);
	}
}
