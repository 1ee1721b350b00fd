/** What is known of the one webhook URL of an account, and what follows from that. Pure: nothing here waits or calls. */

/** A trigger that listens at a URL. */
export interface Listener {
	/** Which trigger node of which workflow it is. */
	trigger: string;
	url: string;
	/** n8n waits for the answer whether it listens. If its URL cannot be set now, the answer is no. */
	isBeginning: boolean;
}

/** The published trigger that receives the account's events. */
export interface Holder extends Listener {
	workflow: { id: string; name: string };
	/** The project of n8n that the workflow belongs to. */
	project: string | undefined;
	/** n8n keeps it no longer in this process: another one may lead by now, and have unpublished it. */
	isClosedHere?: boolean;
}

/** A trigger in the editor that listens for a test event. */
export interface TestListener extends Listener {
	/** Events of the published trigger are forwarded to it. */
	isSharing: boolean;
	/** The service has to send to it: when it began nobody was published, or only in another process. */
	needsUrl: boolean;
	/** Of who is published, or was last since it began. What arrives at the test may have been meant for it. */
	productionUrl?: string;
	/** The service may have had this URL at some time, so what arrives there may have been meant for production. */
	wasSet: boolean;
	/** It has ended, and is only kept until the service has another URL. */
	isEnding: boolean;
}

export interface Knowledge {
	readonly holder?: Holder;
	/** Who was the holder last. n8n may be about to publish it again, changed. */
	readonly left?: Holder;
	/** Oldest first. */
	readonly tests: readonly TestListener[];
	/** The URL that the service has for certain: it took it, and was sent no other since. Undefined: nobody knows. */
	readonly confirmed?: string;
	/** It has to be set also if it is confirmed: another program may have set another URL since. */
	readonly isToBeSet?: boolean;
	/** This process sent the URL of a test last. So it sends the holder's too, even if another process leads by then. */
	readonly isOwed?: boolean;
}

export const testOf = ({ tests }: Knowledge, trigger: string): TestListener | undefined =>
	tests.find((test) => test.trigger === trigger);

/** All triggers that are published or tested, also tests that have ended and are still kept. */
export const listeners = ({ holder, tests }: Knowledge): Listener[] =>
	holder === undefined ? [...tests] : [...tests, holder];

/** Whether the trigger is published or tested: at this URL, or without one at any. */
export const hasTrigger = (known: Knowledge, trigger: string, url?: string): boolean =>
	listeners(known).some(
		(listener) => listener.trigger === trigger && (url === undefined || listener.url === url),
	);

/** Whether a test of the trigger listens at this URL, and n8n was told so. */
export function isListening(known: Knowledge, trigger: string, url: string): boolean {
	const test = testOf(known, trigger);
	return test?.url === url && !test.isEnding && !test.isBeginning;
}

/** The URL that the service should have. Undefined: none is needed, or another process decides. */
export function wantedUrl({ holder, tests, isOwed }: Knowledge): string | undefined {
	const test = tests.findLast((listener) => isToHaveUrl(listener, holder));
	if (test !== undefined) return test.url;
	return holder?.isClosedHere && !isOwed ? undefined : holder?.url;
}

const isToHaveUrl = (test: TestListener, holder: Holder | undefined): boolean =>
	test.needsUrl && !test.isEnding && (holder === undefined || test.productionUrl === holder.url);

/**
 * A trigger is published, and its URL has to be set also if it was before.
 * @param isReplacing n8n ended it only a moment ago, to change it: nobody else has set another URL since
 * @returns the trigger that has the account, if this one is refused
 */
export function setHolder(
	known: Knowledge,
	holder: Holder,
	isReplacing: boolean,
): Knowledge | { heldBy: Holder } {
	const heldBy = known.holder?.isClosedHere ? undefined : known.holder;
	if (heldBy !== undefined && heldBy.trigger !== holder.trigger) return { heldBy };
	if (isReplacing) return { ...known, holder, left: undefined, isToBeSet: true };
	// Nothing is certain any more: a process that led meanwhile may have set the URL of any test.
	const tests = known.tests.map((test) => ({ ...test, wasSet: true }));
	return { ...known, holder, left: undefined, tests, confirmed: undefined, isToBeSet: true };
}

/**
 * Whether another trigger has the account, or n8n may be about to publish that one again, changed. Then a retry has to wait:
 * it would take the account from it.
 */
export function mayComeBack({ holder, left }: Knowledge, trigger: string): boolean {
	const other = holder?.isClosedHere ? holder : left;
	return other !== undefined && other.trigger !== trigger;
}

