/** A world of one partner account: a model of n8n around the trigger's own code, and of a service with every whim. */
import * as workflowPackage from 'n8n-workflow';
import type { Code } from './loaded-code.mts';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

interface Workflow {
	name: string;
	takeOver: boolean;
	whileTesting: 'share' | 'refuse' | 'leaveUrl';
	urlAfter: string;
	/** As n8n shows it. */
	isPublished: boolean;
	/** n8n publishes or unpublishes it at this moment. */
	isChanging: boolean;
	/** n8n listens at its test URL. */
	isTested: boolean;
	/** How many of its tests begin at this moment: a person can click twice. */
	begins: number;
	/** Its test ends at this moment. */
	isTestEnding: boolean;
	/** How often its test was ended. */
	endings: number;
	/** It was published, and its trigger could not be: n8n goes on to show it as published. */
	hasFailed: boolean;
}

/** n8n tries a publication twice at most here. */
const mostRefusals = 2;

const notTested = { isTested: false, begins: 0, isTestEnding: false, endings: 0 };

/** Something outside the code under test, which ends when the world decides it. */
interface Pending {
	what: string;
	end(random: () => number, isHealthy: boolean): void;
}

interface TriggerCode {
	register(context: object): Promise<void>;
	unregister(context: object): Promise<void>;
}
interface Knowledge {
	holders: unknown[];
	tests: unknown[];
}
interface StateCode {
	accountOfTrigger(trigger: string, as: 'holders' | 'tests'): { known: Knowledge } | undefined;
}
interface HoldersCode {
	productionOf(known: Knowledge, trigger: string): { url: string } | 'nobody' | 'unknown';
	copiesFor(known: Knowledge, trigger: string): string[];
}
interface Modules {
	publishing: TriggerCode;
	state: StateCode;
	holders: HoldersCode;
}

const folder = 'nodes/EtbWalletTrigger';
const base = 'https://n8n.example.com';
const productionUrl = ({ name }: Workflow): string => `${base}/webhook/${name}`;
const testUrl = ({ name }: Workflow): string => `${base}/webhook-test/${name}`;
const triggerOf = ({ name }: Workflow): string => JSON.stringify([name, 'trigger']);

/** A finding, with all that led to it. */
export class Broken extends Error {}

export class World {
	readonly story: string[] = [];
	readonly workflows: Workflow[];
	readonly #random: () => number;
	readonly #code: Code;
	/** Whether another process handles what is published. */
	readonly #isQueueMode: boolean;
	#modules: Modules;
	#pending: Pending[] = [];
	/** A restart ends what was under way: its results count no more. */
	#process = 0;
	#isHealthy = false;
	#registeredUrl: string | undefined;
	/** Published workflows, the one that should receive the events last. */
	#order: Workflow[] = [];
	/** Where events should go when nobody is published; more than one while a publication may still fail. */
	#left: Array<string | undefined> = [undefined];
	/** The service was told something else, or a person was told that it was not, last. */
	#lastWord: 'confirmed' | 'reported' = 'confirmed';
	/** What the service confirmed last, if it was told nothing else since. */
	#surelyRegistered: string | undefined;

	constructor(seed: number, code: Code) {
		this.#random = randomOf(seed);
		this.#code = code;
		this.#isQueueMode = this.#chance(0.5);
		this.workflows = ['A', 'B', 'C'].map((name) => ({
			name,
			takeOver: this.#chance(0.5),
			whileTesting: this.#oneOf(['share', 'share', 'refuse', 'leaveUrl'] as const),
			urlAfter: this.#chance(0.4) ? `https://later.example.com/${name}` : '',
			isPublished: false,
			isChanging: false,
			...notTested,
			hasFailed: false,
		}));
		for (const { name, takeOver, whileTesting, urlAfter } of this.workflows)
			this.#tell(`${name}: ${takeOver ? 'takes over, ' : ''}tests ${whileTesting}, ${urlAfter}`);
		this.#tell(this.#isQueueMode ? 'queue mode' : 'one process');
		this.#modules = this.#startProcess();
	}

	async run(steps: number): Promise<void> {
		for (let step = 0; step < steps; step++) {
			this.#step();
			await this.#settled();
		}
		await this.#end();
	}

