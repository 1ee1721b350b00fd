/** The secrets with which deliveries may be signed, loaded from the credential at most once a second. */
import type { IWebhookFunctions } from 'n8n-workflow';
import { credentialType, webhookSecrets } from '../shared/account';
import { messageOf } from '../shared/unknown';
import { PerTrigger, type Part } from './perTrigger';

/**
 * How long loaded secrets are used. To load a credential costs n8n as much as an execution, and a flood of forged
 * deliveries must not cost that for each. A secret that a person changes or deletes is accepted for no longer than this.
 */
const serveForMs = 1_000;

/** How often a credential that cannot be read is logged: anybody can send deliveries that need it. */
const logEveryMs = 10 * 60_000;

interface Secrets extends Part {
	last?: { credentialId: string; at: number; loaded: Promise<string[]> };
	loggedAt?: number;
}

const memory = new PerTrigger<Secrets>(() => ({}));

export const forgetSecrets = (trigger: string): void => memory.drop(trigger);

/** Undefined when the credential cannot be read; n8n's log has why. */
export async function loadSecrets(context: IWebhookFunctions): Promise<string[] | undefined> {
	const kept = memory.of(context);
	const credentialId = context.getNode().credentials?.[credentialType]?.id ?? '';
	const now = performance.now();
	if (kept.last?.credentialId !== credentialId || now - kept.last.at >= serveForMs) {
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
