/** Keeps the account's secrets out of all texts that people see, or that are logged. */
import type { Account } from '../account';

type Secrets = Pick<Account, 'apiKey' | 'webhookSecret'> &
	Partial<Pick<Account, 'previousWebhookSecret'>>;

/**
 * Removes the account's secrets from a text, as they are and in URL encoding. It also finds a secret in
 * another case, or with JSON's backslashes, HTML's character references or other white space in it. It takes
 * linear time.
 */
export function hideSecrets(text: string, account: Secrets): string {
	const { apiKey, webhookSecret, previousWebhookSecret = '' } = account;
	return [apiKey, webhookSecret, previousWebhookSecret]
		.map((secret) => secret.trim())
		.filter((secret) => secret !== '')
		.sort((one, other) => other.length - one.length)
		.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())])
		.reduce((shown, secret) => shown.replace(patternOf(secret), '[hidden]'), text);
}

function patternOf(secret: string): RegExp {
	const words = secret.split(/\s+/).map((word) => Array.from(word, characterPattern).join('\\\\*'));
	return RegExp(words.join('\\s+\\\\*'), 'giu');
}

function characterPattern(character: string): string {
	if (/\w/.test(character)) return character;
	const code = `\\u{${character.codePointAt(0)?.toString(16)}}`;
	return `(?:${code}|&#?\\w{1,8};)`;
}
