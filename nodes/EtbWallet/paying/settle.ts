/** Mode on Settle Unknown: a person names references, and says which were paid. Nothing is sent. */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { InvalidValueError, asInvalidValue, isAbsent, show } from '../../shared/invalidValue';
import {
	addHint,
	errorItem,
	hasErrorOutput,
	hasExpression,
	isFirstRun,
	isSameForAllItems,
	isStartedInEditor,
	savedParameter,
} from '../../shared/n8n';
import { operationError } from '../../shared/nodeErrors';
import { runMemoryOf } from '../../shared/runMemory';
import { messageOf, property } from '../../shared/unknownValues';
import { outcomeOf, type Code } from '../codes';
import type { RunOptions } from './options';
import { inFlightMinutes } from './paymentMarks';
import { PaymentRecord, type Statement, type StatementResult } from './paymentRecord';
import { referenceKeyOf, readReference } from '../../shared/reference';

/** A statement that names its reference as a person wrote it. */
interface NamedStatement extends Statement {
	reference: string;
}

const statementFields = [
	{ name: 'wasPaid', displayName: 'Was Paid', says: 'paid' },
	{ name: 'wasNotPaid', displayName: 'Was Not Paid', says: 'notPaid' },
	{ name: 'takeBack', displayName: 'Take Back', says: 'takeBack' },
] as const;

type StatementField = (typeof statementFields)[number];

/** The result of settling one reference, in its item. */
interface ItemResult {
	code: Code;
	message: string;
	remedy?: string;
}

const itemResults: Readonly<Record<StatementResult, ItemResult>> = {
	settledPaid: {
		code: 'settledPaid',
		message: 'Settled as paid: no run sends it, unless somebody takes that back',
	},
	recordedPaid: {
		code: 'settledPaid',
		message: 'Recorded as paid, although it was not unknown in this node',
		remedy: 'Was that a slip? Then name it in Take Back: it is unknown then, and can be settled.',
	},
	settledNotPaid: {
		code: 'settledNotPaid',
		message: 'Settled as not paid: the next run with Mode on Pay sends it',
	},
	statementRepeated: {
		code: 'notSettled',
		message: 'Not settled: the same answer counted before, and since then it became unknown again',
		remedy:
			'Is that payment the one you asked about? In a form, open the form again, and answer there. Otherwise type the reference into Was Not Paid of this node, set Mode to Settle Unknown by hand, and choose Execute step.',
	},
	contradicted: {
		code: 'contradicted',
		message:
			'An earlier answer was taken back, or differs. So it is unknown again, and nothing is sent',
		remedy: 'Ask the partner service once more, and settle it.',
	},
	paid: { code: 'paidBefore', message: 'It was paid before, and stays paid' },
	unused: {
		code: 'ready',
		message: 'It was not unknown: the next run with Mode on Pay sends it',
		remedy: 'Is the reference spelled as the error shows it?',
	},
	inDoubt: { code: 'inDoubt', message: 'It stays unknown' },
	inFlight: {
		code: 'inFlight',
		message: 'Not settled: an execution is sending it, or was cut off while it did',
		remedy: `If none is running, ask the partner service again, and settle it when this node has paid nobody for ${inFlightMinutes} minutes.`,
	},
};

/**
 * Records a person's statements about references.
 *
 * - **By hand**, in fields that a person typed in the editor, each statement counts, once in an execution.
 * - **Otherwise**, by an expression, outside the editor, or when the node runs again in a loop, a statement may be an old one. *Was not paid* counts
 *   once for each reference, or for each sending of it that the expression names, because an execution that
 *   runs again must not free a payment that was sent since. *Was paid* of a reference that was settled as not
 *   paid and is unused now makes it unknown again: the two statements differ, and the wrong one must not lead
 *   to a second payment.
 * - **In both cases** *was not paid* of a reference that only a person settled as paid makes it unknown again, and
 *   *take back* of one that a person settled does so too.
 *
 * @throws {NodeOperationError} when a field cannot be used, or n8n's database fails, unless the node
 * continues on fail
 */
