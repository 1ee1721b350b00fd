import type { IWebhookFunctions } from 'n8n-workflow';
import { credentialType } from '../shared/account';
import { triggerKey } from './registry';

/**
 * In ms. To load a credential n8n sets up an expression engine, which costs as much as an execution; a flood of
 * forged deliveries would pay that for each. A changed or deleted secret counts for no longer than this.
 */
const servesFor = 1_000;

/** The last load of each trigger's secret. */
const loads = new Map<
	string,
	{ credentialId?: string | null; at: number; secret: Promise<unknown> }
>();

/**
 * The webhook secret of the trigger's credential, as it was at most `servesFor` ago.
 * @throws {Error} when the credential cannot be loaded
 */
export async function webhookSecret(context: IWebhookFunctions): Promise<unknown> {
	const trigger = triggerKey(context);
	const credentialId = context.getNode().credentials?.[credentialType]?.id;
	const last = loads.get(trigger);
	const now = performance.now();
	if (last !== undefined && last.credentialId === credentialId && now - last.at < servesFor)
		return await last.secret;
	const secret = loadSecret(context);
	loads.set(trigger, { credentialId, at: now, secret });
	return await secret;
}

async function loadSecret(context: IWebhookFunctions): Promise<unknown> {
	return (await context.getCredentials(credentialType)).webhookSecret;
}
