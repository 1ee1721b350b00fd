/** The output of the nodes, in every shape: the nodes in n8n's engine, the service in the sandbox. */
import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { eventOptions } from '../../../nodes/EtbWalletTrigger/event.ts';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import { startSandbox, type RouteName, type Sandbox } from '../../../sandbox/sandbox.mts';
import type { NodeRun } from '../../support/engine/engine.mts';
import { endpointRows, type EndpointRow } from '../../support/engine/endpoint-table.mts';
import { credentialFor, executeNode, openTrigger } from '../../support/engine/engine.mts';
import { actionSchemaFile, triggerSchemaFile } from '../../support/engine/schema-files.mts';

const userId = 'etbw_employee-1';

interface Run extends Partial<NodeRun> {
	parameters: INodeParameters;
	/** A response other than the service's own. */
	response?: [RouteName, Fault | PresetName];
}

/**
 * The response of a service that says no more than that it succeeded: what is there all the same, the node itself
 * adds. Only that is required.
 */
const sparse = (body: object = {}): Fault => ({
	process: 'before-response',
	response: { status: 200, body: JSON.stringify(body) },
});

const run = (
	resource: string,
	operation: string,
	fields: INodeParameters = {},
	response?: Run['response'],
): Run => ({ parameters: { resource, operation, ...fields }, ...(response && { response }) });

const payment = (
	reference: string,
	{ continues = false, response }: { continues?: boolean; response?: Fault | PresetName } = {},
): Run => ({
	...run('disbursement', 'create', { toUserId: userId, amountEtb: 12.5, reference }),
	...(continues && { onError: 'continueRegularOutput' }),
	...(response && { response: ['POST /disburse', response] }),
});

const settling = (named: { wasPaid?: string; wasNotPaid?: string }): Run => {
	const { parameters } = payment('not looked at');
	return { parameters: { ...parameters, mode: 'settle', ...named } };
};

/** The claims of the pay gate. */
const handedOut = (notAfter: string, more: Partial<NodeRun> = {}): Run => ({
	...run('disbursement', 'payClaims', {
		toUserId: userId,
		amountEtb: '12.5',
		claim: randomUUID(),
		notAfter,
		execution: '={{ $workflow.id }}/{{ $execution.id }}',
	}),
	items: [{ reference: 'pay-a' }],
	...more,
});

const thisMonth = new Date(Date.now() + 3 * 60 * 60 * 1000)
	.toISOString()
	.slice(0, 'YYYY-MM'.length);

/** As the register has it. */
const paidPayment = (person: number, period: string): IDataObject => ({
	reference: `salary-${period}-E${person}`,
	outcome: 'paid',
	amountEtb: 1,
	name: 'Abebe',
	paidAt: `${period}-01T00:00:00Z`,
});

/** An item of which nothing can be read is a row too. */
const unreadable = { toUserId: '={{ $json.none }}', amountEtb: '={{ $json.none }}' };
const continues = { onError: 'continueRegularOutput' } as const;

/** The endpoints of the table, but the one that pays. The fields of a bank are the user's own. */
const rows = endpointRows.filter(
	({ route, parameters }) => route !== 'POST /disburse' && parameters.type !== 'bank',
);

const runsOf = ({ route, parameters, least }: EndpointRow): Run[] => [
	{ parameters },
	...(least === undefined
		? []
		: [{ parameters: again(parameters), response: [route, sparse(least)] } satisfies Run]),
];

/** A user can be created once. */
function again(parameters: INodeParameters): INodeParameters {
	return 'externalId' in parameters ? { ...parameters, externalId: 'again' } : parameters;
}

