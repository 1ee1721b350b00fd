/** What an answer of the service means: done, refused or unknown. This is the one place that decides it. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText } from '../decimal';
import { isAbsent, show } from '../invalidValue';
import { isObject, property } from '../unknownValues';
import { notBegun, tooLarge, type Answer, type Attempt, type NoAnswer } from './attempt';
import type { ServiceRequest } from './call';

/**
 * Why a call was not done, or may not have been. `notReached`: the service never got it, or its time was over before it was
 * sent. `refused`: the service says no. `noAnswer`: none came. `unclear`: one came that does not say.
 */
export type FailureCode = 'notReached' | 'refused' | 'noAnswer' | 'unclear';

/**
 * What an attempt means. `notDone`: the service did not do it. `unknown`: it may have done it. `retry`: it did not do it,
 * or doing it again changes nothing. `problem` follows the status in the message; without it the status says enough.
 */
export type Judgement =
	| { verdict: 'done' }
	| { verdict: 'retry' | 'notDone' | 'unknown'; code: FailureCode; problem?: string };

type Asked = Omit<ServiceRequest, 'path' | 'remedies'>;

/** Statuses that may be gone at the next attempt. */
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Client errors and redirects that can also follow a POST that was carried out: by 408 and 499 a proxy says that it gave up
 * waiting, by 302 and 303 a service says where to see what it did.
 */
const undecidedStatuses: ReadonlySet<number> = new Set([302, 303, 408, 499]);

/**
 * Decides what an attempt means. What the service would do twice (service document §4 endpoints 6 and 7) is never sent
 * again once it may have been carried out.
 */
export function judge(asked: Asked, attempt: Attempt): Judgement {
	if (attempt.kind === 'noAnswer') return judgeSilence(asked, attempt);
	const { status } = attempt;
	if (status >= 200 && status < 300) return judgeSuccess(asked, attempt);
	const refused = { code: 'refused' } as const;
	if (asked.mayRepeat) return { verdict: passing.has(status) ? 'retry' : 'notDone', ...refused };
	// The status says no, and the body says yes.
	if (tellsOfSuccess(attempt)) return { verdict: 'unknown', code: 'unclear' };
	if (status === 429) return { verdict: 'retry', ...refused };
	const isRefusal = status >= 300 && status < 500 && !undecidedStatuses.has(status);
	if (isRefusal && asked.undecided?.includes(status) !== true)
		return { verdict: 'notDone', ...refused };
	return { verdict: 'unknown', code: 'unclear' };
}

function judgeSilence({ mayRepeat }: Asked, { code, sent }: NoAnswer): Judgement {
	if (code === notBegun) return { verdict: 'notDone', code: 'notReached' };
	if (!sent) return { verdict: 'retry', code: 'notReached' };
	if (code === tooLarge) return { verdict: mayRepeat ? 'notDone' : 'unknown', code: 'unclear' };
	return { verdict: mayRepeat ? 'retry' : 'unknown', code: 'noAnswer' };
}

/** A success status counts only with what the service document (§2, §4) shows in such an answer. */
function judgeSuccess(asked: Asked, answer: Answer): Judgement {
	const unclear = (problem: string): Judgement => ({
		verdict: asked.mayRepeat ? 'notDone' : 'unknown',
		code: 'unclear',
		problem,
	});
	if (asked.saysSuccess === true) {
		const success = successIn(answer.body);
		if (success === true) return { verdict: 'done' };
		if (success === false && !tellsOfSuccess(answer))
			return { verdict: 'notDone', code: 'refused', problem: 'and says that it did not pay' };
		return unclear('without saying whether it paid');
	}
	const confirms = asked.confirms !== undefined && (answer.body !== undefined || isPlain(answer));
	if (!hasFields(answer.body) && !confirms)
		return unclear(
			answer.text.trim() === '' ? 'with an empty body' : 'with a body that is not a JSON object',
		);
	// What was set or made counts as done only if the answer agrees.
	const sent = asked.method === 'PUT' ? asked.body : {};
	const disagrees = asked.method === 'GET' ? undefined : disagreement(answer.body, sent);
	if (disagrees !== undefined) return unclear(disagrees);
	const { answersWith } = asked;
	if (answersWith !== undefined && inPlaces(answer.body, answersWith).every(isAbsent))
		return unclear(`with no ${answersWith} in its body`);
	return { verdict: 'done' };
}

export const hasFields = (body: unknown): body is IDataObject =>
	isObject(body) && !Array.isArray(body);

/** The values of these names at the top of a body and in its `data`, where the service puts some (service document §4). */
const inPlaces = (body: unknown, ...names: string[]): unknown[] =>
	names.flatMap((name) => [body, property(body, 'data')].map((place) => property(place, name)));

/** What a body says of its success. Undefined: nothing, or both. */
function successIn(body: unknown): boolean | undefined {
	const said = new Set(inPlaces(body, 'success').filter((value) => value !== undefined));
	const [only] = said;
	return said.size === 1 && typeof only === 'boolean' ? only : undefined;
}

/** Whether an answer tells anywhere in its text that something was done. */
const tellsOfSuccess = (answer: Answer): boolean =>
	/"success"\s*:\s*"?(true|1)\b|"txHash"\s*:\s*(?!null|none|false|"")\S/i.test(plainText(answer));

/** Undoes quoting (letters as codes, backslashes, other quotes), because a gateway may quote the service's answer in its own. */
const plainText = ({ text }: Answer): string =>
	text
		.replace(/\\u00([0-9a-f]{2})/gi, (_escape, hex: string) =>
			String.fromCharCode(parseInt(hex, 16)),
		)
		.replaceAll('\\', '')
		.replace(/'|&quot;|&#34;/g, '"');

/** Whether a body that is no JSON is empty or words, such as OK: neither a web page nor the beginning of JSON. */
const isPlain = ({ text }: Answer): boolean => !/^\s*[{[]|<[a-z!/]/i.test(text);

/**
 * Whether the answer to what was set or made agrees with it. The service document (§4) does not show the answers of endpoints
 * 4 and 5, so a body that says nothing of it is fine.
 * @returns what does not agree, to follow "The service answered 200"
 */
function disagreement(body: unknown, sent: IDataObject = {}): string | undefined {
	if ([body, ...inPlaces(body, 'success', 'ok', 'status')].some(isNo))
		return 'and says that it did not do it';
	if (inPlaces(body, 'error', 'errors').some(isFilled)) return 'with an error';
	for (const [name, value] of Object.entries(sent)) {
		const found = inPlaces(body, name).findLast((place) => place !== undefined);
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
