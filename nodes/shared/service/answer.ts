/** The meaning of an answer of the service: done, refused or unknown. No other place decides it. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText, isAbove } from '../decimal';
import { isAbsent } from '../invalidValue';
import { isObject, property } from '../unknownValues';
import type { Answer, Attempt, NoAnswer } from './attempt';
import { changes, mayRepeat, type ServiceRequest } from './request';
import { notBegun, tooLarge } from './noAnswer';

/**
 * The reason of a failed call. `notReached`: the request did not leave. `refused`: a status or a body refuses it.
 * `noAnswer`: the request was sent and no answer came. `unclear`: the answer does not show the result.
 */
export type FailureCode = 'notReached' | 'refused' | 'noAnswer' | 'unclear';

/**
 * The verdict on one attempt. `notDone`: it was not carried out, or it only reads. `unknown`: it may have been carried out.
 * `retry`: a repetition is safe; a PUT may have been carried out all the same. `problem` follows the status in the message.
 */
export type Judgement =
	| { verdict: 'done' }
	| { verdict: 'notDone' | 'unknown'; code: FailureCode; problem?: string }
	| { verdict: 'retry'; code: FailureCode; mayBeDone: boolean; problem?: undefined };

type Asked = Pick<
	ServiceRequest,
	'method' | 'body' | 'answersWith' | 'movesMoney' | 'defaultOutput'
>;

/** Statuses of failures that are usually temporary. */
const temporaryStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Client errors and redirects that can also follow a POST that was carried out: by 408 and 499 a proxy says that it gave up
 * waiting, by 302 and 303 a service says where to see what it did.
 */
const ambiguousStatuses: ReadonlySet<number> = new Set([302, 303, 408, 499]);

/**
 * Statuses that do not show whether a payment was made. 202 and 207: accepted, or done in part. The others: a gateway that
 * repeats a payment can get these for the repetition.
 */
const ambiguousPaymentStatuses: ReadonlySet<number> = new Set([
	202, 207, 406, 409, 423, 424, 425, 444, 449,
]);

/**
 * Decides the meaning of an attempt. A request that the service could carry out twice (service document §4 endpoints 6 and 7) is
 * never repeated once it may have been carried out. A payment is done only with a proof: a success status but for those that
 * leave it open, `success: true` and a `txHash` (§2, Disbursement result), and nothing in the answer that contradicts it.
 */
export function judge(asked: Asked, attempt: Attempt): Judgement {
	if (attempt.kind === 'noAnswer') return judgeNoAnswer(asked, attempt);
	const { status } = attempt;
	if (asked.movesMoney === true && ambiguousPaymentStatuses.has(status))
		return { verdict: 'unknown', code: 'unclear' };
	if (status >= 200 && status < 300) return judgeSuccess(asked, attempt);
	const isRefusal = status >= 300 && status < 500 && !ambiguousStatuses.has(status);
	if (mayRepeat(asked)) {
		if (temporaryStatuses.has(status))
			return { verdict: 'retry', code: 'refused', mayBeDone: changes(asked) && !isRefusal };
	} else {
		// The status says no, and the body says that it was made, or may be.
		const isOpen = asked.movesMoney === true ? tellsOfPayment(attempt) : says(true, attempt.body);
		if (isOpen) return { verdict: 'unknown', code: 'unclear' };
		if (status === 429) return { verdict: 'retry', code: 'refused', mayBeDone: false };
	}
	if (isRefusal || !changes(asked)) return { verdict: 'notDone', code: 'refused' };
	return { verdict: 'unknown', code: 'unclear' };
}

function judgeNoAnswer(asked: Asked, { code, sent }: NoAnswer): Judgement {
	if (code === notBegun) return { verdict: 'notDone', code: 'notReached' };
	if (!sent) return { verdict: 'retry', code: 'notReached', mayBeDone: false };
	if (code === tooLarge)
		return { verdict: changes(asked) ? 'unknown' : 'notDone', code: 'unclear' };
	if (!mayRepeat(asked)) return { verdict: 'unknown', code: 'noAnswer' };
	return { verdict: 'retry', code: 'noAnswer', mayBeDone: changes(asked) };
}

