/** The reason that the service gives in an error body, whatever its shape. */
import { isObject } from '../unknownValues';

const maxReasonLength = 300;

/** The reason in one line, or an empty text. Secrets are hidden before it is cut: half of one is not found. */
export function reasonIn(
	{ text, body }: { text: string; body: unknown },
	hide: (text: string) => string,
): string {
	return shortLine(body === undefined ? textOfPage(text) : reasonOf(body), hide);
}

/** Puts words of the service into one short line. */
export function shortLine(words: string, hide: (text: string) => string): string {
	const line = hide(words).replace(/\s+/g, ' ').trim();
	return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength)}…` : line;
}

/** The service's words in quotation marks, to be appended to our message, which ends without a full stop. */
export function serviceSaid(reason: string): string {
	if (reason === '') return '';
	return `. The service said: "${reason.replaceAll('"', "'").replace(/\.$/, '')}"`;
}

/** The text of a web page: its title, or its text without tags. Each regular expression takes linear time. */
function textOfPage(page: string): string {
	const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1];
	return title ?? page.replace(/<[^<>]*>/g, ' ');
}

/** The names of fields in which services usually give a reason, in order of preference. */
const usualNames = [
	'message',
	'error',
	'errors',
	'detail',
	'details',
	'title',
	'reason',
	'error_description',
];

/** The text under the first of the usual names that has one. If none has one, all texts with their names. */
function reasonOf(value: unknown): string {
	if (typeof value === 'string') return value;
	if (!isObject(value)) return '';
	const reasons = new Map(Object.entries(value).map(([name, part]) => [name, reasonOf(part)]));
	const usual = usualNames.map((key) => reasons.get(key) ?? '').find((reason) => reason !== '');
	if (usual === undefined || Array.isArray(value)) {
		return [...reasons]
			.filter(([, reason]) => reason !== '')
			.map(([name, reason]) => (Array.isArray(value) ? reason : `${name}: ${reason}`))
			.join('; ');
	}
	const field = reasons.get('field') ?? '';
	return field === '' ? usual : `${field}: ${usual}`;
}
