/** References: what looks the same is the same. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
	lookOf,
	refusesLookAlikes,
	requiredReference,
} from '../../nodes/EtbWallet/disbursement/reference.ts';

const refusal = (value: unknown): string => {
	try {
		return `taken as ${requiredReference(value)}`;
	} catch (error) {
		return String(error);
	}
};

test.each([
	['pay-1', 'pay-1'],
	['  pay 1\n', 'pay 1'],
	[1042, '1042'],
	['ደመወዝ-2026', 'ደመወዝ-2026'],
	['café', 'café'],
	['paid 😀', 'paid 😀'],
	['x'.repeat(200), 'x'.repeat(200)],
])('%j is taken as %j', (value, taken) => {
	expect(requiredReference(value)).toBe(taken);
});

test.each([
	['', /Reference is empty/],
	[{}, /which is not text/],
	['x'.repeat(201), /longer than 200 characters/],
	['pay\u200b-1', /an invisible character \(U\+200B\)/],
	['pay\t1', /an invisible character \(U\+0009\)/],
	['pay\u2060-1', /an invisible character \(U\+2060\)/],
	['pay\ufe0f-1', /an invisible character \(U\+FE0F\)/],
	['pay\u3164-1', /an invisible character \(U\+3164\)/],
	['pay\u{e0041}-1', /an invisible character \(U\+E0041\)/],
	['pay\ud800-1', /an invisible character \(U\+D800\)/],
	['pay\u00a01', /a blank that is not a plain one \(U\+00A0\)/],
	['pay\u30001', /a blank that is not a plain one \(U\+3000\)/],
	['cafe\u0301', /not in Unicode's composed form/],
])('%j is refused', (value, why) => {
	expect(refusal(value)).toMatch(why);
});

test.each([
	['INV-1', 'inv-1'],
	['inv 1', 'inv1'],
	['inv  1', 'inv 1'],
	['ＩＮＶ-１', 'inv-1'],
	['ﬁn', 'fin'],
])('%j and %j of one run look the same', (one, other) => {
	const check = refusesLookAlikes();
	check(one, 0);
	expect(() => check(other, 3)).toThrow(
		`Reference is ${JSON.stringify(other)}, which looks like ${JSON.stringify(one)} of item 0`,
	);
	check(`${other}-2`, 4);
});

test('an equal reference is told as one that another item has too', () => {
	const check = refusesLookAlikes();
	check('pay-1', 2);
	expect(() => check('pay-1', 5)).toThrow('Reference is "pay-1", which item 2 has too');
});

test('what is taken stays as it is, and its look holds no blanks', () => {
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme' }), (text) => {
			let taken: string;
			try {
				taken = requiredReference(text);
			} catch {
				return;
			}
			expect(requiredReference(taken)).toBe(taken);
			expect(lookOf(taken)).not.toMatch(/\s/);
		}),
	);
});

/** The characters that the pay gate refuses: first what is invisible, then blanks. JavaScript writes large codes in another way. */
const classesOfGate = Array.from(
	readFileSync('gate/record/functions/reading.sql', 'utf8').matchAll(
		/p_reference from E'(\[.*\])'/g,
	),
	([, characters = '']) => new RegExp(characters.replaceAll(/\\U([0-9a-f]{8})/g, '\\u{$1}'), 'u'),
);

test('the pay gate refuses the same characters', () => {
	const [invisible, blank] = classesOfGate;
	const differing: string[] = [];
	for (let code = 1; code <= 0x10ffff; code++) {
		// PostgreSQL has no halves of surrogate pairs.
		if (code >= 0xd800 && code <= 0xdfff) continue;
		const text = `a${String.fromCodePoint(code)}b`;
		const why = refusal(text);
		const isSame =
			why.includes('an invisible character') === invisible?.test(text) &&
			why.includes('a blank that is not') === blank?.test(text);
		if (!isSame) differing.push(code.toString(16));
	}
	expect(differing).toEqual([]);
});
