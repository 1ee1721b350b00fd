import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { Account } from '../../shared/account';
import type { ServiceRequest } from '../../shared/transport';
import type { ParameterReader } from '../parameters';
import type { Run } from '../run';

interface OperationEntry {
	/** Its entry in the Operation list. */
	option: { name: string; value: string; action: string; description: string };
	/** Shown when the operation is selected; the registry adds the conditions for that. */
	fields: INodeProperties[];
	/** Names of the fields that "Map Automatically" takes from the item itself. */
	mappable?: string[];
}

/** An endpoint that is called once for each item. */
export interface ItemOperation extends OperationEntry {
	/**
	 * The call for one item, from validated fields.
	 * @throws {InvalidValueError}
	 */
	request(read: ParameterReader, itemIndex: number, account: Account): ServiceRequest;
}

/** An endpoint that handles all items of a run together. */
export interface BatchOperation extends OperationEntry {
	/** Output items in input order, each paired with its input item. */
	execute(run: Run): Promise<INodeExecutionData[]>;
	/** What to tell when the run cannot start, because the credential cannot be used. */
	refuse(context: IExecuteFunctions, error: unknown): INodeExecutionData[];
}

/** One endpoint of the service, as the editor offers it. */
export type Operation = ItemOperation | BatchOperation;