/** n8n keeps a published trigger no longer in this process: it is about to be unpublished, or another process leads. */
export function closeHolder(known: Knowledge, trigger: string): Knowledge {
	const { holder } = known;
	return holder?.trigger === trigger
		? { ...known, holder: { ...holder, isClosedHere: true } }
		: known;
}

/**
 * A test begins, in the place of an earlier one of the same trigger, which n8n does not always end first. An event that
 * was meant for production may still come by the URL of the earlier one.
 */
export function addTest(known: Knowledge, test: TestListener): Knowledge {
	const others = known.tests.filter(({ trigger }) => trigger !== test.trigger);
	// If nothing is certain, the service may have a URL that was set before n8n started.
	const isPossible = known.confirmed === undefined || known.confirmed === test.url;
	const wasSet = testOf(known, test.trigger)?.wasSet === true || isPossible;
	// Another program may have set another URL since an earlier test.
	const confirmed = known.confirmed === test.url ? undefined : known.confirmed;
	return { ...known, confirmed, tests: [...others, { ...test, wasSet }] };
}

/** A trigger is no longer published or tested at this URL. A test is kept until the service has another URL. */
export function endListener(known: Knowledge, trigger: string, url: string): Knowledge {
	const isIt = (listener?: Listener): boolean =>
		listener?.trigger === trigger && listener.url === url;
	const tests = known.tests.map((test) => (isIt(test) ? { ...test, isEnding: true } : test));
	return isIt(known.holder) ? withoutHolder({ ...known, tests }) : { ...known, tests };
}

const withoutHolder = (known: Knowledge): Knowledge => ({
	...known,
	holder: undefined,
	left: known.holder,
});

/** n8n listens for no test at this URL, and told nobody that it ended: its workflow was deleted. */
export const dropTest = (known: Knowledge, url: string): Knowledge => ({
	...known,
	tests: known.tests.filter((test) => test.url !== url),
});

/** This URL is being sent to the service: until it answers, it is certain only if the service has it already. */
export function urlSent(known: Knowledge, url: string): Knowledge {
	const tests = known.tests.map((test) => (test.url === url ? { ...test, wasSet: true } : test));
	const confirmed = known.confirmed === url ? url : undefined;
	return { ...known, tests, confirmed, isOwed: known.isOwed || url !== known.holder?.url };
}

export const urlAccepted = (known: Knowledge, url: string): Knowledge => ({
	...known,
	confirmed: url,
	isToBeSet: false,
	isOwed: url !== known.holder?.url,
});

/**
 * The service did not take this URL, as far as is known.
 * @returns the trigger that was to be published or tested with it, and now is not. None if the service has the URL
 * already: it sends events there, so a trigger has to listen
 */
export function urlRefused(
	known: Knowledge,
	url: string,
): { known: Knowledge; dropped?: Listener } {
	if (wantedUrl(known) !== url || known.confirmed === url) return { known };
	const dropped = listeners(known).find((listener) => listener.url === url && listener.isBeginning);
	if (dropped === undefined) return { known };
	const tests = known.tests.filter((test) => test !== dropped);
	const others = { ...known, tests };
	return { known: known.holder === dropped ? withoutHolder(others) : others, dropped };
}

/** No more calls follow: n8n is told of each trigger that was not dropped that it listens. */
export function callsEnded(known: Knowledge): Knowledge {
	const { holder } = known;
	const isGivenBack = isConfirmed(known);
	return {
		...known,
		holder: holder && { ...holder, isBeginning: false },
		tests: known.tests
			.filter((test) => !(test.isEnding && isGivenBack))
			.map((test) => ({ ...besidePublished(test, holder), isBeginning: false })),
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

/** Whether the service has this URL, and no other process may have set another one since. */
export const hasForCertain = ({ confirmed, holder }: Knowledge, url: string): boolean =>
	confirmed === url && !holder?.isClosedHere;

/** The URLs of the tests to which events of a published trigger are forwarded. */
export function sharingTestUrls({ holder, tests }: Knowledge, trigger: string): string[] {
	if (holder?.trigger !== trigger) return [];
	return tests
		.filter((test) => test.isSharing && !test.isEnding && !isToHaveUrl(test, holder))
		.map(({ url }) => url);
}

/** To which production URL a delivery at a test's URL is forwarded. `unknown`: this process knows no such test. */
export function productionOf(
	known: Knowledge,
	trigger: string,
): { url: string } | 'nobody' | 'unknown' {
	const test = testOf(known, trigger);
	if (test === undefined) return 'unknown';
	const { holder } = known;
	const url = holder?.url ?? test.productionUrl;
	// Another process that leads may have set the test's URL.
	return url !== undefined && (test.wasSet || holder?.isClosedHere) ? { url } : 'nobody';
}
