/** The claims that a process remembers. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { useClaim } from '../../nodes/EtbWallet/paying/claims.ts';

test('the newest of more claims than are remembered is used once', () => {
	const context = {
		getWorkflow: () => ({ id: 'payroll' }),
		getExecutionId: () => '7',
	} as unknown as IExecuteFunctions;
	const use = (number: number) => {
		const claim = `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`;
		const notAfter = new Date(Date.now() + 60_000).toISOString();
		const values: Record<string, string> = { execution: 'payroll/7', claim, notAfter };
		return useClaim(context, (name) => values[name], 0, {});
	};
	for (let number = 0; number < 10_001; number++) expect(use(number).objection).toBeUndefined();
	expect(use(10_000).objection).toMatchObject({ code: 'claimUsed' });
});
