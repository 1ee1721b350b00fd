/** References: which texts are one reference. */
import fc from 'fast-check';
import { referenceKeyOf, readReference } from '../../nodes/shared/reference.ts';

test.each([
	['pay-1', 'pay-1'],
	['  pay 1\n', 'pay 1'],
	['pay\n1\t\n2', 'pay 1 2'],
	[1042, '1042'],
	['\u12f0\u1218\u12c8\u12dd-2026', '\u12f0\u1218\u12c8\u12dd-2026'],
	['INV\u20111', 'INV\u20111'],
	['\u{1F4B8}'.repeat(200), '\u{1F4B8}'.repeat(200)],
])('%j is taken as %j', (value, taken) => {
	expect(readReference('Reference', value)).toBe(taken);
});

test.each([
	['', /Reference is empty/],
	[null, /Reference is empty/],
	[{}, /which is not text/],
	[1.5, /which is not text/],
	['x'.repeat(201), /longer than 200 characters/],
	['\u200b\u3164\u2800', /no character that can be seen/],
])('%j is refused', (value, why) => {
	expect(() => readReference('Reference', value)).toThrow(why);
});

test.each([
	['INV-1', 'inv-1'],
	['inv 1', 'inv1'],
	['INV-1', '\uff29\uff2e\uff36\uff0d\uff11'],
	['fin', '\ufb01n'],
	['cafe\u0301', 'caf\u00e9'],
	['stra\u00dfe', 'STRASSE'],
	['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2'],
	...[...'\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\ufe63'].map((dash) => [
		'INV-1',
		`INV${dash}1`,
	]),
	...[..."'\u2018\u2019\u201c\u201d\u201e\u2033\uff02`"].map((quote) => ['"A"-1', `${quote}A"-1`]),
	['"A"-1', "''A\u2033-1"],
	['\u2033', '\u2032\u2032'],
	['\u2057', '"'],
	...[...'\u00a0\u3000\u2028\t\u0085\u200b\u2060\ufeff\u00ad\ufe0f'].map((unseen) => [
		'INV-1',
		`INV${unseen}-1`,
	]),
	...[...'\u3164\uffa0\u115f\u180e\u2800\u{e0041}\ud800'].map((unseen) => [
		'INV-1',
		`INV-1${unseen}`,
	]),
])('%j and %j have the same key', (one = '', other = '') => {
	expect(referenceKeyOf(other)).toBe(referenceKeyOf(one));
});

test.each([
	['INV-1', 'INV-2'],
	['INV-1', 'INV1'],
	['INV-1', 'INV_1'],
	['1-1', '11'],
	['\u12f0', '\u12f1'],
])('%j and %j have different keys', (one, other) => {
	expect(referenceKeyOf(other)).not.toBe(referenceKeyOf(one));
});

// Records of earlier versions have these keys: with another one a paid reference would be paid again.
test.each([
	['payroll-2026-11-E-0701', 'payroll-2026-11-e-0701'],
	['Salary 2026 - 11 / 12', 'salary2026-11/12'],
	['  INV\u20111 2 ', 'inv-1 2'],
	['STRASSE \u201cA\u201d 1', "strasse'a'1"],
	['\u12f0\u1218\u12c8\u12dd \uff17', '\u12f0\u1218\u12c8\u12dd7'],
	['\u00c9cole\u200b_#1', '\u00e9cole_#1'],
])('%j has for ever the key %j', (reference, key) => {
	expect(referenceKeyOf(readReference('Reference', reference))).toBe(key);
});

describe('the key of any text', () => {
	const anyText = fc.string({
		unit: fc.oneof(
			fc.constantFrom(..." -\u2011\u200b\u0301\u00df\u0130'\u2033"),
			fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)),
		),
	});
	const holds = (check: (text: string) => void): void =>
		fc.assert(fc.property(anyText, check), { numRuns: 2_000 });

	test('is its own key', () => {
		holds((text) => expect(referenceKeyOf(referenceKeyOf(text))).toBe(referenceKeyOf(text)));
	});

	test('is the same in each case', () => {
		holds((text) => {
			expect(referenceKeyOf(text.toLowerCase())).toBe(referenceKeyOf(text));
			expect(referenceKeyOf(text.toUpperCase())).toBe(referenceKeyOf(text));
		});
	});

	test('is the same in each Unicode form, but for ´, which is a quote, and in another form a blank with an accent', () => {
		holds((text) => {
			fc.pre(!/[\u00b4\u1ffd]/.test(text));
			for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'])
				expect(referenceKeyOf(text.normalize(form))).toBe(referenceKeyOf(text));
		});
	});

	test('holds no blank but between two digits, no other dash and nothing that nobody sees', () => {
		holds((text) =>
			expect(referenceKeyOf(text).replace(/(?<=\p{Nd}) (?=\p{Nd})/gu, '')).not.toMatch(
				/[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\u2800\u2212\u2010-\u2015]/u,
			),
		);
	});

	test('does not change where something unseen is put in, but for a blank between two digits', () => {
		fc.assert(
			fc.property(
				fc.string(),
				fc.nat(),
				fc.constantFrom('\u200b', ' ', '\u3164', '\n'),
				(text, at, unseen) => {
					const middle = at % (text.length + 1);
					const [before, after] = [text.slice(0, middle), text.slice(middle)];
					const parts = /\s/.test(unseen) && /\d$/.test(before) && /^\d/.test(after);
					expect(referenceKeyOf(before + unseen + after) === referenceKeyOf(text)).toBe(!parts);
				},
			),
			{ numRuns: 2_000, examples: [[' 00', 2, ' ']] },
		);
	});
});
