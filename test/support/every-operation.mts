/** Each operation of the node, with each of its fields. */
import type { WorkflowFile } from '../../demo/n8n-api.mts';
import { list, node, start, workflow } from './n8n/workflow.mts';

const wallet = (name: string, resource: string, operation: string, parameters: object = {}) =>
	node(
		name,
		'n8n-nodes-etb-wallet.etbWallet',
		{ resource, operation, ...parameters },
		{ onError: 'continueRegularOutput' },
	);

const payment = {
	reference: '=every-{{ $execution.id }}',
	toUserId: '={{ $json.id }}',
	amountEtb: '250.50',
};

export const everyOperation = (): WorkflowFile =>
	workflow('Every operation with every field', [
		start(),
		wallet('Balance', 'balance', 'get'),
		wallet('Fee', 'fee', 'get'),
		wallet('Fee Update', 'fee', 'update', { feePercent: 1.5 }),
		wallet('Payout Mobile', 'payoutDestination', 'set', { type: 'mobile', phone: '+251911234567' }),
		wallet('Payout Bank', 'payoutDestination', 'set', {
			type: 'bank',
			bankFields: { field: [{ name: 'accountNumber', value: '1000123456789' }] },
		}),
		wallet('Webhook', 'webhook', 'set', { webhookUrl: 'https://localhost:9/elsewhere' }),
		wallet('User', 'user', 'create', {
			externalId: '=every-{{ $execution.id }}',
			email: 'abebe@example.com',
		}),
		wallet('Payment', 'disbursement', 'create', {
			...payment,
			mode: 'pay',
			options: {
				checkBalance: true,
				concurrency: 4,
				maxAmountEtb: '1000',
				maxTotalEtb: '5000',
				timeout: 20_000,
			},
		}),
		wallet('Settle', 'disbursement', 'create', {
			...payment,
			mode: 'settle',
			wasPaid: 'paid-by-hand',
			wasNotPaid: 'never-sent',
			takeBack: 'never-settled',
		}),
		wallet('Claim of another execution', 'disbursement', 'payClaims', {
			toUserId: 'somebody',
			amountEtb: '1',
			claim: '00000000-0000-4000-8000-000000000000',
			notAfter: '2026-01-01T00:00:00Z',
			execution: 'another/1',
			options: { concurrency: 4, timeout: 20_000 },
		}),
		list(
			[{ 'Staff No': 'A-1', Wallet: 'etbw_a-1', name: 'Abebe', amountEtb: '12,400.50' }],
			'List',
		),
		wallet('Check List', 'disbursement', 'checkList', {
			purpose: 'salary',
			payDay: 25,
			period: '={{ $now.minus({ months: 2 }).toFormat("yyyy-MM") }}',
			columns: { employee: 'Staff No', userId: 'Wallet' },
			knownPeople: '',
			setsUpPeople: false,
			knownPayments: '',
		}),
	]);
