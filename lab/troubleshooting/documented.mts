/** The messages that docs/troubleshooting.md explains. */
import { readFileSync } from 'node:fs';
import { open } from './messages.mts';

export const documentFile = 'docs/troubleshooting.md';

export interface DocumentedRow {
	/** With `…` for what differs from case to case; one that ends with ` …` gives the first words only. */
	messages: string[];
	/** What the messages mean, and what to do. */
	explanation: string;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a user who sees this message finds it. The reason of the service, or the item, may follow it. */
export function isDocumented(message: string): boolean {
	beginnings ??= documentedRows().flatMap(({ messages }) =>
		messages.map((text) => new RegExp(`^${text.split(open).map(escaped).join('.+')}`, 's')),
	);
	return beginnings.some((beginning) => beginning.test(message));
}

let beginnings: RegExp[] | undefined;

/** The entries of all lists that begin with a message. */
export function documentedRows(): DocumentedRow[] {
	return readFileSync(documentFile, 'utf8')
		.split(/\n(?=- |#|\n)/)
		.filter((entry) => entry.startsWith('- `'))
		.map((entry) => {
			const parts = entry.slice('- '.length).split('<br>');
			const messages = parts.flatMap((part) => /^`([^`\n]+)`$/.exec(part)?.[1] ?? []);
			return { messages, explanation: parts.slice(messages.length).join(' ').trim() };
		});
}
