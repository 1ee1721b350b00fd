/** The workflows of GitHub run existing scripts, with as few rights and as little foreign code as possible. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const { scripts } = z
	.object({ scripts: z.record(z.string()) })
	.parse(JSON.parse(readFileSync('package.json', 'utf8')));

const Permissions = z.record(z.string());
const Step = z.object({
	uses: z.string().optional(),
	run: z.string().optional(),
	with: z.record(z.unknown()).optional(),
});
const Job = z.object({
	if: z.string().optional(),
	needs: z.string().optional(),
	uses: z.string().optional(),
	permissions: Permissions,
	steps: z.array(Step).default([]),
});
const Workflow = z.object({
	on: z.record(z.unknown()),
	permissions: Permissions,
	jobs: z.record(Job),
});

const files = globSync('.github/workflows/*.yml').sort();
const workflowIn = (file: string) => Workflow.parse(parse(readFileSync(file, 'utf8')));
const jobsIn = (file: string) => Object.values(workflowIn(file).jobs);
const stepsIn = (file: string) => jobsIn(file).flatMap(({ steps }) => steps);
const commandsIn = (file: string): string[] => stepsIn(file).flatMap(({ run }) => run ?? []);

test('a change runs the quick tests, and what is merged or published all of them', () => {
	const { quick, test: whole } = workflowIn('.github/workflows/test.yml').jobs;
	const commands = (job: typeof quick) => job?.steps.flatMap(({ run }) => run ?? []);
	expect([quick?.if, commands(quick)]).toEqual([
		"github.event_name == 'pull_request'",
		['npm ci', 'npm test'],
	]);
	expect([whole?.if, commands(whole)]).toEqual([
		"github.event_name != 'pull_request'",
		['bash .ci/run'],
	]);
});

describe.each(files)('%s', (file) => {
	test('takes actions by full commit hash, with the version beside it, or from this project', () => {
		const text = readFileSync(file, 'utf8');
		const used = [...jobsIn(file), ...stepsIn(file)].flatMap(({ uses }) => uses ?? []);
		expect(used.length).toBeGreaterThan(0);
		for (const action of used) {
			if (action.startsWith('.')) expect(existsSync(action)).toBe(true);
			else {
				expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
				expect(text).toMatch(new RegExp(`uses: ${action} # v\\d+\\.\\d+\\.\\d+$`, 'm'));
			}
		}
	});

	test('runs scripts and files that exist, with nothing from outside in the command', () => {
		const commands = commandsIn(file);
		expect(commands.length).toBeGreaterThan(0);
		for (const command of commands) {
			expect(command).not.toContain('${{');
			const [, script] = /^npm run ([\w:]+)/.exec(command) ?? [];
			const [, program] = /^bash (.+)$/.exec(command) ?? [];
			if (script !== undefined) expect(scripts).toHaveProperty([script]);
			else if (program !== undefined) expect(existsSync(program)).toBe(true);
			else expect(command).toMatch(/^(npm ci|npm pack|npm test|npm publish .*|test .*)$/);
		}
	});

	test('keeps no credentials and has no rights but those that a job names', () => {
		expect(workflowIn(file).permissions).toEqual({});
		expect(workflowIn(file).on).not.toHaveProperty('pull_request_target');
		expect(readFileSync(file, 'utf8')).not.toContain('secrets.');
		const checkouts = stepsIn(file).filter(({ uses }) => uses?.startsWith('actions/checkout@'));
		expect(checkouts.length).toBeGreaterThan(0);
		for (const checkout of checkouts) {
			expect(checkout.with).toMatchObject({ 'persist-credentials': false });
		}
	});
});

test('only publishing may sign, and it publishes a tested commit with provenance', () => {
	const jobs = files.flatMap((file) => Object.entries(workflowIn(file).jobs));
	const allowed = jobs.filter(([, { permissions }]) =>
		Object.values(permissions).some((right) => right !== 'read'),
	);
	expect(allowed.map(([name]) => name)).toEqual(['publish']);
	const { build, publish, test: tested } = workflowIn('.github/workflows/publish.yml').jobs;
	expect(publish?.permissions).toEqual({ 'id-token': 'write' });
	expect([publish?.needs, build?.needs]).toEqual(['build', 'test']);
	expect(tested?.uses).toBe('./.github/workflows/test.yml');
	expect(build?.steps.flatMap(({ run }) => run ?? []).slice(-3)).toEqual([
		'npm ci',
		'npm run build',
		'npm pack',
	]);
	// The job that may sign installs and builds nothing.
	expect(publish?.steps.flatMap(({ run }) => run ?? [])).toEqual([
		'npm publish ./*.tgz --ignore-scripts --provenance --access public',
	]);
});
