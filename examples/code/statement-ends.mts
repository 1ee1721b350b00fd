/** The end of each statement of the page *What is open*. */
import { groupBy } from '../../nodes/shared/groupBy.ts';
import {
	isPerhapsTwice,
	isPaidOrVoided,
	isVoided,
	type PaymentRow,
	type RegisterRow,
} from './payment-row.mts';
import type { PayrollExecution } from './payroll-execution.mts';
import { rowOf } from './register.mts';
import {
	changeOfPaid,
	isContradicted,
	wasSettledInNode,
	type ChangeOfPaid,
} from './register-updates.mts';
import { isForRegister, statementAbout } from './settling.mts';

/**
 * - *settledPaid*, *settledNotPaid*: it was unknown
 * - a change of a payment that stays paid: `changeOfPaid`
 * - *denied*: it stays paid, although the statement is that it was not
 * - *paidBefore*: it was paid already
 * - *unknownAgain*: a record as not paid was taken back
 * - *differing*: two statements differ, so it is unknown again
 * - *notRecorded*: nothing changed, for a reason that the result tells
 */
export type StatementEnd =
	| 'settledPaid'
	| 'settledNotPaid'
	| ChangeOfPaid
	| 'denied'
	| 'paidBefore'
	| 'unknownAgain'
	| 'differing'
	| 'notRecorded';

/** @param old the row of the register before the statement */
function endOf(result: PaymentRow, old: RegisterRow, execution: PayrollExecution): StatementEnd {
	const statement = statementAbout(execution.submitted, result);
	const change = changeOfPaid(result, old, execution);
	if (change !== undefined) return change;
	if (isForRegister(statement)) return 'notRecorded';
	if (wasSettledInNode(result, execution)) return 'settledNotPaid';
	if (isContradicted(result) && !isPaidOrVoided(old))
		return statement === 'takesBackNotPaid' ? 'unknownAgain' : 'differing';
	if (result.code === 'settledPaid' || result.code === 'settledNotPaid') return result.code;
	if (result.code !== 'paidBefore') return 'notRecorded';
	// An old page says the same once more.
	if (isVoided(old)) return 'voided';
	if (statement === 'notPaid') return 'denied';
	return statement === 'takesBackNotPaid' && isPerhapsTwice(old) ? 'perhapsTwice' : 'paidBefore';
}

interface EndedStatement {
	result: PaymentRow;
	/** The row of the register after the statement. */
	row: RegisterRow;
}

/**
 * The statements by their end.
 * @param rows the rows of the results, as they are now
 */
export function statementsByEnd(
	rows: RegisterRow[],
	execution: PayrollExecution,
): ReadonlyMap<StatementEnd, EndedStatement[]> {
	const statements = execution.results.map((result, index) => ({
		result,
		row: rows[index] ?? {},
	}));
	return groupBy(statements, ({ result }) =>
		endOf(result, rowOf(execution.register, result) ?? {}, execution),
	);
}
