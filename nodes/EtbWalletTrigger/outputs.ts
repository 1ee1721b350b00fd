/** The outputs of the trigger: which there are, and on which one an event leaves. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { allEvents, isWanted, type PartnerEvent } from './event';
import type { Settings } from './settings';

/** In the order of the outputs. The editor cuts labels after 14 characters. */
const outputNames: Record<string, string> = {
	'deposit.mint_queued': 'Deposit',
	'disburse.completed': 'Disbursement',
	'transfer.completed': 'Transfer',
	[allEvents]: 'Other',
};

/** The items for each output: those of an event leave on its own one. */
export function outputsWith(
	items: INodeExecutionData[],
	{ events, outputPerEvent }: Settings,
): INodeExecutionData[][] {
	if (!outputPerEvent || events.length === 0) return [items];
	const outputs = Object.keys(outputNames).filter((event) => isWanted({ event }, events));
	const indexOf = ({ json }: INodeExecutionData): number => {
		const index = outputs.indexOf(String((json as PartnerEvent).event));
		return index >= 0 ? index : outputs.indexOf(allEvents);
	};
	return outputs.map((_, output) => items.filter((item) => indexOf(item) === output));
}

/** n8n evaluates the text of this function as an expression, so it uses nothing from outside itself. */
function describeOutputs(
	parameters: INodeParameters,
	names: Record<string, string>,
	everything: string,
): Array<{ type: 'main'; displayName?: string }> {
	const wanted = Array.isArray(parameters.events) ? parameters.events.map(String) : [];
	if (parameters.outputPerEvent !== true || wanted.length === 0) return [{ type: 'main' }];
	const all = wanted.includes(everything);
	return Object.keys(names)
		.filter((event) => all || wanted.includes(event))
		.map((event) => ({ type: 'main', displayName: names[event] }));
}

export const outputsExpression =
	`={{ (${describeOutputs.toString()})($parameter, ${JSON.stringify(outputNames)}, ${JSON.stringify(allEvents)}) }}` as const;
