/** Checks of what users enter: telephone numbers, addresses, texts and how values are shown. */
import fc from 'fast-check';
import { readPartnersUrl, readWebhookUrl } from '../../nodes/shared/url.ts';
import { readFee } from '../../nodes/EtbWallet/actions/fee/update.operation.ts';
import { readPhone } from '../../nodes/EtbWallet/actions/payoutDestination/set.operation.ts';
import { readEmail } from '../../nodes/EtbWallet/actions/user/create.operation.ts';
import { readAccount } from '../../nodes/shared/account.ts';
import { readPathSegment } from '../../nodes/shared/service/request.ts';
import { readAmount } from '../../nodes/shared/amount.ts';
import { readText } from '../../nodes/shared/fields.ts';
import { InvalidValueError, show } from '../../nodes/shared/invalidValue.ts';

describe('a value of a path', () => {
	test.each([
		['0x12', '0x12'],
		[' a/b ', 'a%2Fb'],
		['a?b#c', 'a%3Fb%23c'],
		['..a', '..a'],
		[12, '12'],
	])('%j is %j', (value, segment) => {
		expect(readPathSegment('Transaction', value, 'Correct it.')).toBe(segment);
	});

	test.each(['', ' ', '.', '..', ' .. ', 'a\ud800', {}])('%j is an error', (value) => {
		expect(() => readPathSegment('Transaction', value, 'Correct it.')).toThrow(/^Transaction is /);
	});
});

describe('the base URL', () => {
	const secure = { allowInsecureHttp: false };
	const insecure = { allowInsecureHttp: true };

	test.each([
		['https://partners.example.com', 'https://partners.example.com/api/v1/partners'],
		[' https://partners.example.com/// ', 'https://partners.example.com/api/v1/partners'],
		['https://example.com/wallet', 'https://example.com/wallet/api/v1/partners'],
		['https://example.com/wallet/api/v1/partners/', 'https://example.com/wallet/api/v1/partners'],
		['HTTPS://EXAMPLE.COM', 'https://example.com/api/v1/partners'],
		['http://localhost:4000', 'http://localhost:4000/api/v1/partners'],
		['http://[::1]:4000', 'http://[::1]:4000/api/v1/partners'],
		['http://2130706433', 'http://127.0.0.1/api/v1/partners'],
	])('%p leads to %s', (baseUrl, href) => {
		expect(readPartnersUrl(baseUrl, secure).href).toBe(href);
	});

	test('is refused with plain http in a credential that has no such setting', () => {
		const data = { baseUrl: 'http://partners.example.com', apiKey: 'key' };
		const credential = { id: '1', name: 'Account', type: 'etbWalletApi', data };
		expect(() => readAccount(credential)).toThrow(/Base URL/);
		const allowed = { ...credential, data: { ...data, allowInsecureHttp: true } };
		expect(readAccount(allowed).allowInsecureHttp).toBe(true);
	});

	test.each(['localhost.example.com', '127.0.0.1.example.com', '10.0.0.5:4000'])(
		'http://%s is allowed only with Allow Insecure HTTP',
		(host) => {
			const baseUrl = `http://${host}`;
			expect(() => readPartnersUrl(baseUrl, secure)).toThrow(
				/^Base URL is ".*", which is not encrypted/,
			);
			expect(readPartnersUrl(baseUrl, insecure).protocol).toBe('http:');
		},
	);

	test.each([...['', 'partners.example.com', 'https:// space', 'ftp://partners.example.com', 42]])(
		'%p is refused',
		(baseUrl) => {
			expect(() => readPartnersUrl(baseUrl, insecure)).toThrow(/^Base URL is /);
		},
	);

	test.each(['user:hunter2@example.com', 'example.com?key=hunter2', 'example.com#hunter2'])(
		'https://%s is refused without showing it',
		(address) => {
			expect(() => readPartnersUrl(`https://${address}`, insecure)).toThrow(
				/^Base URL has a user name, a password, a query or a fragment$/,
			);
		},
	);

	test('is refused with a reason, or leads to its own host, whatever it is', () => {
		fc.assert(
			fc.property(
				fc.oneof(fc.webUrl({ validSchemes: ['http', 'https'] }), fc.anything()),
				(value) => {
					try {
						const url = readPartnersUrl(value, insecure);
						expect(url.host).toBe(new URL(String(value)).host);
						expect(url.pathname.endsWith('/api/v1/partners')).toBe(true);
					} catch (error) {
						expect(error).toBeInstanceOf(InvalidValueError);
					}
				},
			),
		);
	});
});

