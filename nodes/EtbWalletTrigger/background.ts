/** What is tried again in the background: how long it waits, and who is told meanwhile that no events come. */
import type { ITriggerFunctions } from 'n8n-workflow';
import { after } from '../shared/elapsed';
import { operationError } from '../shared/n8n';
import { saveFailedExecution } from '../shared/n8nTrigger';
import { property } from '../shared/unknown';

/** The published triggers that n8n keeps in the memory of this process, the one that publishes. */
export const kept = new Map<string, ITriggerFunctions>();

/** The pause before the first retry. Each later one is twice as long, up to the longest. */
const firstPauseMs = 30_000;
const longestPauseMs = 10 * 60_000;

/** The pauses between the tries of one thing, at most one at a time. */
export class Pauses {
	#ms = firstPauseMs;
	#present?: AbortController;

	/** Does something after a pause, unless that one ends before. It begins in the place of one that still goes on. */
	begin(work: () => void): void {
		this.end();
		this.#present = new AbortController();
		after(this.#ms, work, this.#present.signal);
		this.#ms = Math.min(2 * this.#ms, longestPauseMs);
	}

	end(): void {
		this.#present?.abort();
	}

	/** The next pause is short again. */
	shorten(): void {
		this.#ms = firstPauseMs;
	}
}

/** n8n shows a workflow as published although it may get no events. So one error stands under Executions. */
export function tellPerson(context: ITriggerFunctions, reason: Error): void {
	const remedy: unknown = property(reason, 'description');
	// An error of n8n itself says only what went wrong, mostly with the credential.
	const whatToDo = typeof remedy === 'string' ? remedy : 'Check the credential of the trigger.';
	const error = operationError(
		context.getNode(),
		'Events may not come: the webhook URL of this workflow could not be set at the partner service',
		`${reason.message.replace(/\.+$/, '')}. ${whatToDo} n8n goes on trying, at the latest every 10 minutes. Events that do not come meanwhile are lost, unless the service sends them again.`,
	);
	saveFailedExecution(context, error);
}

export function logTaken(context: ITriggerFunctions): void {
	context.logger.info(
		`The partner service has taken the webhook URL of "${context.getWorkflow().name}"`,
	);
}
