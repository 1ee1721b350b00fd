// `npm run sandbox`: the sandbox as a process of its own.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { isLoopback } from './control-api.mts';
import { DEFAULT_API_KEY, DEFAULT_WEBHOOK_SECRET, startSandbox } from './sandbox.mts';

const HELP = `The local partner service. Each setting is an environment variable or a flag:
  SANDBOX_HOST            --host            address to listen on (127.0.0.1)
  SANDBOX_PORT            --port            port (4400)
  SANDBOX_DATA            --data            database file (in memory: a restart forgets all)
  SANDBOX_API_KEY         --api-key         API key it accepts (${DEFAULT_API_KEY})
  SANDBOX_WEBHOOK_SECRET  --webhook-secret  secret it signs events with (${DEFAULT_WEBHOOK_SECRET})
  SANDBOX_TIME_FACTOR     --time-factor     factor on the retry delays (1; 0.01 is 100 times faster)`;

const settingsSchema = z.object({
	host: z.string().min(1).default('127.0.0.1'),
	port: z.coerce.number().int().min(0).max(65_535).default(4400),
	data: z.string().min(1).default(':memory:'),
	apiKey: z.string().min(1).default(DEFAULT_API_KEY),
	webhookSecret: z.string().min(1).default(DEFAULT_WEBHOOK_SECRET),
	timeFactor: z.coerce.number().positive().default(1),
});

function fail(message: string): never {
	console.error(message);
	process.exit(1);
}

function readSettings() {
	const flag = { type: 'string' } as const;
	const { values } = parseArgs({
		options: {
			host: flag,
			port: flag,
			data: flag,
			'api-key': flag,
			'webhook-secret': flag,
			'time-factor': flag,
			help: { type: 'boolean' },
		},
	});
	if (values.help) {
		console.log(HELP);
		process.exit(0);
	}
	const { env } = process;
	// An empty variable counts as not set.
	const parsed = settingsSchema.safeParse({
		host: values.host ?? (env.SANDBOX_HOST || undefined),
		port: values.port ?? (env.SANDBOX_PORT || undefined),
		data: values.data ?? (env.SANDBOX_DATA || undefined),
		apiKey: values['api-key'] ?? (env.SANDBOX_API_KEY || undefined),
		webhookSecret: values['webhook-secret'] ?? (env.SANDBOX_WEBHOOK_SECRET || undefined),
		timeFactor: values['time-factor'] ?? (env.SANDBOX_TIME_FACTOR || undefined),
	});
	if (parsed.success) return parsed.data;
	const reasons = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
	return fail(`Wrong setting: ${reasons.join('; ')}`);
}

const hasCode = (error: unknown, code: string): boolean =>
	error instanceof Error && 'code' in error && error.code === code;

const { data, ...settings } = readSettings();
try {
	if (data !== ':memory:') mkdirSync(dirname(data), { recursive: true });
	const sandbox = await startSandbox({ ...settings, databaseFile: data, keepRequests: 10_000 });
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void sandbox.stop());
	}
	const page = isLoopback(settings.host) ? `${sandbox.url}/` : 'only when listening on 127.0.0.1';
	console.log(`ETB Wallet sandbox: ${sandbox.url}
  Page            ${page}
  API key         ${sandbox.apiKey}
  Webhook secret  ${sandbox.webhookSecret}
  Data            ${data === ':memory:' ? 'in memory' : data}`);
} catch (error) {
	if (hasCode(error, 'EADDRINUSE')) {
		fail(`Port ${settings.port} is taken. Choose another one, for example SANDBOX_PORT=4401.`);
	}
	fail(error instanceof Error ? error.message : String(error));
}
