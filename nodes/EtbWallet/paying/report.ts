/** The report of a run that pays: its output items, the summary, the hints, or its one error. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { formatEtb, sum } from '../../shared/decimal';
import { groupBy } from '../../shared/groupBy';
import { truncate } from '../../shared/invalidValue';
import { addHint, describeExecution, errorItem, hasErrorOutput, isStopped } from '../../shared/n8n';
import { operationError, withItem } from '../../shared/nodeErrors';
import { withoutOwnFields, type OwnField } from './ownFields';
import { isBlockedByItem, type Outcome } from '../codes';
import type { RunOptions } from './options';
import {
	needsAttention,
	outcomeOfEntry,
	type EndedEntry,
	type Payable,
	type EntryResult,
	type Entry,
} from './entry';

/** The words for each outcome, in this order: in the summary, and above a list. */
const outcomeTexts = [
	{ outcome: 'paid', counted: 'paid', title: 'Paid, and not again in another run' },
	{ outcome: 'ready', counted: 'ready', title: 'Ready' },
	{ outcome: 'alreadyPaid', counted: 'already paid', title: 'Already paid' },
	{ outcome: 'notPaid', counted: 'not paid', title: 'Not paid' },
	{ outcome: 'unknown', counted: 'unknown', title: 'Unknown, check with the partner service' },
	{ outcome: 'notAttempted', counted: 'not attempted', title: 'Not attempted' },
] as const;

type EntriesByOutcome = ReadonlyMap<(typeof outcomeTexts)[number]['outcome'], Entry[]>;

/** The entries by outcome; those that the run did not get to are `notAttempted`. */
const groupByOutcome = (entries: Entry[]): EntriesByOutcome =>
	groupBy(entries, (entry) => outcomeOfEntry(entry) ?? 'notAttempted');

/** The summary of a run, such as "48 paid, 1 not paid, 1 unknown, total 96,000 ETB". */
function summaryOf(byOutcome: EntriesByOutcome, { mode }: RunOptions): string {
	const goal = mode === 'dryRun' ? 'ready' : 'paid';
	const counts = outcomeTexts.flatMap(({ outcome, counted }) => {
		const count = byOutcome.get(outcome)?.length ?? 0;
		return count > 0 || outcome === goal ? [`${count} ${counted}`] : [];
	});
	const reachedGoal = byOutcome.get(goal) ?? [];
	const total = sum(reachedGoal.map(({ amount = '0' }) => amount));
	const withOtherAmount = reachedGoal.filter(({ result }) => result?.code === 'otherAmount').length;
	const remark =
		withOtherAmount === 0
			? ''
			: `. For ${withOtherAmount} of them the service names another amount: see amountEtb and requestedAmountEtb`;
	const prefix = mode === 'dryRun' ? 'Dry run: ' : '';
	return `${prefix}${counts.join(', ')}, total ${formatEtb(total)}${remark}`;
}

/** Names people with more than one payment, which may be two invoices, or one payment in two rows. */
export function hintAtRepeatedUsers(context: IExecuteFunctions, payments: Payable[]): void {
	const byWallet = groupBy(payments, ({ toUserId }) => toUserId);
	const texts = [...byWallet].flatMap(([toUserId, own]) => {
		if (own.length === 1) return [];
		const total = formatEtb(sum(own.map(({ amount }) => amount)));
		const items = joinedWithRest(
			own.map(({ itemIndex }) => String(itemIndex)),
			', ',
		);
		return [`${truncate(toUserId)} (${own.length} payments, ${total}: items ${items})`];
	});
	if (texts.length === 0) return;
	addHint(context, `People with more than one payment in this run: ${joinedWithRest(texts)}`);
}

/** A text names at most this many entries, and the number of the others. */
const maxListed = 20;

function joinedWithRest(texts: string[], separator = '; '): string {
	const rest = texts.length - maxListed;
	const shown = texts.slice(0, maxListed).join(separator);
	return rest > 0 ? `${shown}${separator}and ${rest} more` : shown;
}

/** The result of a run that sends nothing because items cannot be used. Its text names each of them. */
export function resultOfUnusable(unusable: EndedEntry[]): EntryResult {
	const [first] = unusable;
	if (first !== undefined && unusable.length === 1) return first.result;
	const lines = unusable.map(
		({ itemIndex, result: { message, remedy } }) => `Item ${itemIndex}: ${message}. ${remedy}`,
	);
	const codes = new Set(unusable.map(({ result }) => result.code));
	const [code = 'invalid'] = codes.size === 1 ? codes : [];
	return {
		code,
		message: `${unusable.length} items cannot be used`,
		remedy: joinedWithRest(lines, '<br/>'),
	};
}

