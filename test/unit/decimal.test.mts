/** Amounts: what is accepted, and that calculations with them are exact. */
import fc from 'fast-check';
import { decimalText, formatEtb, fromDecimal, subtract, sum } from '../../nodes/shared/decimal.ts';
import { amountInEtb } from '../../nodes/EtbWallet/disbursement/payment.ts';
import { InvalidValueError } from '../../nodes/shared/invalidValue.ts';

const digitsOf = (text: string): number =>
	text.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;

/** Plain decimal text with up to 20 digits on each side of the point. */
const plainDecimal = fc
	.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.stringMatching(/^\d{0,20}$/))
	.map(([whole, fraction]) => (fraction === '' ? String(whole) : `${whole}.${fraction}`));

/** Money as people have it: up to 12 digits before the point and 2 behind. */
const money = fc
	.tuple(fc.integer({ min: 0, max: 999_999_999_999 }), fc.integer({ min: 0, max: 99 }))
	.map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`);

const accepted = (value: unknown): number | undefined => {
	try {
		return Number(amountInEtb(value));
	} catch (error) {
		if (error instanceof InvalidValueError) return undefined;
		throw error;
	}
};

describe('an accepted amount', () => {
	test('is written into JSON as its plain decimal text', () => {
		fc.assert(
			fc.property(fc.oneof(fc.double(), plainDecimal, money, fc.anything()), (value) => {
				const amount = accepted(value);
				if (amount === undefined) return;
				expect(JSON.stringify(amount)).toBe(decimalText(value));
				expect(amount).toBeGreaterThan(0);
			}),
			{ numRuns: 2000 },
		);
	});

	test('never has more than 15 digits', () => {
		fc.assert(
			fc.property(plainDecimal, (text) => {
				const amount = accepted(text);
				if (amount !== undefined) expect(digitsOf(JSON.stringify(amount))).toBeLessThanOrEqual(15);
				if (digitsOf(text) > 15) expect(amount).toBeUndefined();
			}),
			{ numRuns: 2000 },
		);
	});

	test('may be any money with 14 digits, as a number or as text', () => {
		fc.assert(
			fc.property(money, (text) => {
				const value = Number(text);
				if (value === 0) return;
				expect(accepted(text)).toBe(value);
				expect(accepted(value)).toBe(value);
			}),
		);
	});

	test.each([
		[0.1 + 0.2, 0.3],
		[1.1 * 3, 3.3],
		[4.35 * 100, 435],
		[1.005 * 1000, 1005],
		[0.1 * 3, 0.3],
		[100_000.1 + 0.2, 100_000.3],
		[41_286.36999999998, 41_286.37],
		[5_000_000.00000001, 5_000_000],
		[98_124_150.010001, 98_124_150.010001],
		[100.001, 100.001],
		['0012.50', 12.5],
		[' 12 ', 12],
		[999_999_999_999.999, 999_999_999_999.999],
		[1250.505, 1250.505],
		['1250.5', 1250.5],
		[0.000001, 0.000001],
		[1e20, 100_000_000_000_000_000_000],
	])('%p goes out as %p', (value, sent) => {
		expect(accepted(value)).toBe(sent);
	});

	// Each addition is off by at most half of EPSILON, relative to the sum so far: 500 by less than 250 of it.
	test('is what was meant, for any sum of up to 500 amounts with hundredths', () => {
		const expectExact = (hundredths: number[]): void => {
			const drifting = hundredths.reduce((total, value) => total + value / 100, 0);
			const exact = hundredths.reduce((total, value) => total + value, 0) / 100;
			expect(accepted(drifting)).toBe(exact);
		};
		const amount = fc.integer({ min: 1, max: 1_000_000 });
		fc.assert(fc.property(fc.array(amount, { minLength: 1, maxLength: 50 }), expectExact));
		const salaries = fc.array(amount, { minLength: 300, maxLength: 500, size: 'max' });
		fc.assert(fc.property(salaries, expectExact), { numRuns: 50 });
		for (const cents of [1, 10, 333, 1_010, 999_999]) expectExact(Array<number>(500).fill(cents));
	});
});

test.each([
	[0.1234567890123456],
	[1234567890123456],
	['12345678901234.56'],
	['1.250'],
	['12.400'],
	[' 1250.505 '],
	['0.30000000000000004'],
	['0.0000001'],
	[1e-7],
	[1e21],
	[Number.MAX_VALUE],
	[Number.MIN_VALUE],
])('%p is not accepted', (value) => {
	expect(accepted(value)).toBeUndefined();
});

test.each([
	['1,000'],
	['1e3'],
	['0x10'],
	['١٢'],
	['１２'],
	['+5'],
	['.5'],
	['5.'],
	['1 000'],
	['1_000'],
	['--1'],
	['- 1'],
	['12\u0000'],
	['1\n2'],
	['Infinity'],
	['NaN'],
	[''],
	[NaN],
	[Infinity],
	[true],
	[null],
	[undefined],
	[[5]],
	[{ valueOf: () => 5 }],
	[10n],
])('%p is no decimal', (value) => {
	expect(decimalText(value)).toBeUndefined();
});

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
			expect(decimalText(fromDecimal(shortest))).toBe(shortest);
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
	['0', '0 ETB'],
	['999', '999 ETB'],
	['1000', '1,000 ETB'],
	['96000.5', '96,000.5 ETB'],
	['1234567.1234', '1,234,567.1234 ETB'],
	['-1234', '-1,234 ETB'],
])('%p is shown as %p', (text, shown) => {
	expect(formatEtb(text)).toBe(shown);
});
