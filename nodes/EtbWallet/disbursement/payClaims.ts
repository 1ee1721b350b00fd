/** Disbursement → Pay Claims: pays what the pay gate handed out. The gate keeps the record; this node uses each claim once. */
import { loadAccount, type Account } from '../../shared/account';
import { isSimulation, triesOf } from '../../shared/n8n';
import type { Operation } from '../actions/operation';
import { readClaimOptions, type SendOptions } from './checks';
import { useClaims } from './claims';
import { readPayee, readToUserId, type PartialPayment, type Payment } from './payment';
import type { Start } from './rows';
import { batchOf, isPending, isStopped, readRows, refuseAll, tell, unlessInvalid } from './rows';
import { sendConcurrently } from './sending';

/** Uses up all claims before anything else, and pays what they allow. It throws what `disburse` throws. */
export const payClaims: Operation['execute'] = async (context, read) => {
	const start: Start = {
		context,
		mode: isSimulation(context) ? 'dryRun' : 'pay',
		sentBefore: triesOf(context),
		protectionOf: () => 'The pay gate does not hand it out again before a person has settled it.',
	};
	const readRow = (itemIndex: number, partial: PartialPayment): Payment =>
		readPayee(read, itemIndex, partial);
	if (start.mode === 'dryRun') {
		const rows = readRows(start, readRow);
		for (const row of rows.filter(isPending))
			row.ending = { outcome: 'ready', message: 'Dry run: nothing was sent' };
		return tell(start, rows);
	}
	const claims = await useClaims(context, read, start.sentBefore);
	let account: Account;
	let options: SendOptions;
	try {
		account = await loadAccount(context);
		options = readClaimOptions(context);
	} catch (error) {
		const known = context.getInputData().map((_, itemIndex) => ({
			itemIndex,
			toUserId: unlessInvalid(() => readToUserId(read, itemIndex)),
			ending: unlessInvalid(() => claims.objection(itemIndex)),
		}));
		return refuseAll(start, error, known);
	}
	const rows = readRows(start, readRow, (itemIndex) => claims.objection(itemIndex));
	if (!isStopped(context)) {
		const batch = batchOf(start, account, options, rows);
		await sendConcurrently(batch, rows.filter(isPending), batch.end, ({ itemIndex }) =>
			claims.msLeft(itemIndex),
		);
	}
	return tell(start, rows);
};
