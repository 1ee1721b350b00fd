/** What is known of the one webhook URL of an account, and what follows from it. Nothing here waits or calls. */

/** A trigger that listens at a URL. */
export interface Listener {
	/** Which trigger node of which workflow it is. */
	trigger: string;
	url: string;
	/** Nobody was told yet that it is published or tested: if its URL cannot be set, it never was. */
	isNew: boolean;
}

/** The published trigger that receives the account's events. */
export interface Holder extends Listener {
	workflow: { id: string; name: string };
	/** The project of n8n that the workflow belongs to. */
	project: string | undefined;
	/** Another process may lead by now, and have unpublished it. */
	isLeft?: boolean;
}

export type WhileTesting = 'share' | 'leaveUrl';

/** A trigger in the editor that listens for a test event. */
export interface TestListener extends Listener {
	whileTesting: WhileTesting;
	/** The service has to send to it: when it began nobody was published, or only in another process. */
	needsUrl: boolean;
	/** Of who is published, or was last since it began. What arrives at the test may have been meant for it. */
	productionUrl?: string;
	/** The service was told this URL at some time, so what arrives there may have been meant for production. */
	wasSet: boolean;
	/** It has ended, and only waits for the URL to be given back. */
	isEnding: boolean;
}

export interface Knowledge {
	readonly holder?: Holder;
	/** Oldest first. */
	readonly tests: readonly TestListener[];
	/** What the service has for certain: it took this URL, and was given no other since. Else nobody knows. */
	readonly confirmed?: string;
	/** To be set all the same, which heals what others set. */
	readonly isToBeSet?: boolean;
}

export const nothingKnown: Knowledge = { tests: [] };

export const testOf = ({ tests }: Knowledge, trigger: string): TestListener | undefined =>
	tests.find((test) => test.trigger === trigger);

/** All that listen or end. */
const listeners = ({ holder, tests }: Knowledge): Listener[] =>
	holder === undefined ? [...tests] : [...tests, holder];

/** Whether a trigger is published or tested for the account. */
export const isInUse = (known: Knowledge): boolean => listeners(known).length > 0;

/** Whether this trigger is published or tested. */
export const isUsing = (known: Knowledge, trigger: string): boolean =>
	listeners(known).some((listener) => listener.trigger === trigger);

/** Whether the trigger is published or tested at this URL. */
export const hasTrigger = (known: Knowledge, trigger: string, url: string): boolean =>
	listeners(known).some((listener) => listener.trigger === trigger && listener.url === url);

/** Whether a test of the trigger has begun at this URL, and was told so. */
export function isListening(known: Knowledge, trigger: string, url: string): boolean {
	const test = testOf(known, trigger);
	return test?.url === url && !test.isEnding && !test.isNew;
}

/**
 * The URL that the service should have: that of a test that needs it, else of the published trigger. Undefined: it does
 * not matter, or another process says.
 */
export function wantedUrl({ holder, tests }: Knowledge): string | undefined {
	const test = tests.findLast((listener) => isToHaveUrl(listener, holder));
	if (test !== undefined) return test.url;
	const isGivenBack = tests.some(
		({ needsUrl, productionUrl }) => needsUrl && productionUrl === holder?.url,
	);
	return holder?.isLeft && !isGivenBack ? undefined : holder?.url;
}

const isToHaveUrl = (test: TestListener, holder: Holder | undefined): boolean =>
	test.needsUrl && !test.isEnding && (holder === undefined || test.productionUrl === holder.url);

/**
 * A trigger is published. Its URL has to be set even if it was before.
 * @param isReplacing it takes its own place, which it left a moment ago. Else others may have set another URL since
 * @returns the trigger that has the account, if this one is refused
 */
export function publish(
	known: Knowledge,
	holder: Holder,
	isReplacing: boolean,
): Knowledge | { heldBy: Holder } {
	const heldBy = known.holder?.isLeft ? undefined : known.holder;
	if (heldBy !== undefined && heldBy.trigger !== holder.trigger) return { heldBy };
	const confirmed = isReplacing ? known.confirmed : undefined;
	return { ...known, holder, confirmed, isToBeSet: true };
}

/** A trigger is no longer published. */
export function unpublish(known: Knowledge, trigger: string, url: string): Knowledge {
	const { holder } = known;
	const isHolder = holder?.trigger === trigger && holder.url === url;
	return isHolder ? { ...known, holder: undefined } : known;
}

/** n8n keeps a published trigger no longer in this process: it is about to be unpublished, or another process leads. */
export function leave(known: Knowledge, trigger: string): Knowledge {
	const { holder } = known;
	return holder?.trigger === trigger ? { ...known, holder: { ...holder, isLeft: true } } : known;
}

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
	const isIt = (test: TestListener): boolean => test.trigger === trigger && test.url === url;
	const tests = known.tests.map((test) => (isIt(test) ? { ...test, isEnding: true } : test));
	return { ...known, tests };
}

/** The service is being told this URL: until it answers, what it has is certain only if it has this one already. */
export function setting(known: Knowledge, url: string): Knowledge {
	const tests = known.tests.map((test) => (test.url === url ? { ...test, wasSet: true } : test));
	return { ...known, tests, confirmed: known.confirmed === url ? url : undefined };
}

/** While nothing is certain it may be any, also one that was set before n8n was started. */
const mayHave = ({ confirmed }: Knowledge, url: string): boolean =>
	confirmed === undefined || confirmed === url;

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
	const dropped = listeners(known).find((listener) => listener.url === url && listener.isNew);
	if (dropped === undefined) return { known };
	const tests = known.tests.filter((test) => test !== dropped);
	const holder = known.holder === dropped ? undefined : known.holder;
	return { known: { ...known, tests, holder }, dropped };
}

/** Nothing more is being done: each trigger that was not dropped is published or tests, and is told so. */
export function concluded(known: Knowledge): Knowledge {
	const { holder } = known;
	const isGivenBack = isConfirmed(known);
	return {
		...known,
		holder: holder && { ...holder, isNew: false },
		tests: known.tests
			.filter((test) => !(test.isEnding && isGivenBack))
			.map((test) => ({ ...besidePublished(test, holder), isNew: false })),
	};
}

/** It goes without the URL also while n8n changes who was published since it began: unpublished, and published again. */
function besidePublished(test: TestListener, holder: Holder | undefined): TestListener {
	if (holder === undefined || test.productionUrl === holder.url) return test;
	return { ...test, needsUrl: false, productionUrl: holder.url };
}

/** Whether the service has what it should have. */
export function isConfirmed(known: Knowledge): boolean {
	const url = wantedUrl(known);
	return url === undefined || (url === known.confirmed && known.isToBeSet !== true);
}

/** The tests that get a copy of what a published trigger receives. */
export function copiesFor({ holder, tests }: Knowledge, trigger: string): string[] {
	if (holder?.trigger !== trigger) return [];
	return tests
		.filter((test) => test.whileTesting === 'share' && !test.isEnding && !isToHaveUrl(test, holder))
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
	const { holder } = known;
	const url = holder?.url ?? test.productionUrl;
	// Another process that leads may have set the test's URL.
	return url !== undefined && (test.wasSet || holder?.isLeft) ? { url } : 'nobody';
}
