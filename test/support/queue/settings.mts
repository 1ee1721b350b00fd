/** n8n's environment in queue mode: the same for a person's containers (deploy/queue) and for the test. */
import { expressionEngine } from '../../../demo/n8n-process.mts';

/** The addresses and the key that all processes share. */
export interface Shared {
	/** Base URL that users, and the partner service, see. */
	publicUrl: string;
	postgres: { host: string; port: number; database: string; user: string; password: string };
	redis: { host: string; port: number };
	encryptionKey: string;
}

/** For every process. */
export const sharedEnvironment = ({ publicUrl, postgres, redis, encryptionKey }: Shared) => ({
	EXECUTIONS_MODE: 'queue',
	QUEUE_BULL_REDIS_HOST: redis.host,
	QUEUE_BULL_REDIS_PORT: String(redis.port),
	DB_TYPE: 'postgresdb',
	DB_POSTGRESDB_HOST: postgres.host,
	DB_POSTGRESDB_PORT: String(postgres.port),
	DB_POSTGRESDB_DATABASE: postgres.database,
	DB_POSTGRESDB_USER: postgres.user,
	DB_POSTGRESDB_PASSWORD: postgres.password,
	// n8n's default of 2 is too low for many events at once.
	DB_POSTGRESDB_POOL_SIZE: '10',
	N8N_ENCRYPTION_KEY: encryptionKey,
	WEBHOOK_URL: publicUrl,
	N8N_EDITOR_BASE_URL: publicUrl,
	...expressionEngine,
});

/**
 * For the main process only: production webhooks are the webhook process's, and the owner account exists from the
 * first start, so that nobody who opens the address first can become the owner.
 * @param owner with the password as bcrypt hashes it
 */
export const mainEnvironment = (owner: { email: string; passwordHash: string }) => ({
	N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
	N8N_INSTANCE_OWNER_MANAGED_BY_ENV: 'true',
	N8N_INSTANCE_OWNER_EMAIL: owner.email,
	N8N_INSTANCE_OWNER_FIRST_NAME: 'Owner',
	N8N_INSTANCE_OWNER_LAST_NAME: 'Account',
	N8N_INSTANCE_OWNER_PASSWORD_HASH: owner.passwordHash,
});

/** For the workers only: the port tells whether they are ready. */
export const workerEnvironment = { QUEUE_HEALTH_CHECK_ACTIVE: 'true' };
