/** Keeps the account's secrets out of everything that people or logs get to see. */
import type { Account } from '../account';

type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/**
 * Removes the account's secrets from a text, also in the forms in which a service could echo them: as JSON, URLs and HTML
 * write them, with tags inside, in base64 and hexadecimal. Takes time linear in the text's length.
 * @param shortest secrets with fewer characters stay, so that ordinary text is not damaged
 */
export function hideSecrets(text: string, account: Secrets, shortest = 1): string {
	const patterns = known.get(account) ?? makePatterns(account);
	known.set(account, patterns);
	return patterns
		.filter(({ length }) => length >= shortest)
		.reduce((shown, { pattern }) => shown.replace(pattern, '[hidden]'), text);
}

interface Pattern {
	length: number;
	pattern: RegExp;
}

/** Made once for each account. */
const known = new WeakMap<Secrets, Pattern[]>();

function makePatterns({ apiKey, webhookSecret, previousWebhookSecret = '' }: Secrets): Pattern[] {
	return [apiKey, webhookSecret, previousWebhookSecret]
		.filter((secret) => secret !== '')
		.sort((one, other) => other.length - one.length)
		.map((secret) => {
			const written = Array.from(secret, writtenAs);
			const rest = written.length > longestWritten ? String.raw`[^\s"]*` : '';
			const asText = written.slice(0, longestWritten).join(tags) + rest;
			const forms = [asText, ...encodings(secret).map(literally)];
			return { length: secret.length, pattern: new RegExp(forms.join('|'), 'g') };
		});
}

/** In characters: a pattern for more would be too large. Of a longer secret, the rest is hidden up to a blank. */
const longestWritten = 256;

/** Shorter encodings are not looked for: ordinary text has them. */
const shortestEncoding = 8;

/** Base64 writes three bytes at a time. So inside a longer text, such as `user:secret`, a secret has three forms. */
function encodings(secret: string): string[] {
	const bytes = Buffer.from(secret, 'utf8');
	const inBase64 = [0, 1, 2].map((offset) =>
		Buffer.concat([Buffer.alloc(offset), bytes])
			.toString('base64')
			.slice(Math.ceil((offset * 4) / 3), Math.floor(((offset + bytes.length) * 4) / 3)),
	);
	const forUrls = inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
	const inHex = bytes.toString('hex');
	return [...inBase64, ...forUrls, inHex, inHex.toUpperCase()].filter(
		({ length }) => length >= shortestEncoding,
	);
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const tags = '(?:<[^<>]{0,200}>)*';

const htmlNames: Readonly<Record<string, string>> = {
	'&': 'amp',
	'<': 'lt',
	'>': 'gt',
	'"': 'quot',
	"'": 'apos',
	'/': 'sol',
	'+': 'plus',
	'=': 'equals',
};

/** A pattern for a character as it is, and as JSON, URLs and HTML write it. */
function writtenAs(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	const units = character.split('').map((unit) => unit.charCodeAt(0));
	const bytes = [...Buffer.from(character, 'utf8')];
	const name = htmlNames[character];
	return [
		String.raw`(?:\\?${literally(character)}`,
		units.map((unit) => String.raw`\\u${inHex(unit, 4)}`).join(''),
		bytes.map((byte) => `%${inHex(byte, 2)}`).join(''),
		`&#0*(?:${code}|[xX]0*${inHex(code)});?`,
		...(name === undefined ? [] : [`&${name};`]),
		...(character === ' ' ? [String.raw`\+`] : []),
	]
		.join('|')
		.concat(')');
}

/** A pattern for a number in hexadecimal, in letters of either case. */
const inHex = (code: number, digits = 1): string =>
	code
		.toString(16)
		.padStart(digits, '0')
		.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
