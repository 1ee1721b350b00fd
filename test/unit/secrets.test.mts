/** No secret is shown, as it is or as a URL, JSON or HTML writes it. */
import fc from 'fast-check';
import { hideSecrets } from '../../nodes/shared/service/secrets.ts';

const account = { apiKey: 'pk+live/9Zq3T7wX==&"k', webhookSecret: 'whsec \u00e9+/ 0123456789' };

test.each(Object.entries(account))('the %s is hidden', (_name, secret) => {
	for (const written of [
		...[secret, encodeURIComponent(secret), encodeURIComponent(secret).toLowerCase()],
		...[JSON.stringify(secret).slice(1, -1), secret.replaceAll('/', '\\/')],
		...[secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;'), secret.replace(' ', '\n ')],
	])
		expect(hideSecrets(`Unknown key ${written} for you`, account)).toBe(
			'Unknown key [hidden] for you',
		);
});

test('the longer of two secrets is hidden first, and that before a change too', () => {
	const secrets = { apiKey: 'abc', webhookSecret: 'abcdef', previousWebhookSecret: 'abcdefghi' };
	expect(hideSecrets('abcdefghi abcdef abc', secrets)).toBe('[hidden] [hidden] [hidden]');
});

test('any secret is hidden in any text, and other text stays', () => {
	// As keys are: printable, without blanks.
	const key = fc.stringMatching(/^[!-;=?-[\]-~]{8,40}$/);
	fc.assert(
		fc.property(key, fc.string(), (apiKey, around) => {
			fc.pre(!around.includes(apiKey));
			const shown = hideSecrets(`${around} ${apiKey}`, { apiKey, webhookSecret: '' });
			expect(shown).not.toContain(apiKey);
			expect(shown).toContain('[hidden]');
		}),
	);
	expect(hideSecrets('The wallet of user 0123 is closed: 50 %', account)).toBe(
		'The wallet of user 0123 is closed: 50 %',
	);
});

test('a short secret is hidden too', () => {
	const short = { apiKey: 'k7', webhookSecret: '' };
	expect(hideSecrets('key k7 is wrong', short)).toBe('key [hidden] is wrong');
});