export async function settle(
	context: IExecuteFunctions,
	options: RunOptions,
): Promise<INodeExecutionData[]> {
	// If the first try of Retry On Fail failed at the database, a later one repeats its error and settles
	// nothing, because it could free a payment that was sent since.
	const memory = runMemoryOf(context);
	if (memory.failure !== undefined) return reportNotSettled(context, memory.failure);
	let statements: NamedStatement[];
	try {
		statements = readStatements(context);
	} catch (error) {
		const { message, remedy } = asInvalidValue(error);
		return reportNotSettled(context, { message, remedy: `Nothing was settled. ${remedy}` });
	}
	const isTyped = ['mode', ...statementFields.map(({ name }) => name)].every(
		(name) => !hasExpression(savedParameter(context, name)),
	);
	const isByHand = isTyped && isStartedInEditor(context) && isFirstRun(context);
	let settled: ReadonlyMap<NamedStatement, StatementResult>;
	try {
		const record = new PaymentRecord(context, options.timeoutMs);
		settled = await record.settle(statements, isByHand);
	} catch (error) {
		memory.failure = {
			message: 'It is not certain that this was recorded in the database of n8n',
			remedy: `Nothing was sent. Look with a dry run what this node knows now, and settle again what is still unknown. The database said: ${messageOf(error)}`,
		};
		return reportNotSettled(context, memory.failure);
	}
	addHint(
		context,
		'Settle Unknown, nothing was sent. If you set Mode by hand, now set it back, and run the workflow again',
	);
	return [...settled].map(([{ reference }, result]) => {
		const { code, ...texts } = itemResults[result];
		const json = { outcome: outcomeOf(code), code, ...texts, mode: 'settle', reference };
		return { json, pairedItem: { item: 0 } };
	});
}

/**
 * Reports why nothing is settled, in one item that replaces the input items.
 * @throws {NodeOperationError} unless the node continues on fail
 */
function reportNotSettled(
	context: IExecuteFunctions,
	{ message, remedy }: { message: string; remedy: string },
): INodeExecutionData[] {
	if (!context.continueOnFail()) throw operationError(context.getNode(), message, remedy);
	const code = 'notSettled';
	const json = { outcome: outcomeOf(code), code, message, remedy, mode: 'settle' };
	return [hasErrorOutput(context) ? errorItem(json, 0) : { json, pairedItem: { item: 0 } }];
}

/**
 * Reads the statements of all fields, each once.
 * @throws {InvalidValueError} when no reference is named, or one has two statements
 */
function readStatements(context: IExecuteFunctions): NamedStatement[] {
	const byKey = new Map<string, NamedStatement>();
	for (const statement of statementFields.flatMap((field) => readField(context, field))) {
		const { reference, referenceKey, says, sentAt } = statement;
		const other = byKey.get(referenceKey) ?? statement;
		if (says !== other.says || sentAt !== other.sentAt)
			throw new InvalidValueError(
				`There are two answers about ${show(reference)}`,
				'Name it once, in the field where it belongs.',
			);
		byKey.set(referenceKey, statement);
	}
	if (byKey.size === 0)
		throw new InvalidValueError(
			'Was Paid, Was Not Paid and Take Back are empty',
			'Write the references that you asked the partner service about, one a line.',
		);
	return [...byKey.values()];
}

/**
 * Reads the references in a field, one on each line. They are read for all items, if an
 * expression can give each another value.
 * @throws {InvalidValueError}
 */
function readField(context: IExecuteFunctions, field: StatementField): NamedStatement[] {
	const items = isSameForAllItems(savedParameter(context, field.name))
		? [0]
		: [...context.getInputData().keys()];
	const lines = items.flatMap((itemIndex) => {
		const value: unknown = context.getNodeParameter(field.name, itemIndex, '');
		return [value].flat().flatMap((each: unknown) => {
			if (typeof each === 'string') return each.split(/\r?\n/).filter((line) => line.trim() !== '');
			return each === null || each === undefined ? [] : [each];
		});
	});
	return lines.map((line) => readStatement(field, line));
}

/**
 * Reads a statement. In Was Not Paid an expression can give objects: `{ reference, sentAt }`.
 * @throws {InvalidValueError}
 */
function readStatement({ displayName, says }: StatementField, line: unknown): NamedStatement {
	const sentAt = property(line, 'sentAt');
	const isOfSending = says === 'notPaid' && typeof sentAt === 'string' && !isAbsent(sentAt);
	const reference = readReference(displayName, isOfSending ? property(line, 'reference') : line);
	const referenceKey = referenceKeyOf(reference);
	return { reference, referenceKey, says, ...(isOfSending && { sentAt }) };
}