/** A success status counts only with the fields that the service document (§2, §4) shows in such an answer. */
function judgeSuccess(asked: Asked, answer: Answer): Judgement {
	if (asked.movesMoney === true && says(false, answer.body) && !tellsOfPayment(answer))
		return { verdict: 'notDone', code: 'refused', problem: 'and says that it did not pay' };
	const problem = problemOf(asked, answer);
	if (problem === undefined) return { verdict: 'done' };
	return { verdict: changes(asked) ? 'unknown' : 'notDone', code: 'unclear', problem };
}

/** The reason why an answer with a success status does not show that the call was done, to follow "The service answered 200". */
function problemOf(asked: Asked, answer: Answer): string | undefined {
	const { answersWith } = asked;
	const movesMoney = asked.movesMoney === true;
	const { body } = answer;
	if (movesMoney && !says(true, body)) return 'without saying whether it paid';
	if (changes(asked) && body !== undefined && hasRepeatedName(answer))
		return 'with the same name twice in its body';
	const maySayNothing = asked.defaultOutput !== undefined;
	if (!hasFields(body) && !(maySayNothing && (body !== undefined || isPlain(answer)))) {
		const isEmpty = answer.text.trim() === '';
		return isEmpty ? 'with an empty body' : 'with a body that is not a JSON object';
	}
	const contradicts = contradictionIn(body ?? answer.text, asked);
	if (contradicts !== undefined || answersWith === undefined) return contradicts;
	const found = inPlaces(body, answersWith).filter((value) => value !== undefined);
	const isThere = movesMoney
		? found.every((value) => typeof value === 'string' && transactionHash.test(value.trim())) &&
			new Set(found).size === 1
		: !found.every(isAbsent);
	if (isThere) return undefined;
	const isMissing = found.every(isAbsent);
	return isMissing
		? `with no ${answersWith} in its body`
		: `with a ${answersWith} that is no proof`;
}

export const hasFields = (body: unknown): body is IDataObject =>
	isObject(body) && !Array.isArray(body);

/** The values of these names at the top of a body and in its `data`, where the service puts some (service document §4). */
const inPlaces = (body: unknown, ...names: string[]): unknown[] =>
	names.flatMap((name) => [body, property(body, 'data')].map((place) => property(place, name)));

/** Whether a body says of its success that it is this. */
const says = (success: boolean, body: unknown): boolean =>
	inPlaces(body, 'success').includes(success);

/** Whether the text of an answer tells of a payment that was made, or may be. */
const tellsOfPayment = (answer: Answer): boolean => {
	const text = plainText(answer);
	return openPaymentPatterns.some((words) => words.test(text));
};

/** Whether an object in the text of an answer has a name twice: of two values JSON keeps the last one. */
const hasRepeatedName = ({ text, body }: Answer): boolean =>
	namesIn(text) !== namesIn(JSON.stringify(body));

const namesIn = (json: string): number =>
	json.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)?.filter((each) => each.endsWith(':')).length ?? 0;

