/** Keeps the account's secrets out of everything that people or logs get to see. */
import type { Account } from '../account';

type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/**
 * Removes the account's secrets from a text, also as a service could echo them: as JSON, URLs and HTML write them, with
 * tags inside, and in base64 or hexadecimal. Takes time linear in the text's length.
 * @param shortest secrets with fewer characters stay, so that ordinary text is not damaged
 */
export function hideSecrets(text: string, account: Secrets, shortest = 1): string {
	return patternsOf(account)
		.filter(({ length }) => length >= shortest)
		.reduce((shown, { pattern }) => shown.replace(pattern, '[hidden]'), text);
}

/** What finds a secret with so many characters. */
interface Pattern {
	length: number;
	pattern: RegExp;
}

/** The service's answers are looked through again and again. */
const known = new WeakMap<Secrets, Pattern[]>();

function patternsOf(account: Secrets): Pattern[] {
	const patterns = known.get(account) ?? makePatterns(account);
	known.set(account, patterns);
	return patterns;
}

function makePatterns({ apiKey, webhookSecret, previousWebhookSecret = '' }: Secrets): Pattern[] {
	return [apiKey, webhookSecret.trim(), previousWebhookSecret.trim()]
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

/** In characters: a pattern for more would be too large. What follows them in a longer secret goes with them, up to a blank. */
const longestWritten = 256;

/** Shorter ones would be found in ordinary text. */
const shortestEncoding = 8;

/** In base64 also as the middle of a longer text, such as `user:secret`: where it begins decides how it looks. */
function encodings(secret: string): string[] {
	const bytes = Buffer.from(secret, 'utf8');
	const inBase64 = [0, 1, 2].map((before) =>
		Buffer.concat([Buffer.alloc(before), bytes])
			.toString('base64')
			.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
	);
	const forUrls = inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'));
	const inHex = bytes.toString('hex');
	return [...inBase64, ...forUrls, inHex, inHex.toUpperCase()].filter(
		({ length }) => length >= shortestEncoding,
	);
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** What can stand between the characters of a secret. */
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
	const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
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

/** In letters of either case. */
const inHex = (code: number, digits = 1): string =>
	code
		.toString(16)
		.padStart(digits, '0')
		.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
