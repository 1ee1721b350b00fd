/** The gate's key of a reference says the same as the node's rule, written once more in JavaScript: on every server, whatever its language. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { rows, startGateServer, value } from '../../../support/gate/server.mts';

const server = await startGateServer();
after(async () => await server.stop());
const client = await (await server.gate()).connect('superuser');

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Z}\s\u2800]/gu;

/** Without case (an ending of a word counts for nothing: σ and ς, ß and ss), with one kind of dash, without what nobody sees. */
const keyOf = (reference: string): string =>
	reference
		.normalize('NFKD')
		.replace(INVISIBLE, '')
		.toUpperCase()
		.toLowerCase()
		.replaceAll('ς', 'σ')
		.replaceAll('ß', 'ss')
		.replace(/[\p{Pd}\u2212\u02d7]/gu, '-')
		.normalize('NFKC');

async function keysOf(references: string[]): Promise<string[]> {
	const sql =
		'select etb_wallet.key_of(r) as key from unnest($1::text[]) with ordinality u (r, n) order by n';
	const found = await rows(client, z.object({ key: z.string() }), sql, [references]);
	return found.map(({ key }) => key);
}

test('each character that there is has the key that JavaScript gives it', async (context) => {
	const version = await value(client, z.coerce.number(), 'show server_version_num');
	const all = Array.from({ length: 0x110000 }, (_, code) => code).filter(
		(code) => code > 0 && (code < 0xd800 || code > 0xdfff),
	);
	// (Those that are left out are many, and have no other form.)
	const characters = all
		.map((code) => String.fromCodePoint(code))
		.filter(
			(character) =>
				!/[\p{Cn}\p{Co}]|\p{Lo}(?<=[\u3400-\u9fff\u{20000}-\u{3ffff}])/u.test(character),
		);
	const keys: string[] = [];
	for (let start = 0; start < characters.length; start += 50_000)
		keys.push(...(await keysOf(characters.slice(start, start + 50_000))));
	const differ = characters.filter((character, index) => keys[index] !== keyOf(character));
	// Forms of characters that came into Unicode after this server, which takes them as they are.
	const newer = differ.filter((character) => character !== character.normalize('NFKD'));
	context.diagnostic(
		`PostgreSQL ${version}: ${newer.length} newer than the server: ${newer.join('')}`,
	);
	assert.deepEqual(
		differ.filter((character) => !newer.includes(character)),
		[],
	);
	assert.ok(newer.length <= (version < 160000 ? 200 : 60), `${newer.length} differ`);
});

/** Letters of these scripts, and what makes two references look the same. */
const alphabet = [
	...'abcXYZ0129ßẞſıİÅﬁÆœĲ',
	...'αβγΑΒΓςσΣΐᾳᾼΏώ',
	...'абвАБВйЙёЁЂђ',
	...'ሀለሐመሠረሰ፩፪',
	...'ＡａＺｚ０９－',
	...'-‐‑‒–—―−˗﹘﹣',
	...' \t\n\u00a0\u2003\u3000\u200b\u200d\u2060\ufeff\u00ad\u2800\ufe0f\u034f',
	...['\u0301', '\u0308', '\u0313', '\u0345', '\u{e0061}'],
];
const reference = fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 24 });

test('random references have the key that JavaScript gives them', async () => {
	const property = fc.asyncProperty(fc.array(reference, { maxLength: 200 }), async (lists) => {
		const references = lists.map((characters) => characters.join(''));
		assert.deepEqual(await keysOf(references), references.map(keyOf));
	});
	await fc.assert(property, { numRuns: 100 });
});

/** As the node's rule stands in words: NFKC, upper and then lower case, one kind of dash, nothing invisible. */
const asInTheNode = (text: string): string =>
	text
		.normalize('NFKC')
		.toUpperCase()
		.toLowerCase()
		.replace(/[\p{Pd}\u2212\u02d7]/gu, '-')
		.replace(INVISIBLE, '');

test('what is the same reference for the node is the same for the gate', async () => {
	// (Where a mark comes after the iota below a letter, the node's rule says different things of one text in two forms.)
	const letters = alphabet.filter((each) => !/[\u0308\u0313\u0345]/u.test(each));
	const text = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 24 });
	const pair = text.chain((characters) => {
		const given = characters.join('');
		return fc.tuple(
			fc.constant(given),
			fc.constantFrom(
				...[
					given.toUpperCase(),
					given.toLowerCase(),
					given.normalize('NFC'),
					given.normalize('NFKC'),
				],
				characters.join('\u200b'),
				characters.map((each) => each.replace(/[-‑–—−]/u, '\u2010')).join(''),
			),
		);
	});
	let same = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(pair, { maxLength: 200 }), async (pairs) => {
			const alike = pairs.filter(([one, other]) => asInTheNode(one) === asInTheNode(other));
			same += alike.length;
			const others = await keysOf(alike.map(([, other]) => other));
			assert.deepEqual(others, await keysOf(alike.map(([one]) => one)));
		}),
		{ numRuns: 300 },
	);
	assert.ok(same > 300, `only ${same} pairs are the same for the node`);
});
