/** A change of the record of payments. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { RecordChange } from '../../nodes/shared/record/recordChange.ts';
import { marksOf } from '../../nodes/shared/record/marks.ts';
import { MemoryDeduplicator, helpersOf } from '../support/engine/deduplicator.mts';

function newRecord() {
	const database = new MemoryDeduplicator();
	const owner = { workflow: { id: 'payroll', active: true }, node: undefined };
	const context = {
		helpers: helpersOf(database, owner, () => undefined),
	} as unknown as IExecuteFunctions;
	const kept = (): string[] => [...database.rows.values()].flat();
	return { record: marksOf(context, 'node'), kept };
}

test('a mark that was asked for stays if a call that may have written it fails', async () => {
	const { record, kept } = newRecord();
	const failing = {
		...record,
		add: async (marks: string[]) => {
			const before = await record.add(marks);
			if (marks.includes('paid')) throw new Error('lost');
			return before;
		},
	};
	const change = RecordChange.make(failing, async (made) => {
		await made.ask(['sent']);
		await made.write(['sent', 'paid']);
	});
	await expect(change).rejects.toThrow('lost');
	expect(kept()).toEqual(['sent', 'paid']);
});

test.each([
	['that fails keeps nothing of what it asked for', new Error('lost'), ['sent:before']],
	['keeps what it asked for and wanted', undefined, ['sent:before', 'sent:wanted']],
])('a change %s', async (_what, failure, left) => {
	const { record, kept } = newRecord();
	await record.add(['sent:before']);
	const change = RecordChange.make(record, async (made) => {
		await made.ask(['sent:before', 'sent:wanted', 'sent:asked']);
		made.keep(['sent:before', 'sent:wanted']);
		if (failure) throw failure;
	});
	await change.catch(() => undefined);
	expect(kept()).toEqual(left);
});

test('a change whose removal at the end fails removes once more, also what it wanted to keep', async () => {
	const { record, kept } = newRecord();
	let failures = 1;
	const failing = {
		...record,
		remove: async (marks: string[]) => {
			if (failures-- > 0) throw new Error('lost');
			await record.remove(marks);
		},
	};
	const change = RecordChange.make(failing, async (made) => {
		await made.ask(['sent:wanted', 'sent:asked']);
		made.keep(['sent:wanted']);
	});
	await expect(change).rejects.toThrow('lost');
	expect(kept()).toEqual([]);
});
