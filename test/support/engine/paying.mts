/** Support of engine tests that pay: the sandbox and the node of each test, and the results of its payments. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { Fault, PresetName } from '../../../sandbox/faults.mts';
import { startSandbox } from '../../../sandbox/sandbox.mts';
import type { ReceivedRequest, Sandbox, SandboxOptions } from '../../../sandbox/sandbox.mts';
import { withoutPauses } from './calls.mts';
import { credentialFor, deduplicator, runNode, type NodeRun, type RunResult } from './engine.mts';

/** The sandbox of the test that runs, with enough in its treasury. */
export let sandbox: Sandbox;
/** The node of the test that runs: each test has a record of its own. */
export let nodeId: string;

let nodes = 0;

/** Makes both before each test of a file, without pauses between the attempts of a call. */
export function payInEachTest(options: SandboxOptions = {}): void {
	beforeEach(async () => {
		withoutPauses();
		sandbox = await startSandbox(options);
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
const fromItems: INodeParameters = {
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
	options: Partial<NodeRun> = {},
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

/** The names of the users who were paid, by the sandbox's books, sorted. */
export const paidNames = (): string[] =>
	sandbox.books
		.disbursements()
		.map(({ toUserId }) => toUserId.replace('etbw_', ''))
		.sort();

/** The result in an item, or in its error. */
export const resultIn = ({ json }: INodeExecutionData): IDataObject =>
	Object(json.error ?? json) as IDataObject;

export const codes = (items: INodeExecutionData[]): unknown[] =>
	items.map((item) => resultIn(item).code);

/** The codes of all items, those of the error output last. `runNode` compares each code with its outcome. */
export const codesOf = ({ output, errorOutput }: RunResult): unknown[] =>
	codes([...output, ...errorOutput]);

/** The marks of the node's record, sorted. */
export const record = (): string[] => [...(deduplicator.rows.get(`wf1:${nodeId}`) ?? [])].sort();

export const reply = (
	status: number,
	body: unknown,
	process: Fault['process'] = 'never',
): Fault => ({
	process,
	response: { status, body: typeof body === 'string' ? body : JSON.stringify(body) },
});
export const rejection = reply(422, { error: { message: 'The wallet is closed' } });

/** A fault for payments to these people, the first `times` times each. */
export function failFor(names: string[], fault: Fault | PresetName, times = Infinity): void {
	const timesLeft = new Map(names.map((name) => [user(name), times]));
	sandbox.faults.plan('POST /disburse', ({ body }) => {
		const toUserId = String(Reflect.get(Object(body) as object, 'toUserId'));
		const count = timesLeft.get(toUserId) ?? 0;
		timesLeft.set(toUserId, count - 1);
		return count > 0 ? fault : undefined;
	});
}

/** Pays all of them; the payments of the named ones end as unknown. */
export async function leaveUnknown(
	items: IDataObject[],
	unknown: string[],
	fault: Fault | PresetName = 'error500BeforePaying',
): Promise<void> {
	failFor(unknown, fault);
	await pay(items, {}, { onError: 'continueErrorOutput' });
	sandbox.faults.clear();
}

/** Sets the clock ahead, also for runs that have begun. */
export function timePasses(ms: number): void {
	const { now } = Date;
	jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

/** Sends payments and records no result, as n8n does when it dies. */
export async function dieSending(
	items: IDataObject[],
	fields: INodeParameters = {},
): Promise<void> {
	const before = payments().length;
	const dies = (['checkProcessedAndRecord', 'removeProcessed'] as const).map((method) => {
		const call: (...given: never[]) => Promise<unknown> = deduplicator[method];
		return jest.spyOn(deduplicator, method).mockImplementation((async (...given: never[]) => {
			if (payments().length > before) throw new Error('n8n died');
			return await call(...given);
		}) as never);
	});
	await pay(items, fields, { onError: 'continueErrorOutput' });
	for (const spy of dies) spy.mockRestore();
}
