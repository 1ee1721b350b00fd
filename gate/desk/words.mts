/** The words of the pay gate's desk, each once: what a person can do, choose and read, how an amount and a time look. */

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;
/** What a query gives as `found`, as its page needs it. */
export type Found = Record<string, Cell | Row | Row[]>;

export const rowsOf = (value: Found[string]): Row[] => (Array.isArray(value) ? value : []);
export const rowOf = (value: Found[string]): Row =>
	typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
/** One value as text; nothing for what is none. */
export const textOf = (value: unknown): string =>
	typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
		? String(value)
		: '';

/** What the first page offers, and which answers its page takes. */
export const todos = {
	settle: 'See what needs me, and settle it',
	spent: 'See what was spent',
	find: 'Find a payment',
	stop: 'Stop or resume all payments',
	limits: 'Change limits',
	recipients: 'Known recipients',
	callers: 'Limits of one caller',
	unconfirmed: 'See what no event confirmed',
	happened: 'See what happened lately',
};

/** What can be chosen on a page, by what it means in the record. */
export const choices = {
	settle: { true: 'They were paid', false: 'They were not paid: they may be sent again' },
	stop: { true: 'Stop all payments', false: 'Let payments through' },
	only_known_recipients: { false: 'Everybody', true: 'Known recipients only' },
	only_known_callers: { false: 'All workflows', true: 'Known callers only' },
	callers: {
		allow: 'Allow it, with the limits below',
		stop: 'Stop its payments',
		remove: 'Take it off the list',
	},
};

/** What a limit that is none looks like, and what a person writes to take one away. */
export const noLimit = 'no limit';

/** The limits of all callers together and of one caller, in ETB, by their names in the record. */
export const limits = {
	most_per_day: 'Most per day',
	most_per_month: 'Most per month',
	most_per_payment: 'Most for one payment',
	most_per_recipient_per_day: 'Most for one person per day',
	most_per_recipient_per_month: 'Most for one person per month',
};
export const callerLimits = ['most_per_payment', 'most_per_day', 'most_per_month'] as const;

/** The rules that are a choice of two. */
export const twoWayRules = {
	only_known_recipients: 'Who may be paid?',
	only_known_callers:
		'Which workflows may pay? (By the name that they give themselves, which nothing proves)',
};

/** States of payments and events of the history, as a person reads them. Others are shown as they are. */
export const stateWords: Record<string, string> = {
	sending: 'being sent',
	inFlight: 'being sent',
	notPaid: 'not paid',
	mayBePaidTwice: 'MAY BE PAID TWICE',
	paidTwice: 'PAID TWICE',
	paidAfterAll: 'PAID AFTER ALL',
	send: 'handed out',
	lateAnswer: 'late answer',
	leaseEnded: 'end never told',
	saidPaid: 'settled: paid',
	saidNotPaid: 'settled: not paid',
	saidSeen: 'taken note of',
	saidPaidBefore: 'written down as paid before',
	saidConfirmed: 'taken off the list',
	latePaid: 'late answer: paid',
	lateUnknown: 'late answer: unknown',
	rules: 'limits changed',
	recipient: 'recipients changed',
	caller: "caller's limits changed",
};

/** An amount in ETB: 1200.5 is "1,200.50". */
export function money(etb: Cell): string {
	const [whole = '', part = ''] = String(etb).split('.');
	const cents = part.replace(/0+$/, '').padEnd(2, '0');
	return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}

/** A time as PostgreSQL writes it into JSON, to the minute. */
export const time = (at: Cell): string => String(at).slice(0, 16).replace('T', ' ');

/** (Looked for in a list: n8n's expressions refuse some names of properties, such as "caller".) */
export const state = (word: Cell): string =>
	Object.entries(stateWords).find(([name]) => name === word)?.[1] ?? String(word);

/** A limit in ETB, or that there is none. */
export const limit = (etb: Cell): string =>
	etb === null || etb === undefined ? noLimit : money(etb);

/** The first tick of a list that shows only a part. */
export const allOfThem = 'All of them, those that are not shown too';
