/** docs/troubleshooting.md has every message that the nodes can show, and no other. */
import { documentFile, documentedRows } from '../../lab/troubleshooting/documented.mts';
import { messagesInCode, open } from '../../lab/troubleshooting/messages.mts';

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
			'The event is being handled',
		]),
	);
});

/** The texts of the code that an entry names: all of one, or the first words of one. */
function textsOf(entry: string): string[] {
	if (messages.has(entry)) return [entry];
	const firstWords = entry.slice(0, -open.length);
	return entry.endsWith(` ${open}`)
		? [...messages].filter((message) => message.startsWith(firstWords))
		: [];
}

test('every message of the code has an entry', () => {
	const found = new Set(documented.flatMap(textsOf));
	expect([...messages].filter((message) => !found.has(message))).toEqual([]);
});

test('every entry is about one message of the code', () => {
	expect(documented.filter((entry) => textsOf(entry).length !== 1)).toEqual([]);
});

test('no message has two entries', () => {
	const found = documented.flatMap(textsOf);
	expect(found).toHaveLength(new Set(found).size);
});

test(`each entry of ${documentFile} says what the message means or what to do`, () => {
	expect(rows.filter(({ explanation }) => !/\p{L}/u.test(explanation))).toEqual([]);
});

test('every error is made with a description', () => {
	expect(withoutDescription).toEqual([]);
});
