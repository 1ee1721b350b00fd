/** The fields and words of a response that contradict its status, or what was sent. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText, isAbove } from '../decimal';
import { isAbsent } from '../invalidValue';
import type { ServiceResponse } from './attempt';
import { fieldsIn, hasRepeatedName, saysSuccess, valuesSpelledLike } from './responseBody';
import {
	contradictingWords,
	failureWords,
	onlyTooManyRequests,
	unclearPaymentPatterns,
	unclearWords,
	refusalWords,
	successNames,
	successWords,
} from './paymentWords';
import { paymentRefusalStatuses, statusesNeedingReason } from './statuses';
import type { RequestTraits } from './request';
import {
	firstMatch,
	patternsForField,
	wholeName,
	type Finding,
	type FieldRules,
	type Match,
} from './matching';

/**
 * Finds the part of a response with a success status that contradicts the success, or the values that were
 * sent. A body that does not mention the call is accepted, because the service document (§4) shows no
 * responses of endpoints 4 and 5. Another positive amount is accepted too, because the service may have paid
 * that one.
 */
export function contradictionInBody(
	body: unknown,
	{ body: sent = {}, movesMoney }: RequestTraits,
): Finding | undefined {
	const rules =
		movesMoney === true ? { ...rulesAgainstSuccess, ...rulesAgainstPayment } : rulesAgainstSuccess;
	const fields = fieldsIn(body);
	if (fields.size > maxFields) return { evidence: 'with more fields than a response has' };
	for (const [name, found] of fields) {
		if (Object.hasOwn(sent, name.replace(/^data\./, ''))) continue;
		const patterns = patternsForField(rules, name);
		for (const value of found) {
			const match = firstMatch(patterns, value);
			if (match !== undefined)
				return { ...match, evidence: `with ${name || 'the words'}: ${JSON.stringify(value)}` };
		}
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
		return { evidence: `with another value than was sent: ${name} is ${shown}` };
	}
	return undefined;
}

/** Values of a field such as `success` that deny the success. */
const falseValues = /^(?:0|no?|off|false|error|fail(?:ed|ure)?)$/i;

/** Any value except those that mean an empty field, such as 0, null or n/a. */
const nonEmpty = /^(?!(?:0+|none|null|false|no errors?|n\/a|-)?$)/i;

/** Rules for fields that deny the success of any call. A body that is one text is a field without a name. */
const rulesAgainstSuccess: FieldRules = {
	/** The response denies its success. */
	saysNoSuccess: [/^(?:(?:data|result)\.)?(?:success|ok)$/i, falseValues],
	/** The status or the code is that of a failure. */
	statusOfFailure: [
		/^(?:(?:data|result)\.)?(?:(?:status|state|code)(?:\.code)?)?$/i,
		RegExp(`^(?:(?:[45]\\d\\d|no|false)$|error|${failureWords})`, 'i'),
	],
	/** The message begins with words for a failure. */
	messageOfFailure: [
		/^(?:data\.)?message$/i,
		RegExp(`^(?:internal|error|could not|cannot|not |.*\\bdenied|${failureWords})`, 'i'),
	],
	/** The response has an error. */
	hasError: [/^(?:data\.)?error(?:s|_?code)?(?:\.|$)/i, nonEmpty],
};

/** Rules for fields, at any depth of a response, that deny that a payment was completed. */
const rulesAgainstPayment: FieldRules = {
	/** The state of the payment is none of those in which it was made. */
	stateOtherThanSuccess: [
		/(?:status|state|phase|outcome|result|(?:(?<![a-z])|tx)sts)(?:_?(?:text|name|label))?\W*$/i,
		RegExp(`^(?!(?:${successWords})[.!]?$)`, 'i'),
	],
	/** The code is none of those for a success. */
	codeOtherThanSuccess: [
		/(?:^|\.)(?:res(?:p|ponse|ult)?_?|ret(?:urn)?_?|status_?|reason_?|(?:data|result|response|status)\.)code$|^code$/i,
		RegExp(`^(?!(?:${successWords}|0+)$)`, 'i'),
	],
	/** A field denies that the payment was made, as `isPaid: false` does. `processingFee: 0` does not count. */
	successIsFalse: [
		RegExp(
			`^(?!.*(?:fees?|times?(?:_?ms)?|count|amount|balance)$)(?:.*\\.)?${successNames}[^.]*$`,
			'i',
		),
		falseValues,
	],
	/** A field has the name of a failure, such as `failReason: "x"`. A success may have one such as `cancelUrl`. */
	nameOfFailure: [
		RegExp(
			`^(?!.*(?:able|url)$).*(?:\\berr\\b|error|exception|(?<!de)fault|${failureWords})`,
			'is',
		),
		nonEmpty,
	],
	/** A field has the name of an unclear step, such as `pendingSince: "x"`. A success may have one such as `queuedAt`. */
	nameOfUnclearStep: [
		RegExp(`^(?!.*(?:able|at|time|fee|balance|url)$).*(?:requires|${unclearWords})`, 'is'),
		nonEmpty,
	],
	/** The response is about an earlier payment, a test, or a payment that waits for approval or came back. */
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
	/** The level or the type of the response is that of an error. */
	severityOfError: [/(?:^|\.)(?:type|level|severity)$/i, /^(?:err|fatal)/i],
	/** The amount that was paid is empty, zero or negative. */
	amountOfNothing: [/(?:^|\.)(?:(?:paid|net|credited)_?)?amount(?:_?paid)?$/i, /^-|^0*(?:\.0*)?$/],
	/** These words count in any field except a URL. */
	wordsOfFailureOrUnclearStep: [
		/^(?!.*url$)/is,
		RegExp(
			`^(?!https?:).*(?:${[failureWords, unclearWords, ...contradictingWords].join('|')})`,
			'is',
		),
	],
};

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

