/**
 * The names and English words by which a response shows how a payment ended. `responseRules.ts` has the
 * rules for its fields. To see the rule that judges a response:
 * `npx node scripts/judge-response.mts 422 '{"message":"…"}'`
 *
 * `failureWords` and `unclearWords` are parts of several rules: a new word has to fit all of them.
 *
 * A payment that is wrongly *unknown* only waits for a person. One that is wrongly *not paid* can be paid
 * twice, and one that is wrongly *paid* is never paid.
 */
import { compilePatterns } from './matching';

/** The words for the state of a payment that was made. Any other word for a state leaves that open. */
export const successWords =
	'true|1|0x1|20[01]|ok(?:ay)?|success(?:ful|fully)?|succeeded|sent|paid|done|completed?|confirmed|settled|executed|processed|delivered|disbursed|transferred|finali[sz]ed|finished|mined';

/** The beginnings of words for a failure. */
export const failureWords =
	'fail|declin|reject|denied|refus|insufficient|invalid|revert|revers|refund|cancel|abort|expired|unsuccess|unable|unauthori[sz]ed|forbidden|roll(?:ed)?.?back|dry.?run|simulat';

/**
 * Words for a payment that is not finished, or was made earlier. They must not match words of a usual
 * refusal, such as "please wait" and "the submitted value".
 */
export const unclearWords =
	'timed?.?out|duplicate|already|in.?progress|in.?flight|in.process|pending|queued|waiting|processing|for approval|being (?:processed|sent|paid|made|executed)|scheduled|partial|unconfirmed|under.?review|on.?hold|not yet';

/** The words for a payment. */
const payment = '(?:payment|payout|transfer|transaction|tx|disbursement)s?';

/** Further words that contradict a success. */
export const contradictingWords = [
	// A negated participle, such as in "was not paid".
	"(?:\\bnot|n't|\\bno)[ _-](?:\\w{2,9}[ _-]){0,2}(?:\\w{2,20}ed|paid|sent|made|done|final)\\b",
	"did(?: not|n't) go|nothing was|no transfer|not found|not answer|dropped|out of gas",
	`${payment} initiated|will be (?:sent|paid|processed|transferred)|proposed|draft|held by`,
	'needs approval|needs \\d|\\botp\\b',
	'returned (?:to|by)|bounced|voided|charged ?back|replay',
];

/** The beginnings of names of fields that say whether a payment was made. */
export const successNames =
	'(?:is|was|has|payment|tx|transaction)?_?(?:succe|ok|paid|done|complet|confirm|settled|execut|sent|process|final|mined|transferr?ed|approv|accepted|credited|delivered|disbursed|posted|submitted|broadcast|live)';

/** Words for a payment that was made, unless one of the three words before negates them: "was not sent". */
const madeWords = `(?<!\\b(?:not|no|never|cannot|must|should|[a-z]{2,7}n't) (?:[\\w']{1,20} ){0,2})\\b(?:${[
	'broadcast(?:ed)?|cleared|completed|confirmed|credited|delivered|disbursed|done|executed|finali[sz]ed|is complete|issued|made',
	'mined|moved|paid|posted|processed|refunded|released|reversed|sent|settled|success(?:ful(?:ly)?)?|succeeded|transferred|wired',
	'accepted the|burned|charged|dispatched|gone out|landed|left the|minted|relayed|remitted|withdrawn|in transit|on (?:its|the) way',
	`${payment} (?:complete|ok|is final)|went through`,
	`(?:${payment}|was|were|been|is|has|have) (?:(?!not\\b|never\\b|cannot\\b|\\w+n't)\\S{1,20} ){0,2}(?:accepted|initiated|received|recorded|submitted)`,
].join('|')})\\b`;

/** Words for a failure that can also come after a payment was made, grouped by their meaning. */
const failuresAfterPayment = {
	/** The service gave up waiting, or trying again. */
	gaveUp: [
		'deadline|retried|retrying|not respond|not answer|took too long|too long for|time ?limit|\\bpoll|retries',
		'retry (?:attempts )?(?:limit|exceed)|max(?:imum)? (?:attempts|retr|wait)|wait (?:for (?:the )?(?:block|transaction)|time|limit)',
		'no confirmation',
	],
	/** A connection broke off. */
	network: [
		'hang up|econn|epipe|\\beof\\b|broken pipe|connection|socket|network error|fetch failed|upstream|gateway|unavailable|abort',
		'\\bcancell?ed|terminated|disconnected|recv fail|other side|(?:channel|stream|pool|client|session) (?:is )?closed',
		'request failed|err network',
	],
	/** A program failed, or could not read a response. */
	program: [
		'(?:internal|server|unknown) error|status code 5|something went wrong|cannot read|-32\\d{3}',
		'end of json|expecting value|nonetype|undefined (?:array|index)',
		'(?:invalid|missing|malformed|bad|empty|no) (?:json )?(?:rpc )?(?:repl|respon|result)|response body|unexpected token',
		'looking for beginning|rpc (?:request|error)|serialize',
	],
	/** A blockchain has the payment, or does not show it yet. */
	chain: [
		'nonce|underpriced|known transaction|replace|replay|receipt|mempool|hash|confirmations|confirm the|\\byet\\b',
		`${payment} (?:id|number|reference)`,
		`(?:${payment}|header|block) (?:(?:record|entry|row|status) )?(?:was |could )?not (?:be )?(?:found|mined|confirmed|verified)`,
	],
	/** The money was moved, or is waiting. */
	bank: [
		'\\bdebit|deducted|escrow|deferred|postponed|delayed|parked|tomorrow|was taken',
		'(?:funds|money|amount) (?:(?:is|are|was|were) )?reserved|from (?:the )?(?:bank|provider|chain)|bank (?:answer|reply)',
	],
	/** A database failed, maybe after the payment. */
	database: [
		'deadlock|unique|database|sqlite|\\bredis|noauth|eacces|enospc|relation "|input syntax|string value|\\bcolumn\\b|\\bp2002|e11000',
		"\\b23505|\\b40001|violates|for table|table is|after insert|too many (?:clients|open files)|@'",
	],
	/** A step after the payment failed. */
	laterStep: [
		'(?:could not|failed to) (?:be )?(?:save|store|notif)|webhook|callback|\\bsms\\b|notification|ledger',
		'(?:refund|reversal|compensation) failed|(?:could not|failed to) (?:send|log|write|verify|publish)|after.?(?:payment|capture|transfer|sending|charge)',
	],
	/** The words are about another payment, or an earlier one with the same reference. */
	otherPayment: [
		`idempoten|(?:${payment}|reference) exists|identical|used before|dup |under ?way|ongoing`,
		`is running|concurrent|double|repeat|reused?\\b|twice|once per|another ${payment}|locked by|forwarded`,
		`requested before|simultaneous|open ${payment}|(?:same|previous|first) (?:request|${payment})|to finish`,
	],
	/** A person has to approve the payment. */
	approval: [
		'review|\\bheld\\b|signatures? (?:is |are )?(?:required|missing)|more signature|signing|authori[sz]ation (?:required )?by',
		`needs (?:sign|authori)|\\botp\\b|\\bpin\\b|approval|${payment} must be approved|second person`,
	],
	/** The service does not know how the payment ended. */
	serviceUnsure: [
		'\\bmight\\b|may (?:still|have)|unknown (?:status|state|outcome|result|if|whether)',
		'(?:status|state|outcome|result) (?:\\w{1,20} ){0,5}unknown',
	],
	/** A letter of a script in which these rules know no words. */
	otherScript: ['[\\u0370-\\u1fff\\u2e80-\\ud7ff]'],
};

/** Rules for texts that leave open whether a payment was made earlier or is under way. They take linear time. */
export const unclearPaymentPatterns = compilePatterns({
	unclearWords,
	madeWords,
	...failuresAfterPayment,
	/** The text quotes another response: it has JSON, XML, or names with values. */
	quotedResponse: `[{}]|<[a-z!/?]|["'’”] ?:|(?:status|state|stage|phase|outcome|result|success)\\w{0,20} ?[:=]`,
	/** The text has a hash, which belongs to a payment that was made. */
	longHash: '\\b(?:0x)?[0-9a-f]{64}\\b',
});

