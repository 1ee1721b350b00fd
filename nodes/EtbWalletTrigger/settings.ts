/** The settings of the trigger, read from its fields. */
import type { INodeParameters } from 'n8n-workflow';
import { InvalidValueError, show } from '../shared/invalidValue';
import { allEvents, eventOptions } from './event';

export interface Settings {
	/** Names of events, or `*` for all. */
	events: string[];
	/** Whether the response to the service waits for the end of the workflow, and depends on its result. */
	respondsWhenFinished: boolean;
}

/**
 * Reads the fields as n8n saved them. No field takes an expression: n8n would have to evaluate it for each
 * webhook request, which costs as much as an execution.
 * @throws {InvalidValueError} for a value that the editor does not offer, but an imported workflow may have
 */
export function readSettings({ events, acknowledge }: INodeParameters): Settings {
	const [name] =
		Object.entries({ events, acknowledge }).find(([, value]) => mayBeExpression(value)) ?? [];
	if (name !== undefined) {
		throw new InvalidValueError(
			`The field "${name}" of the trigger holds an expression`,
			'The fields of this trigger take no expressions. Open the trigger and choose a fixed value.',
		);
	}
	const names = [events].flat();
	if (names.length === 0 || !names.every(isEvent)) {
		throw new InvalidValueError(
			`The field "events" of the trigger is ${show(events)}, which does not name events`,
			'Open the trigger and choose the events that start the workflow.',
		);
	}
	if (!acknowledgeValues.has(acknowledge)) {
		throw new InvalidValueError(
			`The field "acknowledge" of the trigger is ${show(acknowledge)}`,
			'Open the trigger and choose when it tells the service.',
		);
	}
	return {
		events: names,
		respondsWhenFinished: acknowledge === 'lastNode',
	};
}

const eventNames: ReadonlySet<unknown> = new Set([
	allEvents,
	...eventOptions.map(({ value }) => value),
]);

/** A workflow that n8n saved with the default may have no value. */
const acknowledgeValues: ReadonlySet<unknown> = new Set(['onReceived', 'lastNode', undefined]);

const isEvent = (name: unknown): name is string => eventNames.has(name);

/** Whether a value may be an expression. n8n removes the `=` in fields that take no expressions. */
const mayBeExpression = (value: unknown): boolean =>
	[value].flat().some((text) => typeof text === 'string' && /^=|\{\{/.test(text));
