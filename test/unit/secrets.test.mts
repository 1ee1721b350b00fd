/** No secret is shown, however a service echoes it. */
import fc from 'fast-check';
import { hideSecrets } from '../../nodes/shared/service/secrets.ts';

const account = { apiKey: 'pk+live/9Zq3T7wX==&"k', webhookSecret: 'whsec é+/ 0123456789' };

const html = (text: string): string =>
	text.replace(/[&<>"'+/=]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
const named = (text: string): string =>
	text
		.replaceAll('&', '&amp;')
		.replaceAll('"', '&quot;')
		.replaceAll('+', '&plus;')
		.replaceAll('/', '&sol;')
		.replaceAll('=', '&equals;');
const everyCharacter = (write: (code: number) => string) => (text: string) =>
	[...text].map((character) => write(character.codePointAt(0) ?? 0)).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const forms: [string, (secret: string) => string][] = [
	['as it is', (secret) => secret],
	['in JSON', (secret) => JSON.stringify(secret).slice(1, -1)],
	['in JSON with escaped slashes', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
	[
		'in JSON in ASCII',
		(secret) =>
			secret.replace(/[^ -~]|[+/]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
	],
	['in a URL', encodeURIComponent],
	['in HTML', html],
	['in HTML, named', named],
	['in HTML, each character as a number', everyCharacter((code) => `&#${code};`)],
	['in HTML, each character as a padded number', everyCharacter((code) => `&#00${code};`)],
	[
		'in HTML, each character in hex',
		everyCharacter((code) => `&#X${code.toString(16).toUpperCase()};`),
	],
	['in a form', (secret) => new URLSearchParams({ secret }).toString().slice(7)],
	['with tags inside', (secret) => [...secret].join('<wbr>')],
	['in base64', base64],
	['in base64 for URLs', (secret) => Buffer.from(secret).toString('base64url')],
	['in base64 behind one more', (secret) => base64(`x${secret}`)],
	['in base64 with a user before it', (secret) => base64(`ab:${secret}`)],
	['in hexadecimal', (secret) => Buffer.from(secret).toString('hex')],
];

describe.each(Object.entries(account))('the secret %s', (_name, secret) => {
	test.each(forms)('%s is hidden', (_form, write) => {
		const shown = hideSecrets(`Unknown key ${write(secret)} for you`, account);
		expect(shown).toContain('[hidden]');
		expect(shown).not.toContain(write(secret));
		// In base64 the edges may hold a character of the neighbours.
		expect(shown.replace('[hidden]', '').length).toBeLessThanOrEqual(
			'Unknown key  for you'.length + 8,
		);
	});
});

test('any secret is hidden in any text, and other text stays', () => {
	// As keys are: printable, without blanks.
	const plain = fc.stringMatching(/^[!-;=?-[\]-~]{8,40}$/);
	fc.assert(
		fc.property(plain, fc.constantFrom(...forms), fc.string(), (apiKey, [, write], around) => {
			const secrets = { apiKey, webhookSecret: '' };
			const written = write(apiKey);
			if (around.includes(apiKey)) return;
			expect(hideSecrets(`${around} ${written}`, secrets)).toContain('[hidden]');
		}),
	);
	expect(
		hideSecrets('The wallet of user 0123 is closed: 50 % <b>paid</b> &amp; done', account),
	).toBe('The wallet of user 0123 is closed: 50 % <b>paid</b> &amp; done');
});

test.each([1, 12, 32, 256, 1024, 5000])(
	'a secret of %i characters is hidden, in time',
	(length) => {
		const apiKey = 'kQ7mZ2pX9/+='.repeat(500).slice(0, length);
		const shown = hideSecrets(`key ${apiKey} is wrong `.repeat(100), { apiKey, webhookSecret: '' });
		expect(shown).toContain('[hidden]');
		if (length > 1) expect(shown).toBe('key [hidden] is wrong '.repeat(100));
	},
);

test('a short secret is hidden in errors, and not looked for in answers', () => {
	const short = { apiKey: 'k7', webhookSecret: '' };
	expect(hideSecrets('key k7 is wrong', short)).toBe('key [hidden] is wrong');
	expect(hideSecrets('key k7 is wrong', short, 12)).toBe('key k7 is wrong');
});

test.each(['<', 'p<', 'pk', '%25', '&amp;', '\\', 'p%', 'cGsrbGl2', '&#0'])(
	'a long text of %p is looked through in time',
	(piece) => {
		const text = piece.repeat(500_000);
		expect(hideSecrets(text, account)).toBe(text);
	},
);
