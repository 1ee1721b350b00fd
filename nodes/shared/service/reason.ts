/** The reason that the service gives in an error body, whatever its shape. */
import { isObject } from '../unknown';

const longestReason = 300;

/** The reason in one line, or nothing. It is shortened last: a part of a secret would not be found. */
export function reasonIn(
	{ text, body }: { text: string; body: unknown },
	hide: (text: string) => string,
): string {
	const found = body === undefined ? shownBy(hide(text)) : reasonOf(body);
	const reason = hide(found).replace(/\s+/g, ' ').trim();
	return reason.length > longestReason ? `${reason.slice(0, longestReason)}…` : reason;
}

/** The service's words, to be put behind ours, which end without a full stop. Quoted, so that nobody takes them for ours. */
export function quoted(reason: string): string {
	if (reason === '') return '';
	return `. The service said: "${reason.replaceAll('"', "'").replace(/\.$/, '')}"`;
}

/** What a web page shows: its title, or all of its text. Each regular expression takes linear time. */
function shownBy(page: string): string {
	if (!/<[a-z!/]/i.test(page)) return page;
	const title = /<title[^<>]*>(.*?)(?:<\/title|$)/is.exec(page)?.[1];
	if (title !== undefined) return title;
	return page
		.split(/<(?=style|script)/i)
		.map((part, index) => (index === 0 ? part : afterClosing(part)))
		.join(' ')
		.replace(/<[^<>]*>/g, ' ');
}

/** What follows the end of a style or script that a part begins with. */
function afterClosing(part: string): string {
	const end = /<\/(?:style|script)/i.exec(part);
	return end === null ? '' : `<${part.slice(end.index + 1)}`;
}

const reasonKeys = [
	'message',
	'error',
	'errors',
	'detail',
	'details',
	'title',
	'reason',
	'error_description',
];

function reasonOf(value: unknown, depth = 0): string {
	if (typeof value === 'string') return value;
	if (!isObject(value) || depth > 4) return '';
	if (Array.isArray(value)) {
		return value
			.map((entry) => reasonOf(entry, depth + 1))
			.filter(Boolean)
			.join('; ');
	}
	const fields = new Map<string, unknown>(Object.entries(value));
	for (const key of reasonKeys) {
		const reason = reasonOf(fields.get(key), depth + 1);
		if (reason === '') continue;
		const field = fields.get('field');
		return typeof field === 'string' ? `${field}: ${reason}` : reason;
	}
	// Such as { errors: { phone: ["is too short"] } }.
	return depth === 0
		? ''
		: [...fields]
				.map(([key, entry]) => [key, reasonOf(entry, depth + 1)])
				.filter(([, reason]) => reason)
				.map(([key, reason]) => `${key}: ${reason}`)
				.join('; ');
}
