/** What is known of the one webhook URL of an account, and what follows from it. Nothing here waits or calls. */

/** The account that a credential is for, in a form that shows no key. Two are the same if they share one of these. */
export type AccountKeys = readonly string[];

/** A trigger that listens at a URL. */
export interface Listener {
	/** Which trigger node of which workflow it is. */
	trigger: string;
	account: AccountKeys;
	url: string;
	/** URL After Deactivation. */
	urlAfter?: string;
	/** Nobody was told yet that it is published or tested: if its URL cannot be set, it never was. */
	isNew: boolean;
}

/** A published trigger. The newest one receives the account's events. */
export interface Holder extends Listener {
	workflowName: string;
}

export type WhileTesting = 'share' | 'refuse' | 'leaveUrl';

/** A trigger in the editor that listens for a test event. */
export interface TestListener extends Listener {
	whileTesting: WhileTesting;
	/** The production URL that it stands in for, because another process handles that one: its events are sent on. */
	standsInFor?: string;
	/** The service was told this URL at some time, so what arrives there may have been meant for production. */
	wasSet: boolean;
	/** It has ended, and only waits for the URL to be given back. */
	isEnding: boolean;
}

export interface Knowledge {
	/** Oldest first; the last one receives the events. */
	readonly holders: readonly Holder[];
	/** Oldest first. */
	readonly tests: readonly TestListener[];
	/** The account of the trigger that left last, and where it wanted the events to go. */
	readonly left?: { url?: string; account: AccountKeys };
	/** What the service has for certain: it took this URL, and was given no other since. */
	readonly confirmed?: string;
	/** What it may have while nothing is certain. */
	readonly possible?: readonly string[];
	/** To be set all the same, which heals what others set. */
	readonly isToBeSet?: boolean;
}

export const nothingKnown: Knowledge = { holders: [], tests: [] };

/** The published trigger that receives the events. */
export const holderOf = ({ holders }: Knowledge): Holder | undefined => holders.at(-1);

export const testOf = ({ tests }: Knowledge, trigger: string): TestListener | undefined =>
	tests.find((test) => test.trigger === trigger);

/** Whether anything known is about this account. */
export function isAbout({ holders, tests, left }: Knowledge, account: AccountKeys): boolean {
	const known = [...holders, ...tests, ...(left ? [left] : [])];
	return known.some((entry) => entry.account.some((key) => account.includes(key)));
}

/** Whether a test of the trigger has begun at this URL, and was told so. */
export function isListening(known: Knowledge, trigger: string, url: string): boolean {
	const test = testOf(known, trigger);
	return test?.url === url && !test.isEnding && !test.isNew;
}

/** Whether the trigger is published or tested at this URL. */
export const hasTrigger = ({ holders, tests }: Knowledge, trigger: string, url: string): boolean =>
	[...holders, ...tests].some((entry) => entry.trigger === trigger && entry.url === url);

/**
 * The URL that the service should have: that of a test that needs it, else of the published trigger, else where the
 * events should go after that. Undefined: it does not matter.
 */
export function wantedUrl(known: Knowledge): string | undefined {
	const holder = holderOf(known);
	const test = known.tests.findLast((listener) => needsUrl(listener, holder));
	return test?.url ?? holder?.url ?? known.left?.url;
}

function needsUrl(test: TestListener, holder: Holder | undefined): boolean {
	if (test.isEnding || test.whileTesting === 'leaveUrl') return false;
	return holder === undefined || test.standsInFor === holder.url;
}

/**
 * A trigger is published. Its URL has to be set even if it was before.
 * @param takesOver whether it may take the events from another trigger
 * @param isStarting n8n publishes again what was published: without Take Over it stands back, and is not refused
 * @param isReplacing it takes its own place, which it left a moment ago. Else others may have set another URL since
 * @returns the trigger that has the account, if this one is refused
 */
export function publish(
	known: Knowledge,
	holder: Holder,
	{
		takesOver,
		isStarting,
		isReplacing,
	}: { takesOver: boolean; isStarting: boolean; isReplacing: boolean },
): Knowledge | { heldBy: Holder } {
	const others = known.holders.filter(({ trigger }) => trigger !== holder.trigger);
	const heldBy = others.at(-1);
	const isHolder = holderOf(known)?.trigger === holder.trigger;
	const stays = heldBy === undefined || isHolder || takesOver;
	if (!stays && !isStarting) return { heldBy };
	const holders = stays ? [...others, holder] : [holder, ...others];
	if (!stays) return { ...known, holders };
	const confirmed = isReplacing ? known.confirmed : undefined;
	return { ...known, holders, confirmed, isToBeSet: true };
}

