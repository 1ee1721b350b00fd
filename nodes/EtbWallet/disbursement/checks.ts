/** What is checked before anybody is paid: the options, the sum of the run, and the treasury. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { amountInEtb } from '../../shared/amount';
import { decimalText, formatEtb, isAbove, subtract, sum, type Decimal } from '../../shared/decimal';
import {
	InvalidValueError,
	invalid,
	isAbsent,
	requiredChoice,
	show,
} from '../../shared/invalidValue';
import { hasExpression, isRunByPerson, isSimulation, savedParameter } from '../../shared/n8n';
import { balanceRequest, callService } from '../../shared/service/call';
import type { Failure } from '../../shared/service/failure';
import type { ParameterReader } from '../actions/mapping';
import { findings, modes, type Batch, type Mode, type Payment, type RunOptions } from './run';

/** What holds where n8n saved no option, because nobody added it; also for the error of a run whose options cannot be read. */
export const usualOptions: RunOptions = {
	mode: 'pay',
	timeoutMs: 60_000,
	concurrency: 10,
	checkBalance: false,
	failsIfUsed: false,
};

/** The options of Disbursement → Create. @throws {InvalidValueError} */
export function readOptions(context: IExecuteFunctions, read: ParameterReader): RunOptions {
	const given: Record<string, unknown> = {
		checkBalance: false,
		ifReferenceUsed: 'skip',
		...savedOptions(context),
	};
	const limit = (name: string, field: string): Decimal | undefined => {
		if (!(name in given)) return undefined;
		if (isAbsent(given[name])) {
			throw new InvalidValueError(
				`${field} is empty`,
				'Enter an amount in ETB, for example 5000, or remove this option.',
			);
		}
		return amountInEtb(given[name], field);
	};
	const mode = readMode(context, read);
	return {
		...sendOptionsOf(given),
		mode,
		...(mode === 'settle' && { finding: chosenFinding(context) }),
		maxAmount: limit('maxAmountEtb', 'Maximum per Payment'),
		maxTotal: limit('maxTotalEtb', 'Maximum per Run'),
		checkBalance: isOn(given.checkBalance, 'Check Balance First'),
		failsIfUsed:
			requiredChoice('If Reference Was Used', given.ifReferenceUsed, ['skip', 'fail']) === 'fail',
	};
}

/** The options of Disbursement → Pay Claims. @throws {InvalidValueError} */
export const readClaimOptions = (context: IExecuteFunctions): RunOptions => ({
	...usualOptions,
	...sendOptionsOf(savedOptions(context)),
});

function sendOptionsOf({
	timeout = usualOptions.timeoutMs,
	concurrency = usualOptions.concurrency,
}: Record<string, unknown>): Pick<RunOptions, 'timeoutMs' | 'concurrency'> {
	return {
		timeoutMs: wholeNumber(timeout, 'Timeout (Ms)', 3_600_000),
		concurrency: wholeNumber(concurrency, 'Concurrency', 100),
	};
}

function savedOptions(context: IExecuteFunctions): Record<string, unknown> {
	const saved = savedParameter(context, 'options');
	const optionsOf = (itemIndex: number): object =>
		Object(context.getNodeParameter('options', itemIndex, {})) as object;
	return { ...(hasExpression(saved) ? sameForAll(context, 'Options', optionsOf) : optionsOf(0)) };
}

/** @throws {InvalidValueError} when an expression gives different values for the items of a run */
function sameForAll<Value>(
	context: IExecuteFunctions,
	field: 'Mode' | 'Options',
	valueOf: (itemIndex: number) => Value,
): Value {
	const first = valueOf(0);
	const text = JSON.stringify(first);
	for (const itemIndex of context.getInputData().keys()) {
		const value = valueOf(itemIndex);
		if (JSON.stringify(value) === text) continue;
		throw new InvalidValueError(
			`${field} is ${show(first)} for item 0, and ${show(value)} for item ${itemIndex}`,
			'This holds for the whole run: let its expression give the same for all items.',
		);
	}
	return first;
}

/**
 * One mode for the whole run. Only a person in the editor can choose to settle: no expression, AI agent or schedule, and
 * no execution that n8n repeats. @throws {InvalidValueError}
 */
