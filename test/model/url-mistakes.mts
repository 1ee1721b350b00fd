/** Deliberate mistakes in the code of the account's URL, each of which a world has to show. */
import type { Mutation } from '../../lab/loaded-code.mts';

const folder = 'nodes/EtbWalletTrigger';
export const mistakes: Record<string, Mutation> = {
	'a test that leaves the URL alone gets copies': {
		file: `${folder}/holders.ts`,
		from: "test.whileTesting === 'share' && ",
		to: '',
	},
	'two calls at once: the later answer wins': {
		file: `${folder}/accountUrl.ts`,
		from: 'if (this.#work === undefined || !this.#isWorking) {',
		to: 'if (this.#known !== undefined) {',
	},
	'a test keeps the URL when a workflow is published': {
		file: `${folder}/holders.ts`,
		from: ' && (holder === undefined || test.productionUrl === holder.url)',
		to: '',
	},
	'what a test receives is not sent on to who was published since': {
		file: `${folder}/holders.ts`,
		from: '(test.wasSet || holder?.isLeft)',
		to: '(test.needsUrl || holder?.isLeft)',
	},
	'a call that failed counts as confirmed': {
		file: `${folder}/accountUrl.ts`,
		from: 'if (reason === undefined) {',
		to: 'if (reason !== null) {',
	},
	'one call, and no second look': {
		file: `${folder}/accountUrl.ts`,
		from: 'this.#told = undefined;\n\t\t\t\tcontinue;',
		to: 'this.#told = undefined;\n\t\t\t\tbreak;',
	},
	'the URL is not given back after a test': {
		file: `${folder}/holders.ts`,
		from: ' && !test.isEnding && (holder',
		to: ' && (holder',
	},
	'a trigger is given up although the service sends to it': {
		file: `${folder}/holders.ts`,
		from: ' || known.confirmed === url) return { known };',
		to: ') return { known };',
	},
	'what another call may have set since does not count': {
		file: `${folder}/holders.ts`,
		from: 'confirmed: known.confirmed === url ? url : undefined',
		to: 'confirmed: known.confirmed',
	},
	'who is published anew takes what it had for what the service has': {
		file: `${folder}/holders.ts`,
		from: 'isReplacing ? known.confirmed : undefined',
		to: 'known.confirmed',
	},
	'a test does not know that its URL may be at the service from an earlier test': {
		file: `${folder}/holders.ts`,
		from: ' || mayHave(known, test.url);',
		to: ';',
	},
	'only the first who waits is told why a test does not listen': {
		file: `${folder}/accountUrl.ts`,
		from: 'dropped.find((place) => place.trigger === trigger && place.url === url)?.reason',
		to: 'dropped.splice(0).find((place) => place.trigger === trigger && place.url === url)?.reason',
	},
	'a publication that failed goes on to hold the account': {
		file: `${folder}/holders.ts`,
		from: 'known.holder === dropped ? undefined : known.holder',
		to: 'known.holder',
	},
	'a second workflow takes the account': {
		file: `${folder}/holders.ts`,
		from: 'heldBy !== undefined && heldBy.trigger',
		to: 'heldBy === undefined && holder.trigger',
	},
	'a replaced API key makes another account': {
		file: `${folder}/accountUrl.ts`,
		from: 'asker.account = await loadAccount(asker.context);',
		to: 'await loadAccount(asker.context);',
	},
	'what n8n keeps only after the failure is not tried again': {
		file: `${folder}/accountUrl.ts`,
		from: 'if (accountUrl.known.holder?.trigger === trigger) accountUrl.retryLater();',
		to: '',
	},
	'a process that no longer leads goes on to try': {
		file: `${folder}/accountUrl.ts`,
		from: '\t\t\tkept.delete(trigger);\n',
		to: '',
	},
	'what another process unpublished holds the account for ever': {
		file: `${folder}/holders.ts`,
		from: 'known.holder?.isLeft ? undefined : known.holder',
		to: 'known.holder',
	},
	'what began while a test of the same trigger ended stays': {
		file: `${folder}/publishing.ts`,
		from: 'accountsOf(trigger, url).some',
		to: '[].some',
	},
	'nothing is tried again in the background': {
		file: `${folder}/accountUrl.ts`,
		from: 'void this.#retry()',
		to: 'undefined',
	},
	'it is tried again only once': {
		file: `${folder}/accountUrl.ts`,
		from: 'this.#notSet = notSet;\n\t\tthis.retryLater();',
		to: 'this.#notSet = notSet;\n\t\tif (this.#pauseMs === firstPauseMs) this.retryLater();',
	},
	'an answer that names another URL counts as yes': {
		file: 'nodes/shared/service/call.ts',
		from: 'isBelieved ? undefined : disagreement(last, sent)',
		to: 'undefined',
	},
	'nobody is told that no events come': {
		file: `${folder}/accountUrl.ts`,
		from: 'saveFailedExecution(context, error);',
		to: '',
	},
	'a person is told at each try': {
		file: `${folder}/accountUrl.ts`,
		from: ' || this.#told === trigger) return;',
		to: ') return;',
	},
	'who was told that the service has the URL already is not told that it has another': {
		file: `${folder}/accountUrl.ts`,
		from: 'this.#told === trigger) return;\n\t\tthis.#told',
		to: 'this.#told === trigger || this.#pauseMs > firstPauseMs) return;\n\t\tthis.#told',
	},
	'what failed again later is not told again': {
		file: `${folder}/accountUrl.ts`,
		from: '\t\t\t\tthis.#told = undefined;\n',
		to: '',
	},
	'who uses an account is known by the key of before': {
		file: `${folder}/accountUrl.ts`,
		from: 'if (this.#askers.size > 0)',
		to: 'if (this.#askers.size === 0)',
	},
	'a process that leads no more sets the URL that it had': {
		file: `${folder}/holders.ts`,
		from: 'return holder?.isLeft && !isGivenBack ? undefined : holder?.url;',
		to: 'return holder?.url;',
	},
	'a process that leads no more does not give back the URL that its test had': {
		file: `${folder}/holders.ts`,
		from: 'holder?.isLeft && !isGivenBack',
		to: 'holder?.isLeft',
	},
	'what the service had is forgotten when n8n ends a trigger before it is changed': {
		file: `${folder}/holders.ts`,
		from: '{ ...known, holder: { ...holder, isLeft: true } }',
		to: '{ ...known, holder: { ...holder, isLeft: true }, confirmed: undefined }',
	},
	'what another process that leads may have set is not sent on': {
		file: `${folder}/holders.ts`,
		from: '(test.wasSet || holder?.isLeft)',
		to: 'test.wasSet',
	},
	'a test takes the URL while n8n changes who is published': {
		file: `${folder}/holders.ts`,
		from: 'needsUrl: false, productionUrl: holder.url',
		to: 'productionUrl: holder.url',
	},
	'what a test gets while n8n changes who is published is not sent on': {
		file: `${folder}/holders.ts`,
		from: 'const url = holder?.url ?? test.productionUrl;',
		to: 'const url = holder?.url;',
	},
};
