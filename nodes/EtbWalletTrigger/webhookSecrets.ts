/** The secrets with which deliveries may be signed, loaded from the credential at most once a second. */
import type { IWebhookFunctions } from 'n8n-workflow';
import { credentialType, webhookSecrets } from '../shared/account';
import { messageOf } from '../shared/invalidValue';
import { PerTrigger } from './perTrigger';

/**
 * To load a credential n8n sets up an expression engine, which costs as much as an execution; a flood of
 * forged deliveries would pay that for each. A changed or deleted secret counts for no longer than this.
 */
const serveForMs = 1_000;

/** Anybody can send what is signed somehow: a credential that cannot be read is not logged for each. */
const logEveryMs = 10 * 60_000;

interface Secrets {
	last?: { credentialId: string | null | undefined; at: number; loaded: Promise<string[]> };
	loggedAt?: number;
}

const memory = new PerTrigger<Secrets>(() => ({}));

export const forgetSecrets = (trigger: string): void => memory.drop(trigger);

/** Undefined when the credential cannot be read; n8n's log has why. */
export async function loadSecrets(context: IWebhookFunctions): Promise<string[] | undefined> {
	const kept = memory.of(context);
	const credentialId = context.getNode().credentials?.[credentialType]?.id;
	const now = performance.now();
	const isSame = kept.last !== undefined && kept.last.credentialId === credentialId;
	if (kept.last === undefined || !isSame || now - kept.last.at >= serveForMs) {
		const loaded = context.getCredentials(credentialType).then(webhookSecrets);
		kept.last = { credentialId, at: now, loaded };
	}
	try {
		const secrets = await kept.last.loaded;
		kept.loggedAt = undefined;
		return secrets;
	} catch (error) {
		if (kept.loggedAt === undefined || now - kept.loggedAt >= logEveryMs) {
			kept.loggedAt = now;
			context.logger.error(
				`The credential of the ETB Wallet Trigger of the workflow "${context.getWorkflow().name}" cannot be used, so its events are refused: ${messageOf(error)}`,
			);
		}
		return undefined;
	}
}
