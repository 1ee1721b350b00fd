/** Amounts: what is accepted, and that a text is taken only if it can mean one amount. */
import fc from 'fast-check';
import { readAmount } from '../../nodes/shared/amount.ts';
import { decimalText } from '../../nodes/shared/decimal.ts';
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

const refusalOf = (value: unknown): InvalidValueError | undefined => {
	try {
		readAmount('Amount (ETB)', value);
		return undefined;
	} catch (error) {
		if (error instanceof InvalidValueError) return error;
		throw error;
	}
};

const accepted = (value: unknown): number | undefined =>
	refusalOf(value) === undefined ? Number(readAmount('Amount (ETB)', value)) : undefined;

describe('an accepted amount', () => {
	test('is written into JSON as its plain decimal text', () => {
		fc.assert(
			fc.property(fc.oneof(fc.double(), plainDecimal, money, fc.anything()), (value) => {
				const amount = accepted(value);
				if (amount === undefined) return;
				expect(JSON.stringify(amount)).toBe(readAmount('Amount (ETB)', value));
				if (typeof value === 'number')
					expect(readAmount('Amount (ETB)', value)).toBe(decimalText(value));
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

	test.each([
		[4.35 * 100, 435],
		[41_286.36999999998, 41_286.37],
		[5_000_000.00000001, 5_000_000],
		[98_124_150.010001, 98_124_150.010001],
		[999_999_999_999.999, 999_999_999_999.999],
		[1250.505, 1250.505],
		[0.000001, 0.000001],
		[1e20, 100_000_000_000_000_000_000],
		['0012.50', 12.5],
		[' 12,5 ', 12.5],
		['1.234.567,8', 1_234_567.8],
		['250 Br.', 250],
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

describe('a text', () => {
	/** How people write money: the sign between thousands, and the one before the cents. */
	const styles = [
		['', '.'],
		['', ','],
		[',', '.'],
		['.', ','],
		[' ', '.'],
		[' ', ','],
		['\u00a0', ','],
		['\u202f', '.'],
		['\u2007', ','],
		['\u2009', '.'],
		["'", '.'],
		['’', ','],
	] as const;
	const currencies = [
		['', ''],
		['ETB ', ''],
		['', ' ETB'],
		['', ' birr'],
		['', ' ብር'],
		['Br.', ''],
		['ብር ', ''],
	] as const;

	test('is read as the amount that was meant, in each usual style and with each name of the currency', () => {
		fc.assert(
			fc.property(
				money,
				fc.constantFrom(...styles),
				fc.constantFrom(...currencies),
				(text, [group, point], [before, behind]) => {
					const [whole = '', cents = ''] = text.split('.');
					const written = whole.replace(/\B(?=(\d{3})+$)/g, group) + point + cents;
					const amount = accepted(`${before}${written}${behind}`);
					expect(amount).toBe(Number(text) === 0 ? undefined : Number(text));
				},
			),
			{ numRuns: 1000 },
		);
	});

	/** Each amount that somebody may have meant, found without the node's own way of reading. */
	function meanings(text: string): Set<string> {
		const found = new Set<string>();
		for (const group of ['', ',', '.', ' ', "'"]) {
			for (const point of ['', ',', '.']) {
				if (group === point && group !== '') continue;
				const at = point === '' ? -1 : text.indexOf(point);
				if (point !== '' && (at < 1 || text.includes(point, at + 1))) continue;
				const [whole, cents] = at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
				if (at !== -1 && !/^\d+$/.test(cents)) continue;
				const groups = group === '' ? [whole] : whole.split(group);
				if (!groups.every((digits) => /^\d+$/.test(digits))) continue;
				if (groups.length > 1) {
					const [first = '', ...rest] = groups;
					if (first.length > 3 || first.startsWith('0')) continue;
					if (rest.some((digits) => digits.length !== 3)) continue;
				}
				found.add(`${groups.join('')}.${cents}`);
			}
		}
		return found;
	}

	test('is accepted if it can mean one amount, with at most two decimals, and else refused', () => {
		const digits = fc.stringMatching(/^\d{1,4}$/);
		const sign = fc.constantFrom(',', '.', ' ', "'");
		const anything = fc
			.tuple(digits, fc.array(fc.tuple(sign, digits), { maxLength: 3 }))
			.map(([first, rest]) => first + rest.map((each) => each.join('')).join(''));
		let taken = 0;
		let refused = 0;
		fc.assert(
			fc.property(anything, (text) => {
				const all = [...meanings(text)];
				const [only = '.'] = all;
				const [, cents = ''] = only.split('.');
				const isOne = all.length === 1 && cents.length <= 2 && Number(only) > 0;
				expect(accepted(text)).toBe(isOne ? Number(only) : undefined);
				if (isOne) taken++;
				else refused++;
			}),
			{ numRuns: 5000 },
		);
		expect(taken).toBeGreaterThan(500);
		expect(refused).toBeGreaterThan(500);
	});

	test.each([
		['12,400', '12400', '12.4'],
		['ETB 1.250', '1250', '1.25'],
		['-1,255', '-1255', '-1.255'],
	])('%p is refused with both amounts that it can mean', (text, large, small) => {
		expect(refusalOf(text)?.message).toContain(`can mean ${large} or ${small}`);
	});

	test.each([
		...['12345678901234.56', '0.0000001', "1’234'567", '1e3', '1.24E+04', '0x10', '１２', '+5'],
		...[
			'12.400.50',
			'12,400,50',
			'-12,400.50',
			'.5',
			'5.',
			'ETB',
			'$500',
			'12\u200b',
			'1\n2',
			'#REF!',
			'',
		],
		...['9'.repeat(100_000), `12.345${'0'.repeat(100)}`, `1${',234'.repeat(50)}`],
	])('%p is refused', (text) => {
		expect(accepted(text)).toBeUndefined();
		expect(refusalOf(text)?.remedy).not.toBe('');
	});
});

test.each([
	...[0.1234567890123456, 1234567890123456, 1e-7, 1e21, -5, 0, NaN, Infinity, Number.MAX_VALUE],
	...[true, null, undefined, [[5]], { valueOf: () => 5 }, 10n],
])('%p is refused', (value) => {
	expect(accepted(value)).toBeUndefined();
});
