/** What a run that settled says when it was stopped, which only n8n's log shows. */
import { settledSummary } from '../../nodes/EtbWallet/disbursement/settled.ts';

test('a stopped run says how many it did not get to, and not that they are as before', () => {
	const rows = [
		{ itemIndex: 0, ending: { outcome: 'ready', message: 'Settled', settled: 'notPaid' } as const },
		{ itemIndex: 1 },
		{ itemIndex: 2 },
	];
	expect(settledSummary(rows)).toBe(
		'Settle Unknown, nothing was sent: 0 settled as paid, 1 as not paid, 0 still unknown, 0 as before, 2 not attempted. Settle again. Then set Mode back to what it was: Pay sends 1 of them',
	);
});

test('a run that was stopped before its first payment does not say that nothing was unknown', () => {
	expect(settledSummary([{ itemIndex: 0 }])).toBe(
		'Settle Unknown, nothing was sent: 0 settled as paid, 0 as not paid, 0 still unknown, 0 as before, 1 not attempted. Settle again. Then set Mode back to what it was',
	);
});

test('a run that settled nothing leads to emptying the column before Pay, which sends nobody with a finding', () => {
	const ending = { outcome: 'ready', message: 'Free' } as const;
	expect(settledSummary([{ itemIndex: 0, hasOwnFinding: true, ending }])).toBe(
		'Settle Unknown: nothing here was unknown, so nothing was settled or sent. Did another node pay somebody here? If not, empty the field finding in your list, and set Mode back to what it was: Pay sends 1 of them',
	);
});
