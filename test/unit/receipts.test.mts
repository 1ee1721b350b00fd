/** The code of "Write the receipts" in receipt-to-payee.json, exactly as n8n runs it: texts, and dates in both calendars. */
import { runCode, type Json } from './run-code.mts';

const payee = { userId: 'etbw_E-1', name: 'አበበ ከበደ', email: 'abebe@example.com' };
const paid = { toUserId: 'etbw_E-1', amountEtb: 12400.5, txHash: '0xabc' };

/** The receipt of a payment's event at this time. */
async function receipt(timestamp: string, data: Json = paid): Promise<Json | undefined> {
	const nodes = {
		People: [payee],
		'ETB Wallet Trigger': [{ event: 'disburse.completed', timestamp, data }],
	};
	return (await runCode('receipt-to-payee.json', 'Write the receipts', { nodes }))[0];
}

test('says in Amharic and in English who was paid how much, when and with which transaction', async () => {
	expect(await receipt('2026-11-03T08:00:00Z')).toEqual({
		txHash: '0xabc',
		email: 'abebe@example.com',
		name: 'አበበ ከበደ',
		subject: 'የክፍያ ደረሰኝ / Receipt: 12,400.50 ETB',
		text: [
			'አበበ ከበደ፣',
			'12,400.50 ብር ተከፍሎዎታል።',
			'ቀን፦ 24 ጥቅምት 2019 ዓ.ም. (3 ኖቬምበር 2026)',
			'የግብይት መለያ፦ 0xabc',
			'',
			'አበበ ከበደ,',
			'You were paid 12,400.50 ETB.',
			'Date: 3 November 2026 (24 Tikimt 2019 in the Ethiopian calendar)',
			'Transaction: 0xabc',
		].join('\n'),
	});
});

// Pagume has 5 days, and 6 before the new year that follows a leap year.
test.each([
	['2026-09-10T20:59:59Z', '10 September 2026', '5 Pagume 2018', '5 ጳጉሜን 2018'],
	['2026-09-10T21:00:00Z', '11 September 2026', '1 Meskerem 2019', '1 መስከረም 2019'],
	['2027-09-05T12:00:00Z', '5 September 2027', '30 Nehase 2019', '30 ነሐሴ 2019'],
	['2027-09-06T12:00:00Z', '6 September 2027', '1 Pagume 2019', '1 ጳጉሜን 2019'],
	['2027-09-11T12:00:00Z', '11 September 2027', '6 Pagume 2019', '6 ጳጉሜን 2019'],
	['2027-09-12T12:00:00Z', '12 September 2027', '1 Meskerem 2020', '1 መስከረም 2020'],
	['2026-12-31T21:00:00Z', '1 January 2027', '23 Tahsas 2019', '23 ታኅሣሥ 2019'],
	['2027-01-07T00:00:00+03:00', '7 January 2027', '29 Tahsas 2019', '29 ታኅሣሥ 2019'],
])('%s is %s, and %s', async (timestamp, gregorian, english, amharic) => {
	const { text } = (await receipt(timestamp)) ?? {};
	expect(text).toContain(`Date: ${gregorian} (${english} in the Ethiopian calendar)`);
	expect(text).toContain(`ቀን፦ ${amharic} ዓ.ም. (`);
});

test('after a payment, only who was paid gets one; what the payment says of the payee counts first', async () => {
	const input = [
		{ ...paid, outcome: 'paid', name: 'Abebe', email: 'other@example.com' },
		{ ...paid, outcome: 'alreadyPaid' },
		{ ...paid, outcome: 'paid', toUserId: 'nobody knows', txHash: '0xdef' },
	];
	const receipts = await runCode('receipt-to-payee.json', 'Write the receipts', {
		nodes: { People: [payee], 'After a payment': input },
	});
	expect(receipts.map(({ email, name }) => [email, name])).toEqual([
		['other@example.com', 'Abebe'],
	]);
});

test('a payment without a hash is no receipt', async () => {
	await expect(
		receipt('2026-11-03T08:00:00Z', { toUserId: 'etbw_E-1', amountEtb: 1 }),
	).rejects.toThrow('1 of 1 payments have no txHash');
});
