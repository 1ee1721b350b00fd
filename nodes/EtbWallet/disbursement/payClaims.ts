/** Disbursement → Pay Claims: pays what the pay gate handed out. The gate keeps the record; this node uses each claim once. */
import { loadAccount, type Account } from '../../shared/account';
import { isSimulation, triesOf } from '../../shared/n8n';
import type { Operation } from '../actions/operation';
import { answerOf } from './answers';
import { readClaimOptions, usualOptions } from './checks';
import { requireOnlyNode, useClaims } from './claims';
import { readPayee, readToUserId } from './payment';
import { batchOf, isPending, isStopped, readRows, refuseAll, tell, unlessInvalid } from './rows';
import type { Run } from './run';
import { sendConcurrently } from './sending';

/** Uses up all claims before anything else, and pays what they allow. It throws what `disburse` throws. */
export const payClaims: Operation['execute'] = async (context, read) => {
	const run: Run = {
		context,
		options: { ...usualOptions, mode: isSimulation(context) ? 'dryRun' : 'pay' },
		endedBefore: triesOf(context),
		protectionOf: () => 'The pay gate does not hand it out again before a person has settled it.',
	};
	if (run.options.mode === 'dryRun') {
		const rows = readRows(run, (row) => readPayee(read, row));
		for (const row of rows.filter(isPending)) row.ending = answerOf(row, 'unused', run.options);
		return tell(run, rows);
	}
	const claims = await useClaims(context, read, run.endedBefore);
	let account: Account;
	try {
		requireOnlyNode(context);
		account = await loadAccount(context);
		run.options = readClaimOptions(context);
	} catch (error) {
		const known = context.getInputData().map((_, itemIndex) => ({
			itemIndex,
			toUserId: unlessInvalid(() => readToUserId(read, itemIndex)),
			ending: unlessInvalid(() => claims.objection(itemIndex)),
		}));
		return refuseAll(run, error, known);
	}
	const rows = readRows(run, (row) => {
		row.ending = claims.objection(row.itemIndex);
		readPayee(read, row);
	});
	if (!isStopped(context)) {
		const batch = batchOf(run, account, rows);
		await sendConcurrently(batch, rows.filter(isPending), batch.end, ({ itemIndex }) =>
			claims.msLeft(itemIndex),
		);
	}
	return tell(run, rows);
};
