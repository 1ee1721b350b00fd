/** Keeps the account's secrets out of everything that people or logs get to see. */
import type { Account } from '../account';

/** The secrets of a credential. */
export type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/** Encodings of fewer characters are not looked for: they would be found in ordinary text. */
const shortestEncoded = 8;

const patterns = new WeakMap<Secrets, Map<number, RegExp | undefined>>();

/**
 * Removes the account's secrets from a text, also as a service could echo them: JSON-escaped, URL-encoded,
 * HTML-escaped, in base64 or hexadecimal, with tags inside.
 * @param shortest secrets with fewer characters stay, so that ordinary text is not damaged
 */
export function hideSecrets(text: string, account: Secrets, shortest = 1): string {
	const known = patterns.get(account) ?? new Map<number, RegExp | undefined>();
	patterns.set(account, known);
	if (!known.has(shortest)) known.set(shortest, patternOf(account, shortest));
	const pattern = known.get(shortest);
	return pattern === undefined ? text : text.replace(pattern, '[hidden]');
}

function patternOf(
	{ apiKey, webhookSecret, previousWebhookSecret = '' }: Secrets,
	shortest: number,
): RegExp | undefined {
	const forms = [apiKey, webhookSecret.trim(), previousWebhookSecret.trim()]
		.filter((secret) => secret.length >= shortest && secret !== '')
		.flatMap((secret) => [secret, ...encodings(secret)].map(echoed));
	return forms.length === 0 ? undefined : new RegExp(forms.join('|'), 'gu');
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
	return [...inBase64, inHex, inHex.toUpperCase()].filter(
		({ length }) => length >= shortestEncoded,
	);
}

/** Bounded, like all that repeats here: a long text must not exhaust the memory of an expression. */
const between = '(?:<[^<>]{0,200}>|\\s|\\\\[rn]){0,8}';

/** An expression for a text with each character as it is or escaped, and tags or line breaks between them. */
function echoed(text: string): string {
	return [...text].map(echoedCharacter).join(between);
}

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

/** How base64 for URLs, or a form, writes the same. */
const urlSafe: Readonly<Record<string, string>> = { '+': '-', '/': '_', ' ': '+' };

function echoedCharacter(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	const hex = (value: number, digits = 1): string =>
		value
			.toString(16)
			.padStart(digits, '0')
			.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
	const bytes = [...Buffer.from(character, 'utf8')];
	const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
	const named = htmlNames[character];
	const alternatives = [
		`\\\\{0,8}${escaped(character)}`,
		units.map((unit) => `\\\\{1,8}u${hex(unit, 4)}`).join(''),
		bytes.map((byte) => `%(?:25){0,4}${hex(byte, 2)}`).join(''),
		`&(?:amp;){0,4}(?:#0{0,6}${code}|#[xX]0{0,6}${hex(code)}${named === undefined ? '' : `|${named}`});?`,
		...(character in urlSafe ? [escaped(urlSafe[character] ?? '')] : []),
	];
	return `(?:${alternatives.join('|')})`;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
