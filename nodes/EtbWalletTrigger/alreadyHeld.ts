/** Why the URL of an account cannot be set for a trigger: another one is published for that account. */
import type { IHookFunctions } from 'n8n-workflow';
import { operationError } from '../shared/n8n';
import { projectOf } from '../shared/n8nTrigger';
import type { Holder } from './knowledge';

/** Names the other workflow only if it is in the same project of n8n: whoever publishes may not see others. */
export function alreadyHeld(context: IHookFunctions, { workflow, project }: Holder): Error {
	const node = context.getNode();
	if (workflow.id === context.getWorkflow().id) {
		return operationError(
			node,
			'Remove one of the two ETB Wallet Triggers of this workflow: both are for the same account',
			'The service sends all events of an account to one address. Choose all events that you need in one trigger. With One Output per Event each leaves on an output of its own.',
		);
	}
	const isVisible = project !== undefined && project === projectOf(context);
	return operationError(
		node,
		isVisible
			? `Unpublish the workflow "${workflow.name}" first: it receives the events of this account`
			: 'Unpublish the other workflow first: a workflow of another project receives the events of this account',
		'The service sends all events of an account to one address, so one published workflow gets them. Let that one handle these events too, or unpublish it and then publish this one.',
	);
}