/** Values that some of these fields never have in a refusal. */
const valuesNeverInRefusal: FieldRules = {
	/** A refusal denies its success. */
	successNotDenied: [/(?:^|\.)(?:success|ok)$/i, RegExp(`^(?!${falseValues.source})`, 'i')],
	/** A check of values names the type that it received. Anything else can be money that was received. */
	receivedNoType: [
		/(?:^|\.)received$/i,
		/^(?!(?:undefined|null|nan|string|number|boolean|object|array)$)/i,
	],
	/** A success, a status that does not refuse, or a payment that is late, accepted or settled (ISO 8583, ISO 20022). */
	codeNeverInRefusal: [
		/(?:status|code)$/i,
		RegExp(
			`^(?!(?:${[...paymentRefusalStatuses].join('|')})$)(?:[1-5]\\d\\d|0+|0?9|68|91|96|approved|ac[cswt][cpe]|pdng|${successWords})$`,
			'i',
		),
	],
	/** The status of a refusal is a client error, in digits or in words. */
	statusNeverInRefusal: [
		/status(?:[._]?code)?$/i,
		RegExp(
			`^(?!${[
				'4\\d\\d|err|bad|not.?found|too many|unprocessable|permission|unauthenticated|rate.?limit',
				'(?:payment|method) (?:required|not)|unsupported|blocked|(?:no|false)$',
				failureWords,
			].join('|')})`,
			'i',
		),
	],
};

/** The largest number of fields. More would block n8n for seconds, because each is compared with each rule. */
const maxFields = 1_000;

/** The longest body that counts as a refusal, in characters. The refusals of services are shorter. */
const maxRefusalLength = 65_536;

/**
 * Finds the part of a response that leaves open whether a refused request was carried out. For a payment, that
 * is a field that refusals do not have, such as a hash or a state, or words. With a status of
 * `statusesNeedingReason` and without `success: false` (service document §2), each reason has to say why the
 * payment is refused. If there is no reason, the code has to say it.
 */
export function findingInRefusal(
	{ body: sent = {}, movesMoney }: RequestTraits,
	response: ServiceResponse,
): Finding | undefined {
	const { status, body, text } = response;
	if (movesMoney !== true)
		return saysSuccess(body, true) ? { evidence: 'with success: true' } : undefined;
	if (text.length > maxRefusalLength)
		return { evidence: 'with a body that is too long for a refusal' };
	if (body !== undefined && hasRepeatedName(response))
		return { evidence: 'with the same name twice in its body' };
	const isPage = /^\s*<(?:!doctype )?html\b/i.test(text);
	const fields = fieldsIn(body ?? (isPage ? text.replace(/<[^<>]*>/g, ' ') : text));
	const lastPartOf = (name: string): string => name.split('.').at(-1) ?? '';
	const hasReason = [...fields.keys()].some((name) => refusalReasonNames.test(lastPartOf(name)));
	const reasonNames = hasReason ? refusalReasonNames : /code$/i;
	const needsReason = statusesNeedingReason.has(status) && !saysSuccess(body, false);
	for (const [name, values] of fields) {
		const leaves = name === '' ? 'words that leave' : `a ${name} that leaves`;
		const evidence = `with ${leaves} open whether it paid`;
		if (!isFieldOfRefusal(name, sent))
			return { evidence, rule: 'fieldNeverInRefusal', matched: name };
		const isReason = needsReason && reasonNames.test(lastPartOf(name));
		for (const value of values) {
			const match = unclearIn(name, value) ?? (isReason ? unexplainedIn(value) : undefined);
			if (match !== undefined) return { evidence, ...match };
		}
	}
	return undefined;
}

/** Whether a refusal says only that too many requests were sent. */
export const saysOnlyTooManyRequests = ({ body, text }: ServiceResponse): boolean =>
	[...fieldsIn(body ?? text).values()].every((values) =>
		[...values].every(
			(value) => value === 'false' || onlyTooManyRequests.test(normalizedWords(value)),
		),
	);

const normalizedWords = (value: string): string => value.replace(/[\s_]+/g, ' ');

/** The rule by which a value of a refusal leaves open whether it paid. */
const unclearIn = (name: string, value: string): Match | undefined =>
	firstMatch(unclearPaymentPatterns, normalizedWords(value)) ??
	firstMatch(patternsForField(valuesNeverInRefusal, name), value);

/** The rule by which a value says why a payment is refused. */
export const refusalRuleFor = (value: string): Match | undefined =>
	firstMatch(refusalWords, normalizedWords(value));

/** Matches a reason whose words do not say why the payment is refused. A number has no words. */
const unexplainedIn = (value: string): Match | undefined =>
	/[^-.\d]/.test(value) && refusalRuleFor(value) === undefined
		? { rule: 'unexplainedReason', matched: value }
		: undefined;

function isFieldOfRefusal(name: string, sent: IDataObject): boolean {
	const isKnown = (part: string): boolean =>
		refusalReasonNames.test(part) || refusalNames.test(part) || Object.hasOwn(sent, part);
	const parts = name.split('.');
	return parts.every(
		(part, index) => isKnown(part) || (part === 'data' && index < parts.length - 1),
	);
}

/** Whether a value can be the amount that was paid. It may be absent, because a response need not name it. */
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
