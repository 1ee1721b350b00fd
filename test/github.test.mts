/** GitHub runs what this project has, with as few rights and as little foreign code as possible. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const { scripts } = z
	.object({ scripts: z.record(z.string()) })
	.parse(JSON.parse(readFileSync('package.json', 'utf8')));

const workflows = globSync('.github/workflows/*.yml').sort();

/** What follows each `key:` in the file. */
const valuesOf = (file: string, key: string): string[] =>
	[...readFileSync(file, 'utf8').matchAll(new RegExp(`^[\\s-]*${key}: (.+)$`, 'gm'))].map(
		([, value]) => value ?? '',
	);

test('there are workflows for testing and publishing', () => {
	expect(workflows).toEqual(['.github/workflows/publish.yml', '.github/workflows/test.yml']);
});

describe.each(workflows)('%s', (file) => {
	test('takes actions by full commit hash, with the version beside it, or from this project', () => {
		const used = valuesOf(file, 'uses');
		expect(used.length).toBeGreaterThan(0);
		const pinned = /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
		const own = (action: string): boolean => action.startsWith('./') && existsSync(action);
		expect(used.filter((action) => !pinned.test(action) && !own(action))).toEqual([]);
	});

	test('runs scripts and files that exist', () => {
		const commands = valuesOf(file, 'run');
		expect(commands.length).toBeGreaterThan(0);
		const missing = commands.filter((command) => {
			const [, script] = /^npm run ([\w:-]+)$/.exec(command) ?? [];
			const [, program] = /^bash (\S+)$/.exec(command) ?? [];
			if (script !== undefined) return !(script in scripts);
			if (program !== undefined) return !existsSync(program);
			return !/^(npm (ci|publish)\b|test )/.test(command);
		});
		expect(missing).toEqual([]);
	});

	test('puts nothing from outside into a command', () => {
		expect(valuesOf(file, 'run').filter((command) => command.includes('${{'))).toEqual([]);
		expect(valuesOf(file, 'run')).not.toContain('|');
		expect(readFileSync(file, 'utf8')).not.toContain('pull_request_target');
	});

	test('keeps no credentials and has no rights but those that a job names', () => {
		const text = readFileSync(file, 'utf8');
		expect(text).toMatch(/^permissions: \{\}$/m);
		const checkouts = valuesOf(file, 'uses').filter((action) => action.includes('/checkout@'));
		expect(valuesOf(file, 'persist-credentials')).toEqual(checkouts.map(() => 'false'));
		expect(text).not.toContain('secrets.');
	});
});

test('only publishing may sign, and it publishes a tested commit with provenance', () => {
	const signing = workflows.filter((file) => valuesOf(file, 'id-token').length > 0);
	expect(signing).toEqual(['.github/workflows/publish.yml']);
	const [publish = ''] = signing;
	expect(valuesOf(publish, 'needs')).toEqual(['test']);
	expect(valuesOf(publish, 'uses')).toContain('./.github/workflows/test.yml');
	expect(valuesOf(publish, 'run').at(-1)).toBe('npm publish --provenance --access public');
});
