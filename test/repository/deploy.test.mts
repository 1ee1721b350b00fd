/** The containers of deploy/queue get the environment, commands and routes with which n8n is tested here. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { projectFolder } from '../../demo/folders.mts';
import { WEBHOOK_PATHS } from '../support/services.mts';
import {
	mainEnvironment,
	sharedEnvironment,
	workerEnvironment,
} from '../support/queue/settings.mts';

const folder = join(projectFolder, 'deploy', 'queue');

const Compose = z.object({
	services: z.record(
		z.object({
			command: z.string().optional(),
			environment: z.record(z.string()).default({}),
			build: z.string().optional(),
		}),
	),
});

const variables: Record<string, string> = {
	PUBLIC_HOST: 'n8n.example.com',
	N8N_ENCRYPTION_KEY: 'key',
	POSTGRES_PASSWORD: 'password',
	OWNER_EMAIL: 'owner@example.com',
	OWNER_PASSWORD_HASH: 'hash',
};

const owner = { email: 'owner@example.com', passwordHash: 'hash' };

const shared = sharedEnvironment({
	publicUrl: 'https://n8n.example.com/',
	postgres: { host: 'postgres', port: 5432, database: 'n8n', user: 'n8n', password: 'password' },
	redis: { host: 'redis', port: 6379 },
	encryptionKey: 'key',
});

test('compose.yaml starts the processes of the queue test with the same environment', async () => {
	const text = await readFile(join(folder, 'compose.yaml'), 'utf8');
	const filledIn = text.replace(/\$\{(\w+)(:\?[^}]*)?\}/g, (_, name: string) => {
		const value = variables[name];
		if (value === undefined) throw new Error(`${name} is not in .env.example`);
		return value;
	});
	const { services } = Compose.parse(parse(filledIn, { merge: true }));
	const n8n = Object.entries(services).filter(([, service]) => service.build !== undefined);
	expect(
		Object.fromEntries(
			n8n.map(([name, { command, environment }]) => [name, { command, environment }]),
		),
	).toEqual({
		main: { command: 'start', environment: { ...shared, ...mainEnvironment(owner) } },
		webhook: { command: 'webhook', environment: shared },
		'worker-1': { command: 'worker', environment: { ...shared, ...workerEnvironment } },
		'worker-2': { command: 'worker', environment: { ...shared, ...workerEnvironment } },
	});
});

test('.env.example names the variables of compose.yaml', async () => {
	const text = await readFile(join(folder, '.env.example'), 'utf8');
	const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
	expect(names.toSorted()).toEqual(Object.keys(variables).toSorted());
});

test('Caddyfile limits how large a body may be, and how long a sender may take for it', async () => {
	const text = await readFile(join(folder, 'Caddyfile'), 'utf8');
	expect(text).toMatch(/^\t\t\tmax_size 1MB$/m);
	expect(text).toMatch(/^\t\t\tread_body 30s$/m);
});

test('Caddyfile passes nothing on to an n8n that is not ready', async () => {
	const text = await readFile(join(folder, 'Caddyfile'), 'utf8');
	expect(text).toMatch(/^\(only_when_ready\) \{\n(?:\t.*\n)*\thealth_uri \/healthz\/readiness$/m);
	const proxies = text.match(/^\t+reverse_proxy .*\n.*$/gm) ?? [];
	expect(proxies).toHaveLength(2);
	for (const proxy of proxies) expect(proxy).toMatch(/\{\n\t+import only_when_ready$/);
});

test('Caddyfile routes to the webhook process what the test routes to it', async () => {
	const text = await readFile(join(folder, 'Caddyfile'), 'utf8');
	const paths = /@webhooks path (.*)/.exec(text)?.[1]?.split(' ');
	expect(paths).toEqual(WEBHOOK_PATHS.map((first) => `/${first}/*`));
});
