/** The account's URL in random worlds: publications, tests, failures, lost answers, replaced keys, restarts and new leaders. */
import { Broken, live } from './events-world.mts';
import type { Mutation } from './loaded-code.mts';
import { Code } from './loaded-code.mts';

const steps = 30;

/** One seed shows one world again: `MODEL_SEED=17 npx jest test/model`. More of them: `MODEL_FROM=1 MODEL_WORLDS=100000`. */
const only = process.env.MODEL_SEED;
const from = Number(process.env.MODEL_FROM ?? 0);
const count = Number(process.env.MODEL_WORLDS ?? 10_000);
const seeds = Array.from({ length: count }, (_, index) => from + index);

/** The first world that breaks. */
async function firstBroken(worlds: number[], code: Code): Promise<string | undefined> {
	for (const seed of worlds) {
		try {
			await live(seed, steps, code);
		} catch (error) {
			if (error instanceof Broken) return await shortest(seed, code, error);
			throw error;
		}
	}
	return undefined;
}

/** The same world, ended as early as it still breaks. */
async function shortest(seed: number, code: Code, found: Broken): Promise<string> {
	for (let most = 1; most < steps; most++) {
		try {
			await live(seed, most, code);
		} catch (error) {
			if (error instanceof Broken) return `seed ${seed}, ${most} steps: ${error.message}`;
		}
	}
	return `seed ${seed}: ${found.message}`;
}

test(`in ${count} random worlds the service ends with the right URL, and no test takes an event`, async () => {
	const worlds = only === undefined ? seeds : [Number(only)];
	expect(await firstBroken(worlds, new Code())).toBeUndefined();
}, 3_600_000);

const folder = 'nodes/EtbWalletTrigger';
const mistakes: Record<string, Mutation> = {
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
		from: 'return holder === undefined || test.standsInFor === holder.url;',
		to: 'return true;',
	},
	'what a test receives is not sent on to who was published since': {
		file: `${folder}/holders.ts`,
		from: 'return test.wasSet && known.holder !== undefined',
		to: 'return test.standsInFor !== undefined && known.holder !== undefined',
	},
	'a call that failed counts as confirmed': {
		file: `${folder}/accountUrl.ts`,
		from: 'if (reason === undefined) {',
		to: 'if (reason !== null) {',
	},
	'one call, and no second look': {
		file: `${folder}/accountUrl.ts`,
		from: 'taken(this.#known, url);\n\t\t\t\tcontinue;',
		to: 'taken(this.#known, url);\n\t\t\t\tbreak;',
	},
	'the URL is not given back after a test': {
		file: `${folder}/holders.ts`,
		from: 'if (test.isEnding || ',
		to: 'if (',
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
};

test.each(Object.entries(mistakes))(
	'a mistake is found: %s',
	async (_name, mutation) => {
		expect(await firstBroken(seeds, new Code([mutation]))).toMatch(/^seed \d+/);
	},
	120_000,
);
