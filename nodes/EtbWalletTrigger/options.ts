import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

/** An entry under Options of the trigger, or undefined when it was not added. */
export function option(context: IHookFunctions | IWebhookFunctions, name: string): unknown {
	return Reflect.get(Object(context.getNodeParameter('additionalOptions', {})) as object, name);
}
