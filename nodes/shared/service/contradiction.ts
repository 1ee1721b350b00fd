/** The fields and words of an answer that contradict its status, or what was sent. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText, isAbove } from '../decimal';
import { isAbsent } from '../invalidValue';
import { fieldsIn, hasRepeatedName, hasSuccess, valuesSpelledLike } from './answerBody';
import type { Answer } from './attempt';
import {
	failureWords,
	negatedParticiple,
	openPaymentPatterns,
	openWords,
	paymentRefusalStatuses,
	refusalWords,
	successNames,
	successWords,
	statusesNeedingReason,
} from './paymentWords';
import type { RequestTraits } from './request';

/**
 * Finds the part of an answer with a success status that contradicts the success, or the values that were
 * sent. A body that does not mention the call is accepted, because the service document (§4) shows no answers
 * of endpoints 4 and 5. Another positive amount is accepted too, because the service may have paid that one.
 * @returns words that follow "The service answered 200"; undefined if nothing contradicts
 */
export function contradictionOfSuccess(
	body: unknown,
	{ body: sent = {}, movesMoney }: RequestTraits,
): string | undefined {
	const rules = movesMoney === true ? [...denials, ...denialsOfPayment] : denials;
	const fields = fieldsIn(body);
	if (fields.size > maxFields) return 'with more fields than an answer has';
	for (const [name, found] of fields) {
		if (Object.hasOwn(sent, name.replace(/^data\./, ''))) continue;
		const denying = rules.filter(([names]) => names.test(name)).map(([, words]) => words);
		const denial = [...found].find((value) => denying.some((words) => words.test(value)));
		if (denial !== undefined) return `with ${name || 'the words'}: ${JSON.stringify(denial)}`;
	}
	for (const [name, value] of Object.entries(sent)) {
		const found = valuesSpelledLike(body, name).filter((each) => each !== undefined);
		const isPayment = movesMoney === true && name === 'amountEtb';
		const amounts = new Set(found.map((each) => decimalText(each) ?? each));
		const other = found.find((each) =>
			isPayment
				? !canBePaid(each) || (amounts.size > 1 && !isSame(value, each))
				: !isSame(value, each),
		);
		if (other === undefined) continue;
		// The value is not cut here, because secrets have to be hidden before the message is cut.
		const shown = isAbsent(other) ? 'empty' : JSON.stringify(other);
		return `with another value than was sent: ${name} is ${shown}`;
	}
	return undefined;
}

/** Values of a field such as `success` that deny the success. */
const falseValues = /^(?:0|no?|off|false|error|fail(?:ed|ure)?)$/i;

/** Any value except those that mean an empty field, such as 0, null or n/a. */
const nonEmpty = /^(?!(?:0+|none|null|false|no errors?|n\/a|-)?$)/i;

type Rule = [names: RegExp, values: RegExp];

/** Fields that deny the success of any call, grouped by how they do it. A body that is one text has no name. */
const denials = Object.values<Rule>({
	saysNoSuccess: [/^(?:(?:data|result)\.)?(?:success|ok)$/i, falseValues],
	statusOfFailure: [
		/^(?:(?:data|result)\.)?(?:(?:status|state|code)(?:\.code)?)?$/i,
		RegExp(`^(?:(?:[45]\\d\\d|no|false)$|error|${failureWords})`, 'i'),
	],
	messageOfFailure: [
		/^(?:data\.)?message$/i,
		RegExp(`^(?:internal|error|could not|cannot|not |.*\\bdenied|${failureWords})`, 'i'),
	],
	hasError: [/^(?:data\.)?error(?:s|_?code)?(?:\.|$)/i, nonEmpty],
});