/** A trigger is no longer published. */
export function unpublish(known: Knowledge, trigger: string, url: string): Knowledge {
	const gone = known.holders.find((holder) => holder.trigger === trigger && holder.url === url);
	if (gone === undefined) return known;
	const left = gone === holderOf(known) ? leftBy(gone) : known.left;
	return { ...known, holders: without(known.holders, gone), left };
}

const leftBy = ({ account, urlAfter }: Listener) => ({ account, url: urlAfter });

/**
 * A test begins, in the place of an earlier one of the same trigger, which n8n does not always end before. What was
 * meant for production may still come by that one's URL.
 */
export function startTest(known: Knowledge, test: TestListener): Knowledge {
	const others = known.tests.filter(({ trigger }) => trigger !== test.trigger);
	const wasSet = testOf(known, test.trigger)?.wasSet === true || mayHave(known, test.url);
	return { ...known, tests: [...others, { ...test, wasSet }] };
}

/** A test has ended. It is remembered until the URL was given back. */
export function endTest(known: Knowledge, trigger: string, url: string): Knowledge {
	const ended = known.tests.find((test) => test.trigger === trigger && test.url === url);
	if (ended === undefined) return known;
	const tests = known.tests.map((test) => (test === ended ? { ...test, isEnding: true } : test));
	const isLeft = ended.wasSet && ended.urlAfter && known.holders.length === 0;
	return { ...known, tests, left: isLeft ? leftBy(ended) : known.left };
}

/** The service is being told this URL: until it answers, what it has is certain only if it has this one already. */
export function setting(known: Knowledge, url: string): Knowledge {
	const tests = known.tests.map((test) => (test.url === url ? { ...test, wasSet: true } : test));
	if (known.confirmed === url) return { ...known, tests };
	const before = known.confirmed === undefined ? (known.possible ?? []) : [known.confirmed];
	return { ...known, tests, confirmed: undefined, possible: [...new Set([...before, url])] };
}

const mayHave = ({ confirmed, possible = [] }: Knowledge, url: string): boolean =>
	confirmed === undefined ? possible.includes(url) : confirmed === url;

/** The service took this URL. */
export const taken = (known: Knowledge, url: string): Knowledge => ({
	...known,
	confirmed: url,
	isToBeSet: false,
});

/**
 * The service did not take this URL, as far as is known.
 * @returns the trigger that was to be published or tested with it, and is not. None if the service has it already:
 * a trigger that does not listen would lose what is sent there
 */
export function rejected(known: Knowledge, url: string): { known: Knowledge; dropped?: Listener } {
	if (wantedUrl(known) !== url || known.confirmed === url) return { known };
	const { tests, holders } = known;
	const dropped = [...tests, ...holders].find((listener) => listener.url === url && listener.isNew);
	if (dropped === undefined) return { known };
	return {
		known: { ...known, tests: without(tests, dropped), holders: without(holders, dropped) },
		dropped,
	};
}

const without = <Kind extends Listener>(listeners: readonly Kind[], dropped: Listener): Kind[] =>
	listeners.filter((listener) => listener !== dropped);

/** Nothing more is being done: each trigger that was not dropped is published or tests, and is told so. */
export function concluded(known: Knowledge): Knowledge {
	const isGivenBack = isConfirmed(known);
	return {
		...known,
		holders: known.holders.map((holder) => ({ ...holder, isNew: false })),
		tests: known.tests
			.filter((test) => !(test.isEnding && isGivenBack))
			.map((test) => ({ ...test, isNew: false })),
	};
}

/** Whether the service has what it should have. */
export function isConfirmed(known: Knowledge): boolean {
	const url = wantedUrl(known);
	return url === undefined || (url === known.confirmed && known.isToBeSet !== true);
}

/** The tests that get a copy of what a published trigger receives. */
export function copiesFor(known: Knowledge, trigger: string): string[] {
	const holder = holderOf(known);
	if (holder?.trigger !== trigger) return [];
	return known.tests
		.filter((test) => test.whileTesting === 'share' && !test.isEnding && !needsUrl(test, holder))
		.map(({ url }) => url);
}

/**
 * Where a delivery at a test's URL has to go as well, because it may have been meant for production.
 * @returns `unknown` when no such test is known: then nobody can say
 */
export function productionOf(
	known: Knowledge,
	trigger: string,
): { url: string } | 'nobody' | 'unknown' {
	const test = testOf(known, trigger);
	if (test === undefined) return 'unknown';
	const holder = holderOf(known);
	return test.wasSet && holder !== undefined ? { url: holder.url } : 'nobody';
}

/** Whether a trigger is published or tested for the account. */
export const isInUse = ({ holders, tests }: Knowledge): boolean =>
	holders.length > 0 || tests.length > 0;

/** Whether this can be forgotten. */
export function isNothing(known: Knowledge): boolean {
	const { left, confirmed } = known;
	const isLeft = left !== undefined && (left.url ?? confirmed) !== undefined;
	return !isInUse(known) && !isLeft;
}
