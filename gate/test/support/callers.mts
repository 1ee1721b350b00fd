/** The payments that workflows ask another one for, and their results. */
import { z } from 'zod';
import type { Sandbox } from '../../../sandbox/sandbox.mts';

export interface Payment {
	reference?: string;
	toUserId: string;
	amountEtb: unknown;
}

const nodeResult = z.object({
	outcome: z.string(),
	toUserId: z.string(),
	code: z.string().optional(),
});

/** The result of a payment, as the ETB Wallet node reports it. */
type NodeResult = z.infer<typeof nodeResult>;

/** The results in the items of an ETB Wallet node, those in errors included. */
export const nodeResults = (items: unknown[]): NodeResult[] =>
	items.map((item) => {
		const { error } = z.object({ error: z.unknown() }).passthrough().parse(item);
		return nodeResult.parse(error ?? item);
	});

/** The number of results of each outcome. */
export function counts(told: Array<{ outcome: string }>): Record<string, number> {
	const count: Record<string, number> = {};
	for (const { outcome } of told) count[outcome] = (count[outcome] ?? 0) + 1;
	return count;
}

/** New users of the sandbox with one payment of 1 ETB each. */
export function payrollOf(sandbox: Sandbox, name: string, count: number): Payment[] {
	return Array.from({ length: count }, (_, index) => ({
		reference: `${name}-${index}`,
		toUserId: sandbox.books.addUser({ externalId: `${name}-${index}` }).id,
		amountEtb: 1,
	}));
}
