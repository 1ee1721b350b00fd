/** What is made of the bodies of answers, whatever they hold. */
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { parsed } from '../../nodes/shared/service/attempt.ts';
import { flatFields as fieldsOf } from '../../nodes/shared/service/call.ts';
import { reasonIn as reasonOf } from '../../nodes/shared/service/reason.ts';
import { hideSecrets } from '../../nodes/shared/service/secrets.ts';
import { disagreement, successIn } from '../../nodes/shared/service/success.ts';

const answered = (text: string): { text: string; body: unknown } => ({ text, body: parsed(text) });
const reasonIn = (text: string, hide = (unchanged: string): string => unchanged): string =>
	reasonOf(answered(text), hide);
const flatFields = (text: string, hide = (unchanged: string): string => unchanged) =>
	fieldsOf(answered(text).body, hide);

const anyBody = fc.oneof(
	fc.string({ maxLength: 2000 }),
	fc.json({ maxDepth: 8 }),
	fc.json({ maxDepth: 4 }).map((json) => json.slice(0, -1)),
	fc.string().map((text) => `<html><body><p>${text}</p></body></html>`),
	fc
		.array(fc.record({ message: fc.string(), field: fc.string() }), { maxLength: 50 })
		.map((errors) => JSON.stringify({ errors })),
);

describe('the reason in an error body', () => {
	test('is one line of at most 300 characters, and an ellipsis', () => {
		fc.assert(
			fc.property(anyBody, (body) => {
				const reason = reasonIn(body);
				expect(reason.length).toBeLessThanOrEqual(301);
				expect(reason).not.toMatch(/[\r\n\t]|^ | $/);
			}),
			{ numRuns: 1000 },
		);
	});

	test.each([
		['message', { message: 'No' }, 'No'],
		['error', { error: 'No' }, 'No'],
		['error.message', { error: { code: 'x', message: 'No' } }, 'No'],
		['errors of texts', { errors: ['No', 'Never'] }, 'No; Never'],
		[
			'errors of objects',
			{ errors: [{ field: 'phone', message: 'too short' }, { message: 'No' }] },
			'phone: too short; No',
		],
		[
			'errors by field',
			{ errors: { phone: ['too short', 'no plus'] } },
			'phone: too short; no plus',
		],
		['detail', { type: 'about:blank', detail: 'No' }, 'No'],
		['title', { title: 'No', status: 422 }, 'No'],
		['error_description', { error_description: 'No' }, 'No'],
		['message before error', { error: 'Bad Request', message: 'No' }, 'No'],
		['empty message', { message: '', error: 'No' }, 'No'],
		['message of many lines', { message: 'No\n  way' }, 'No way'],
		['nothing known', { code: 17, ok: false }, ''],
		['a list', ['No', 'Never'], 'No; Never'],
		['a text', 'No', 'No'],
		['a number', 17, ''],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonIn(JSON.stringify(body))).toBe(reason);
	});

	test.each([
		['plain text', 'Upstream is down\n', 'Upstream is down'],
		['nothing', '', ''],
		[
			'HTML with a title',
			'<!doctype html><html><head><title>502 Bad Gateway</title><style>p{}</style></head><body><p>nginx</p></body></html>',
			'502 Bad Gateway',
		],
		[
			'HTML without one',
			'<style>p{}</style><p>Bad <b>gateway</b></p><script>x()</script>',
			'Bad gateway',
		],
		['a cut JSON', '{"message": "No', '{"message": "No'],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonIn(body)).toBe(reason);
	});

	test('shows no part of a secret, even where it is shortened or its white space changes', () => {
		const account = { apiKey: 'key/0123456789', webhookSecret: 'two  words\tand more' };
		fc.assert(
			fc.property(
				fc.integer({ min: 0, max: 320 }),
				fc.constantFrom(account.apiKey, account.webhookSecret),
				(before, secret) => {
					const body = JSON.stringify({ message: `${'x'.repeat(before)}${secret} is wrong` });
					const reason = reasonIn(body, (text) => hideSecrets(text, account));
					expect(reason.replace('[hidden]', '')).toMatch(
						/^x*…?$|^x+(\[h?i?d?d?e?n?…)?$|^x* is wrong$|^x* .*…$/,
					);
					expect(reason).not.toMatch(/key|two|0123|words/);
				},
			),
		);
	});
});

test('a page with a tag inside a secret does not show it', () => {
	const account = { apiKey: 'key/0123456789', webhookSecret: '' };
	const page = '<html><body>Key key/01234<wbr>56789 is <b>bad</b></body></html>';
	expect(reasonIn(page, (text) => hideSecrets(text, account))).toBe('Key [hidden] is bad');
});