/**
 * The one error of a run. It also says which payments were made; its data has every payment by outcome.
 * @param failedEntry the payment that the error is about; undefined for an error about the whole run
 */
export function runError(
	context: IExecuteFunctions,
	options: RunOptions,
	result: EntryResult,
	entries: Entry[],
	failedEntry?: EndedEntry,
): Error {
	const { code, httpCode } = result;
	const byOutcome = groupByOutcome(entries);
	const hasEndedEntries = entries.some((each) => each.result && !isBlockedByItem(each.result.code));
	// A try that is halted also reports the payments that earlier tries of the run sent.
	const hasSummary = hasEndedEntries && (entries.length > 1 || failedEntry === undefined);
	const { texts, advice, outcome } =
		failedEntry === undefined
			? aboutRun(result, byOutcome)
			: aboutPayment(result, byOutcome, failedEntry);
	const summary = hasSummary ? [`This run: ${summaryOf(byOutcome, options)}`] : [];
	return operationError(
		context.getNode(),
		withItem([...texts, ...summary].join('. '), failedEntry?.itemIndex),
		[advice.join('. '), ...(hasSummary ? textsByOutcome(byOutcome) : [])].join('<br/>'),
		failedEntry?.itemIndex,
		{
			outcome,
			code,
			...(httpCode !== undefined && { httpCode }),
			// Otherwise these lists would only repeat the input.
			...(hasEndedEntries &&
				Object.fromEntries([...byOutcome].map(([name, own]) => [name, own.map(errorDataOf)]))),
		},
	);
}

/** The parts of an error: sentences of its message and its description, and its outcome. */
interface ErrorParts {
	texts: string[];
	advice: string[];
	outcome: Outcome | 'notAttempted';
}

/** *Nobody was paid* is in the message, because n8n hides the description until a person opens the error. */
const aboutRun = (
	{ message = '', remedy = '' }: EntryResult,
	byOutcome: EntriesByOutcome,
): ErrorParts => ({
	texts: [message, ...nobodyPaid(byOutcome)],
	advice: [remedy],
	outcome: 'notAttempted',
});

/** The message says that it is unknown, because n8n passes only the message to an AI agent. */
function aboutPayment(
	{ message = '', remedy = '' }: EntryResult,
	byOutcome: EntriesByOutcome,
	entry: EndedEntry,
): ErrorParts {
	const outcome = outcomeOfEntry(entry) ?? 'notAttempted';
	return {
		texts: outcome === 'unknown' ? [unknownSentence(entry, byOutcome), message] : [message],
		advice: [...nobodyPaid(byOutcome), remedy],
		outcome,
	};
}

const nobodyPaid = (byOutcome: EntriesByOutcome): string[] =>
	byOutcome.has('paid') || byOutcome.has('unknown') || byOutcome.has('alreadyPaid')
		? []
		: ['Nobody was paid'];

function unknownSentence(
	{ toUserId = 'somebody', amount }: Entry,
	byOutcome: EntriesByOutcome,
): string {
	const etb = amount === undefined ? '' : ` ${Number(amount)} ETB`;
	const others = (byOutcome.get('unknown') ?? []).length - 1;
	const more = others > 0 ? `, and the same of ${others} more` : '';
	return `It is unknown whether ${truncate(toUserId)} was paid${etb}${more}`;
}

/** The data of an entry in an error. n8n drops undefined fields there. */
function errorDataOf({ itemIndex, reference, toUserId, amount, result }: Entry) {
	const txHash = result?.response?.txHash;
	return {
		item: itemIndex,
		code: result?.code,
		reference,
		toUserId: toUserId === undefined ? undefined : truncate(toUserId),
		amountEtb: amount === undefined ? undefined : Number(amount),
		txHash: typeof txHash === 'string' ? truncate(txHash) : undefined,
		message: result?.message,
	};
}

/** A text for each outcome that has entries. */
const textsByOutcome = (byOutcome: EntriesByOutcome): string[] =>
	outcomeTexts.flatMap(({ outcome, title }) => {
		const list = byOutcome.get(outcome) ?? [];
		return list.length === 0 ? [] : [`${title}: ${joinedWithRest(list.map(describeEntry))}`];
	});

