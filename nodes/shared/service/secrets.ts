/** Keeps the account's secrets out of everything that people or logs get to see. */
import type { Account } from '../account';

type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/**
 * Removes the account's secrets from a text, also as a service could echo them: JSON-escaped, URL-encoded,
 * HTML-escaped, in base64 or hexadecimal, with tags, line breaks or invisible characters inside. Takes time linear in
 * the text's length.
 * @param shortest secrets with fewer characters stay, so that ordinary text is not damaged
 */
export function hideSecrets(text: string, account: Secrets, shortest = 1): string {
	const { forms, closedForms, least } = formsOf(account, shortest);
	// Undoing an escape makes no text longer.
	if (text.length < least) return text;
	const found: Span[] = [];
	let reading: Reading | undefined = { text };
	for (let level = 0; level <= deepestEscape && reading !== undefined; level++) {
		find(reading, forms, found);
		const closed = rewrite(reading, gaps, () => '');
		if (closed !== undefined) find(closed, closedForms, found);
		reading = rewrite(reading, escapes, unescaped);
	}
	return cut(text, found);
}

/** Where something begins in a text, and where it is over. */
type Span = [from: number, to: number];

/** A text as it reads, with where each of its characters was in the text that came; left out when it is that text. */
interface Reading {
	text: string;
	from?: Uint32Array;
	to?: Uint32Array;
}

/** Escapes of escapes are undone so many times. */
const deepestEscape = 4;

/** Shorter forms are not looked for in what is not the text itself: they would be found in ordinary text. */
const isLong = ({ length }: string): boolean => length >= 8;

/** How secrets can be written; closed, without what can stand between their characters. */
interface Forms {
	forms: string[];
	closedForms: string[];
	/** How long the shortest of them is. */
	least: number;
}

const known = new WeakMap<Secrets, Map<number, Forms>>();

function formsOf(account: Secrets, shortest: number): Forms {
	const byShortest = known.get(account) ?? new Map<number, Forms>();
	known.set(account, byShortest);
	const forms = byShortest.get(shortest) ?? makeForms(account, shortest);
	byShortest.set(shortest, forms);
	return forms;
}

function makeForms(
	{ apiKey, webhookSecret, previousWebhookSecret = '' }: Secrets,
	shortest: number,
): Forms {
	const secrets = [apiKey, webhookSecret.trim(), previousWebhookSecret.trim()];
	const forms = secrets
		.filter((secret) => secret !== '' && secret.length >= shortest)
		.flatMap((secret) => [secret, ...encodings(secret).filter(isLong)]);
	const closedForms = forms.map(withoutBlanks).filter(isLong);
	const least = Math.min(...[...forms, ...closedForms].map(({ length }) => length));
	return { forms: [...new Set(forms)], closedForms: [...new Set(closedForms)], least };
}

/** In base64 also as the middle of a longer text, such as `user:secret`: where it begins decides how it looks. */
function encodings(secret: string): string[] {
	const bytes = Buffer.from(secret, 'utf8');
	const inBase64 = [0, 1, 2].map((before) =>
		Buffer.concat([Buffer.alloc(before), bytes])
			.toString('base64')
			.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
	);
	const inHex = bytes.toString('hex');
	return [
		...inBase64,
		...inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
		inHex,
		inHex.toUpperCase(),
		// Forms write a blank so, and URLs the bytes of what is not ASCII.
		secret.replaceAll(' ', '+'),
		bytes.toString('latin1'),
		bytes.toString('latin1').replaceAll(' ', '+'),
	];
}

function find({ text, from, to }: Reading, forms: string[], found: Span[]): void {
	for (const form of forms) {
		for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
			const last = at + form.length - 1;
			found.push([from?.[at] ?? at, to?.[last] ?? last + 1]);
		}
	}
}

const withoutBlanks = (form: string): string => form.replace(/[\s\p{Cc}\p{Cf}]+/gu, '');

/** What can stand between the characters of a secret; zeros do in UTF-16. */
const gaps = /<[^<>]{0,200}>|[\s\p{Cc}\p{Cf}]/gu;

/** Escapes of JSON, URLs and HTML, one level of them. */
const escapes =
	/\\u([0-9a-f]{4})|\\(.)|%([0-9a-f]{2})|&#(\d{1,8});?|&#x([0-9a-f]{1,8});?|&([a-z]{2,6});/gi;

const controlCharacters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const htmlNames: Readonly<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	sol: '/',
	plus: '+',
	equals: '=',
};

function unescaped(match: RegExpExecArray): string {
	const [whole, unit, after, byte, decimal, hex, name] = match;
	if (after !== undefined) return controlCharacters[after] ?? after;
	if (name !== undefined) return htmlNames[name.toLowerCase()] ?? whole;
	const code = decimal === undefined ? parseInt(unit ?? byte ?? hex ?? '', 16) : Number(decimal);
	return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

/** The reading with each match replaced by what is no longer than it; undefined when nothing matches. */
function rewrite(
	{ text, from, to }: Reading,
	pattern: RegExp,
	replacement: (match: RegExpExecArray) => string,
): Reading | undefined {
	if (text.search(pattern) === -1) return undefined;
	const parts: string[] = [];
	const newFrom = new Uint32Array(text.length);
	const newTo = new Uint32Array(text.length);
	let length = 0;
	let done = 0;
	const keep = (end: number): void => {
		parts.push(text.slice(done, end));
		for (let at = done; at < end; at++, length++) {
			newFrom[length] = from?.[at] ?? at;
			newTo[length] = to?.[at] ?? at + 1;
		}
	};
	for (const match of text.matchAll(pattern)) {
		keep(match.index);
		const end = match.index + match[0].length;
		const written = replacement(match);
		parts.push(written);
		for (let unit = 0; unit < written.length; unit++, length++) {
			newFrom[length] = from?.[match.index] ?? match.index;
			newTo[length] = to?.[end - 1] ?? end;
		}
		done = end;
	}
	keep(text.length);
	return { text: parts.join(''), from: newFrom, to: newTo };
}

function cut(text: string, found: Span[]): string {
	const parts: string[] = [];
	let done = 0;
	for (const [from, to] of found.sort(([one], [other]) => one - other)) {
		if (from >= done) parts.push(text.slice(done, from), '[hidden]');
		done = Math.max(done, to);
	}
	return parts.join('') + text.slice(done);
}