/** In order: some shapes need what an earlier run did. The first run of an operation gives its fields their order. */
const runs: Run[] = [
	...rows.filter(({ items }) => items === undefined).flatMap(runsOf),
	run('payoutDestination', 'set', { type: 'bank' }, ['PUT /treasury/payout-destination', sparse()]),
	payment('paid'),
	payment('other-amount', { response: sparse({ success: true, amountEtb: 12, txHash: '0x1' }) }),
	payment('paid'),
	payment('in-doubt', { response: 'error500AfterPaying', continues: true }),
	{ ...payment('in-doubt'), onError: 'continueRegularOutput' },
	payment('sparse', { response: sparse({ success: true, txHash: '0x1' }) }),
	// An endpoint that lists has something to list now.
	...rows.filter(({ items }) => items !== undefined).flatMap(runsOf),
	{
		...run('disbursement', 'create', { ...unreadable, reference: '={{ $json.none }}' }),
		...continues,
	},
	settling({ wasPaid: 'in-doubt' }),
	settling({ wasNotPaid: 'never-sent' }),
	{ ...settling({}), onError: 'continueRegularOutput' },
	{
		...run('disbursement', 'checkList', {
			purpose: 'salary',
			payDay: 1,
			knownPayments: `={{ ${JSON.stringify([paidPayment(1, '2020-01'), paidPayment(2, thisMonth)])} }}`,
		}),
		items: ['1', '1', 'x', '', '1.2345'].map((amountEtb, index) => ({
			employee: amountEtb && `E-${index + 1}`,
			name: 'Abebe',
			amountEtb,
			userId: `${userId}-${index}`,
		})),
	},
	{
		...run('disbursement', 'checkList', { purpose: 'salary', payDay: 1 }),
		items: [{ employee: 'E-1', name: 'Abebe', amountEtb: 1, userId, Department: 'Sales' }],
	},
	handedOut('2026-01-01T00:00:00Z', { onError: 'continueErrorOutput' }),
	handedOut(new Date(Date.now() + 60_000).toISOString()),
	handedOut(new Date(Date.now() + 60_000).toISOString(), { mode: 'evaluation' }),
	{ ...run('disbursement', 'payClaims', unreadable), ...continues },
];

/** The name of the file is the key; each entry is the JSON of one item. */
export type Outputs = Map<string, IDataObject[]>;

let records = 0;

/** @returns real output items for every schema file */
export async function realOutputs(): Promise<Outputs> {
	const outputs: Outputs = new Map();
	const sandbox = await startSandbox();
	try {
		const nodeId = `schemas-${++records}`;
		for (const { response, ...options } of runs) {
			if (response) sandbox.faults.next(...response);
			const { output, error } = await executeNode({
				credential: credentialFor(sandbox),
				nodeId,
				...options,
			});
			// jest prints the message of an error in `beforeAll`, and not its cause.
			if (error)
				throw new Error(
					`No output of ${JSON.stringify(options.parameters)}: ${error.message} (${error.description})`,
					{ cause: error },
				);
			const file = actionSchemaFile(options.parameters);
			outputs.set(file, [...(outputs.get(file) ?? []), ...output.map(({ json }) => json)]);
		}
		outputs.set(triggerSchemaFile, await triggerOutputs(sandbox));
	} finally {
		await sandbox.stop();
	}
	return outputs;
}

async function triggerOutputs(sandbox: Sandbox): Promise<IDataObject[]> {
	const trigger = await openTrigger({
		credential: credentialFor(sandbox),
		workflow: { id: `schemas-${records}`, name: 'Schemas' },
	});
	try {
		sandbox.books.setWebhookUrl(trigger.url);
		await sandbox.deliveryEnded(sandbox.transfer().deliveryId);
		// The content of these is not shown (service document §6), and must not look promised.
		for (const { value } of eventOptions)
			if (value !== 'transfer.completed') sandbox.emit(String(value), {});
		// Of an event, only its name is certain.
		sandbox.emit('wallet.closed', {}, { body: '{"event":"wallet.closed"}' });
		await sandbox.idle();
		return trigger.started.flat(2).map(({ json }) => json);
	} finally {
		await trigger.stop();
	}
}
