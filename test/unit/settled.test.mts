/** What a run that settled says when it was stopped, which only n8n's log shows. */
import { settledSummary } from '../../nodes/EtbWallet/disbursement/settled';

test('a stopped run says how many it did not get to, and not that they are as before', () => {
	const rows = [
		{ itemIndex: 0, ending: { outcome: 'ready', message: 'Settled', settled: 'notPaid' } as const },
		{ itemIndex: 1 },
		{ itemIndex: 2 },
	];
	expect(settledSummary(rows)).toBe(
		'Settle Unknown, nothing was sent: 0 settled as paid, 1 as not paid, 0 still unknown, 0 as before, 2 not attempted. Settle again. Then set Mode back to Pay',
	);
});