function readMode(context: IExecuteFunctions, read: ParameterReader): Mode {
	const saved = savedParameter(context, 'mode');
	if (isSimulation(context)) return 'dryRun';
	if (saved === undefined) return 'pay';
	const mode = sameForAll(context, 'Mode', (itemIndex) =>
		requiredChoice('Mode', read('mode', itemIndex), modes),
	);
	if (mode !== 'settle') return mode;
	if (hasExpression(saved)) {
		throw new InvalidValueError(
			'Mode is "settle" by an expression',
			'An expression may give pay or dryRun. To settle, choose Settle Unknown in the node, and run it in the editor.',
		);
	}
	if (!isRunByPerson(context)) {
		throw new InvalidValueError(
			'Nobody was paid: Mode is on Settle Unknown',
			'Set Mode to Pay, publish the workflow again, and run it anew. Settling works only in an execution that a person starts in the editor, of this very workflow.',
		);
	}
	return mode;
}

/** Only a choice of the list: an expression could read an old finding from anywhere, and Pay would not see that it is still there. */
function chosenFinding(context: IExecuteFunctions): RunOptions['finding'] {
	const saved = savedParameter(context, 'finding');
	if (isAbsent(saved)) return 'unclear';
	const choice = ['fromItem' as const, ...findings].find((each) => each === saved);
	if (choice !== undefined) return choice;
	throw invalid(
		'Finding',
		saved,
		'is not in its list',
		'Choose one from the list. If each payment has its own, give your list a column finding, and choose From Each Item.',
	);
}

/** Refuses what is neither true nor false, which an expression can give: as false it would turn off a check. */
function isOn(value: unknown, field: string): boolean {
	const text = String(value).trim().toLowerCase();
	if (typeof value !== 'object' && (text === 'true' || text === 'false')) return text === 'true';
	// `invalid` would say of an empty value only that it is empty, and a person who sees the switch off would not know why.
	throw new InvalidValueError(
		`${field} is ${show(value)}, which is neither true nor false`,
		'Turn the option on or off, give it an expression that is true or false, or remove it.',
	);
}

function wholeNumber(value: unknown, field: string, most: number): number {
	const isNumber = typeof value === 'number' || typeof value === 'string';
	const count = isNumber ? Number(value) : NaN;
	if (Number.isInteger(count) && count >= 1 && count <= most) return count;
	const remedy = `Enter a whole number from 1 to ${most}.`;
	throw invalid(field, value, `is not a whole number from 1 to ${most}`, remedy);
}

const totalOf = (payments: Payment[]): Decimal => sum(payments.map(({ amount }) => amount));

/** Why the run may not start, if its sum is above the limit in ETB. */
export function aboveRunLimit(payments: Payment[], limit?: Decimal): Failure | undefined {
	const total = totalOf(payments);
	if (limit === undefined || !isAbove(total, limit)) return undefined;
	return {
		message: `The payments of this run add up to ${formatEtb(total)}, which is ${formatEtb(subtract(total, limit))} above the Maximum per Run of ${formatEtb(limit)}`,
		description: 'Check the amounts, or raise the maximum under Options.',
	};
}

/** What the treasury holds, or why that cannot be read. */
export async function readTreasury(batch: Batch): Promise<Decimal | Failure> {
	const { context, account } = batch;
	const limits = { timeoutMs: batch.options.timeoutMs, stop: context.getExecutionCancelSignal() };
	const result = await callService(context, account, balanceRequest, limits);
	if (!result.ok) {
		const { message, description, httpCode } = result.failure;
		return { message: `The treasury balance could not be read: ${message}`, description, httpCode };
	}
	return (
		decimalText(result.output.treasuryBalance) ?? {
			message: 'The service answered without a treasury balance',
			description: 'Turn off Check Balance First under Options to pay without this check.',
		}
	);
}

/** Why the run may not start, if the treasury does not cover it. */
export function notCovered(balance: Decimal, payments: Payment[]): Failure | undefined {
	const total = totalOf(payments);
	if (!isAbove(total, balance)) return undefined;
	return {
		message: `The treasury holds ${formatEtb(balance)}, but this run needs ${formatEtb(total)}: ${formatEtb(subtract(total, balance))} are missing`,
		description: 'Top up the treasury, or pay fewer items.',
	};
}
