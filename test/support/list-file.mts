/** A list as a file, read by n8n's own node and checked by Check List. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';
import { n8nFolder } from '../../demo/folders.mts';
import type { WorkflowFile } from '../../demo/n8n-api.mts';
import { code, node, start, workflow } from './n8n/workflow.mts';

/** Start → a file → Extract from File → Check List. @param fields of Check List */
export function listWorkflow(name: string, content: Buffer, fields: object): WorkflowFile {
	const binary = { data: content.toString('base64'), fileName: name, mimeType: 'text/plain' };
	const item = { json: { period: '' }, binary: { list: binary } };
	const reading = {
		operation: 'xlsx',
		binaryPropertyName: 'list',
		options: { headerRow: false, rawData: true, range: 'A1:CW5001' },
	};
	const checking = {
		resource: 'disbursement',
		operation: 'checkList',
		purpose: 'salary',
		payDay: 1,
		// The lists name no wallet.
		setsUpPeople: true,
		...fields,
	};
	// Check List reports what cannot be read.
	const settings = { onError: 'continueRegularOutput' };
	return workflow(`List ${name}`, [
		start(),
		code('File', `return [${JSON.stringify(item)}]`),
		node('Read the sheet', 'extractFromFile', reading, settings),
		node('Check List', 'n8n-nodes-etb-wallet.etbWallet', checking, settings),
	]);
}

/** A cell as the library has it: a value, a formula, or a number that is shown as something else. */
export type Cell = string | number | { f?: string; v?: number; z?: string };

const Library = z.object({
	utils: z.object({
		aoa_to_sheet: z
			.function()
			.args(z.array(z.array(z.unknown())))
			.returns(z.record(z.unknown())),
		book_new: z.function().returns(z.object({}).passthrough()),
		book_append_sheet: z.function().args(z.unknown(), z.unknown(), z.string()).returns(z.unknown()),
	}),
	write: z.function().args(z.unknown(), z.unknown()).returns(z.instanceof(Buffer)),
});

/** A workbook with one sheet of these rows. The library is that of n8n. */
export function workbook(rows: Cell[][]): Buffer {
	const require = createRequire(join(n8nFolder, 'package.json'));
	const { utils, write } = Library.parse(require('@e965/xlsx'));
	const sheet = utils.aoa_to_sheet(
		rows.map((row) => row.map((cell) => (typeof cell === 'object' ? { t: 'n', ...cell } : cell))),
	);
	const book = utils.book_new();
	utils.book_append_sheet(book, sheet, 'Payroll');
	return write(book, { type: 'buffer', bookType: 'xlsx' });
}
