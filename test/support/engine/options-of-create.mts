/**
 * The options of Disbursement → Create, as the editor offers them: a new one has to appear in the tests that
 * compare with these.
 */
import type { INodeProperties } from 'n8n-workflow';
import { createDisbursementOperation } from '../../../nodes/EtbWallet/actions/disbursement/create.operation.ts';

export const optionsOfCreate: INodeProperties[] = createDisbursementOperation.fields
	.filter(({ name, displayOptions }) => name === 'options' && displayOptions?.show?.['@tool'])
	.slice(0, 1)
	.flatMap(({ options = [] }) => options.flatMap((option) => ('type' in option ? [option] : [])));
