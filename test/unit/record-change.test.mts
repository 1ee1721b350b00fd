/** A change of the record of payments. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { RecordChange } from '../../nodes/EtbWallet/disbursement/recordChange.ts';
import { marksOf } from '../../nodes/shared/record/marks.ts';
import { MemoryDeduplicator, helpersOf } from '../support/engine/deduplicator.mts';

test.each([
	['that fails keeps nothing of what it asked for', new Error('lost'), ['sent:before']],
	['keeps what it asked for and wanted', undefined, ['sent:before', 'sent:wanted']],
])('a change %s', async (_what, failure, left) => {
	const database = new MemoryDeduplicator();
	const owner = { workflow: { id: 'payroll', active: true }, node: undefined };
	const context = {
		helpers: helpersOf(database, owner, () => undefined),
	} as unknown as IExecuteFunctions;
	const record = marksOf(context, 'node');
	await record.add(['sent:before']);
	const change = RecordChange.make(record, async (made) => {
		await made.ask(['sent:before', 'sent:wanted', 'sent:asked']);
		made.keep(['sent:before', 'sent:wanted']);
		if (failure) throw failure;
	});
	await change.catch(() => undefined);
	expect([...database.rows.values()].flat()).toEqual(left);
});
