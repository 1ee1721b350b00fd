/** The variables that n8n gives to a Code node, and the items of the other nodes, by the names of the nodes. */
import type { CheckedRow } from '../../nodes/EtbWallet/list/checkList.ts';
import type { PaymentRow, PeopleRow, RegisterRow } from './payment-row.mts';

/** Somebody who is logged in to n8n. An n8n that does not know the login gives none. */
export interface User {
	id: string;
	firstName: string;
	lastName: string;
	email: string;
}

/** The form *Ask* as a person sent it: its fields by name, and the person. */
export interface Submitted {
	user?: User;
	decision?: string;
	[field: string]: unknown;
}

/** The form *Upload a list*. */
export interface Upload {
	user?: User;
	period: string;
	purpose: string;
	list?: { filename: string };
}

/** A row of *Check List*, or its only item when the list as a whole cannot be used. */
export type CheckListItem = PaymentRow &
	Partial<Pick<CheckedRow, 'known'>> & { error?: { message: string; remedy: string } };

interface ItemsByNode {
	'Upload a list': Upload;
	'Check List': CheckListItem;
	'Pay salaries': PaymentRow;
	Ask: Submitted;
	Decision: { mode: string };
	'What is open': object;
	'Set up people': { payroll: string };
	'Which period?': { user?: User; period: string };
	People: PeopleRow;
	Payments: RegisterRow;
	'Payments now': RegisterRow;
}

interface NodeRuns<Item> {
	/** The items of an output, of the last run if none is named. Throws if the node did not run. */
	all(output: number, ...run: number[]): Array<{ json: Item }>;
	isExecuted: boolean;
	params: { payDay: number; options: { path: string } };
}

interface Time {
	setZone(zone: string): Time;
	minus(duration: { days: number }): Time;
	toFormat(format: string): string;
}

declare global {
	const $: <Name extends keyof ItemsByNode>(node: Name) => NodeRuns<ItemsByNode[Name]>;
	const $input: { all(): Array<{ json: CheckListItem }> };
	const $runIndex: number;
	const $workflow: { id: string; name: string };
	const $execution: { resumeFormUrl: string };
	const DateTime: { fromJSDate(date: Date): Time };
}

/**
 * The items of a node; none if the workflow has no such node, or it did not run.
 * @param nodeOf a function, because n8n corrects the name in `$('…')` when somebody renames the node
 * @param run the run of the node; without it the last one
 */
export function itemsOf<Item>(nodeOf: () => NodeRuns<Item>, ...run: number[]): Item[] {
	try {
		return nodeOf()
			.all(0, ...run)
			.map(({ json }) => json);
	} catch {
		return [];
	}
}

export const isOfOtherWorkflow = ({ workflow }: Pick<RegisterRow, 'workflow'>): boolean =>
	!!workflow && !workflow.endsWith(`(${$workflow.id})`);
