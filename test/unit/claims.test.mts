/** The claims that a process remembers. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { useClaim } from '../../nodes/EtbWallet/paying/claims.ts';

const context = {
	getWorkflow: () => ({ id: 'payroll' }),
	getExecutionId: () => '7',
} as unknown as IExecuteFunctions;

/** Uses a claim in a run of its own. */
function use(number: number, execution: unknown = 'payroll/7') {
	const claim = `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`;
	const notAfter = new Date(Date.now() + 60_000).toISOString();
	const values: Record<string, unknown> = { execution, claim, notAfter };
	return useClaim(context, (name) => values[name], 0, {});
}

test.each([
	['', 20_000],
	[null, 20_001],
	[['x'], 20_002],
])('an execution that cannot be read, %p, uses the claim up', (execution, number) => {
	expect(use(number, execution).invalidField).toBeDefined();
	expect(use(number).objection).toMatchObject({ code: 'claimUsed' });
});

test('the claim of another execution is left to it', () => {
	expect(use(30_000, 'payroll/8').objection).toMatchObject({ code: 'claimUsed' });
	expect(use(30_000).objection).toBeUndefined();
});

test('the newest of more claims than are remembered is used once', () => {
	for (let number = 0; number < 10_001; number++) expect(use(number).objection).toBeUndefined();
	expect(use(10_000).objection).toMatchObject({ code: 'claimUsed' });
});