describe('the fields of a success body', () => {
	test('are an object or nothing, for any body', () => {
		fc.assert(
			fc.property(anyBody, (body) => {
				const fields = flatFields(body);
				if (fields !== undefined) expect(Array.isArray(fields)).toBe(false);
			}),
		);
	});

	test('are the same with and without the wrapper', () => {
		const fields = fc.dictionary(
			fc.string().filter((key) => key !== 'data' && key !== '__proto__'),
			fc.jsonValue(),
		);
		fc.assert(
			fc.property(fields, (data) => {
				const plain: unknown = JSON.parse(JSON.stringify(data));
				expect(flatFields(JSON.stringify(data))).toEqual(plain);
				expect(flatFields(JSON.stringify({ data }))).toEqual(plain);
			}),
		);
	});

	test.each([
		['{"data":[1],"a":2}', { data: [1], a: 2 }],
		['{"data":null}', { data: null }],
		['{"data":{"a":1},"a":2,"b":3}', { a: 1, b: 3 }],
		['[1]', undefined],
		['null', undefined],
		['"text"', undefined],
		['', undefined],
		['{"a":', undefined],
	])('%s gives %p', (body, fields) => {
		expect(flatFields(body)).toEqual(fields);
	});

	test('show no secret that is written as a number', () => {
		const account = { apiKey: '123456789012345', webhookSecret: '' };
		expect(flatFields('{"a":123456789012345}', (text) => hideSecrets(text, account, 12))).toEqual({
			a: '[hidden]',
		});
	});

	test('change no prototype', () => {
		const fields = flatFields('{"data":{"__proto__":{"polluted":1},"constructor":{"a":1}}}');
		expect(Reflect.get({}, 'polluted')).toBeUndefined();
		expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
		expect(Object.keys(fields ?? {})).toEqual(['__proto__', 'constructor']);
	});

	test('show no secret, however JSON writes it, as a value or as a name', () => {
		const account = { apiKey: 'key/with"quotes', webhookSecret: 'gehéim+secret' };
		const hide = (text: string): string => hideSecrets(text, account, 12);
		const body = JSON.stringify({ a: account.apiKey, [account.apiKey]: [account.webhookSecret] })
			.replaceAll('/', '\\/')
			.replaceAll('é', '\\u00e9');
		expect(flatFields(body, hide)).toEqual({ a: '[hidden]', '[hidden]': ['[hidden]'] });
	});
});

describe('what was set', () => {
	const disagrees = (text: string, sent: IDataObject): string | undefined =>
		disagreement(answered(text), sent);

	test.each(['{"error":null}', '{"data":{"errors":{}},"error":""}', '{"error":false}'])(
		'is not refused by an error that is none: %s',
		(text) => {
			expect(disagrees(text, { phone: '+251911223344' })).toBeUndefined();
		},
	);

	test('is the same as text and as number, but another text is another value', () => {
		expect(disagrees('{"data":{"feePercent":"0.250"}}', { feePercent: 0.25 })).toBeUndefined();
		expect(disagrees('{"accountNumber":42}', { accountNumber: '42' })).toBeUndefined();
		expect(disagrees('{"accountNumber":"42"}', { accountNumber: '0042' })).toBe(
			'with another value than was sent: accountNumber is "42"',
		);
		expect(disagrees('{"feePercent":{}}', { feePercent: 0.25 })).toMatch(/feePercent is \{\}/);
	});
});

describe('success', () => {
	test.each([
		['{"success":true}', 'yes'],
		['{"data":{"success":true}}', 'yes'],
		['{"success":true,"data":{"success":true}}', 'yes'],
		['{"success":false,"message":"\\"success\\": true"}', 'no'],
		['{"success":true,"success":false}', 'both'],
		['{"success":true,"succ\\u0065ss":false}', 'both'],
		['{"success":true,"success":null}', 'both'],
		['{"success":true,"data":{"success":false}}', 'both'],
		['{"success":true,"amountEtb":NaN}', 'both'],
		['{"items":[{"success":true},{"success":false}]}', 'unsaid'],
		['{"success":"true"}', 'unsaid'],
		['{"success":null}', 'unsaid'],
		['{}', 'unsaid'],
		['', 'unsaid'],
		['OK', 'unsaid'],
	])('of %s: %s', (text, success) => {
		expect(successIn(answered(text))).toBe(success);
	});

	test('is read in a body of any depth', () => {
		const deep = '['.repeat(100_000) + ']'.repeat(100_000);
		expect(successIn(answered(`{"a":${deep},"success":true}`))).toBe('yes');
	});
});
