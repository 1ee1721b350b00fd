/** Deliberate mistakes in the code of the account's URL, each of which a world has to show. */
import type { Mutation } from '../../lab/mutation.mts';

const folder = 'nodes/EtbWalletTrigger';
export const mistakes: Mutation[] = [
	{
		breaks: 'a test that leaves the URL alone gets copies',
		file: `${folder}/knowledge.ts`,
		finds: "test.whileTesting === 'share' && ",
		puts: '',
	},
	{
		breaks: 'two calls at once: the later answer wins',
		file: `${folder}/accountUrl.ts`,
		finds: 'if (this.#work === undefined || !this.#isWorking) {',
		puts: 'if (this.#known !== undefined) {',
	},
	{
		breaks: 'a test keeps the URL when a workflow is published',
		file: `${folder}/knowledge.ts`,
		finds: 'return holder === undefined || test.standsInFor === holder.url;',
		puts: 'return true;',
	},
	{
		breaks: 'what a test receives is not sent on to who was published since',
		file: `${folder}/knowledge.ts`,
		finds: 'return test.wasSet && known.holder !== undefined',
		puts: 'return test.standsInFor !== undefined && known.holder !== undefined',
	},
	{
		breaks: 'a call that failed counts as confirmed',
		file: `${folder}/accountUrl.ts`,
		finds: 'if (reason === undefined) {',
		puts: 'if (reason !== null) {',
	},
	{
		breaks: 'one call, and no second look',
		file: `${folder}/accountUrl.ts`,
		finds: 'this.#told = undefined;\n\t\t\t\tcontinue;',
		puts: 'this.#told = undefined;\n\t\t\t\tbreak;',
	},
	{
		breaks: 'the URL is not given back after a test',
		file: `${folder}/knowledge.ts`,
		finds: 'if (test.isEnding || ',
		puts: 'if (',
	},
	{
		breaks: 'a trigger is given up although the service sends to it',
		file: `${folder}/knowledge.ts`,
		finds: ' || known.confirmed === url) return { known };',
		puts: ') return { known };',
	},
	{
		breaks: 'what another call may have set since does not count',
		file: `${folder}/knowledge.ts`,
		finds: 'confirmed: known.confirmed === url ? url : undefined',
		puts: 'confirmed: known.confirmed',
	},
	{
		breaks: 'who is published anew takes what it had for what the service has',
		file: `${folder}/knowledge.ts`,
		finds: 'isReplacing ? known.confirmed : undefined',
		puts: 'known.confirmed',
	},
	{
		breaks: 'a test does not know that its URL may be at the service from an earlier test',
		file: `${folder}/knowledge.ts`,
		finds: ' || mayHave(known, test.url);',
		puts: ';',
	},
	{
		breaks: 'only the first who waits is told why a test does not listen',
		file: `${folder}/accountUrl.ts`,
		finds: 'dropped.find((place) => place.trigger === trigger && place.url === url)?.reason',
		puts: 'dropped.splice(0).find((place) => place.trigger === trigger && place.url === url)?.reason',
	},
	{
		breaks: 'a publication that failed goes on to hold the account',
		file: `${folder}/knowledge.ts`,
		finds: 'known.holder === dropped ? undefined : known.holder',
		puts: 'known.holder',
	},
	{
		breaks: 'a second workflow takes the account',
		file: `${folder}/knowledge.ts`,
		finds: 'heldBy !== undefined && heldBy.trigger',
		puts: 'heldBy === undefined && holder.trigger',
	},
	{
		breaks: 'a replaced API key makes another account',
		file: `${folder}/accountUrl.ts`,
		finds: 'asker.account = await loadAccount(asker.context);',
		puts: 'await loadAccount(asker.context);',
	},
	{
		breaks: 'what n8n keeps only after the failure is not tried again',
		file: `${folder}/accountUrl.ts`,
		finds: 'if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();',
		puts: '',
	},
	{
		breaks: 'a process that no longer leads goes on to try',
		file: `${folder}/accountUrl.ts`,
		finds: '\t\t\tkept.delete(trigger);\n',
		puts: '',
	},
	{
		breaks: 'what another process unpublished holds the account for ever',
		file: `${folder}/knowledge.ts`,
		finds: 'known.holder?.isClosedHere ? undefined : known.holder',
		puts: 'known.holder',
	},
	{
		breaks: 'what began while a test of the same trigger ended stays',
		file: `${folder}/publishing.ts`,
		finds: 'accountUrlsUsedBy(trigger, url).some',
		puts: '[].some',
	},
	{
		breaks: 'nothing is tried again in the background',
		file: `${folder}/accountUrl.ts`,
		finds: 'void this.#retry()',
		puts: 'undefined',
	},
	{
		breaks: 'it is tried again only once',
		file: `${folder}/accountUrl.ts`,
		finds: 'this.#notSet = notSet;\n\t\tthis.retryLater();',
		puts: 'this.#notSet = notSet;\n\t\tif (this.#pauseMs === firstPauseMs) this.retryLater();',
	},
	{
		breaks: 'what ends while credentials are read is tried all the same',
		file: `${folder}/accountUrl.ts`,
		finds:
			'await this.refresh();\n\t\t// It may have been unpublished while credentials were read, because another process leads.\n\t\tconst trigger = this.#triggerToRetry();',
		puts: 'const trigger = this.#triggerToRetry();\n\t\tawait this.refresh();',
	},
	{
		breaks: 'an answer that names another URL counts as yes',
		file: 'nodes/shared/service/call.ts',
		finds: 'isBelieved ? undefined : disagreement(last, sent)',
		puts: 'undefined',
	},
	{
		breaks: 'nobody is told that no events come',
		file: `${folder}/accountUrl.ts`,
		finds: 'saveFailedExecution(context, error);',
		puts: '',
	},
	{
		breaks: 'a person is told at each try',
		file: `${folder}/accountUrl.ts`,
		finds: ' || this.#told === trigger) return;',
		puts: ') return;',
	},
	{
		breaks: 'who was told that the service has the URL already is not told that it has another',
		file: `${folder}/accountUrl.ts`,
		finds: 'this.#told === trigger) return;\n\t\tthis.#told',
		puts: 'this.#told === trigger || this.#pauseMs > firstPauseMs) return;\n\t\tthis.#told',
	},
	{
		breaks: 'what failed again later is not told again',
		file: `${folder}/accountUrl.ts`,
		finds: '\t\t\t\tthis.#told = undefined;\n',
		puts: '',
	},
	{
		breaks: 'who uses an account is known by the key of before',
		file: `${folder}/accountUrl.ts`,
		finds: 'if (this.#askers.size > 0)',
		puts: 'if (this.#askers.size === 0)',
	},
	{
		breaks: 'a process that leads no more sets the URL that it had',
		file: `${folder}/knowledge.ts`,
		finds: 'return holder?.isClosedHere && !owesUrl ? undefined : holder?.url;',
		puts: 'return holder?.url;',
	},
	{
		breaks: 'a process that leads no more does not give back the URL that its test had',
		file: `${folder}/knowledge.ts`,
		finds: 'holder?.isClosedHere && !owesUrl',
		puts: 'holder?.isClosedHere',
	},
	{
		breaks: 'what the service had is forgotten when n8n ends a trigger before it is changed',
		file: `${folder}/knowledge.ts`,
		finds: 'confirmed: known.confirmed ?? holder.confirmedWhenClosed }',
		puts: 'confirmed: known.confirmed }',
	},
];
