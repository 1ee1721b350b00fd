/** Disbursement → Pay Claims: the fields of a payment that the gate hands out. `paying/` pays it. */
import type { INodeProperties } from 'n8n-workflow';
import { payClaims } from '../../paying/payClaims';
import type { Operation } from '../../operation';
import { concurrencyField, optionsField, timeoutField } from './optionFields';

const field = (displayName: string, name: string, description: string): INodeProperties => ({
	displayName,
	name,
	type: 'string',
	required: true,
	default: `={{ $json.${name} }}`,
	description,
});

/** Endpoint 7 of the service document §4, for the workflow of the pay gate. */
export const payClaimsOperation: Operation = {
	menuEntry: {
		name: 'Pay Claims',
		value: 'payClaims',
		action: 'Pay the claims of the pay gate',
		description: 'Pay what the pay gate handed out, in the workflow of the gate',
	},
	fields: [
		field('To User ID', 'toUserId', 'The ID of the user to pay'),
		field('Amount (ETB)', 'amountEtb', 'Amount to pay in ETB'),
		field('Claim', 'claim', 'What the pay gate gave with this payment. It counts once.'),
		field('Not After', 'notAfter', 'Until when the pay gate lets this payment begin'),
		field(
			'Claimed by Execution',
			'execution',
			'The workflow and execution that asked the pay gate, as it wrote them down. In another one nothing is sent.',
		),
		optionsField([concurrencyField, timeoutField]),
	],
	execute: payClaims,
};
