import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { isSigned } from '../../nodes/EtbWalletTrigger/signature.ts';

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const secretText = fc
	.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
	.filter((secret) => secret.trim() !== '');

const signed = (body: Buffer, secret: string): string =>
	`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

test('the signature of any body with any secret is accepted, in small and capital digits', () => {
	fc.assert(
		fc.property(bytes, secretText, (body, secret) => {
			const header = signed(body, secret);
			expect(isSigned(body, header, secret)).toBe(true);
			expect(isSigned(body, `sha256=${header.slice(7).toUpperCase()}`, secret)).toBe(true);
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
				expect(isSigned(changed, header, secret)).toBe(false);

				const digest = Buffer.from(header.slice(7), 'hex');
				const digestAt = position % digest.length;
				digest[digestAt] = (digest[digestAt] ?? 0) ^ (1 << bit);
				expect(isSigned(body, `sha256=${digest.toString('hex')}`, secret)).toBe(false);
			},
		),
	);
});

test('another secret is refused', () => {
	fc.assert(
		fc.property(bytes, secretText, secretText, (body, secret, other) => {
			fc.pre(secret !== other);
			// HMAC pads its key with zero bytes, so such secrets are the same key.
			fc.pre(!secret.includes('\0') && !other.includes('\0'));
			expect(isSigned(body, signed(body, other), secret)).toBe(false);
		}),
	);
});

test('whatever else the header holds is refused without an error', () => {
	const body = Buffer.from('{}');
	fc.assert(
		fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary' })), (header) => {
			expect(isSigned(body, header, 'secret')).toBe(false);
		}),
	);
});

test('an empty secret accepts nothing, not even what was signed with it', () => {
	const body = Buffer.from('{}');
	expect(isSigned(body, signed(body, ''), '')).toBe(false);
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
	expect(isSigned(body, change(signed(body, 'secret')), 'secret')).toBe(false);
});
