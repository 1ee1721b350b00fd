/** What the body of an answer says of its success, beyond the status. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText } from '../decimal';
import { show } from '../invalidValue';
import { isObject, property } from '../unknown';

/** `body` is what `text` is when it is JSON, else undefined. */
interface AnswerBody {
	text: string;
	body: unknown;
}

const bodyAndData = (body: unknown): unknown[] => [body, property(body, 'data')];

/** What a body says of its success. `both`: it contradicts itself, or says it in a place that JSON does not keep. */
export function successIn({ body, text }: AnswerBody): 'yes' | 'no' | 'both' | 'unsaid' {
	const said = new Set(
		bodyAndData(body)
			.map((place) => property(place, 'success'))
			.filter((value) => value !== undefined),
	);
	if (said.size > 1 || isRepeated({ body, text })) return 'both';
	return said.has(true) ? 'yes' : said.has(false) ? 'no' : 'unsaid';
}

/** Whether an answer tells anywhere in its text that something was done. */
export const tellsOfSuccess = ({ text }: Pick<AnswerBody, 'text'>): boolean =>
	/"success"\s*:\s*"?(true|1)\b|"txHash"\s*:\s*(?!null|false|"")\S/i.test(unescaped(text));

/** JSON may write a letter as its code: here as the letter. */
const unescaped = (text: string): string =>
	text.replace(/\\u00([0-9a-f]{2})/gi, (_escape, hex: string) =>
		String.fromCharCode(parseInt(hex, 16)),
	);

/** Whether an object has `success` twice. JSON.parse keeps the last one, so the text then has it more often. */
function isRepeated({ body, text }: AnswerBody): boolean {
	const written = unescaped(text).match(/"success"\s*:/g)?.length ?? 0;
	return written > countOf('success', body);
}

/** How often a body has the name, at any depth. Without recursion, which fails for very deep bodies. */
function countOf(name: string, body: unknown): number {
	let count = 0;
	const values = [body];
	while (values.length > 0) {
		const value = values.pop();
		if (!isObject(value)) continue;
		for (const [key, entry] of Object.entries(value)) {
			if (key === name) count++;
			values.push(entry);
		}
	}
	return count;
}

/** Whether a body that is no JSON is empty or words, such as OK: neither a web page nor the beginning of JSON. */
export const isPlain = ({ text }: AnswerBody): boolean => !/^\s*[{[]|<[a-z!/]/i.test(text);

/**
 * Whether the answer to what was set or made agrees with it. The service document (§4) does not show the answers of endpoints
 * 4 and 5, so a body that says nothing of it is fine.
 * @returns what does not agree, such as `says that it did not do it`, to follow "The service answered 200, but "
 */
export function disagreement(answer: AnswerBody, sent: IDataObject = {}): string | undefined {
	const inPlaces = (...names: string[]): unknown[] =>
		names.flatMap((name) => bodyAndData(answer.body).map((place) => property(place, name)));
	if (successIn(answer) === 'both') return 'says both that it did it and that it did not';
	if ([answer.body, ...inPlaces('success', 'ok', 'status')].some(isNo))
		return 'says that it did not do it';
	if (inPlaces('error', 'errors').some(isFilled)) return 'with an error';
	for (const [name, value] of Object.entries(sent)) {
		const found = inPlaces(name).findLast((place) => place !== undefined);
		if (found !== undefined && !isSame(value, found))
			return `with another value than was sent: ${name} is ${show(found)}`;
	}
	return undefined;
}

const isNo = (value: unknown): boolean =>
	value === false || (typeof value === 'string' && /^(?:false|error|fail(?:ed)?)$/i.test(value));

const isFilled = (value: unknown): boolean =>
	isObject(value) ? Object.keys(value).length > 0 : Boolean(value);

/** Whether it is the same number or text, be it that a number comes as text, or a web address in another spelling. */
function isSame(sent: unknown, answered: unknown): boolean {
	if (typeof sent === 'number') return decimalText(answered) === decimalText(sent);
	if (typeof answered !== 'string' && typeof answered !== 'number') return false;
	const text = String(answered).trim();
	return text === sent || (URL.canParse(text) && new URL(text).href === sent);
}
