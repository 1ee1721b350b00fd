/** docs/troubleshooting.md has every message that the nodes can show, and no other. */
import { documentFile, documentedRows } from './documented.mts';
import { messagesInCode } from './messages.mts';

const rows = documentedRows();
const documented = rows.flatMap(({ messages }) => messages);
const { messages, withoutDescription } = messagesInCode();

test('the code is read: it has texts of each kind', () => {
	expect([...messages]).toEqual(
		expect.arrayContaining([
			'The service does not accept the API key',
			'The credential has no Webhook Secret',
			'… is …, which is not a plain number',
			'The signature is missing or wrong',
			'How payments ended could not be recorded: …. References: …. …',
			'A delivery could not be forwarded to …: …',
		]),
	);
});

test('every message of the code has a row', () => {
	expect([...messages].filter((message) => !documented.includes(message))).toEqual([]);
});

test('every row is about a message of the code', () => {
	expect(documented.filter((message) => !messages.has(message))).toEqual([]);
});

test('no message has two rows', () => {
	expect(documented).toHaveLength(new Set(documented).size);
});

test(`each row of ${documentFile} says what the message means and what to do`, () => {
	expect(rows.filter(({ meaning, remedy }) => meaning === '' || remedy === '')).toEqual([]);
});

test('every error is made with a description', () => {
	expect(withoutDescription).toEqual([]);
});
