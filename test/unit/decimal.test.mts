/** Decimal numbers as text: reading them, and that calculations with them are exact. */
import fc from 'fast-check';
import {
	decimalText,
	formatEtb,
	toHundredths,
	toExactNumber,
	subtract,
	sum,
} from '../../nodes/shared/decimal.ts';

/** Money as people have it: up to 12 digits before the point and 2 behind. */
const money = fc
	.tuple(fc.integer({ min: 0, max: 999_999_999_999 }), fc.integer({ min: 0, max: 99 }))
	.map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`);

test.each(['1,000', '1e3', '+5', '.5', '5.', '12\u0000', '', NaN, true, null, [5], 10n])(
	'%p is no decimal',
	(value) => {
		expect(decimalText(value)).toBeUndefined();
	},
);

test.each([
	['-0', '0'],
	[-0, '0'],
	['-0.00', '0'],
	['-1.50', '-1.5'],
	[-2e-7, '-0.0000002'],
	[1.5e21, '1500000000000000000000'],
])('the text of %p is %p', (value, text) => {
	expect(decimalText(value)).toBe(text);
});

test('numbers and their texts convert into each other', () => {
	fc.assert(
		fc.property(money, (text) => {
			const shortest = decimalText(text) ?? '';
			expect(decimalText(toExactNumber(shortest))).toBe(shortest);
		}),
	);
});

const thousandths = (text: string): bigint => {
	const [whole = '', fraction = ''] = text.split('.');
	return BigInt(whole + fraction.padEnd(3, '0'));
};

test('sums and differences are exact', () => {
	fc.assert(
		fc.property(fc.array(money), money, (texts, other) => {
			const decimals = texts.map((text) => decimalText(text) ?? '');
			const expected = texts.reduce((total, text) => total + thousandths(text), 0n);
			const total = sum(decimals);
			expect(thousandths(total)).toBe(expected);
			expect(total).not.toMatch(/\.\d*0$|\.$/);
			const less = subtract(total, decimalText(other) ?? '');
			expect(sum([less, decimalText(other) ?? ''])).toBe(total);
			expect(less.startsWith('-')).toBe(expected < thousandths(other));
		}),
	);
});

test.each([
	['1.005', '1.01'],
	['1.0049', '1'],
	['12400.125', '12400.13'],
	['0.004', '0'],
	['5', '5'],
])('%p with two decimals is %p: half a cent goes up', (exact, rounded) => {
	expect(toHundredths(exact)).toBe(rounded);
});

test.each([
	['0', '0 ETB'],
	['999', '999 ETB'],
	['1000', '1,000 ETB'],
	['96000.5', '96,000.50 ETB'],
	['1234567.1234', '1,234,567.1234 ETB'],
	['-1234', '-1,234 ETB'],
])('%p is shown as %p', (text, shown) => {
	expect(formatEtb(text)).toBe(shown);
});
