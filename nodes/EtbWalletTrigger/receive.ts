/** Answers a webhook request, or starts the workflow. */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { credentialType, webhookSecrets } from '../shared/account';
import { loadRawBody, triggerKeyOf, whenResponded, withEventKey } from './n8nTrigger';
import { messageOf } from '../shared/unknownValues';
import { beginHandling } from './duplicates';
import { eventIn, eventKeyOf, isWanted, type PartnerEvent } from './event';
import { readSettings } from './settings';
import { hasSignature, isSigned } from './signature';

/** A response that starts no execution. It does not say why a signature was refused. */
interface DirectResponse {
	status: number;
	message: string;
	/** Then n8n does not wait for the rest of the body. */
	closesConnection?: true;
}

const directResponses = {
	notSigned: { status: 401, message: 'The signature is missing or wrong' },
	unreadable: { status: 400, message: 'The request could not be read', closesConnection: true },
	noEvent: { status: 400, message: 'The body is not an event' },
	notWanted: { status: 200, message: 'Not asked for' },
	handled: { status: 200, message: 'Received before' },
	running: { status: 503, message: 'The event is being handled' },
	broken: { status: 500, message: 'The trigger failed' },
	ending: { status: 503, message: 'n8n is shutting down' },
	noCredential: { status: 503, message: 'The credential cannot be used' },
} satisfies Record<string, DirectResponse>;

/** The time in ms, of the monotonic clock, at which n8n closed each trigger. One that accepts events has none. */
const closedAt = new Map<string, number>();

/**
 * The time in ms for which a closed trigger refuses events. n8n ends within 30 s, or
 * N8N_GRACEFUL_SHUTDOWN_TIMEOUT. A process that runs for longer lost the lead to another process. After this
 * time such a process accepts the refused events, because the service sends an event for the third time after
 * 150 s.
 */
const refusesForMs = 140_000;

/**
 * Lets a trigger accept events. n8n still takes requests while it shuts down, but new executions may never
 * run. So a closed trigger answers 503, and the service sends the event again.
 * @returns the function that n8n calls to close the trigger: when n8n ends, when the trigger is unpublished,
 * or when another process takes the lead
 */
export function acceptEvents(triggerKey: string): () => Promise<void> {
	closedAt.delete(triggerKey);
	return () => {
		closedAt.set(triggerKey, performance.now());
		return Promise.resolve();
	};
}

/**
 * Handles a webhook request. All checks that need no execution are made here, because an execution costs more than
 * any check. It never throws, because n8n would start an execution that fails.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		const isTest = context.getMode() === 'manual';
		const closedForMs = performance.now() - (closedAt.get(triggerKeyOf(context)) ?? -Infinity);
		if (!isTest && closedForMs < refusesForMs)
			return respondDirectly(context, directResponses.ending);
		const { body, refusal } = await loadSignedBody(context);
		if (refusal !== undefined) return respondDirectly(context, refusal);
		// n8n also starts a trigger whose settings cannot be used. Its events fail, and the service sends
		// them again.
		const { events } = readSettings(context.getNode().parameters);
		const event = eventIn(body);
		if (event === undefined) return respondDirectly(context, directResponses.noEvent);
		if (!isWanted(event, events)) return respondDirectly(context, directResponses.notWanted);
		if (isTest) return { workflowData: [[{ json: event }]] };
		return start(context, event, eventKeyOf(event, body));
	} catch (error) {
		context.logger.error(
			`The ETB Wallet Trigger of the workflow "${context.getWorkflow().name}" could not handle a request: ${messageOf(error)}`,
		);
		return respondDirectly(context, directResponses.broken);
	}
}

/** Starts the workflow, unless it runs or ran for this event before. */
function start(context: IWebhookFunctions, event: PartnerEvent, key: string): IWebhookResponseData {
	const response = context.getResponseObject();
	const begun = beginHandling(context, key);
	if (typeof begun === 'string') return respondDirectly(context, directResponses[begun]);
	whenResponded(response, (status) => begun.complete(status >= 200 && status < 300));
	return { workflowData: [[withEventKey({ json: event }, key)]] };
}

function respondDirectly(context: IWebhookFunctions, direct: DirectResponse): IWebhookResponseData {
	const response = context.getResponseObject();
	if (direct.closesConnection) response.setHeader('Connection', 'close');
	response.status(direct.status).json({ message: direct.message });
	return { noWebhookResponse: true };
}

/** The body of a request that the service signed, or the response that refuses the request. */
type SignedBody =
	| { body: Buffer; refusal?: undefined }
	| { body?: undefined; refusal: DirectResponse };

async function loadSignedBody(context: IWebhookFunctions): Promise<SignedBody> {
	const { headers } = context.getRequestObject();
	// The headers are checked first, so that the body of a request without a signature is not read.
	if (!hasSignature(headers)) return { refusal: directResponses.notSigned };
	const body = await loadRawBody(context).catch(() => undefined);
	if (body === undefined) return { refusal: directResponses.unreadable };
	// The secrets are loaded after the body, because one can be replaced while a slow sender transmits.
	const secrets = await loadSecrets(context);
	if (secrets === undefined) return { refusal: directResponses.noCredential };
	return isSigned({ headers, body }, secrets) ? { body } : { refusal: directResponses.notSigned };
}

/**
 * The time in ms for which loaded secrets are used. To load a credential costs n8n as much as an execution,
 * and a flood of forged requests must not cause that for each request. A secret that a person changes or
 * deletes is still accepted for this time.
 */
const secretsUsedForMs = 1_000;

/** The secrets by trigger and credential, and the monotonic time in ms at which they were loaded. */
const loadedSecrets = new Map<string, { at: number; secrets: Promise<string[] | undefined> }>();

/**
 * The secrets that may sign a request.
 * @returns undefined when the credential cannot be read; n8n's log has the reason
 */
async function loadSecrets(context: IWebhookFunctions): Promise<string[] | undefined> {
	const credentialId = context.getNode().credentials?.[credentialType]?.id ?? '';
	const key = `${triggerKeyOf(context)} ${credentialId}`;
	const loaded = loadedSecrets.get(key);
	const now = performance.now();
	if (loaded !== undefined && now - loaded.at < secretsUsedForMs) return await loaded.secrets;
	const secrets = loadSecretsAnew(context);
	loadedSecrets.set(key, { at: now, secrets });
	return await secrets;
}

async function loadSecretsAnew(context: IWebhookFunctions): Promise<string[] | undefined> {
	try {
		return webhookSecrets(await context.getCredentials(credentialType));
	} catch (error) {
		context.logger.error(
			`The credential of the ETB Wallet Trigger of the workflow "${context.getWorkflow().name}" cannot be used, so its events are refused: ${messageOf(error)}`,
		);
		return undefined;
	}
}
