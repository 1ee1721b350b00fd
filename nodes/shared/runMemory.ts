/** The memory that all tries of a run share. A try is one call of `execute`, a run is all tries together. */
import type { IExecuteFunctions } from 'n8n-workflow';

/** n8n does not store symbols. `Symbol.for` gives the same one even after n8n has loaded the package again. */
const memorySymbol: unique symbol = Symbol.for('n8n-nodes-etb-wallet.runMemory.1');

export interface RunMemory<Ended> {
	/** The results that must not be repeated, by item index. */
	kept: Map<number, Ended>;
	/** The error of an earlier try, after which no try may do anything. */
	failure?: { message: string; remedy: string };
}

/**
 * The memory of this run. n8n's "Retry On Fail" calls `execute` again with the same execute data and the same item
 * objects. Only both together identify the run, because the calls of an AI tool share their execute data. If n8n
 * copies them, a later try reports a payment of an earlier one as paid before, without its transaction.
 * Noticed by: `test/engine/disbursement.test.mts`, "Retry On Fail".
 */
export function runMemoryOf<Ended>(context: IExecuteFunctions): RunMemory<Ended> {
	const items = context.getInputData();
	const memories = memoriesOf<Ended>(context.getExecuteData());
	const key: object = items[0]?.json ?? items;
	const memory = memories.get(key) ?? { kept: new Map<number, Ended>() };
	memories.set(key, memory);
	return memory;
}

type Memories<Ended> = WeakMap<object, RunMemory<Ended>>;

function memoriesOf<Ended>(executeData: object): Memories<Ended> {
	const { [memorySymbol]: known }: { [memorySymbol]?: Memories<Ended> } = executeData;
	if (known !== undefined) return known;
	const value: Memories<Ended> = new WeakMap();
	Object.defineProperty(executeData, memorySymbol, { value });
	return value;
}