/** Fields that contradict a completed payment, at any depth of an answer, by the way in which they do. */
const denialsOfPayment = Object.values<Rule>({
	stateOtherThanSuccess: [
		/(?:status|state|phase|outcome|result|(?:(?<![a-z])|tx)sts)(?:_?(?:text|name|label))?\W*$/i,
		RegExp(`^(?!(?:${successWords})[.!]?$)`, 'i'),
	],
	codeOtherThanSuccess: [
		/(?:^|\.)(?:res(?:p|ponse|ult)?_?|ret(?:urn)?_?|status_?|reason_?|(?:data|result|response|status)\.)code$|^code$/i,
		RegExp(`^(?!(?:${successWords}|0+)$)`, 'i'),
	],
	/** An example is `isPaid: false`. A field such as `processingFee: 0` does not count. */
	successIsFalse: [
		RegExp(
			`^(?!.*(?:fees?|times?(?:_?ms)?|count|amount|balance)$)(?:.*\\.)?${successNames}[^.]*$`,
			'i',
		),
		falseValues,
	],
	/** An example is `failReason: "x"`. Fields such as `cancelUrl` do not count: a success may have them. */
	nameOfFailure: [
		RegExp(
			`^(?!.*(?:able|url)$).*(?:\\berr\\b|error|exception|(?<!de)fault|${failureWords})`,
			'is',
		),
		nonEmpty,
	],
	/** An example is `pendingSince: "x"`. Fields such as `queuedAt` do not count: a success may have them. */
	nameOfOpenStep: [
		RegExp(`^(?!.*(?:able|at|time|fee|balance|url)$).*(?:requires|${openWords})`, 'is'),
		nonEmpty,
	],
	/** The answer is about an earlier payment, a test, or a payment that waits for approval or came back. */
	otherKindOfPayment: [
		RegExp(
			`(?:^|[._]|is)(?:${[
				'replay(?:ed)?|idempotent|cached|existing',
				'sandbox|mock|demo|draft|test(?:_?mode)?|validate_?only',
				'(?:approval|signature|action|otp)s?_?required|blocked|frozen|held|stuck|dropped',
				'voided|returned|bounced|charge_?back',
			].join('|')})$`,
			'i',
		),
		/^(?:true|1|yes)$/i,
	],
	severityOfError: [/(?:^|\.)(?:type|level|severity)$/i, /^(?:err|fatal)/i],
	amountOfNothing: [/(?:^|\.)(?:(?:paid|net|credited)_?)?amount(?:_?paid)?$/i, /^-|^0*(?:\.0*)?$/],
	/** These words count in any field except a URL. */
	wordsOfFailureOrOpenStep: [
		/^(?!.*url$)/is,
		RegExp(
			`^(?!https?:).*(?:${[
				failureWords,
				openWords,
				negatedParticiple,
				"did(?: not|n't) go|nothing was|no transfer|not found|not answer|dropped|out of gas",
				'payment initiated|will be (?:sent|paid|processed|transferred)|proposed|draft|held by',
				'needs approval|needs \\d|\\botp\\b',
				'returned (?:to|by)|bounced|voided|charged ?back|replay',
			].join('|')})`,
			'is',
		),
	],
});

/** Makes a pattern that matches any of these names, in capital or small letters. */
function wholeName(names: string[]): RegExp {
	return RegExp(`^(?:${names.join('|')})$`, 'i');
}

/**
 * The fields of a refusal of a payment that give the reason. They can decide whether somebody is paid, so
 * there are more of them than `usualNames` of `reason.ts`, which only choose the words to show.
 */
const refusalReasonNames = wholeName([
	'',
	'errors?|(?:error_?|status_?|response_?|result_?)?(?:message|msg)',
	'(?:response|result)_?desc|details?|(?:error_?)?description',
	'reason|title|hint|non_field_errors',
]);

/** The other fields that a refusal may have, beside those that were sent. */
const refusalNames = wholeName([
	// The result.
	'success|ok|(?:http_?)?status|name|(?:error_?|status_?|response_?|result_?)?(?:code|type)',
	// The field that is wrong, and its limits.
	'fields?|param|path|loc|pointer|source|target|input|location|property|issues|expected|received',
	'ctx|[gl][te]|limit_value|(?:\\w{1,20}_?)?(?:limit|min|max)',
	// The request.
	'method|\\w{0,20}_?url|help|instance|timestamp|(?:request|trace|correlation)_?id|(?:api_?)?version',
	'retry_?after|remaining|reset',
	// The payment, and the money that is missing.
	'(?:to_?)?user_?id|amount(?:_?etb)?|currency|shortfall|requested(?:_?amount)?|required(?:_?amount)?',
	'available|(?:available|current|treasury|account|wallet)?_?balance',
]);

/** The values that some of these fields must have in a refusal. */
const refusalValues: Rule[] = [
	[/(?:^|\.)(?:success|ok)$/i, falseValues],
	[/(?:^|\.)received$/i, /^(?:undefined|null|nan|string|number|boolean|object|array)$/i],
	[
		/status(?:[._]?code)?$/i,
		RegExp(
			`^(?:4\\d\\d|err|bad|not.?found|too many|unprocessable|permission|unauthenticated|rate.?limit|(?:payment|method) (?:required|not)|unsupported|blocked|(?:no|false)$|${failureWords})`,
			'i',
		),
	],
];

