/** The fields and words of an answer that contradict its status, or what was sent. */
import type { IDataObject } from 'n8n-workflow';
import { decimalText, isAbove } from '../decimal';
import { isAbsent } from '../invalidValue';
import { isObject, property } from '../unknownValues';
import type { Answer } from './attempt';
import type { ServiceRequest } from './request';

/** The parts of a request that decide what its answer means. */
export type Asked = Pick<
	ServiceRequest,
	'method' | 'body' | 'answersWith' | 'movesMoney' | 'defaultOutput'
>;

export const hasFields = (body: unknown): body is IDataObject =>
	isObject(body) && !Array.isArray(body);

/** The values of a name at the top of a body and in its `data`, where the service puts some (service document §4). */
export const valuesOf = (body: unknown, name: string): unknown[] =>
	[body, property(body, 'data')].map((place) => property(place, name));

export const hasSuccess = (body: unknown, value: boolean): boolean =>
	valuesOf(body, 'success').includes(value);

/** Whether an object in the text of an answer has a name twice: of two values JSON keeps the last one. */
export const hasRepeatedName = ({ text, body }: Answer): boolean =>
	namesIn(text) !== namesIn(JSON.stringify(body));

const namesIn = (json: string): number =>
	json.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)?.filter((each) => each.endsWith(':')).length ?? 0;

/**
 * Whether an answer with a success status contradicts itself, or what was sent. The service document (§4) does not show the
 * answers of endpoints 4 and 5, so a body that says nothing of it is fine. An amount that can be one is no contradiction: the
 * service may have paid another one.
 * @returns what contradicts, to follow "The service answered 200"
 */
