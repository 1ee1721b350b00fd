/** Answers a request to the trigger's URL, or starts the workflow. */
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { rawBodyOf, whenAnswered, withDeliveryKey } from '../shared/n8nTrigger';
import { messageOf } from '../shared/unknown';
import { accountUrlOfPublished, knownOfTested } from './accounts';
import { admit, deliveryKey, type Delivering } from './duplicates';
import { ageMsOf, isPartnerEvent, isWanted, parseBody, type PartnerEvent } from './event';
import { forward, headersToShow, isForwarded, probeStatusOf } from './forwarding';
import { dropTest, productionOf, sharingTestUrls } from './knowledge';
import { triggerKey } from './perTrigger';
import { checkSettings, settingsOf, type Settings } from './settings';
import { hasSignature, isSigned, type Delivery } from './signedDelivery';
import { loadSecrets } from './webhookSecrets';

/** An answer that starts no execution. It does not say why a signature was refused. */
interface Refusal {
	status: number;
	message: string;
}

const refusals = {
	notSigned: { status: 401, message: 'The signature is missing or wrong' },
	cutOff: { status: 400, message: 'The request could not be read' },
	tooSlow: { status: 408, message: 'The request took too long' },
	tooLarge: { status: 413, message: 'The request is too large' },
	noEvent: { status: 400, message: 'The body is not an event' },
	noTimestamp: { status: 400, message: 'The event has no timestamp' },
	tooOld: { status: 200, message: 'Too old' },
	notWanted: { status: 200, message: 'Not asked for' },
	duplicate: { status: 200, message: 'Received before' },
	failedBefore: { status: 500, message: 'The workflow failed' },
	broken: { status: 500, message: 'The trigger failed' },
	notForwarded: { status: 502, message: 'The published workflow could not be reached' },
	noCredential: { status: 503, message: 'The credential cannot be used' },
} satisfies Record<string, Refusal>;

/**
 * Handles a request. It refuses as much as it can itself, because an execution of the workflow is what costs. It never
 * throws: n8n would start an execution that fails.
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	let delivering: Delivering | undefined;
	try {
		const settings = settingsOf(context.getNode().parameters);
		const accepted = await acceptedEvent(context, settings);
		if ('status' in accepted) return refuse(context, accepted);
		const { event, delivery } = accepted;
		const headers = settings.includeHeaders ? { headers: headersToShow(delivery) } : {};
		const item = { json: { ...event, ...headers } };
		if (context.getMode() === 'manual') return { workflowData: [[item]] };

		const key = deliveryKey(event, delivery.body);
		const admitted = await admit(context, key, settings.answersWhenFinished);
		if (admitted === 'succeeded') return refuse(context, refusals.duplicate);
		if (admitted === 'failed') return refuse(context, refusals.failedBefore);
		delivering = admitted;
		whenAnswered(context, (status) => admitted.end(isSuccess(status) ? 'succeeded' : 'failed'));
		const response = context.getResponseObject();
		if (response.closed) admitted.hangUp();
		else response.once('close', () => admitted.hangUp());
		return { workflowData: [[withDeliveryKey(item, key)]] };
	} catch (error) {
		delivering?.end('failed');
		context.logger.error(
			`The ETB Wallet Trigger of the workflow "${context.getWorkflow().name}" could not handle a request: ${messageOf(error)}`,
		);
		return refuse(context, refusals.broken);
	}
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function refuse(context: IWebhookFunctions, { status, message }: Refusal): IWebhookResponseData {
	const response = context.getResponseObject();
	// So n8n does not wait for the rest of the body.
	if (status === refusals.tooSlow.status) response.setHeader('Connection', 'close');
	response.status(status).json({ message });
	return { noWebhookResponse: true };
}

/** A verified event that is to start the workflow. */
async function acceptedEvent(
	context: IWebhookFunctions,
	settings: Settings,
): Promise<{ event: PartnerEvent; delivery: Delivery } | Refusal> {
	const delivery = await verifiedDelivery(context);
	if ('status' in delivery) return delivery;
	// n8n starts a trigger also if its settings cannot be used: its events fail, so that the service sends them again.
	checkSettings(context.getNode().parameters);
	const event = parseBody(delivery.body);
	const probed = probeStatusOf(event);
	if (probed !== undefined) return { status: probed, message: 'Probe' };
	if (!isPartnerEvent(event)) return refusals.noEvent;
	if (!isForwarded(delivery)) {
		if (context.getMode() !== 'manual') forwardToTests(context, delivery);
		else if (!(await reachedProduction(context, delivery))) return refusals.notForwarded;
	}
	return reasonToIgnore(settings, event) ?? { event, delivery };
}

async function verifiedDelivery(context: IWebhookFunctions): Promise<Delivery | Refusal> {
	const { headers } = context.getRequestObject();
	// Before the body is read, so a flood of requests without any signature costs next to nothing.
	if (!hasSignature(headers)) return refusals.notSigned;
	const body = await rawBodyOf(context);
	if (!Buffer.isBuffer(body)) return refusals[body];
	const delivery = { headers, body };
	// After the body, for which a sender may take long: a secret may be replaced meanwhile.
	const secrets = await loadSecrets(context);
	if (secrets === undefined) return refusals.noCredential;
	return isSigned(delivery, secrets) ? delivery : refusals.notSigned;
}

/** Forwards a test's delivery to production, if it may have been meant for it. If this fails, the service sends it again. */
async function reachedProduction(context: IWebhookFunctions, delivery: Delivery): Promise<boolean> {
	const trigger = triggerKey(context);
	const known = knownOfTested(trigger);
	const production = known ? productionOf(known, trigger) : 'unknown';
	// `unknown`: the test has ended, or another process knows where production is.
	if (typeof production === 'string') return production === 'nobody';
	const status = await forward(context, production.url, delivery);
	return status !== undefined && isSuccess(status);
}

/** Does not wait for the tests, which must not slow production down: `forward` never rejects. */
function forwardToTests(context: IWebhookFunctions, delivery: Delivery): void {
	const trigger = triggerKey(context);
	const accountUrl = accountUrlOfPublished(trigger);
	if (accountUrl === undefined) return;
	for (const url of sharingTestUrls(accountUrl.known, trigger)) {
		void forward(context, url, delivery).then((status) => {
			if (status === 404) accountUrl.known = dropTest(accountUrl.known, url);
		});
	}
}

function reasonToIgnore(
	{ events, maximumAgeMinutes }: Settings,
	event: PartnerEvent,
): Refusal | undefined {
	if (!isWanted(event, events)) return refusals.notWanted;
	if (maximumAgeMinutes === undefined) return undefined;
	const ageMs = ageMsOf(event, Date.now());
	if (ageMs === undefined) return refusals.noTimestamp;
	return ageMs > maximumAgeMinutes * 60_000 ? refusals.tooOld : undefined;
}
