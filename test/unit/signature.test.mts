/** Which webhook requests count as signed by the service. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { isSigned } from '../../nodes/EtbWalletTrigger/signature.ts';

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const secretText = fc
	.oneof(
		fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
		// A secret of hexadecimal digits is text too.
		fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
	)
	.filter((secret) => secret.trim() !== '');

/** Whether a body with this header counts as signed with any of the secrets. */
const accepts = (body: Buffer, header: unknown, ...secrets: string[]): boolean =>
	isSigned({ headers: { 'x-webhook-signature': header }, body }, secrets);

const signed = (body: Buffer, secret: string): string =>
	`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

test('the signature of any body with any of the secrets is accepted, in small and capital digits, and no other', () => {
	fc.assert(
		fc.property(bytes, secretText, secretText, secretText, (body, present, previous, other) => {
			fc.pre(other !== present && other !== previous);
			// HMAC pads its key with zero bytes, so such secrets are the same key.
			fc.pre(![present, previous, other].some((secret) => secret.includes('\0')));
			for (const secret of [present, previous]) {
				const header = signed(body, secret);
				expect(accepts(body, header, present, previous)).toBe(true);
				expect(accepts(body, `sha256=${header.slice(7).toUpperCase()}`, secret)).toBe(true);
			}
			expect(accepts(body, signed(body, other), present, previous)).toBe(false);
			expect(accepts(body, signed(body, other), present)).toBe(false);
		}),
	);
});

test('a changed bit of the body or of the signature is refused', () => {
	fc.assert(
		fc.property(
			fc.uint8Array({ minLength: 1, maxLength: 200 }),
			secretText,
			fc.nat(),
			fc.integer({ min: 0, max: 7 }),
			(array, secret, position, bit) => {
				const body = Buffer.from(array);
				const header = signed(body, secret);
				const changed = Buffer.from(body);
				const at = position % body.length;
				changed[at] = (changed[at] ?? 0) ^ (1 << bit);
				expect(accepts(changed, header, secret)).toBe(false);

				const digest = Buffer.from(header.slice(7), 'hex');
				const digestAt = position % digest.length;
				digest[digestAt] = (digest[digestAt] ?? 0) ^ (1 << bit);
				expect(accepts(body, `sha256=${digest.toString('hex')}`, secret)).toBe(false);
			},
		),
	);
});

test('whatever else the header holds is refused without an error', () => {
	const body = Buffer.from('{}');
	fc.assert(
		fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary' })), (header) => {
			expect(accepts(body, header, 'secret')).toBe(false);
		}),
	);
});

test.each([
	['a line break at the end', (header: string) => `${header}\n`],
	['white space before', (header: string) => ` ${header}`],
	['a second value', (header: string) => `${header}, ${header}`],
	['another hash', (header: string) => header.replace('sha256', 'sha512')],
	['no prefix', (header: string) => header.slice(7)],
	['a digit less', (header: string) => header.slice(0, -1)],
	['a digit more', (header: string) => `${header}0`],
	['a list', (header: string) => [header]],
])('a right signature with %s is refused', (_name, change) => {
	const body = Buffer.from('{"event":"transfer.completed"}');
	expect(accepts(body, change(signed(body, 'secret')), 'secret')).toBe(false);
});

test('without a secret nothing is signed', () => {
	const body = Buffer.from('{}');
	expect(accepts(body, signed(body, ''))).toBe(false);
	for (const empty of ['', ' ']) expect(accepts(body, signed(body, empty), empty)).toBe(false);
});

// Made with: printf '%s' '<body>' | openssl dgst -sha256 -hmac '<secret>'
test.each([
	['', 'key', '5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0'],
	[
		'The quick brown fox jumps over the lazy dog',
		'key',
		'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
	],
])('%j is signed as openssl signs it', (text, secret, hex) => {
	const body = Buffer.from(text);
	expect(accepts(body, `sha256=${hex}`, secret)).toBe(true);
});