export function contradictionOfSuccess(
	body: unknown,
	{ body: sent = {}, movesMoney }: Asked,
): string | undefined {
	const rules = movesMoney === true ? [...denials, ...denialsOfPayment] : denials;
	for (const [name, found] of fieldsIn(body)) {
		if (Object.hasOwn(sent, name.replace(/^data\./, ''))) continue;
		const denying = rules.filter(([names]) => names.test(name)).map(([, words]) => words);
		const denial = [...found].find((value) => denying.some((words) => words.test(value)));
		if (denial !== undefined) return `with ${name || 'the words'}: ${JSON.stringify(denial)}`;
	}
	for (const [name, value] of Object.entries(sent)) {
		const found = valuesOf(body, name).filter((place) => place !== undefined);
		const isPayment = movesMoney === true && name === 'amountEtb';
		const amounts = new Set(found.map((each) => decimalText(each) ?? each));
		const other = found.find((each) =>
			isPayment
				? !canBePaid(each) || (amounts.size > 1 && !isSame(value, each))
				: !isSame(value, each),
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
type Fields = Map<string, Set<string>>;

/** The values of a body, under names such as `data.status`, also of `status: { value: … }`. */
function fieldsIn(body: unknown): Fields {
	const fields: Fields = new Map();
	const collect = (value: unknown, name: string): void => {
		if (isAbsent(value)) return;
		if (!isObject(value)) {
			const found = fields.get(name);
			if (found === undefined) fields.set(name, new Set([String(value).trim()]));
			else found.add(String(value).trim());
		} else if (Array.isArray(value)) {
			for (const entry of value) collect(entry, name);
		} else {
			for (const [own, part] of Object.entries(value)) collect(part, nameOfPart(name, own.trim()));
		}
	};
	collect(body, '');
	return fields;
}

function nameOfPart(name: string, own: string): string {
	if (name === '') return own.slice(-maxNameLength);
	return partNames.test(own) ? name : `${name}.${own}`.slice(-maxNameLength);
}

/** Names that are left out of the path: those inside a state that is an object, such as `{ value: 'failed' }`. */
const partNames = /^(?:value|name|text|type|label|current|key|[#_$](?:text|value)?)$/i;

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
	'(?:is|was|has|payment|tx|transaction)?_?(?:succe|ok|paid|done|complet|confirm|settled|execut|sent|process|final|mined|transferr?ed|approv|accepted|credited|delivered|disbursed|posted|submitted|broadcast|live)';

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
	// The answer of an earlier payment, of a test, or of a payment that somebody has to approve.
	[
		/(?:^|[._]|is)(?:replay(?:ed)?|idempotent|cached|existing|sandbox|mock|test(?:_?mode)?|validate_?only|(?:approval|signature|action|otp)s?_?required)$/i,
		/^(?:true|1|yes)$/i,
	],
	[/^(?!.*url$)/is, RegExp(`^(?!https?:).*(?:${failureWords}|${openWords}|${denied})`, 'is')],
];

/** Words of a payment that was made, unless one of the two words before denies them: "was not sent", "no money was sent". */
const madeWords = `(?<!\\b(?:not|no|never|cannot|must|should|[a-z]{2,7}n't) (?:[\\w']{1,20} ){0,2})\\b(?:${[
	'broadcast(?:ed)?|cleared|completed|confirmed|credited|delivered|disbursed|done|executed|finali[sz]ed|is complete|issued|made',
	'mined|moved|paid|posted|processed|refunded|released|reversed|sent|settled|success(?:ful(?:ly)?)?|succeeded|transferred|wired',
	'went through|(?:payment|transfer|transaction|disbursement|was|were|been|is|has|have) (?:accepted|initiated|received|recorded|submitted)',
].join('|')})\\b`;

/** Words of a failure behind the service, after which a payment may have been made, and of a chain that has the transaction. */
const failureBehind = [
	'deadline|retried|retrying|debited|deducted|no response|not respond|not answer|hang up|econn|epipe|\\beof\\b|broken pipe|connection',
	'socket|network error|fetch failed|upstream|gateway|unavailable|took too long|too long for|(?:internal|server|unknown) error',
	'status code 5|(?:task|context) (?:was )?cancell?ed|something went wrong|cannot read|deadlock|-32\\d{3}|nonce|underpriced',
	'known transaction|replaced|replay|receipt|confirmations|confirm the|\\byet\\b|idempoten|unique|(?:payment|transfer|transaction|disbursement|reference) exists',
	'identical|used before|dup |review|held for|more signature|(?:could not|failed to) (?:be )?(?:save|store|notif)|\\bmight\\b|may (?:still|have)',
	'unknown (?:status|state|outcome|result|if|whether)|(?:status|state|outcome|result) (?:\\w{1,20} ){0,5}unknown',
	'(?:transaction|tx|payment|transfer) (?:id|hash|number|reference)',
].join('|');

/** Texts that leave open whether a payment was made earlier, or is under way. Each takes linear time. */
const openPaymentPatterns = [
	openWords,
	madeWords,
	failureBehind,
	// Another answer that is quoted: JSON, XML, or names with values.
	`[{}]|<[a-z!/?]|["'’”] ?:|(?:status|state|stage|phase|outcome|result|success|hash)\\w{0,20} ?[:=]`,
	'\\b(?:0x)?[0-9a-f]{64}\\b',
].map((words) => RegExp(words, 'i'));

/** Statuses behind which a service may put a failure of its own, also one after it paid, so the words of the answer have to say why. */
const vagueStatuses: ReadonlySet<number> = new Set([400, 422, 429]);

/** Words that say why a payment is refused. */
const refusalWords = RegExp(
	[
		'insufficien|not enough|no (?:money|funds|such)|low balance|invalid|not valid|incorrect|wrong|required|must|missing|malformed',
		'not found|unknown (?:user|wallet|account|recipient|field|route|endpoint)|not exist|n.t exist|unauthori[sz]ed|authenticat|authori[sz]ation',
		'credential|api.?key|token|forbidden|not (?:allowed|permitted|authori[sz]ed|supported|acceptable|verified|active|eligible)|permission',
		'(?:account|user|wallet|recipient) (?:is |was )?not|denied|rejected|declined|refused|limit|exceed|too (?:many|large|small|low|high|much)|slow down|throttl|bad request|unprocessable',
		'unsupported|cannot (?:post|be used)|blocked|suspended|frozen|disabled|inactive|closed|locked|maximum|minimum|below|above',
		'greater than|less than|between|positive|negative|moved permanently|validation|(?:payment|transfer|disbursement|money) (?:was |could )?not',
	].join('|'),
	'i',
);

/** The fields of a refusal of a payment that say why. */
const reasonNames =
	/^(?:|errors?|(?:error_?|status_?)?message|msg|details?|(?:error_?)?description|reason|title|hint)$/i;

/** Its other fields, beside those that were sent. */
const refusalNames =
	/^(?:success|ok|(?:http_?)?status|(?:error_?|status_?)?(?:code|type)|fields?|param|path|loc|pointer|source|target|input|method|url|help|instance|timestamp|(?:request|trace|correlation)_?id|(?:to_?)?user_?id|amount(?:_?etb)?|currency|shortfall|(?:available|current|treasury|account|wallet)?_?balance|available|requested(?:_?amount)?|required(?:_?amount)?|(?:\w{1,20}_?)?(?:limit|min|max)|retry_?after|remaining|reset)$/i;

/** The values of a refusal, for the fields that say so. */
const refusalValues: Rule[] = [
	[/(?:^|\.)(?:success|ok)$/i, no],
	[
		/status(?:[._]?code)?$/i,
		RegExp(
			`^(?:4\\d\\d|err|bad|not.?found|too many|unprocessable|(?:no|false)$|${failureWords})`,
			'i',
		),
	],
	[
		/(?:status|code)$/i,
		RegExp(
			`^(?!(?:[25]\\d\\d|30[23]|40[689]|42[345]|444|449|499|0+|approved|${successWords})$)`,
			'i',
		),
	],
];

/** In characters. A longer answer is none of the usual refusals. */
const maxRefusalLength = 65_536;

/**
 * Whether the answer to a refused request leaves open whether it was carried out. The refusal of a payment does so by a field
 * that a refusal does not have, such as a hash or a state, and by words. After a vague status its words have to say why it
 * is refused, unless it has none, or `success: false` (service document §2).
 * @returns what leaves it open, to follow "The service answered 422"
 */
export function contradictionOfRefusal(
	{ body: sent = {}, movesMoney }: Asked,
	answer: Answer,
): string | undefined {
	const { status, body, text } = answer;
	if (movesMoney !== true) return hasSuccess(body, true) ? 'with success: true' : undefined;
	if (text.length > maxRefusalLength) return 'with a body that is too long for a refusal';
	if (body !== undefined && hasRepeatedName(answer)) return 'with the same name twice in its body';
	const isPage = /^\s*<(?:!doctype )?html\b/i.test(text);
	const fields = fieldsIn(body ?? (isPage ? text.replace(/<[^<>]*>/g, ' ') : text));
	const leaves = new Map([...fields.keys()].map((name) => [name, name.split('.').at(-1) ?? '']));
	const needsReason = vagueStatuses.has(status) && !hasSuccess(body, false);
	const hasReason = [...leaves.values()].some((leaf) => reasonNames.test(leaf));
	for (const [name, values] of fields) {
		const leaf = leaves.get(name) ?? '';
		const isReason = needsReason && (hasReason ? reasonNames : /code$/i).test(leaf);
		const isOpen = (value: string): boolean => {
			const words = value.replace(/[\s_]+/g, ' ');
			return (
				openPaymentPatterns.some((pattern) => pattern.test(words)) ||
				refusalValues.some(([names, expected]) => names.test(name) && !expected.test(value)) ||
				(isReason && words !== '' && !refusalWords.test(words))
			);
		};
		if (!isFieldOfRefusal(name, sent) || [...values].some(isOpen))
			return `with ${name === '' ? 'words that leave' : `a ${name} that leaves`} open whether it paid`;
	}
	return undefined;
}

function isFieldOfRefusal(name: string, sent: IDataObject): boolean {
	const isKnown = (part: string): boolean =>
		reasonNames.test(part) || refusalNames.test(part) || Object.hasOwn(sent, part);
	const parts = name.split('.');
	return parts.every(
		(part, index) => isKnown(part) || (part === 'data' && index < parts.length - 1),
	);
}

/**
 * A value that can be a transaction hash (service document §2): one word that has a digit from 1 to 9, is not only the number
 * of a status, and has no word of failure or delay. Such a word in the middle of letters and digits does not count: it is chance.
 */
const transactionHash = RegExp(
	`^(?=.*[1-9])(?!\\d{1,6}$|n/a|.*://)(?!(?:|0x|.*[^a-z0-9])(?:err|undefined|null|unknown|mock|test|sandbox|draft|job|proposal|${failureWords}|${openWords}))[\\x21-\\x7a]+$`,
	'i',
);

export const isTransactionHash = (value: unknown): boolean =>
	typeof value === 'string' && transactionHash.test(value.trim());

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
