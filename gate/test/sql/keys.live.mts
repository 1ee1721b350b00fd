/** The gate's key of a reference is the node's, for each character and for random references, on every server, whatever its language. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { rows, startGateServer, value } from '../support/server.mts';

const built = z
	.object({ referenceKeyOf: z.function().args(z.string()).returns(z.string()) })
	.parse(createRequire(import.meta.url)('../../../dist/nodes/shared/reference.js'));

/** The node's rule. (JavaScript writes a small sigma at the end of a word in another way: the gate does not.) */
const referenceKeyOf = (reference: string): string =>
	built.referenceKeyOf(reference).replaceAll('ς', 'σ');

const server = await startGateServer();
after(async () => await server.stop());
const client = await (await server.gate()).connect('superuser');

async function keysOf(references: string[]): Promise<string[]> {
	const sql =
		'select etb_wallet.key_of(r) as key from unnest($1::text[]) with ordinality u (r, n) order by n';
	const found = await rows(client, z.object({ key: z.string() }), sql, [references]);
	return found.map(({ key }) => key);
}

test('each character that there is counts for the gate as for the node', async (context) => {
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
	// The blank stays when the character is a digit.
	const references = characters.map((character) => `${character} 1`);
	const keys: string[] = [];
	for (let start = 0; start < references.length; start += 50_000)
		keys.push(...(await keysOf(references.slice(start, start + 50_000))));
	const differ = characters.filter(
		(_, index) => keys[index] !== referenceKeyOf(references[index] ?? ''),
	);
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

/**
 * Letters of these scripts, and what makes two references look the same. (Not the iota below a Greek letter with one more mark
 * above it, which no language writes: there the two rules differ.)
 */
const alphabet = [
	...'abcXYZ0129ßẞſıİÅﬁÆœĲ',
	...'αβγΑΒΓςσΣΐΏώ',
	...'абвАБВйЙёЁЂђ',
	...'ሀለሐመሠረሰ፩፪٣๕',
	...'ＡａＺｚ０９－',
	...'-‐‑‒–—―−˗﹘﹣',
	...'\'`´‘’‚‛“”„‟ʼʹʺ′‵"″ŉ´＂',
	...' \t\n\u00a0\u2003\u3000\u200b\u200d\u2060\ufeff\u00ad\u2800\ufe0f\u034f¨',
	...['\u0301', '\u0308', '\u0313', '\u{e0061}'],
];
const reference = fc
	.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 24, size: 'max' })
	.map((characters) => characters.join(''));

test('random references have the key that the node gives them', async () => {
	const property = fc.asyncProperty(
		fc.array(reference, { maxLength: 200, size: 'max' }),
		async (references) => {
			assert.deepEqual(await keysOf(references), references.map(referenceKeyOf));
		},
	);
	await fc.assert(property, { numRuns: 100 });
});
