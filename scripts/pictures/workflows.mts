/** The workflows that the pictures show. */
import type { WorkflowFile } from '../../demo/n8n-api.mts';
import { node, start, workflow, type NodeFile } from '../../test/support/n8n/workflow.mts';

type Parameters = Record<string, unknown>;

const ACTION = 'n8n-nodes-etb-wallet.etbWallet';

/** The nodes that are shown, by their names. */
export const LIMITS = 'Pay with limits';
export const PAY = 'Pay salaries';
export const RECORD = 'Keep a record';
export const TRIGGER_NAME = 'ETB Wallet Trigger';

/** The id of a node, for its address in the editor. */
export const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, '-');

const shown = (name: string, type: string, parameters: Parameters, more: object = {}): NodeFile =>
	node(name, type, parameters, { id: idOf(name), ...more });

/** A payment with all its options behind a start. */
export const limitsWorkflow = (): WorkflowFile =>
	workflow('Limits', [
		start(),
		shown(LIMITS, ACTION, {
			resource: 'disbursement',
			operation: 'create',
			reference: '={{ $json.reference }}',
			toUserId: '={{ $json.toUserId }}',
			amountEtb: '={{ $json.amountEtb }}',
			options: {
				checkBalance: true,
				concurrency: 10,
				maxAmountEtb: 20_000,
				maxTotalEtb: 250_000,
				timeout: 60_000,
			},
		}),
	]);

/** A payment in the list of a payroll. */
interface PayrollRow {
	userId: string;
	salary: number | string;
	payment: string;
}

/** A list of people who are paid. */
export function payrollWorkflow(
	people: PayrollRow[],
	{ onError, ...options }: { onError?: 'continueErrorOutput' } & Parameters,
): WorkflowFile {
	const rows = { mode: 'raw', jsonOutput: JSON.stringify({ people }, null, 2), options: {} };
	const payment = {
		resource: 'disbursement',
		operation: 'create',
		reference: '={{ $json.payment }}',
		toUserId: '={{ $json.userId }}',
		amountEtb: '={{ $json.salary }}',
		options: { checkBalance: true, ...options },
	};
	return workflow('Payroll', [
		start(),
		node('Payroll', 'set', rows, { typeVersion: 3.4 }),
		node('One item per person', 'splitOut', { fieldToSplitOut: 'people', options: {} }),
		shown(PAY, ACTION, payment, { onError }),
		shown(RECORD, 'set', { options: {} }, { typeVersion: 3.4 }),
	]);
}

/** A trigger, and a node behind it. */
export const eventsWorkflow = (name: string, parameters: Parameters): WorkflowFile =>
	workflow(name, [
		shown(TRIGGER_NAME, 'n8n-nodes-etb-wallet.etbWalletTrigger', parameters, {
			typeVersion: 2,
			webhookId: `pictures-${idOf(name)}`,
		}),
		node('What happened', 'noOp'),
	]);