/** Codes of success, and codes of ISO 8583 and ISO 20022 for a payment that is late, accepted or settled. */
const openCodes = RegExp(`^(?:0+|0?9|68|91|96|approved|ac[cswt][cpe]|pdng|${successWords})$`, 'i');

/** Whether a status or a code in a body means success, or is an HTTP status that does not refuse a payment. */
const isOpenCode = (code: string): boolean =>
	/^[1-5]\d\d$/.test(code) ? !paymentRefusalStatuses.has(Number(code)) : openCodes.test(code);

/** The largest number of fields. More would block n8n for seconds, because each is compared with each rule. */
const maxFields = 1_000;

/** The longest body that counts as a refusal, in characters. The refusals of services are shorter. */
const maxRefusalLength = 65_536;

/**
 * Finds the part of an answer that leaves open whether a refused request was carried out. For a payment, that
 * is a field that refusals do not have, such as a hash or a state, or words. With a status of
 * `statusesNeedingReason` and without `success: false` (service document §2), each reason has to say why the
 * payment is refused. If there is no reason, the code has to say it.
 * @returns words that follow "The service answered 422"; undefined if nothing leaves it open
 */
export function contradictionOfRefusal(
	{ body: sent = {}, movesMoney }: RequestTraits,
	answer: Answer,
): string | undefined {
	const { status, body, text } = answer;
	if (movesMoney !== true) return hasSuccess(body, true) ? 'with success: true' : undefined;
	if (text.length > maxRefusalLength) return 'with a body that is too long for a refusal';
	if (body !== undefined && hasRepeatedName(answer)) return 'with the same name twice in its body';
	const isPage = /^\s*<(?:!doctype )?html\b/i.test(text);
	const fields = fieldsIn(body ?? (isPage ? text.replace(/<[^<>]*>/g, ' ') : text));
	const lastParts = new Map([...fields.keys()].map((name) => [name, name.split('.').at(-1) ?? '']));
	const needsReason = statusesNeedingReason.has(status) && !hasSuccess(body, false);
	const hasReason = [...lastParts.values()].some((part) => refusalReasonNames.test(part));
	for (const [name, values] of fields) {
		const lastPart = lastParts.get(name) ?? '';
		const isReason = needsReason && (hasReason ? refusalReasonNames : /code$/i).test(lastPart);
		const isOpen = (value: string): boolean => {
			const words = value.replace(/[\s_]+/g, ' ');
			return (
				openPaymentPatterns.some((pattern) => pattern.test(words)) ||
				(/(?:status|code)$/i.test(name) && isOpenCode(value)) ||
				refusalValues.some(([names, expected]) => names.test(name) && !expected.test(value)) ||
				(isReason && /[^-.\d]/.test(words) && !refusalWords.test(words))
			);
		};
		if (!isFieldOfRefusal(name, sent) || [...values].some(isOpen))
			return `with ${name === '' ? 'words that leave' : `a ${name} that leaves`} open whether it paid`;
	}
	return undefined;
}

function isFieldOfRefusal(name: string, sent: IDataObject): boolean {
	const isKnown = (part: string): boolean =>
		refusalReasonNames.test(part) || refusalNames.test(part) || Object.hasOwn(sent, part);
	const parts = name.split('.');
	return parts.every(
		(part, index) => isKnown(part) || (part === 'data' && index < parts.length - 1),
	);
}

/** Whether a value can be the amount that was paid. It may be absent, because an answer need not name it. */
function canBePaid(value: unknown): boolean {
	const amount = decimalText(value);
	return isAbsent(value) || (amount !== undefined && isAbove(amount, '0'));
}

/** Whether two values are the same, also a number as text, or a text or web address in another spelling. */
function isSame(sent: unknown, answered: unknown): boolean {
	if (typeof sent === 'number') return decimalText(answered) === decimalText(sent);
	if (typeof answered !== 'string' && typeof answered !== 'number') return false;
	const text = String(answered).trim();
	if (/^https?:/i.test(text) && URL.canParse(text)) return new URL(text).href === sent;
	return typeof sent === 'string' && text.toLowerCase() === sent.toLowerCase();
}