/** Rules for words that say why a payment is refused, grouped by the reason. */
export const refusalWords = compilePatterns({
	/** The treasury has too little money. */
	noMoney: 'insufficien|not enough|no (?:money|funds)|low balance',
	/** A value that was sent is wrong or missing. */
	wrongValue:
		'invalid|not valid|incorrect|wrong|required|must|missing|malformed|not a |should (?:not )?be|validation|^field$|bad request|unprocessable',
	/** The amount is too large or too small. */
	outsideLimit:
		'limit|exceed|too (?:large|small|low|high|much)|maximum|minimum|below|above|between|greater than|less than|positive|negative',
	/** Too many requests were sent. Cloudflare says so with the code 1015. */
	tooMany: 'too many|slow down|throttl|^error code: 1015$',
	/** The service does not know the user, the account or the endpoint. */
	notFound:
		'not found|no such|n.t exist|unsupported|cannot (?:post|be used)|unknown (?:user|wallet|account|recipient|field|route|endpoint)',
	/** The API key may not do this. */
	notAllowed:
		'unauthori[sz]ed|authenticat|authori[sz]ation|credential|api.?key|token|forbidden|permission|not (?:allowed|permitted|authori[sz]ed|supported|acceptable|verified|active|eligible)',
	/** The account of a person cannot be paid. */
	unusableAccount:
		'no wallet|not have|kyc|suspended|frozen|disabled|inactive|closed|locked|(?:account|user|wallet|recipient) (?:is |was )?not',
	/** The response says no more than that it refuses. */
	saysNo:
		'denied|rejected|declined|refused|(?:payment|transfer|disbursement|money) (?:was |could )?not',
});

/**
 * Matches a text that says only that too many requests were sent. After any other refusal a payment is not repeated by
 * itself.
 */
export const onlyTooManyRequests =
	/^(?:(?:too many requests?|rate limit(?: exceeded|ed)?|slow down|please|wait|retry|try again|later|after|in|\d+|s(?:econds?)?)\b[ .,!]*)*$/i;

/**
 * Matches a value that can be a transaction hash (service document §2): one word that has a digit from 1 to 9.
 * It must not be a number of up to six digits, as a status or an error is, begin with `n/a`, or hold `://`. Neither may a
 * part of it begin with a word for an error, a test or a task, such as *mock* or *batch*. Such a word in the middle
 * of letters and digits does not count, because it can be there by chance. Words for a failure or a delay count in
 * any field (`wordsOfFailureOrUnclearStep`).
 */
const transactionHash = RegExp(
	`^(?=.*[1-9])(?!-?\\d{1,6}$|n/a|.*://)(?!(?:|0x|.*[^a-z0-9])(?:err|undefined|null|unknown|mock|test|sandbox|job|proposal|dummy|fake|placeholder|batch|task|req|approval|http|queue|temp|tbd))[\\x21-\\x7a]+$`,
	'i',
);

export const isTransactionHash = (value: unknown): boolean =>
	typeof value === 'string' && transactionHash.test(value.trim());
