/** What a person chose in the trigger's fields. */
import type { INodeParameters } from 'n8n-workflow';
import { InvalidValueError, invalid } from '../shared/invalidValue';
import { isObject } from '../shared/unknown';

export interface Settings {
	/** Names of events, or `*` for all. */
	events: string[];
	/** Whether the service is told how the workflow ended, in place of only that the event arrived. */
	answersWhenFinished: boolean;
	outputPerEvent: boolean;
	includeHeaders: boolean;
	/** Undefined when events of any age count. */
	maximumAgeMinutes?: number;
	/** While Testing is Leave the URL Alone. */
	leavesUrl: boolean;
}

/**
 * Reads the parameters as they are saved. None of them takes an expression: n8n would have to evaluate it for each
 * delivery, which costs as much as an execution.
 */
export function settingsOf(parameters: INodeParameters): Settings {
	const { events, acknowledge, outputPerEvent, additionalOptions } = parameters;
	const options = Object(additionalOptions) as Record<string, unknown>;
	const maximumAgeMinutes = Number(options.maximumAge);
	return {
		events: Array.isArray(events) ? events.map(String) : [],
		answersWhenFinished: acknowledge === 'lastNode',
		outputPerEvent: outputPerEvent === true,
		includeHeaders: options.includeHeaders === true,
		...(maximumAgeMinutes > 0 && { maximumAgeMinutes }),
		leavesUrl: options.whileTesting === 'leaveUrl',
	};
}

/** Refuses what the editor would not let through: an imported workflow may have it. @throws {InvalidValueError} */
export function checkSettings(parameters: INodeParameters): void {
	const [name] = Object.entries(parameters).find(([, value]) => mayBeExpression(value)) ?? [];
	if (name !== undefined) {
		throw new InvalidValueError(
			`The field "${name}" of the trigger holds an expression`,
			'The fields of this trigger take no expressions. Open the trigger and choose a fixed value.',
		);
	}
	const { maximumAge } = Object(parameters.additionalOptions) as Record<string, unknown>;
	if (maximumAge !== undefined && !(Number(maximumAge) > 0)) {
		const remedy = 'Enter a number of minutes such as 15, or remove the option.';
		throw invalid('Maximum Age (Minutes)', maximumAge, 'is not a number above zero', remedy);
	}
}

/** Also without the leading `=`, which n8n removes in fields that take no expression. */
const mayBeExpression = (value: unknown): boolean =>
	typeof value === 'string'
		? /^=|\{\{/.test(value)
		: isObject(value) && Object.values(value).some(mayBeExpression);
