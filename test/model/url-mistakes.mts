/** Deliberate mistakes in the code of the account's URL, each of which a world has to show. */
import type { Mutation } from '../../lab/mutation.mts';

interface Mistake extends Mutation {
	/** The first world that showed it, which is tried first. */
	seed?: number;
}

const folder = 'nodes/EtbWalletTrigger';
export const mistakes: Mistake[] = [
	{
		breaks: 'what another process may have set before a publication is not sent on',
		file: `${folder}/knowledge.ts`,
		finds: '({ ...test, wasSet: true }));\n\treturn { ...known, holder',
		puts: '({ ...test }));\n\treturn { ...known, holder',
		seed: 5_078_805,
	},
	{
		breaks: 'a test that leaves the URL alone gets copies',
		file: `${folder}/knowledge.ts`,
		finds: 'test.isSharing && ',
		puts: '',
	},
	{
		breaks: 'two calls at once: the later answer wins',
		file: `${folder}/accountUrl.ts`,
		finds: 'this.#work ??= ',
		puts: 'this.#work = ',
	},
	{
		breaks: 'a test keeps the URL when a workflow is published',
		file: `${folder}/knowledge.ts`,
		finds: ' && (holder === undefined || test.productionUrl === holder.url)',
		puts: '',
		seed: 4_050,
	},
	{
		breaks: 'what a test receives is not sent on to who was published since',
		file: `${folder}/knowledge.ts`,
		finds: '(test.wasSet || holder?.isClosedHere)',
		puts: '(test.needsUrl || holder?.isClosedHere)',
		seed: 1_812,
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
		seed: 513,
	},
	{
		breaks: 'the URL is not given back after a test',
		file: `${folder}/knowledge.ts`,
		finds: ' && !test.isEnding && (holder',
		puts: ' && (holder',
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
		finds: 'confirmed = known.confirmed === url ? url : undefined',
		puts: 'confirmed = known.confirmed',
	},
	{
		breaks: 'who is published anew takes what it had for what the service has',
		file: `${folder}/knowledge.ts`,
		finds: 'tests, confirmed: undefined, isToBeSet',
		puts: 'tests, isToBeSet',
	},
	{
		breaks: 'a test does not know that its URL may be at the service from an earlier test',
		file: `${folder}/knowledge.ts`,
		finds: ' || isPossible;',
		puts: ';',
		seed: 1_445,
	},
	{
		breaks: 'only the first who waits is told why a test does not listen',
		file: `${folder}/publishing.ts`,
		finds: 'const reason = refused.get(url);',
		puts: 'const reason = refused.get(url);\n\t\trefused.clear();',
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
		breaks:
			'of two accounts that turn out to be one, the one without the published workflow counts',
		file: `${folder}/accounts.ts`,
		finds: 'found.find(({ holderKeys }) => holderKeys.some(isShared)) ??',
		puts: '',
		seed: 1_601,
	},
	{
		breaks: 'a replaced API key makes another account',
		file: `${folder}/accountUrl.ts`,
		finds: 'asker.account = await loadAccount(asker.context);',
		puts: 'await loadAccount(asker.context);',
	},
	{
		breaks: 'what n8n keeps only after the failure is not tried again',
		file: `${folder}/accounts.ts`,
		finds: 'if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();',
		puts: '',
	},
	{
		breaks: 'a process that no longer leads goes on to try',
		file: `${folder}/accounts.ts`,
		finds: '\t\t\tkept.delete(trigger);\n',
		puts: '',
		seed: 977,
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
		seed: 638,
	},
	{
		breaks: 'it is tried again only once',
		file: `${folder}/accountUrl.ts`,
		finds: 'this.#notSet = notSet;\n\t\tthis.retryLater();',
		puts: 'this.#notSet = notSet;\n\t\tif (this.#pauseMs === firstPauseMs) this.retryLater();',
		seed: 638,
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
		seed: 321,
	},
	{
		breaks: 'what failed again later is not told again',
		file: `${folder}/accountUrl.ts`,
		finds: '\t\t\t\tthis.#told = undefined;\n',
		puts: '',
		seed: 502,
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
		finds: 'return holder?.isClosedHere && !isOwed ? undefined : holder?.url;',
		puts: 'return holder?.url;',
		seed: 8_643,
	},
	{
		breaks: 'a process that leads no more does not give back the URL that its test had',
		file: `${folder}/knowledge.ts`,
		finds: 'holder?.isClosedHere && !isOwed',
		puts: 'holder?.isClosedHere',
		seed: 575,
	},
	{
		breaks: 'the URL that a test had is forgotten when another test of the trigger begins',
		file: `${folder}/knowledge.ts`,
		finds: 'isOwed: known.isOwed || url !== known.holder?.url',
		puts: 'isOwed: known.tests.some((test) => test.url === url && !test.isBeginning)',
		seed: 8_481,
	},
	{
		breaks: 'what the service had is forgotten when n8n ends a trigger before it is changed',
		file: `${folder}/knowledge.ts`,
		finds: '{ ...known, holder: { ...holder, isClosedHere: true } }',
		puts: '{ ...known, holder: { ...holder, isClosedHere: true }, confirmed: undefined }',
	},
	{
		breaks: 'what another process that leads may have set is not sent on',
		file: `${folder}/knowledge.ts`,
		finds: '(test.wasSet || holder?.isClosedHere)',
		puts: 'test.wasSet',
		seed: 583,
	},
	{
		breaks: 'a test takes the URL while n8n changes who is published',
		file: `${folder}/knowledge.ts`,
		finds: 'needsUrl: false, productionUrl: holder.url',
		puts: 'productionUrl: holder.url',
	},
	{
		breaks: 'what a test gets while n8n changes who is published is not sent on',
		file: `${folder}/knowledge.ts`,
		finds: 'const url = holder?.url ?? test.productionUrl;',
		puts: 'const url = holder?.url;',
	},
];