function describeEntry(entry: Entry): string {
	const { item, reference, toUserId = 'nobody', amountEtb, txHash, message } = errorDataOf(entry);
	const etb = amountEtb === undefined ? undefined : `${amountEtb} ETB`;
	const details = [toUserId, etb, txHash].filter((each) => each !== undefined).join(', ');
	const name = reference === undefined ? '' : ` ${reference}`;
	return `item ${item}${name} (${details})${needsAttention(entry) ? `: ${message ?? ''}` : ''}`;
}

/**
 * Reports how a run ended: an output item for each entry that ended, and a summary beside them.
 * @throws {NodeOperationError} the run's error
 */
export function reportRun(
	context: IExecuteFunctions,
	options: RunOptions,
	entries: Entry[],
): INodeExecutionData[] {
	const byOutcome = groupByOutcome(entries);
	const summary = summaryOf(byOutcome, options);
	if (isStopped(context)) {
		// n8n keeps no output of a stopped node, so the log gets the report.
		const details = [...textsByOutcome(byOutcome), describeExecution(context)].join('. ');
		context.logger.warn(`The execution was stopped. Payments: ${summary}. ${details}`);
	}
	if (entries.length > 1 || options.mode !== 'pay') addHint(context, summary);
	if (!context.continueOnFail()) {
		const failed = entries.filter(needsAttention);
		// An unknown payment takes precedence over one that was certainly not paid.
		const first = failed.find((entry) => outcomeOfEntry(entry) === 'unknown') ?? failed[0];
		if (first !== undefined) throw runError(context, options, first.result, entries, first);
	}
	return entries.flatMap((entry) => {
		const { result } = entry;
		return result === undefined ? [] : [entryItem(context, options, { ...entry, result })];
	});
}

/**
 * Reports a halted run, such as one with a wrong credential, option or limit, with the payments of earlier
 * tries.
 * @param entries those without a result get `halt`; if a setting is wrong, so do those with a wrong field
 * @throws {NodeOperationError} unless the node continues on fail
 */
export function reportHalt(
	context: IExecuteFunctions,
	options: RunOptions,
	halt: EntryResult,
	entries: Entry[],
): INodeExecutionData[] {
	if (!context.continueOnFail()) throw runError(context, options, halt, entries);
	// An item may have a result of its own, so the reason is shown beside the output.
	addHint(context, halt.message ?? '');
	const halted = entries.map((entry) => {
		const result = entry.result ?? halt;
		// The error of a setting replaces those of fields, because the items do not matter if Mode was meant to
		// be Settle Unknown.
		const isReplaced = halt.code === 'settings' && isBlockedByItem(result.code);
		return { ...entry, result: isReplaced ? halt : result };
	});
	return reportRun(context, options, halted);
}

/** The output item of an entry. The editor's table shows its fields in this order. */
function entryItem(
	context: IExecuteFunctions,
	{ mode }: RunOptions,
	entry: EndedEntry,
): INodeExecutionData {
	const { itemIndex, reference, toUserId, amount, result } = entry;
	const { code, message, remedy, httpCode, response } = result;
	const { amountEtb, txHash, paidAt, ...others } = response ?? {};
	const requested = amount === undefined ? undefined : Number(amount);
	const isOther = code === 'otherAmount';
	const ours = definedFields({
		outcome: outcomeOfEntry(entry),
		code,
		message,
		remedy,
		httpCode,
		mode: mode === 'pay' ? undefined : mode,
		reference,
		toUserId,
		amountEtb: isOther ? amountEtb : requested,
		requestedAmountEtb: isOther ? requested : undefined,
		txHash,
		paidAt,
	});
	// n8n adds the fields of the input item there.
	if (needsAttention(entry) && hasErrorOutput(context)) return errorItem(ours, itemIndex);
	const input = context.getInputData()[itemIndex]?.json ?? {};
	return {
		// A workflow relies on the fields of its own item, so a field of the response does not replace one.
		json: { ...ours, ...withoutOwnFields(others), ...withoutOwnFields(input) },
		pairedItem: { item: itemIndex },
	};
}

const definedFields = (fields: Partial<Record<OwnField, IDataObject[string]>>): IDataObject =>
	Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
