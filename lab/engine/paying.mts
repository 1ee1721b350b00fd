/** What the engine tests that pay have in common: where each of them pays, and what became of its payments. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { startSandbox, type ReceivedRequest, type Sandbox } from '../../sandbox/sandbox.mts';
import { withoutPauses } from './calls.mts';
import {
	credentialFor,
	deduplicator,
	runNode,
	type RunOptions,
	type RunResult,
} from './engine.mts';

/** Has money; of the test that runs. */
export let sandbox: Sandbox;
/** A node of the test that runs, so that none finds what another one paid. */
export let nodeId: string;

let nodes = 0;

/** Makes both for each test of a file, without pauses between the attempts of a call. */
export function payInEachTest(): void {
	beforeEach(async () => {
		withoutPauses();
		sandbox = await startSandbox({ treasuryBalance: 1_000_000 });
		nodeId = `node-${++nodes}`;
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		await sandbox.stop();
	});
}

/** The ID of a user, who is added when there is none of this name yet. */
export function user(externalId: string): string {
	const known = sandbox.books.users().find((each) => each.externalId === externalId);
	return (known ?? sandbox.books.addUser({ externalId })).id;
}

/** Items that pay 10 ETB to each, with references. */
export const itemsFor = (...names: string[]) =>
	names.map((name) => ({ toUserId: user(name), amountEtb: 10, reference: `pay-${name}` }));

/** Takes each payment from the fields of its item. */
export const fromItems: INodeParameters = {
	resource: 'disbursement',
	operation: 'create',
	reference: '={{ $json.reference }}',
	toUserId: '={{ $json.toUserId }}',
	amountEtb: '={{ $json.amountEtb }}',
};

/** Runs the node, which takes its payments from the items as they are. */
export async function pay(
	items: IDataObject[],
	fields: INodeParameters = {},
	options: Partial<RunOptions> = {},
): Promise<RunResult> {
	return await runNode({
		credential: credentialFor(sandbox),
		parameters: { ...fromItems, ...fields },
		items,
		nodeId,
		...options,
	});
}

/** The requests to pay somebody. */
export const payments = (): ReceivedRequest[] =>
	sandbox.requests.filter(({ path }) => path.endsWith('/disburse'));

/** Those who were paid, by the books, sorted. */
export const paidNames = (): string[] =>
	sandbox.books
		.disbursements()
		.map(({ toUserId }) => toUserId.replace('etbw_', ''))
		.sort();

/** What the node says of an item, as an error or not. */
export const answerOf = ({ json }: INodeExecutionData): IDataObject =>
	Object(json.error ?? json) as IDataObject;

export const outcomes = (items: INodeExecutionData[]): unknown[] =>
	items.map((item) => answerOf(item).outcome);

/** Of all items, those of the error output last. */
export const outcomesOf = ({ output, errorOutput }: RunResult): unknown[] =>
	outcomes([...output, ...errorOutput]);

/** Each time that a run asks how much n8n keeps for the node or the workflow, the monotonic clock moves on. */
export function timePassesForEachLook(scope: 'node' | 'workflow', ms: number): void {
	const now = performance.now.bind(performance);
	const count = deduplicator.getProcessedDataCount;
	let passedMs = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
	jest.spyOn(deduplicator, 'getProcessedDataCount').mockImplementation(async (asked, ...more) => {
		if (asked === scope) passedMs += ms;
		return await count(asked, ...more);
	});
}
