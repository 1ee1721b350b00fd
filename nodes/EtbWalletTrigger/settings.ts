/** What a person chose in the trigger's fields. */
import type { INodeParameters } from 'n8n-workflow';
import { InvalidValueError } from '../shared/validation';
import type { WhileTesting } from './holders';

export interface Settings {
	/** Names of events, or `*` for all. */
	events: string[];
	/** Whether the service is told how the workflow ended, and not only that the event arrived. */
	answersWhenFinished: boolean;
	outputPerEvent: boolean;
	includeHeaders: boolean;
	/** In minutes; undefined when events of any age count. */
	maximumAge?: number;
	takeOver: boolean;
	/** Empty when the URL is to stay. */
	urlAfterDeactivation: string;
	whileTesting: WhileTesting;
}

/**
 * Reads the parameters as they are saved. None of them takes an expression: n8n would have to evaluate it for each
 * delivery, which costs as much as an execution.
 */
export function settingsOf(parameters: INodeParameters): Settings {
	const { events, acknowledge, outputPerEvent, additionalOptions } = parameters;
	const options = Object(additionalOptions) as Record<string, unknown>;
	const { whileTesting, urlAfterDeactivation } = options;
	const maximumAge = Number(options.maximumAge);
	return {
		events: Array.isArray(events) ? events.map(String) : [],
		answersWhenFinished: acknowledge === 'lastNode',
		outputPerEvent: outputPerEvent === true,
		includeHeaders: options.includeHeaders === true,
		...(maximumAge > 0 && { maximumAge }),
		takeOver: options.takeOver === true,
		urlAfterDeactivation: typeof urlAfterDeactivation === 'string' ? urlAfterDeactivation : '',
		whileTesting: whileTesting === 'refuse' || whileTesting === 'leaveUrl' ? whileTesting : 'share',
	};
}

/**
 * An imported workflow may have an expression where the editor offers none.
 * @throws {InvalidValueError}
 */
export function refuseExpressions(parameters: INodeParameters): void {
	const [name] = Object.entries(parameters).find(([, value]) => hasExpression(value)) ?? [];
	if (name === undefined) return;
	throw new InvalidValueError(
		`The field "${name}" of the trigger holds an expression`,
		'The fields of this trigger take no expressions. Open the trigger and choose a fixed value.',
	);
}

const hasExpression = (value: unknown): boolean =>
	typeof value === 'string'
		? value.startsWith('=')
		: typeof value === 'object' && value !== null && Object.values(value).some(hasExpression);
