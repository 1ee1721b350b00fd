/** The mode and the options of the node, which hold for a whole run. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { readAmount } from '../../shared/amount';
import type { Decimal } from '../../shared/decimal';
import { readBoolean, readChoice, readWholeNumber } from '../../shared/fields';
import { InvalidValueError, show } from '../../shared/invalidValue';
import {
	hasExpression,
	isRetryExecution,
	isStartedInEditor,
	isSimulation,
	isTool,
	savedParameter,
} from '../../shared/n8n';
import { readSameForAll, type ParameterReader } from '../parameters';
import { maxConcurrency, maxTimeoutMs, minTimeoutMs } from './optionBounds';

/** The values of *Mode*. Only `pay` sends. */
const modes = ['pay', 'dryRun', 'settle'] as const;
export type Mode = (typeof modes)[number];

/** The names of the options of Disbursement → Create, as saved workflows have them. */
export type OptionName =
	| 'checkBalance'
	| 'concurrency'
	| 'maxAmountEtb'
	| 'maxTotalEtb'
	| 'timeout';

type OptionValues = Partial<Record<OptionName, unknown>>;

export interface RunOptions {
	mode: Mode;
	timeoutMs: number;
	concurrency: number;
	maxAmountEtb?: Decimal;
	maxTotalEtb?: Decimal;
	checkBalance: boolean;
}

/** The options if n8n saved none. The error of a run whose options cannot be read uses them too. */
export const defaultOptions: RunOptions = {
	mode: 'pay',
	timeoutMs: 60_000,
	concurrency: 10,
	checkBalance: false,
};

/**
 * The options of Disbursement → Create.
 * @throws {InvalidValueError}
 */
export function readOptions(context: IExecuteFunctions, read: ParameterReader): RunOptions {
	const given = readSavedOptions(context);
	const optionalMaximum = (name: OptionName, field: string): Decimal | undefined =>
		name in given ? readAmount(field, given[name]) : undefined;
	return {
		...readSendOptions(given),
		mode: readMode(context, read),
		maxAmountEtb: optionalMaximum('maxAmountEtb', 'Maximum per Payment'),
		maxTotalEtb: optionalMaximum('maxTotalEtb', 'Maximum per Run'),
		checkBalance: readBoolean('Check Balance First', given.checkBalance),
	};
}

/**
 * The options of Disbursement → Pay Claims.
 * @throws {InvalidValueError}
 */
export const readClaimOptions = (context: IExecuteFunctions): RunOptions => ({
	...defaultOptions,
	...readSendOptions(readSavedOptions(context)),
	...(isSimulation(context) && { mode: 'dryRun' }),
});

function readSendOptions({
	timeout,
	concurrency,
}: OptionValues): Pick<RunOptions, 'timeoutMs' | 'concurrency'> {
	return {
		timeoutMs: readWholeNumber('Timeout (Ms)', timeout, minTimeoutMs, maxTimeoutMs),
		concurrency: readWholeNumber('Concurrency', concurrency, 1, maxConcurrency),
	};
}

/**
 * The values of the options, or their defaults. An option whose expression gives nothing stays undefined and
 * is an error, so that no check is turned off unnoticed.
 */
function readSavedOptions(context: IExecuteFunctions): OptionValues {
	const { checkBalance, concurrency, timeoutMs: timeout } = defaultOptions;
	const optionsOf = (itemIndex: number): object =>
		Object(context.getNodeParameter('options', itemIndex, {})) as object;
	const saved = readSameForAll(context, 'options', 'Options', optionsOf);
	return { checkBalance, concurrency, timeout, ...saved };
}

/**
 * Reads the one mode of the whole run. In n8n's evaluation it is a dry run, because then the responses of the
 * service are invented.
 * @throws {InvalidValueError} also if the mode is to settle and this execution may not
 */
function readMode(context: IExecuteFunctions, read: ParameterReader): Mode {
	const saved = savedParameter(context, 'mode');
	if (isSimulation(context)) return 'dryRun';
	const mode = readSameForAll(context, 'mode', 'Mode', (itemIndex) =>
		readChoice('Mode', read('mode', itemIndex), modes),
	);
	if (mode !== 'settle' || maySettle(context, hasExpression(saved))) return mode;
	throw new InvalidValueError(
		'Mode is on Settle Unknown',
		`To pay, set Mode of the node ${show(context.getNode().name)} to Pay, publish the workflow again, and run it anew. To settle, start a new execution in the editor, of this very workflow, and one that does not wait.`,
	);
}

/**
 * Whether this execution may settle: one that a person starts in the editor, or any whose Mode is an
 * expression; never a tool or a repeated execution. A fixed Mode that somebody forgot to set back would stop
 * payments unnoticed, a repeated execution would apply an old statement, and a model cannot know how a payment
 * ended.
 */
const maySettle = (context: IExecuteFunctions, isByExpression: boolean): boolean =>
	!isTool(context) && !isRetryExecution(context) && (isByExpression || isStartedInEditor(context));
