/** The reason that the service gives, in one line. */
import fc from 'fast-check';
import { reasonIn } from '../../nodes/shared/service/reason.ts';

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const reasonOf = (text: string): string =>
	reasonIn({ text, body: parsed(text) }, (unchanged) => unchanged);

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
				const reason = reasonOf(body);
				expect(reason.length).toBeLessThanOrEqual(301);
				expect(reason).not.toMatch(/[\r\n\t]|^ | $/);
			}),
			{ numRuns: 1000 },
		);
	});

	test.each([
		['message', { message: 'No' }, 'No'],
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
		['message before error', { error: 'Bad Request', message: 'No' }, 'No'],
		['nothing known', { code: 17, ok: false }, ''],
		['a list', ['No', 'Never'], 'No; Never'],
		['a text', 'No', 'No'],
		['a number', 17, ''],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonOf(JSON.stringify(body))).toBe(reason);
	});

	test.each([
		['plain text', 'Upstream is down\n', 'Upstream is down'],
		['HTML without one', '<p>Bad <b>gateway</b></p>', 'Bad gateway'],
		['a cut JSON', '{"message": "No', '{"message": "No'],
	])('is found in %s', (_shape, body, reason) => {
		expect(reasonOf(body)).toBe(reason);
	});
});
