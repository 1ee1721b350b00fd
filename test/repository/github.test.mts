/** The workflows of GitHub have as few rights and as little foreign code as possible. */
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Permissions = z.record(z.string());
const Step = z.object({
	uses: z.string().optional(),
	run: z.string().optional(),
	with: z.record(z.unknown()).optional(),
});
const Job = z.object({
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

const workflows = globSync('.github/workflows/*.yml').map((file) => {
	const text = readFileSync(file, 'utf8');
	return [file, text, Workflow.parse(parse(text))] as const;
});
const commandsOf = (job?: z.infer<typeof Job>) => job?.steps.flatMap(({ run }) => run ?? []);

describe.each(workflows)('%s', (_file, text, { on, permissions, jobs }) => {
	const steps = Object.values(jobs).flatMap((job) => job.steps);

	test('takes actions by full commit hash, with the version beside it', () => {
		for (const [, action] of text.matchAll(/ uses: (?!\.\/)(.*)$/gm))
			expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
	});

	test('runs nothing from outside, keeps no credentials, and has no rights but those that a job names', () => {
		expect(permissions).toEqual({});
		expect(on).not.toHaveProperty('pull_request_target');
		expect(text).not.toContain('secrets.');
		expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
		for (const checkout of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')))
			expect(checkout.with).toMatchObject({ 'persist-credentials': false });
	});
});

test('only publishing may sign, and it publishes a tested commit with provenance', () => {
	const maySign = workflows
		.flatMap(([, , { jobs }]) => Object.entries(jobs))
		.filter(([, { permissions }]) => Object.values(permissions).some((right) => right !== 'read'));
	expect(maySign.map(([name]) => name)).toEqual(['publish']);
	const publishing = workflows.find(([file]) => file.endsWith('/publish.yml'));
	const { build, publish, test: tested } = publishing?.[2].jobs ?? {};
	expect(publish?.permissions).toEqual({ 'id-token': 'write' });
	expect([publish?.needs, build?.needs]).toEqual(['build', 'test']);
	expect(tested?.uses).toBe('./.github/workflows/test.yml');
	// The job that may sign installs and builds nothing.
	expect(commandsOf(publish)).toEqual([
		'npm publish ./*.tgz --ignore-scripts --provenance --access public',
	]);
});