	#tell(what: string): void {
		this.story.push(what);
	}

	#found(what: string): Broken {
		return new Broken(`${what}\n${this.story.join('\n')}`);
	}

	#broken(what: string): never {
		throw this.#found(what);
	}

	#chance(probability: number): boolean {
		return this.#random() < probability;
	}

	#oneOf<Option>(options: readonly Option[]): Option {
		const option = options[Math.floor(this.#random() * options.length)];
		if (option === undefined) throw new Error('nothing to choose from');
		return option;
	}

	/** All that the code does by itself has been done. */
	async #settled(): Promise<void> {
		await new Promise(setImmediate);
		if (this.#finding !== undefined) throw this.#finding;
	}

	#finding: Error | undefined;

	#startProcess(): Modules {
		const sleep = async (ms: number): Promise<void> =>
			await this.#outside(`a wait of ${Math.round(ms)} ms`, (resolve) => resolve(undefined));
		const load = this.#code.start({ 'n8n-workflow': { ...workflowPackage, sleep } });
		return {
			publishing: load(`${folder}/publishing.ts`) as TriggerCode,
			state: load(`${folder}/state.ts`) as StateCode,
			holders: load(`${folder}/holders.ts`) as HoldersCode,
		};
	}

	async #outside<Result>(
		what: string,
		end: (resolve: (result: Result) => void, reject: (reason: Error) => void) => void,
	): Promise<Result> {
		return await new Promise((resolve, reject) => {
			this.#pending.push({ what, end: () => end(resolve, reject) });
		});
	}

	#step(): void {
		const choices: Array<() => void> = [];
		for (const workflow of this.workflows) {
			const { isPublished, isChanging, isTested, isTestEnding, begins, hasFailed } = workflow;
			if (!isChanging && isPublished)
				choices.push(
					() => this.#unpublish(workflow),
					() => this.#publish(workflow, 'update'),
				);
			else if (!isChanging)
				choices.push(() => this.#publish(workflow, hasFailed ? 'update' : 'activate'));
			if (isTested && !isTestEnding && begins === 0) choices.push(() => this.#endTest(workflow));
			if (!isTestEnding && begins < 2) choices.push(() => this.#startTest(workflow));
		}
		const isAnyInUse = this.workflows.some(
			({ isPublished, isChanging, isTested, isTestEnding, begins }) =>
				isPublished || isChanging || isTested || isTestEnding || begins > 0,
		);
		if (!isAnyInUse && this.#pending.length === 0 && this.#chance(0.3)) this.#setOutside();
		choices.push(() => this.#deliver());
		if (this.#chance(0.03)) choices.push(() => this.#restart());
		if (this.#pending.length > 0 && this.#chance(0.6)) this.#endOne();
		else this.#oneOf(choices)();
		this.#deliver();
	}

	/** Another program takes an account that nobody here uses. */
	#setOutside(): void {
		this.#registeredUrl = 'https://elsewhere.example.com/';
		this.#left = [undefined];
		this.#tell('another program sets its URL');
	}

	#endOne(): void {
		const pending = this.#oneOf(this.#pending);
		this.#pending = this.#pending.filter((other) => other !== pending);
		pending.end(this.#random, this.#isHealthy);
	}

	/** Nothing new is begun, the service works, and tests end: then all must be as it should be. */
	async #end(): Promise<void> {
		this.#isHealthy = true;
		this.#tell('— nothing new, and the service works —');
		for (let round = 0; round < 1_000; round++) {
			if (this.#pending.length > 0) this.#endOne();
			else {
				const tested = this.workflows.find(
					({ isTested, isTestEnding, begins }) => isTested && !isTestEnding && begins === 0,
				);
				if (tested === undefined) break;
				this.#endTest(tested);
			}
			this.#deliver();
			await this.#settled();
		}
		if (
			this.workflows.some(
				({ isChanging, isTestEnding, begins }) => isChanging || isTestEnding || begins > 0,
			)
		)
			this.#broken('n8n waits for ever');
		const wanted = this.#order.at(-1);
		const expected = wanted ? [productionUrl(wanted)] : this.#left;
		const isExpected = expected.includes(undefined) || expected.includes(this.#registeredUrl);
		if (!isExpected && this.#lastWord !== 'reported')
			this.#broken(
				`the service has ${this.#registeredUrl}, it should have ${expected.join(' or ')}`,
			);
		await this.#forgets();
	}

	/** What ended is not remembered. */
	async #forgets(): Promise<void> {
		for (const workflow of this.workflows) {
			if (workflow.isPublished) this.#unpublish(workflow);
			for (
				let round = 0;
				round < 100 && (this.#pending.length > 0 || workflow.isChanging);
				round++
			) {
				await this.#settled();
				if (this.#pending.length > 0) this.#endOne();
			}
			await this.#settled();
		}
		for (const workflow of this.workflows)
			for (const as of ['holders', 'tests'] as const)
				if (this.#modules.state.accountOfTrigger(triggerOf(workflow), as) !== undefined)
					this.#broken(`${workflow.name} has ended and is still remembered`);
	}

	#context(workflow: Workflow, mode: 'trigger' | 'manual', activation: string): object {
		const isTest = mode === 'manual';
		const process = this.#process;
		const report = (message: string, details: object): void => {
			if (process !== this.#process) return;
			if (message.includes('could not be set again')) this.#lastWord = 'reported';
			if (message.includes('It has it already')) this.#checkHasIt(details);
			this.#tell(`log: ${message} ${JSON.stringify(details)}`);
		};
		const { name, takeOver, whileTesting, urlAfter } = workflow;
		const helpers = {
			httpRequestWithAuthentication: async (_: string, request: { body: string }) =>
				await this.#put(
					process,
					String(Reflect.get(Object(JSON.parse(request.body)), 'webhookUrl')),
				),
			httpRequest: async ({ url }: { url: string }) => await this.#probe(url),
		};
		return {
			helpers,
			logger: { warn: report, error: report },
			getMode: () => mode,
			getActivationMode: () => activation,
			getWorkflow: () => ({ id: name, name, active: true }),
			getNode: () => ({
				id: 'trigger',
				name: 'ETB Wallet Trigger',
				credentials: { etbWalletApi: { id: '1', name: 'account' } },
				parameters: {
					events: ['*'],
					additionalOptions: { takeOver, whileTesting, urlAfterDeactivation: urlAfter },
				},
			}),
			getNodeWebhookUrl: () => (isTest ? testUrl(workflow) : productionUrl(workflow)),
			getCredentials: async () =>
				await Promise.resolve({
					baseUrl: 'https://partners.example.com',
					apiKey: 'key',
					webhookSecret: 'secret',
				}),
		};
	}

	#checkHasIt(details: object): void {
		if (Reflect.get(details, 'url') !== this.#registeredUrl)
			this.#finding ??= this.#found(
				`the service has ${this.#registeredUrl}, the log says otherwise`,
			);
	}

	/** How often in turn the service refused a URL for good, since anything else was asked of it. */
	#refused = { url: '', times: 0 };

	/** What is refused for good is not asked for again: n8n would wait for it for ever. */
	#checkPatience(url: string): void {
		this.#refused = { url, times: url === this.#refused.url ? this.#refused.times + 1 : 1 };
		if (this.#refused.times > mostRefusals)
			this.#finding ??= this.#found(`${url} is asked for again and again`);
	}

	async #put(process: number, url: string): Promise<object> {
		// Of a process that has ended, nothing comes any more.
		if (process !== this.#process) return await new Promise(() => undefined);
		this.#tell(`PUT ${url}`);
		if (this.#surelyRegistered !== url) this.#surelyRegistered = undefined;
		for (const workflow of this.workflows)
			if (testUrl(workflow) === url) this.#toldTests.set(workflow, 'certainly');
		const apply = (): void => {
			this.#registeredUrl = url;
		};
		return await new Promise((resolve, reject) => {
			const answer = (statusCode: number): void => resolve({ statusCode, headers: {}, body: '{}' });
			this.#pending.push({
				what: `PUT ${url}`,
				end: (random, isHealthy) => {
					const how = isHealthy ? 0 : random();
					if (how < 0.6 || process !== this.#process) {
						apply();
						this.#tell(`the service has ${url}`);
						if (process === this.#process) {
							this.#lastWord = 'confirmed';
							this.#surelyRegistered = url;
						}
						return answer(200);
					}
					const wasDone = random() < 0.4;
					if (wasDone) apply();
					const [status, what] =
						how < 0.75 ? [503, '503'] : how < 0.9 ? [400, '400'] : [0, 'no answer'];
					if (status === 400) this.#checkPatience(url);
					this.#tell(`PUT ${url}: ${what}${wasDone ? ', and the service has it' : ''}`);
					if (status > 0) answer(status);
					else reject(Object.assign(new Error('timeout'), { code: 'ECONNABORTED' }));
				},
			});
		});
	}

	async #probe(url: string): Promise<object> {
		this.#tell(`probe of ${url}`);
		return await this.#outside(`probe of ${url}`, (resolve) => {
			const isThere = this.workflows.some(
				(workflow) =>
					productionUrl(workflow) === url && (workflow.isPublished || workflow.isChanging),
			);
			resolve({ statusCode: isThere ? (this.#isQueueMode ? 202 : 200) : 404 });
		});
	}

	/** Begins something that n8n waits for; what comes of it counts unless n8n was restarted meanwhile. */
	#begin(work: () => Promise<void>, ended: (error: Error | undefined) => void): void {
		this.#refused = { url: '', times: 0 };
		const process = this.#process;
		const finish = (error: Error | undefined): void => {
			if (process !== this.#process) return;
			try {
				ended(error);
			} catch (finding) {
				this.#finding ??= finding instanceof Error ? finding : new Error(String(finding));
			}
		};
		work().then(
			() => finish(undefined),
			(error: unknown) => finish(error instanceof Error ? error : new Error(String(error))),
		);
	}

	/**
	 * Publishes it; with `update` in the place of what was published, which n8n ends before. As n8n does, tries it
	 * again, and ends it after each try that failed, whatever comes of that.
	 */
	#publish(workflow: Workflow, activation: 'activate' | 'update' | 'init'): void {
		const { name } = workflow;
		this.#tell(`publish ${name} (${activation})`);
		workflow.isChanging = true;
		if (activation === 'update' && this.#order.includes(workflow)) this.#leaves(workflow);
		// It was not published for a while, and another program may have taken the account.
		if (activation === 'activate') this.#surelyRegistered = undefined;
		const isStart = activation === 'init';
		const context = this.#context(workflow, 'trigger', activation);
		const { publishing } = this.#modules;
		const process = this.#process;
		const leave = async (): Promise<void> => {
			this.#order = this.#order.filter((other) => other !== workflow);
			await publishing
				.unregister(this.#context(workflow, 'trigger', 'update'))
				.catch(() => undefined);
		};
		const tries = this.#oneOf([1, 1, 2]);
		this.#begin(
			async () => {
				if (activation === 'update') await leave();
				for (let attempt = 1; process === this.#process; attempt++) {
					const before = this.#order;
					const others = before.filter((other) => other !== workflow);
					// Should it be refused, it leaves again before anything else happens.
					const standsBack = isStart && others.length > 0 && !workflow.takeOver;
					this.#order = standsBack ? [workflow, ...others] : [...others, workflow];
					try {
						await publishing.register(context);
						return;
					} catch (error) {
						// Of a process that has ended, nothing comes any more.
						if (process !== this.#process) throw error;
						this.#checkNamed(error, before);
						const isLost = this.#surelyRegistered === productionUrl(workflow);
						if (isLost && activation === 'update')
							this.#finding ??= this.#found(`the service sends to ${name}, which is given up`);
						await leave();
						if (attempt === tries) throw error;
					}
				}
			},
			(error) => {
				workflow.isChanging = false;
				workflow.isPublished = error === undefined;
				workflow.hasFailed = error !== undefined;
				this.#tell(`${name} is ${error ? `not published: ${error.message}` : 'published'}`);
				if (error !== undefined && isStart) this.#broken(`${name} is lost when n8n starts`);
				if (error !== undefined) this.#lastWord = 'reported';
			},
		);
	}

	/** A person is sent only to a workflow that is published. */
	#checkNamed(error: unknown, before: Workflow[]): void {
		const message = error instanceof Error ? error.message : '';
		const named = /The (?:published )?workflow "(.)"/.exec(message)?.[1];
		if (named === undefined || before.some(({ name }) => name === named)) return;
		const workflow = this.workflows.find(({ name }) => name === named);
		if (!workflow?.isPublished && !workflow?.isChanging)
			this.#finding ??= this.#found(`"${named}" is named, and is not published`);
	}

	#unpublish(workflow: Workflow): void {
		const { name } = workflow;
		this.#tell(`unpublish ${name}`);
		workflow.isChanging = true;
		workflow.isPublished = false;
		workflow.hasFailed = false;
		this.#leaves(workflow);
		this.#order = this.#order.filter((other) => other !== workflow);
		const context = this.#context(workflow, 'trigger', 'update');
		this.#begin(
			async () => await this.#modules.publishing.unregister(context),
			(error) => {
				workflow.isChanging = false;
				if (error !== undefined) this.#lastWord = 'reported';
				this.#tell(`${name} is unpublished${error ? `, but ${error.message}` : ''}`);
			},
		);
	}

	/** Its URL After Deactivation counts, unless another is published; of one that is being published nobody knows yet. */
	#leaves(workflow: Workflow, others = this.#order.slice(this.#order.indexOf(workflow) + 1)): void {
		const { urlAfter } = workflow;
		if (others.some(({ isPublished }) => isPublished)) return;
		this.#left = [...(others.length > 0 ? this.#left : []), urlAfter || undefined];
	}

	#startTest(workflow: Workflow): void {
		const { name, endings } = workflow;
		this.#tell(`test ${name}`);
		workflow.begins++;
		workflow.isTested = true;
		const before = this.#order;
		const context = this.#context(workflow, 'manual', 'manual');
		this.#begin(
			async () => await this.#modules.publishing.register(context),
			(error) => {
				workflow.begins--;
				this.#tell(`${name} ${error ? `does not listen: ${error.message}` : 'listens'}`);
				if (error === undefined) return this.#checkListens(workflow, endings);
				this.#checkNamed(error, before);
				// Whether its URL was set by this test, which never was, or by one before, does not show from outside.
				if (this.#toldTests.has(workflow)) this.#toldTests.set(workflow, 'perhaps');
				this.#endTest(workflow);
			},
		);
	}

	/** Who is told that a test listens can wait for an event. */
	#checkListens(workflow: Workflow, endings: number): void {
		const { state } = this.#modules;
		const isKnown = state.accountOfTrigger(triggerOf(workflow), 'tests') !== undefined;
		if (!isKnown && endings === workflow.endings)
			this.#broken(`${workflow.name} is told that it listens, and does not`);
	}

	/** If it fails, n8n goes on listening, and ends the test again with the next event. */
	#endTest(workflow: Workflow): void {
		const { name } = workflow;
		this.#tell(`end the test of ${name}`);
		workflow.isTestEnding = true;
		workflow.endings++;
		const wasSet = this.#toldTests.get(workflow);
		this.#toldTests.delete(workflow);
		if (workflow.urlAfter !== '') {
			if (wasSet === 'perhaps') this.#left.push(workflow.urlAfter);
			if (wasSet === 'certainly') this.#leaves(workflow, this.#order);
		}
		const context = this.#context(workflow, 'manual', 'update');
		this.#begin(
			async () => await this.#modules.publishing.unregister(context),
			(error) => {
				workflow.isTestEnding = false;
				workflow.isTested = error !== undefined || workflow.begins > 0;
				if (error !== undefined && wasSet) this.#toldTests.set(workflow, 'perhaps');
				if (error !== undefined) this.#lastWord = 'reported';
				this.#tell(`the test of ${name} has ended${error ? `, but ${error.message}` : ''}`);
			},
		);
	}

	/** Tests whose URL the service was told. */
	readonly #toldTests = new Map<Workflow, 'certainly' | 'perhaps'>();

	/** The process ends, and another one publishes again what is published. */
	#restart(): void {
		this.#tell('n8n is restarted');
		this.#process++;
		// What is under way reaches the service, or does not.
		for (const pending of this.#pending) if (this.#chance(0.5)) pending.end(this.#random, true);
		this.#pending = [];
		this.#toldTests.clear();
		for (const workflow of this.workflows)
			Object.assign(workflow, { isChanging: false, ...notTested });
		this.#surelyRegistered = undefined;
		this.#order = [];
		this.#left = [undefined];
		this.#modules = this.#startProcess();
		const published = this.workflows.filter(({ isPublished }) => isPublished);
		for (const workflow of published.toSorted(() => this.#random() - 0.5))
			this.#publish(workflow, 'init');
	}

	/** The service sends an event at this instant. */
	#deliver(): void {
		const { state, holders } = this.#modules;
		for (const workflow of this.workflows) {
			const isRegistered = this.#registeredUrl === testUrl(workflow);
			if (isRegistered && workflow.isTested) this.#deliverToTest(workflow);
		}
		for (const workflow of this.workflows.filter(({ isPublished }) => isPublished)) {
			const known = state.accountOfTrigger(triggerOf(workflow), 'holders')?.known;
			const copies = known ? holders.copiesFor(known, triggerOf(workflow)) : [];
			for (const url of copies) {
				const tested = this.workflows.find((other) => testUrl(other) === url);
				if (tested?.whileTesting !== 'share')
					this.#broken(`the test of ${tested?.name} gets a copy, and was not to`);
			}
		}
	}

	#deliverToTest(workflow: Workflow): void {
		const { state, holders } = this.#modules;
		const { name, whileTesting } = workflow;
		if (whileTesting === 'leaveUrl')
			this.#broken(`the service sends to the test of ${name}, which leaves the URL alone`);
		const known = state.accountOfTrigger(triggerOf(workflow), 'tests')?.known;
		const production = known ? holders.productionOf(known, triggerOf(workflow)) : 'unknown';
		const published = this.workflows.filter(
			({ isPublished, isChanging }) => isPublished && !isChanging,
		);
		if (production === 'nobody' && published.length > 0)
			this.#broken(
				`an event for ${published.map((other) => other.name).join()} is lost to the test of ${name}`,
			);
	}
}

/** @throws {Broken} with the story, when this world breaks */
export async function live(seed: number, steps: number, code: Code): Promise<void> {
	await new World(seed, code).run(steps);
}