describe('the webhook URL', () => {
	const publicService = { url: new URL('https://partners.example.com'), allowInsecureHttp: false };
	const localService = { url: new URL('http://127.0.0.1:4000'), allowInsecureHttp: false };
	const insecureService = { url: new URL('http://10.0.0.1'), allowInsecureHttp: true };

	test.each([
		['http://n8n.example.com/hook', 'which is not https'],
		['http://localhost:5678/hook', 'which is not https'],
		['https://localhost/hook', 'cannot reach'],
		['https://app.localhost/hook', 'cannot reach'],
		['https://[::1]/hook', 'cannot reach'],
		['https://app.localhost./hook', 'cannot reach'],
		['https://2130706433/hook', 'cannot reach'],
		['n8n.example.com/hook', 'which is not a web address'],
		['ftp://n8n.example.com/hook', 'which is not a web address'],
		['', 'Webhook URL is empty'],
		[7, 'Webhook URL is 7'],
	])('%p is refused for a public service', (value, problem) => {
		expect(() => readWebhookUrl(value, publicService)).toThrow(problem);
	});

	test.each(['https://localhost.example.com/hook', 'https://[2606:4700::1111]/hook'])(
		'%s is accepted',
		(value) => expect(readWebhookUrl(value, publicService)).toBe(value),
	);

	test('of this machine is accepted when the service is on it too', () => {
		expect(readWebhookUrl('http://localhost:5678/hook', localService)).toBe(
			'http://localhost:5678/hook',
		);
		expect(() => readWebhookUrl('http://n8n.example.com/hook', localService)).toThrow('not https');
	});

	test('may be any web address with Allow Insecure HTTP', () => {
		expect(readWebhookUrl('http://n8n:5678/hook', insecureService)).toBe('http://n8n:5678/hook');
		expect(() => readWebhookUrl('ftp://n8n/hook', insecureService)).toThrow('not a web address');
	});
});

describe('a telephone number', () => {
	test('is a plus sign and 7 to 15 digits that start with none of 0', () => {
		fc.assert(
			fc.property(fc.stringMatching(/^\+[1-9][0-9]{6,14}$/), (phone) => {
				expect(readPhone(phone)).toBe(phone);
				expect(readPhone(` ${phone} `)).toBe(phone);
				expect(() => readPhone(phone.slice(1))).toThrow(InvalidValueError);
				expect(() => readPhone(`${phone}x`)).toThrow(InvalidValueError);
			}),
		);
	});

	test.each(['+251 911 234567', '+0911234567', '+251911', '+2519112345678901', '+٢٥١٩١١٢٣٤٥٦٧'])(
		'%p is refused',
		(phone) => {
			expect(() => readPhone(phone)).toThrow(/^Phone is .*not an international telephone/);
		},
	);
});

describe('an email address', () => {
	test.each([[''], ['   '], [undefined], [null]])('%p counts as none', (value) => {
		expect(readEmail(value)).toBeUndefined();
	});

	test.each([['abebe@example.com'], ["o'neil+x@mail.example.co.et"], ['አበበ@example.com']])(
		'%s is accepted',
		(email) => {
			expect(readEmail(` ${email} `)).toBe(email);
		},
	);

	test.each([
		...['@example.com', 'abebe@example', 'abebe@@example.com', 'abebe@example..com'],
		...['a@example.com, b@example.com', 'Abebe <abebe@example.com>', 0, {}],
	])('%p is refused', (email) => {
		expect(() => readEmail(email)).toThrow(/^Email is .*which is not an email address/);
	});
});

test.each([
	[0, 0],
	[100, 100],
	['0.25', 0.25],
	[' 12.50 ', 12.5],
])('the fee %p is %p percent', (value, percent) => {
	expect(readFee(value)).toBe(percent);
});

test.each([-5, '-0.01', 100.01, '101'])('the fee %p is refused', (value) => {
	expect(() => readFee(value)).toThrow(/^Fee Percent is .*which is not between 0 and 100/);
});

test.each([
	[42, '42'],
	[0, '0'],
	[' a ', 'a'],
])('the identifier %p is sent as %p', (value, text) => {
	expect(readText('External ID', value, '')).toBe(text);
});

const circular: Record<string, unknown> = {};
circular.self = circular;

test.each([
	[undefined, 'empty'],
	[null, 'empty'],
	['', 'empty'],
	['  ', '"  "'],
	[NaN, 'NaN'],
	[-Infinity, '-Infinity'],
	[{ a: 1 }, '{"a":1}'],
	['a\nb', '"a\\nb"'],
	[10n, '10'],
	[circular, 'object'],
	['x'.repeat(5000), `"${'x'.repeat(79)}…`],
])('a value is shown as the user would recognise it', (value, shown) => {
	expect(show(value)).toBe(shown);
});

test('any value is checked without any other error than one with a problem and a remedy', () => {
	const checks = [
		(value: unknown) => readAmount('Amount (ETB)', value),
		readFee,
		readPhone,
		readEmail,
		(value: unknown) => readText('External ID', value, 'Enter it.'),
	];
	fc.assert(
		fc.property(
			fc.constantFrom(...checks),
			fc.anything({ withBigInt: true, withDate: true, withMap: true }),
			(check, value) => {
				try {
					check(value);
				} catch (error) {
					if (!(error instanceof InvalidValueError)) throw error;
					expect(error.message).toMatch(/ is /);
					expect(error.message.length).toBeLessThan(200);
					expect(error.remedy).not.toBe('');
				}
			},
		),
	);
});
