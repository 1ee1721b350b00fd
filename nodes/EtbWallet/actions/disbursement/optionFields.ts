/**
 * The option fields that all paying operations have. Their defaults are those of `defaultOptions`, written
 * out because n8n's linter requires it.
 */
import type { INodeProperties } from 'n8n-workflow';
import { maxConcurrency, maxTimeoutMs, minTimeoutMs } from '../../paying/optionBounds';
import type { OptionName } from '../../paying/options';

/** A field of an option. */
export type OptionField = INodeProperties & { name: OptionName };

export const concurrencyField: OptionField = {
	displayName: 'Concurrency',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: maxConcurrency },
	default: 10,
	description:
		'How many payments may be under way at once. After a crash, at most twice as many are unknown.',
};

export const timeoutField: OptionField = {
	displayName: 'Timeout (Ms)',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: minTimeoutMs, maxValue: maxTimeoutMs },
	default: 60000,
	description:
		'How long to wait for the response to one payment, in milliseconds. A payment without a response is reported as unknown and not sent again.',
};

/** The field Options with the given options. */
export const optionsField = (options: OptionField[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	options,
});
