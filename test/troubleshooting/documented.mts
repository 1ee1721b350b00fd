/** The messages that docs/troubleshooting.md explains. */
import { readFileSync } from 'node:fs';

export const documentFile = 'docs/troubleshooting.md';

export interface DocumentedRow {
	/** With `…` for what differs from case to case. */
	messages: string[];
	meaning: string;
	remedy: string;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a user who sees this message finds it. The reason of the service, or the item, may follow it. */
export function isDocumented(message: string): boolean {
	beginnings ??= documentedRows().flatMap(({ messages }) =>
		messages.map((text) => new RegExp(`^${text.split('…').map(escaped).join('.+')}`, 's')),
	);
	return beginnings.some((beginning) => beginning.test(message));
}

let beginnings: RegExp[] | undefined;

/** The rows of all tables that explain messages. */
export function documentedRows(): DocumentedRow[] {
	const tables = readFileSync(documentFile, 'utf8')
		.split('\n\n')
		.filter((block) => block.startsWith('| Message |'));
	return tables.flatMap((table) =>
		table
			.trim()
			.split('\n')
			.slice(2)
			.map((line) => {
				const [first = '', meaning = '', remedy = ''] = line.slice(1, -1).split('|');
				const messages = [...first.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message);
				return { messages, meaning: meaning.trim(), remedy: remedy.trim() };
			}),
	);
}
