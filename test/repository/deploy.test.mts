/** The files of deploy/queue that the tests of queue mode do not run: they take environment and routes from there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../../demo/folders.mts';

const textOf = (name: string): string =>
	readFileSync(join(projectFolder, 'deploy', 'queue', name), 'utf8');

const Manifest = z.object({
	dependencies: z.record(z.string()).optional(),
	devDependencies: z.record(z.string()).optional(),
});
const manifestOf = (folder: string) =>
	Manifest.parse(JSON.parse(readFileSync(join(projectFolder, folder, 'package.json'), 'utf8')));

test('demo, tests and queue mode have one n8n, and the n8n-workflow of its n8n-core', () => {
	const { devDependencies = {} } = manifestOf('.');
	const [, image] = /n8nio\/n8n:(\S+)/.exec(textOf('Dockerfile')) ?? [];
	const version = manifestOf('demo/n8n').dependencies?.['n8n'];
	expect([image, devDependencies['n8n-core']]).toEqual([version, version]);
	const ofCore = manifestOf('node_modules/n8n-core').dependencies ?? {};
	expect(devDependencies['n8n-workflow']).toBe(ofCore['n8n-workflow']);
});

test('.env.example names the variables of compose.yaml', () => {
	const names = textOf('.env.example').matchAll(/^(\w+)=/gm);
	const used = textOf('compose.yaml').matchAll(/\$\{(\w+)/g);
	expect(new Set([...names].map(([, name]) => name))).toEqual(
		new Set([...used].map(([, name]) => name)),
	);
});

test('Caddyfile limits bodies and slow senders, and passes nothing on to an n8n that is not ready', () => {
	const text = textOf('Caddyfile');
	expect(text).toMatch(/^\t\t\tmax_size 1MB$/m);
	expect(text).toMatch(/^\t\t\tread_body 30s$/m);
	expect(text).toMatch(/^\(only_when_ready\) \{\n(?:\t.*\n)*\thealth_uri \/healthz\/readiness$/m);
	const proxies = text.match(/^\t+reverse_proxy .*\n.*$/gm) ?? [];
	expect(proxies).toHaveLength(2);
	for (const proxy of proxies) expect(proxy).toMatch(/\{\n\t+import only_when_ready$/);
});