/** Undoes quoting (letters as codes, backslashes, other quotes), because a gateway may quote the service's answer in its own. */
const plainText = ({ text }: Answer): string =>
	text
		.replace(/\\u00([0-9a-f]{2})/gi, (_escape, hex: string) =>
			String.fromCharCode(parseInt(hex, 16)),
		)
		.replace(/\\+[nrtbf]/g, ' ')
		.replaceAll('\\', '')
		.replace(/['“”‘’]|&(?:quot|apos|#0*3[49]|#x0*2[27]);/gi, '"');

/** Whether a body that is no JSON is empty or words, such as OK: neither a web page nor the beginning of JSON. */
const isPlain = ({ text }: Answer): boolean => !/^\s*[{[]|<[a-z!/]/i.test(text);

/**
 * Whether an answer with a success status contradicts itself, or what was sent. The service document (§4) does not show the
 * answers of endpoints 4 and 5, so a body that says nothing of it is fine. An amount that can be one is no contradiction: the
 * service may have paid another one.
 * @returns what contradicts, to follow "The service answered 200"
 */
function contradictionIn(
	body: unknown,
	{ body: sent = {}, movesMoney }: Asked,
): string | undefined {
	const rules = movesMoney === true ? [...denials, ...denialsOfPayment] : denials;
	for (const [name, found] of factsIn(body)) {
		if (Object.hasOwn(sent, name.replace(/^data\./, ''))) continue;
		const denying = rules.filter(([names]) => names.test(name)).map(([, words]) => words);
		const denial = [...found].find((value) => denying.some((words) => words.test(value)));
		if (denial !== undefined) return `with ${name || 'the words'}: ${JSON.stringify(denial)}`;
	}
	for (const [name, value] of Object.entries(sent)) {
		const found = inPlaces(body, name).filter((place) => place !== undefined);
		const isPayment = movesMoney === true && name === 'amountEtb';
		const amounts = new Set(found.map((each) => decimalText(each) ?? each));
		const other = found.find((each) =>
			isPayment ? !canBePaid(each) || amounts.size > 1 : !isSame(value, each),
		);
		if (other === undefined) continue;
		// Whole, because secrets are hidden before the message is shortened.
		const shown = isAbsent(other) ? 'empty' : JSON.stringify(other);
		return `with another value than was sent: ${name} is ${shown}`;
	}
	return undefined;
}

/** In characters. The beginning of a longer name is cut off, so that a hostile answer takes linear time. */
const maxNameLength = 80;

/** The texts, numbers and truths of a body, by the names that lead to them. */
type Facts = Map<string, Set<string>>;

/** The facts of a body, under names such as `data.status`, also of `status: { value: … }`. */
function factsIn(body: unknown): Facts {
	const facts: Facts = new Map();
	const collect = (value: unknown, name: string): void => {
		if (isAbsent(value)) return;
		if (!isObject(value)) {
			const found = facts.get(name);
			if (found === undefined) facts.set(name, new Set([String(value).trim()]));
			else found.add(String(value).trim());
		} else if (Array.isArray(value)) {
			for (const entry of value) collect(entry, name);
		} else {
			for (const [own, part] of Object.entries(value)) collect(part, nameOfPart(name, own.trim()));
		}
	};
	collect(body, '');
	return facts;
}

function nameOfPart(name: string, own: string): string {
	if (name === '') return own.slice(-maxNameLength);
	return partNames.test(own) ? name : `${name}.${own}`.slice(-maxNameLength);
}

/** Names that are left out of the path: those inside a state that is an object, such as `{ value: 'failed' }`. */
const partNames = /^(?:value|name|text|type|label|current|key|[#_$]\w{0,4})$/i;

/** The states that go with a payment that was made. Any other state leaves it open, whatever its word. */
const successWords =
	'true|1|0x1|20[01]|ok(?:ay)?|success(?:ful|fully)?|succeeded|sent|paid|done|completed?|confirmed|settled|executed|processed|delivered|disbursed|transferred|finali[sz]ed|mined';

/** Words of a failure, at their beginning. */
const failureWords =
	'fail|declin|reject|denied|refus|insufficient|invalid|revert|revers|refund|cancel|abort|expired|unsuccess|unable|unauthori[sz]ed|forbidden|roll(?:ed)?.?back|dry.?run|simulat';

/**
 * Words of a payment that is not finished, or was made earlier. Words of a usual refusal, such as "please wait" and "the
 * submitted value", are none of them.
 */
const openWords =
	'timed?.?out|duplicate|already|in.?progress|in.?flight|in.process|pending|queued|waiting|processing|being (?:processed|sent|paid|made|executed)|scheduled|partial|unconfirmed|under.?review|on.?hold|not yet';

/** A participle that is denied, such as in "was not paid". */
const denied =
	"(?:\\bnot|n't|\\bno)[ _-](?:\\w{2,9}[ _-]){0,2}(?:\\w{2,20}ed|paid|sent|made|done|final)\\b";

/** Names of fields that say of a payment that it was made, at their beginning. */
const successNames =
	'(?:is|was|has|payment|tx|transaction)?_?(?:succe|ok|paid|done|complet|confirm|settled|execut|sent|process|final|mined|transferr?ed|approv|accepted|credited|delivered|disbursed|posted)';

/** Values that say no of a success. */
const no = /^(?:0|no?|off|false|error|fail(?:ed|ure)?)$/i;

/** Any value except those that stand for an empty field, such as 0, null or n/a. */
const filled = /^(?!(?:0+|none|null|false|no errors?|n\/a|-)?$)/i;

type Rule = [names: RegExp, values: RegExp];

/** Fields by which an answer of any endpoint says that the call was not carried out. A text without a name is the whole body. */
const denials: Rule[] = [
	[/^(?:(?:data|result)\.)?(?:success|ok)$/i, no],
	[
		/^(?:(?:data|result)\.)?(?:(?:status|state|code)(?:\.code)?)?$/i,
		RegExp(`^(?:(?:[45]\\d\\d|no|false)$|error|${failureWords})`, 'i'),
	],
	[
		/^(?:data\.)?message$/i,
		RegExp(`^(?:internal|error|could not|cannot|not |.*\\bdenied|${failureWords})`, 'i'),
	],
	[/^(?:data\.)?error(?:s|_?code)?(?:\.|$)/i, filled],
];

/**
 * Fields that contradict a completed payment: a state other than success, a false success, and words of failure or of a step
 * that is not finished, as a name that has a value and in any value.
 */
const denialsOfPayment: Rule[] = [
	[
		/(?:status|state|phase|outcome|result|(?:(?<![a-z])|tx)sts)(?:_?(?:text|name|label))?\W*$/i,
		RegExp(`^(?!(?:${successWords})[.!]?$)`, 'i'),
	],
	[
		/(?:^|\.)(?:res(?:p|ponse|ult)?_?|ret(?:urn)?_?|status_?|reason_?|(?:data|result|response|status)\.)code$|^code$/i,
		RegExp(`^(?!(?:${successWords}|0+)$)`, 'i'),
	],
	// A fee of 0 for the processing says nothing.
	[RegExp(`^(?!.*(?:fees?|time|count|amount|balance)$)(?:.*\\.)?${successNames}[^.]*$`, 'i'), no],
	// A payment that was made may say where it can be cancelled.
	[
		RegExp(
			`^(?!.*(?:able|url)$).*(?:\\berr\\b|error|exception|(?<!de)fault|${failureWords})`,
			'is',
		),
		filled,
	],
	// It may say when it was queued, and what a pending one costs.
	[RegExp(`^(?!.*(?:able|at|time|fee|balance|url)$).*(?:requires|${openWords})`, 'is'), filled],
	[/^(?!.*url$)/is, RegExp(`^(?!https?:).*(?:${failureWords}|${openWords}|${denied})`, 'is')],
];

/** Between the name of a field and its value in a text: JSON, also of `["…"]` and `{"value": "…"}`; XML; or `name=value`. */
const separator =
	'(?:"\\s*:|>|=|:)\\s*(?:\\[\\s*|\\{\\s*"(?:value|name|text|code|type|label|current|key|[#_$]\\w{0,4})"\\s*:\\s*)*"?(?=[^\\s"{[<])';

/**
 * Words of a final failure in a field for the state. A refusal with any other state may still be paid, so it is unknown; and
 * so it is with a status that leaves open what was done.
 */
const finalFailureWords =
	'fail|\\berr|error|reject|RJCT|declin|denied|den[iy]|refus|cancel|abort|invalid|insufficient|exceed|limit|too many|forbid|blocked|\\bbad|missing|not.?(?:paid|found|made|done|allowed)|un(?:paid|success|auth|process|accept)|\\bn?ko\\b|\\b(?:no|false|null|4(?!08|09|23|25|99)\\d\\d)\\s*(?:["},\\]<&\\n]|$)';

/** Things that move, in words for a payment that was made; also "it was paid". */
const madeBefore =
	'(?:payments?|payouts?|transfers?|transactions?|disbursements?|amount|funds|money|is|was|were|been|being)';
const madeWords =
	'(?:accepted|broadcast|completed|confirmed|credited|delivered|disbursed|done|executed|initiated|made|mined|moved|paid|posted|processed|recorded|refunded|reversed|sent|settled|submitted|successful|succeeded|transferred)';

/**
 * Texts of a refusal that leave open whether the payment was made earlier, or is under way: words, a state, a success, a hash.
 * Each takes linear time.
 */
const openPaymentPatterns = [
	openWords,
	// Not "could not be sent", "must be confirmed" or "no money was sent".
	`(?<!(?:\\b(?:not|no|cannot|never|must|should|unable|without|until|if)|n't)\\b(?:(?!\\b(?:but|although|however)\\b)[^".,;:-]){0,30})\\b${madeBefore}\\s+(?:\\w{1,20}ly\\s+)?${madeWords}\\b`,
	// Of a failure behind the service, and of a chain that has the transaction.
	'deadline|retried|retrying|debited|deducted|no response|not respon|hang up|econn|upstream|internal (?:server )?error|idempoten|underpriced|known transaction|nonce too|\\bmight\\b|\\bmay (?:still|have)\\b|\\b(?:status|state|outcome|result)\\b.{0,20}\\bunknown|unknown (?:status|state|outcome|result)',
	`(?:status|state|stage|phase|outcome|result|(?:(?<![a-z])|tx)sts)(?:_?(?:text|name|label|code))?${separator}(?![^"<&,;\\n]{0,99}?(?:${finalFailureWords}))`,
	`(?:code|status)${separator}(?:5\\d\\d|408|499)\\b`,
	`"${successNames}\\w*${separator}(?:true|y|yes|1)\\b`,
	`"(?:paid|sent|settled|executed|completed|disbursed|transferred)_?(?:at|on|date|time)${separator}(?!null)`,
	`"(?:\\w*hash|(?:\\w*transaction|\\w*txn|\\w*trx|tx)s?(?:_?(?:id|no|number|ref|reference))?)${separator}(?!null|none|false|0\\b)`,
	'\\b(?:0x)?[0-9a-f]{64}\\b',
].map((words) => RegExp(words, 'i'));

/**
 * A value that can be a transaction hash (service document §2): one word that has a digit from 1 to 9, is not only the number
 * of a status, and has no word of failure or delay. Such a word in the middle of letters and digits does not count: it is chance.
 */
const transactionHash = RegExp(
	`^(?=.*[1-9])(?!\\d{1,6}$|n/a|.*://)(?!(?:|0x|.*[^a-z0-9])(?:err|undefined|null|unknown|${failureWords}|${openWords}))[\\x21-\\x7e]+$`,
	'i',
);

/** Whether it can be the amount of a payment that was made; an answer need not name it. */
function canBePaid(value: unknown): boolean {
	const amount = decimalText(value);
	return isAbsent(value) || (amount !== undefined && isAbove(amount, '0'));
}

/** Whether it is the same number or text, be it that a number comes as text, or a web address in another spelling. */
function isSame(sent: unknown, answered: unknown): boolean {
	if (typeof sent === 'number') return decimalText(answered) === decimalText(sent);
	if (typeof answered !== 'string' && typeof answered !== 'number') return false;
	const text = String(answered).trim();
	if (/^https?:/i.test(text) && URL.canParse(text)) return new URL(text).href === sent;
	return typeof sent === 'string' && text.toLowerCase() === sent.toLowerCase();
}
