/** A world of one partner account: a model of n8n around the trigger's own code, and of a service with every whim. */
import type { Code } from '../../lab/loaded-code.mts';
import { requireInstalled } from '../../lab/loaded-code.mts';

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
	whileTesting: 'share' | 'leaveUrl';
	/** Which credential of the account it uses. */
	credentialId: string;
	/** As n8n shows it, unless it waits. */
	isPublished: boolean;
	/** n8n shows it as published since it started, and its trigger could not be registered yet. */
	isWaiting: boolean;
	/** n8n publishes or unpublishes it at this moment. */
	isChanging: boolean;
	/** n8n listens at its test URL. */
	isTested: boolean;
	/** How many of its tests begin at this moment: a person can click twice. */
	begins: number;
	/** How often n8n ends its test at this moment. */
	ends: number;
	/** How often its test was ended. */
	endings: number;
	/** n8n changed what is published while its test began, so that nobody could say what is. */
	beganInChange: boolean;
	/** It was published, and its trigger could not be: n8n goes on to show it as published. */
	hasFailed: boolean;
	/** How often a person, or a start of n8n, published or unpublished it. */
	changes: number;
	/** How n8n ends what it keeps of the trigger. */
	close?: () => Promise<void>;
}

/** What waits for an account does not get it before, after another one left it. */
const freeAfterMs = 20_000;

/** From here on a pause is one before a try in the background. */
const shortestPauseMs = 30_000;

/** n8n tries a publication twice at most here, and a test of each workflow may begin or end beside it. */
const mostRefusals = 4;

const credentialRead = 'a credential is read';
const unreadable = 'the credential could not be decrypted';
const keyOfOther = 'key-of-another-account';

const notTested = { isTested: false, begins: 0, ends: 0, endings: 0, beganInChange: false };

/** Something outside the code under test, which ends when the world decides it. */
interface Pending {
	what: string;
	end(random: () => number, isHealthy: boolean): void;
	/** Whether it is a pause before a try in the background. */
	isPause?: boolean;
}

interface TriggerCode {
	register(context: object): Promise<void>;
	unregister(context: object): Promise<void>;
}
type Knowledge = object;
interface AccountsCode {
	keep: (context: object) => { closeFunction: () => Promise<void> };
	accountUrlOfPublished: (trigger: string) => { known: Knowledge } | undefined;
	knownOfTested: (trigger: string) => Knowledge | undefined;
}
interface KnowledgeCode {
	productionOf(known: Knowledge, trigger: string): { url: string } | 'nobody' | 'unknown';
	sharingTestUrls(known: Knowledge, trigger: string): string[];
}
interface Modules {
	publishing: TriggerCode;
	accounts: AccountsCode;
	knowledge: KnowledgeCode;
}

const folder = 'nodes/EtbWalletTrigger';
const base = 'https://n8n.example.com';
const productionUrl = ({ name }: Workflow): string => `${base}/webhook/${name}`;
const testUrl = ({ name }: Workflow): string => `${base}/webhook-test/${name}`;
const triggerOf = ({ name }: Workflow): string => JSON.stringify([name, 'trigger']);

/** Jest has an `Error` of its own, so that `instanceof` is false for those of installed packages. */
const messageOf = (error: unknown): string =>
	String(Reflect.get(Object(error) as object, 'message') ?? error);

/** Another workflow has the account, which is what the trigger is to say then. */
const isRefusal = (error: unknown): boolean => messageOf(error).includes('Unpublish the ');

/** A finding, with all that led to it. */
export class Broken extends Error {}

export class World {
	readonly story: string[] = [];
	readonly workflows: Workflow[];
	readonly #random: () => number;
	/** Of what was added to the worlds later: without it, the seeds of before show what they showed. */
	readonly #randomOfLater: () => number;
	readonly #code: Code;
	/** Whether another process handles what is published. */
	readonly #isQueueMode: boolean;
	#modules: Modules;
	#pending: Pending[] = [];
	/** A restart ends what was under way: its results count no more. */
	#process = 0;
	#isHealthy = false;
	#registeredUrl: string | undefined;
	/** A test was told that another process handles what is published. */
	#standsIn = false;
	/** Another process, or another program, set it. */
	#isSetElsewhere = false;
	/** n8n cannot read the credentials. */
	#isUnreadable = false;
	/** The API key that the service takes, and that both credentials hold. */
	#apiKey = 'key-1';
	/** What the service confirmed last, if it was told nothing else since. */
	#surelyRegistered: string | undefined;
	/** The same, where no other program comes in. */
	#takenLast: string | undefined;
	/** Another process leads, which keeps what was published here. */
	#isPublishedElsewhere = false;
	/** A test's URL was sent to the service, and none of production was taken since. */
	#isToBeGivenBack = false;
	/** The service did not take a URL that it does not have for certain, and took none since. */
	#isRefused = false;

	constructor(seed: number, code: Code) {
		this.#random = randomOf(seed);
		this.#randomOfLater = randomOf(seed + 0.5 * 2 ** 31);
		this.#code = code;
		this.#isQueueMode = this.#chance(0.5);
		this.workflows = ['A', 'B', 'C'].map((name) => ({
			name,
			whileTesting: this.#oneOf(['share', 'share', 'leaveUrl'] as const),
			credentialId: this.#oneOf(['credential 1', 'credential 2']),
			isPublished: false,
			isWaiting: false,
			isChanging: false,
			...notTested,
			hasFailed: false,
			changes: 0,
		}));
		for (const { name, whileTesting, credentialId } of this.workflows)
			this.#tell(`${name}: tests ${whileTesting}, ${credentialId}`);
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

	#chance(probability: number, random = this.#random): boolean {
		return random() < probability;
	}

	#oneOf<Option>(options: readonly Option[]): Option {
		const option = options[Math.floor(this.#random() * options.length)];
		if (option === undefined) throw new Error('nothing to choose from');
		return option;
	}

	/** All that the code does by itself has been done. */
	async #settled(): Promise<void> {
		await new Promise(setImmediate);
		for (const workflow of this.workflows) {
			if (!workflow.isWaiting || !this.#isRegistered(workflow)) continue;
			Object.assign(workflow, { isWaiting: false, isPublished: true });
			this.#tell(`${workflow.name} is published at last`);
		}
		if (this.#finding !== undefined) throw this.#finding;
	}

	#finding: Error | undefined;

	/** By the code under test. */
	#isRegistered(workflow: Workflow): boolean {
		return this.#modules.accounts.accountUrlOfPublished(triggerOf(workflow)) !== undefined;
	}

	/** Nothing of any other workflow is under way, nor of this one but that it is published. */
	#isAlone(workflow: Workflow): boolean {
		return this.workflows.every(
			({ name, isPublished, isWaiting, isChanging, isTested, ends, begins }) =>
				!isTested &&
				ends + begins === 0 &&
				(name === workflow.name || !(isPublished || isWaiting || isChanging)),
		);
	}

	#startProcess(): Modules {
		const sleep = async (ms: number): Promise<void> =>
			await this.#outside(`a wait of ${Math.round(ms)} ms`, (resolve) => resolve(undefined));
		const process = this.#process;
		const timeout = (ms: number): AbortSignal =>
			ms < freeAfterMs || process !== this.#process
				? new AbortController().signal
				: this.#pauseOf(ms);
		const any = (signals: AbortSignal[]): AbortSignal => AbortSignal.any(signals);
		const load = this.#code.start(
			{ 'n8n-workflow': { ...(requireInstalled('n8n-workflow') as object), sleep } },
			{ timeout, any },
		);
		return {
			publishing: load(`${folder}/publishing.ts`) as TriggerCode,
			accounts: load(`${folder}/accounts.ts`) as AccountsCode,
			knowledge: load(`${folder}/knowledge.ts`) as KnowledgeCode,
		};
	}

	/** How many pauses before a try in the background have ended. */
	#endedPauses = 0;
	/** How many times an account was left, and the latest of these after which so much time has passed that it is free. */
	#left = 0;
	#free = 0;

	#pauseOf(ms: number): AbortSignal {
		const end = new AbortController();
		const left = ms < shortestPauseMs ? ++this.#left : 0;
		const begin = (): void => {
			this.#endedPauses++;
			this.#free = Math.max(this.#free, left);
			// What was published so long ago counts no more.
			if (ms < shortestPauseMs) this.#surelyRegistered = undefined;
			this.#forgetRefusals();
			end.abort();
		};
		this.#pending.push({ what: `a pause of ${ms} ms`, end: begin, isPause: true });
		if (ms >= shortestPauseMs) {
			this.#tell(`n8n tries again in ${ms / 1000} s`);
			this.#checkTold();
		}
		return end.signal;
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
			const { isPublished, isWaiting, isChanging, isTested, ends, begins, hasFailed } = workflow;
			if (!isChanging && (isPublished || isWaiting))
				choices.push(
					() => this.#unpublish(workflow),
					() => this.#publish(workflow, 'update'),
				);
			else if (!isChanging)
				choices.push(() => this.#publish(workflow, hasFailed ? 'update' : 'activate'));
			if (isTested && ends === 0 && begins === 0) choices.push(() => this.#endTest(workflow));
			if (begins < 2) choices.push(() => this.#startTest(workflow));
		}
		const isAnyInUse = this.workflows.some(
			({ isPublished, isWaiting, isChanging, isTested, ends, begins }) =>
				isPublished || isWaiting || isChanging || isTested || ends > 0 || begins > 0,
		);
		const isQuiet = this.#pending.every(({ isPause }) => isPause);
		if (!isAnyInUse && isQuiet && this.#chance(0.3)) this.#setOutside();
		choices.push(() => this.#deliver());
		if (this.#chance(0.05)) choices.push(() => this.#restart());
		// Both credentials hold the new key at once here, so what is being read could be neither.
		const isRead = this.#pending.some(({ what }) => what === credentialRead);
		if (!isRead && this.#chance(0.03)) choices.push(() => this.#replaceApiKey());
		if (isQuiet && this.#chance(0.1)) choices.push(() => this.#leadAgain());
		if (this.#chance(0.1, this.#randomOfLater)) choices.push(() => this.#publishOther());
		if (this.#isUnreadable && this.#chance(0.2, this.#randomOfLater))
			choices.push(() => this.#repairCredentials());
		if (this.#pending.length > 0 && this.#chance(0.6)) this.#endOne();
		else this.#oneOf(choices)();
		this.#deliver();
	}

	/** Another program takes an account that nobody here uses, or that n8n does not watch while it is down. */
	#setOutside(): void {
		this.#registeredUrl = 'https://elsewhere.example.com/';
		this.#isSetElsewhere = true;
		this.#tell('another program sets its URL');
	}

	#endOne(how = this.#random): void {
		const pending = this.#oneOf(this.#pending);
		this.#pending = this.#pending.filter((other) => other !== pending);
		pending.end(how, this.#isHealthy);
	}

	/** Nothing new is begun, the service works, and tests end: then all must be as it should be. */
	async #end(): Promise<void> {
		await this.#tryInBackground();
		this.#isHealthy = true;
		if (this.#isUnreadable) this.#repairCredentials();
		this.#tell('— nothing new, and the service works —');
		for (let round = 0; round < 1_000; round++) {
			const tested = this.workflows.find(
				({ isTested, ends, begins }) => isTested && ends === 0 && begins === 0,
			);
			const isQuiet = this.#pending.every(({ isPause }) => isPause);
			if (isQuiet && tested !== undefined) this.#endTest(tested);
			else if (this.#pending.length === 0 || (isQuiet && this.#isAsItShouldBe())) break;
			else this.#endOne();
			this.#deliver();
			await this.#settled();
		}
		if (this.workflows.some(({ isChanging, ends, begins }) => isChanging || ends > 0 || begins > 0))
			this.#broken('n8n waits for ever');
		if (!this.#isAsItShouldBe() && this.workflows.some(({ isWaiting }) => isWaiting))
			this.#broken('what could not be registered when n8n started never is');
		const published = this.workflows.find(({ isPublished }) => isPublished);
		if (published !== undefined && this.#registeredUrl !== productionUrl(published))
			this.#broken(`the service has ${this.#registeredUrl}, and not the URL of ${published.name}`);
		await this.#forgets();
	}

	/** Whoever waits can only wait for the one that is published. */
	#isAsItShouldBe(): boolean {
		const published = this.workflows.find(({ isPublished }) => isPublished);
		if (published === undefined) return this.workflows.every(({ isWaiting }) => !isWaiting);
		return this.#registeredUrl === productionUrl(published);
	}

	/** The next try in the background comes before the service works again, which refuses that one as well. */
	async #tryInBackground(): Promise<void> {
		const pause = this.#pending.find(({ isPause }) => isPause);
		if (pause === undefined) return;
		this.#pending = this.#pending.filter((other) => other !== pause);
		const refuses = (): number => 0.8;
		pause.end(refuses, false);
		for (let round = 0; round < 20; round++) {
			await this.#settled();
			if (this.#pending.every(({ isPause }) => isPause)) break;
			this.#endOne(refuses);
		}
		await this.#settled();
	}

	/** After all that, a workflow can be published, and unpublished. */
	async #publishes(): Promise<void> {
		const workflow = this.#oneOf(this.workflows);
		for (const begin of [
			() => this.#publish(workflow, 'activate'),
			() => this.#unpublish(workflow),
		]) {
			const wasPublished = workflow.isPublished;
			begin();
			for (let round = 0; round < 100 && workflow.isChanging; round++) {
				await this.#settled();
				if (this.#pending.length > 0) this.#endOne();
			}
			if (workflow.isPublished === wasPublished)
				this.#broken(`${workflow.name} cannot be published`);
		}
	}

	/** What ended is not remembered. */
	async #forgets(): Promise<void> {
		for (const workflow of this.workflows) {
			if (workflow.isPublished || workflow.isWaiting) this.#unpublish(workflow);
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
		await this.#publishes();
		const { accountUrlOfPublished, knownOfTested } = this.#modules.accounts;
		for (const workflow of this.workflows)
			for (const knownOf of [accountUrlOfPublished, knownOfTested])
				if (knownOf(triggerOf(workflow)) !== undefined)
					this.#broken(`${workflow.name} has ended and is still remembered`);
	}

	#context(
		workflow: Workflow,
		mode: 'trigger' | 'manual',
		activation: string,
		isOtherAccount = false,
	): object {
		const isTest = mode === 'manual';
		const process = this.#process;
		const report = (message: string): void => {
			if (process !== this.#process) return;
			if (message.includes('It took it before')) this.#checkHasIt(message);
			this.#tell(`log: ${message}`);
		};
		const { name, whileTesting, credentialId } = workflow;
		const helpers = {
			httpRequestWithAuthentication: async (
				_: string,
				request: { body: string },
				{ credentialsDecrypted: { data } }: { credentialsDecrypted: { data: { apiKey: string } } },
			) =>
				await this.#put(
					process,
					String(Reflect.get(Object(JSON.parse(request.body)), 'webhookUrl')),
					data.apiKey,
				),
			httpRequest: async ({ url }: { url: string }) => await this.#probe(url),
		};
		return {
			helpers,
			additionalData: { projectId: 'project' },
			logger: { info: report, warn: report, error: report },
			saveFailedExecution: (error: Error) => {
				if (process === this.#process) this.#showPerson(name, error);
			},
			getMode: () => mode,
			getActivationMode: () => activation,
			getWorkflow: () => ({ id: name, name, active: true }),
			getNode: () => ({
				id: 'trigger',
				name: 'ETB Wallet Trigger',
				credentials: {
					etbWalletApi: { id: isOtherAccount ? 'of another' : credentialId, name: 'account' },
				},
				parameters: { events: ['*'], additionalOptions: { whileTesting } },
			}),
			getNodeWebhookUrl: () => (isTest ? testUrl(workflow) : productionUrl(workflow)),
			// Others can begin and end something while n8n reads its database.
			getCredentials: async () => {
				if (this.#chance(0.15))
					await this.#outside(credentialRead, (resolve) => resolve(undefined));
				if (this.#isUnreadable) throw new Error(unreadable);
				return {
					baseUrl: 'https://partners.example.com',
					apiKey: isOtherAccount ? keyOfOther : this.#apiKey,
					webhookSecret: 'secret',
				};
			},
		};
	}

	/** Workflows at which a person was shown why events may not come, since that began. */
	readonly #told = new Set<string>();
	/** The same with the reason why their triggers wait. */
	readonly #toldWhy = new Set<string>();

	#showPerson(name: string, error: Error): void {
		const why = String(Reflect.get(error, 'description'));
		this.#tell(`${name} shows: ${error.message}: ${why}`);
		const isOfService = /^(The service|No answer)/.test(why);
		const told = isOfService ? this.#told : this.#toldWhy;
		const what = `${name}: ${why}`;
		if (told.has(what)) this.#finding ??= this.#found(`${name} shows the same failure again`);
		told.add(what);
	}

	/** n8n shows the workflow as published, so somebody is told before the first try in the background. */
	#checkTold(): void {
		// The pause may be that of a trigger which waits.
		if (this.#toldWhy.size > 0) return;
		if (this.#told.size === 0 && this.#isRefused)
			this.#finding ??= this.#found('no events come, and nobody is told');
	}

	#checkHasIt(message: string): void {
		if (!message.includes(`(${this.#registeredUrl})`))
			this.#finding ??= this.#found(
				`the service has ${this.#registeredUrl}, the log says otherwise`,
			);
	}

	/** How often in turn the service refused a URL for good, of what was asked since anything else was begun. */
	#refused = { url: '', times: 0 };
	#begun = 0;

	#forgetRefusals(): void {
		this.#refused = { url: '', times: 0 };
		this.#begun++;
	}

	/** What is refused for good is not asked for again: n8n would wait for it for ever. */
	#checkPatience(url: string, begun: number): void {
		if (begun !== this.#begun) return;
		this.#refused = { url, times: url === this.#refused.url ? this.#refused.times + 1 : 1 };
		if (this.#refused.times > mostRefusals)
			this.#finding ??= this.#found(`${url} is asked for again and again`);
	}

	async #put(process: number, url: string, apiKey: string): Promise<object> {
		// Of a process that has ended, nothing comes any more.
		if (process !== this.#process) return await new Promise(() => undefined);
		const begun = this.#begun;
		this.#tell(`PUT ${url}`);
		if (apiKey === keyOfOther) return { statusCode: 200, headers: {}, body: '{}' };
		this.#checkKept(url);
		const tested = this.workflows.find((workflow) => testUrl(workflow) === url);
		const isOfTest = tested !== undefined;
		if (isOfTest) {
			this.#isToBeGivenBack = true;
			this.#checkNeeded(tested);
		}
		if (this.#surelyRegistered !== url) this.#surelyRegistered = undefined;
		if (this.#takenLast !== url) this.#takenLast = undefined;
		const apply = (): void => {
			this.#registeredUrl = url;
			this.#isSetElsewhere = false;
		};
		return await new Promise((resolve, reject) => {
			const answer = (statusCode: number, body = '{}'): void =>
				resolve({ statusCode, headers: {}, body });
			this.#pending.push({
				what: `PUT ${url}`,
				end: (random, isHealthy) => {
					const how = isHealthy ? 0 : random();
					if (apiKey !== this.#apiKey) {
						this.#isRefused = this.#takenLast !== url;
						this.#tell(`PUT ${url}: 401`);
						return answer(401);
					}
					if (how < 0.6 || process !== this.#process) {
						apply();
						this.#tell(`the service has ${url}`);
						if (process === this.#process) {
							this.#surelyRegistered = url;
							this.#takenLast = url;
							this.#isRefused = false;
							this.#told.clear();
							if (!isOfTest) this.#isToBeGivenBack = false;
						}
						return answer(200);
					}
					this.#isRefused = this.#takenLast !== url;
					if (how < 0.65) {
						this.#checkPatience(url, begun);
						this.#tell(`PUT ${url}: 200, with another URL`);
						return answer(200, '{"webhookUrl":"https://elsewhere.example.com/"}');
					}
					const wasDone = random() < 0.4;
					if (wasDone) apply();
					const [status, what] =
						how < 0.75 ? [503, '503'] : how < 0.9 ? [400, '400'] : [0, 'no answer'];
					if (status === 400) this.#checkPatience(url, begun);
					this.#tell(`PUT ${url}: ${what}${wasDone ? ', and the service has it' : ''}`);
					if (status > 0) answer(status);
					else reject(Object.assign(new Error('timeout'), { code: 'ECONNABORTED' }));
				},
			});
		});
	}

	/** In one process a test gets copies, also of what n8n publishes again at this moment. */
	#checkNeeded({ name, beganInChange }: Workflow): void {
		const isPublished = this.workflows.some((workflow) => workflow.isPublished);
		if (isPublished && !beganInChange && !this.#standsIn)
			this.#finding ??= this.#found(`the test of ${name} takes the URL of what is published`);
	}

	/** In the background, a process tries only while it keeps a published workflow: another one may lead by now. */
	#checkKept(url: string): void {
		const hasReason = this.workflows.some(
			({ close, isChanging, ends, begins }) =>
				close !== undefined || isChanging || ends > 0 || begins > 0,
		);
		if (!hasReason)
			this.#finding ??= this.#found(`${url} is set by a process that publishes nothing`);
		const mayPublish = this.workflows.some(
			({ close, isChanging }) => close !== undefined || isChanging,
		);
		const isOfProduction = this.workflows.some((workflow) => productionUrl(workflow) === url);
		if (isOfProduction && !mayPublish && !this.#isToBeGivenBack)
			this.#finding ??= this.#found(`${url} is set by a process that leads no more`);
	}

	async #probe(url: string): Promise<object> {
		this.#tell(`probe of ${url}`);
		return await this.#outside(`probe of ${url}`, (resolve) => {
			const isThere = this.workflows.some(
				(workflow) =>
					productionUrl(workflow) === url && (workflow.isPublished || workflow.isChanging),
			);
			const isElsewhere = this.#isPublishedElsewhere && !isThere;
			const isOfOther = this.#isQueueMode || (isElsewhere && this.#chance(0.5));
			this.#standsIn ||= isOfOther;
			resolve({ statusCode: isThere || isElsewhere ? (isOfOther ? 202 : 200) : 404 });
		});
	}

	/** Begins something that n8n waits for; what comes of it counts unless n8n was restarted meanwhile. */
	#begin(work: () => Promise<void>, ended: (error: Error | undefined) => void): void {
		this.#forgetRefusals();
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
			(error: unknown) => finish(new Error(messageOf(error))),
		);
	}

	/**
	 * Publishes it; with `update` in the place of what was published, which n8n ends before. As n8n does, tries it
	 * again, and unregisters it after each try that failed, whatever comes of that; newer versions keep it all the same.
	 */
	#publish(
		workflow: Workflow,
		activation: 'activate' | 'update' | 'init' | 'leadershipChange',
	): void {
		const { name } = workflow;
		this.#tell(`publish ${name} (${activation})`);
		this.#isPublishedElsewhere = false;
		this.#change(workflow);
		// It was not published for a while, and another program may have taken the account.
		if (activation === 'activate') this.#surelyRegistered = undefined;
		const context = this.#context(workflow, 'trigger', activation);
		const process = this.#process;
		const leave = async (): Promise<void> => {
			await this.#leave(workflow).catch(() => undefined);
		};
		const giveUp = async (): Promise<void> => {
			if (this.#chance(0.5)) await leave();
			else await this.#modules.publishing.unregister(context).catch(() => undefined);
		};
		const tries = this.#oneOf([1, 1, 2]);
		const wasPublished = workflow.isPublished && activation === 'update';
		const waiting = this.workflows.filter((other) => other.isWaiting && other !== workflow);
		const changes = waiting.map((other) => other.changes);
		const endedPauses = this.#endedPauses;
		const left = this.#left;
		// n8n changes it in less time than a second pause takes, or one that began with the change.
		const isTaken = (): boolean =>
			this.#endedPauses - endedPauses < 2 &&
			this.#free <= left &&
			waiting.some((other, index) => this.#isRegistered(other) && other.changes === changes[index]);
		const isQuiet = this.#pending.every(({ isPause }) => isPause);
		const isAlone = activation === 'update' && isQuiet && this.#isAlone(workflow);
		if (isAlone && this.#chance(0.1, this.#randomOfLater)) this.#enterOtherAccount();
		const goesElsewhere = isAlone && this.#chance(0.3, this.#randomOfLater);
		const isStart = activation === 'init' || activation === 'leadershipChange';
		this.#begin(
			async () => {
				if (goesElsewhere) await this.#publishElsewhere(workflow);
				if (process !== this.#process) return;
				// After a failure n8n has nothing to end.
				if (activation === 'update' && !(workflow.hasFailed && this.#chance(0.5))) await leave();
				const isMeanwhile =
					activation === 'update' &&
					this.#chance(waiting.length > 0 ? 0.7 : 0.1, this.#randomOfLater);
				if (isMeanwhile)
					await this.#outside('n8n reads its database', (resolve) => resolve(undefined));
				for (let attempt = 1; process === this.#process; attempt++) {
					// n8n does both at once.
					const isKeptFirst = this.#chance(0.5);
					if (isKeptFirst) this.#keep(workflow);
					try {
						await this.#modules.publishing.register(context);
						if (!isKeptFirst && process === this.#process) this.#keep(workflow);
						return;
					} catch (error) {
						// Of a process that has ended, nothing comes any more.
						if (process !== this.#process) throw error;
						this.#checkNamed(error);
						if (messageOf(error) === unreadable) this.#surelyRegistered = undefined;
						const isLost = this.#surelyRegistered === productionUrl(workflow);
						if (isLost && !isRefusal(error) && activation === 'update')
							this.#finding ??= this.#found(`the service sends to ${name}, which is given up`);
						if (wasPublished && isRefusal(error) && isTaken())
							this.#finding ??= this.#found(`${name} is changed, and loses its account`);
						await giveUp();
						if (attempt === tries) throw error;
					}
				}
			},
			(error) => {
				workflow.isChanging = false;
				workflow.isWaiting = error === undefined && isStart && !this.#isRegistered(workflow);
				workflow.isPublished = error === undefined && !workflow.isWaiting;
				workflow.hasFailed = error !== undefined;
				const how = workflow.isWaiting ? 'published, and waits' : 'published';
				this.#tell(`${name} is ${error ? `not published: ${error.message}` : how}`);
				if (isStart && error !== undefined) this.#broken(`${name} is lost when n8n starts`);
				const isTold = [...this.#toldWhy].some((told) => told.startsWith(name));
				if (workflow.isWaiting && !isTold) this.#broken(`${name} waits, and nobody is told`);
				const published = this.workflows.filter(
					({ isPublished, isChanging }) => isPublished && !isChanging,
				);
				if (published.length > 1)
					this.#broken(`${published.map((other) => other.name).join(' and ')} are both published`);
			},
		);
	}

	/** A person entered another account into both credentials. */
	#enterOtherAccount(): void {
		this.#replaceApiKey();
		this.#setOutside();
		this.#takenLast = undefined;
	}

	/** For a while it is published for another account, which takes every URL. */
	async #publishElsewhere(workflow: Workflow): Promise<void> {
		const { accounts, publishing } = this.#modules;
		const process = this.#process;
		this.#tell(`${workflow.name} is published for another account first`);
		await this.#leave(workflow).catch(() => undefined);
		const context = this.#context(workflow, 'trigger', 'update', true);
		await publishing.register(context).catch(() => undefined);
		if (process !== this.#process) return;
		const { closeFunction } = accounts.keep(context);
		await closeFunction();
		await publishing.unregister(context);
		if (process !== this.#process) return;
		this.#surelyRegistered = undefined;
		if (!this.#isAlone(workflow)) return;
		this.#setOutside();
		this.#takenLast = undefined;
	}

	/** A workflow of another account, which takes every URL, is published and unpublished. */
	#publishOther(): void {
		const { publishing } = this.#modules;
		const other: Workflow = { ...this.#oneOf(this.workflows), name: 'Z' };
		this.#tell('Z is published for another account');
		const context = this.#context(other, 'trigger', 'activate', true);
		const publish = async (): Promise<void> => {
			await publishing.register(context);
			await publishing.unregister(context);
		};
		publish().catch(() => undefined);
	}

	/** n8n can read the credentials again, and a person tries at once whether all works. */
	#repairCredentials(): void {
		this.#isUnreadable = false;
		this.#tell('the credentials can be read again');
		const workflow = this.#oneOf(this.workflows);
		const { isPublished, isWaiting, isChanging } = workflow;
		if (this.#isHealthy) return;
		if (this.#chance(0.5)) this.#startTest(workflow);
		else if (!isPublished && !isWaiting && !isChanging) this.#publish(workflow, 'activate');
	}

	#change(workflow: Workflow): void {
		workflow.isChanging = true;
		workflow.changes++;
		for (const told of this.#toldWhy)
			if (told.startsWith(workflow.name)) this.#toldWhy.delete(told);
		for (const tested of this.workflows) tested.beganInChange ||= tested.begins > 0;
	}

	/** n8n keeps a published trigger in memory. */
	#keep(workflow: Workflow): void {
		const context = this.#context(workflow, 'trigger', 'activate');
		workflow.close = this.#modules.accounts.keep(context).closeFunction;
	}

	/** n8n ends a published trigger, and what it keeps of it, in either order. */
	async #leave(workflow: Workflow): Promise<void> {
		const { close } = workflow;
		workflow.close = undefined;
		const process = this.#process;
		const isClosedFirst = this.#chance(0.5);
		if (isClosedFirst) {
			await close?.();
			if (this.#chance(0.3))
				await this.#outside('n8n writes its database', (resolve) => resolve(undefined));
			if (process !== this.#process) return;
		}
		const unregister = this.#modules.publishing.unregister(
			this.#context(workflow, 'trigger', 'update'),
		);
		if (!isClosedFirst) await close?.();
		await unregister;
	}

	/** The API key of the account is replaced at the service, and in both credentials. */
	#replaceApiKey(): void {
		this.#apiKey = `key-${Number(this.#apiKey.slice(4)) + 1}`;
		// The key may be that of another account, as far as anybody knows.
		this.#surelyRegistered = undefined;
		this.#tell(`the API key is replaced: ${this.#apiKey}`);
	}

	/** Another main process of n8n leads for a while, in which workflows are published and unpublished there. */
	#leadAgain(): void {
		if (this.workflows.some(({ isChanging }) => isChanging)) return;
		this.#tell('another process leads for a while');
		this.#isPublishedElsewhere = this.workflows.some(({ isPublished }) => isPublished);
		for (const workflow of this.workflows) {
			void workflow.close?.();
			workflow.close = undefined;
			workflow.isPublished = false;
			workflow.isWaiting = false;
		}
		const published = this.#oneOf(this.workflows);
		this.#surelyRegistered = undefined;
		this.#isRefused = false;
		this.#takenLast = undefined;
		const leadsAgain = this.#chance(0.5);
		// That one may have failed to set the URL of what was published last. As long as it leads, something is tested there.
		const urlOf = leadsAgain || this.#chance(0.5) ? productionUrl : testUrl;
		this.#registeredUrl = urlOf(this.#oneOf(this.workflows));
		this.#isSetElsewhere = true;
		this.#tell(`the service has ${this.#registeredUrl}`);
		if (leadsAgain) this.#publish(published, 'leadershipChange');
	}

	/** A person is sent only to a workflow that is published. */
	#checkNamed(error: unknown): void {
		const named = /workflow "(.)"/.exec(messageOf(error))?.[1];
		if (named === undefined) return;
		const workflow = this.workflows.find(({ name }) => name === named);
		const isThere = workflow?.isPublished === true || workflow?.isChanging === true;
		if (workflow !== undefined && !isThere && !this.#isRegistered(workflow))
			this.#finding ??= this.#found(`"${named}" is named, and is not published`);
	}

	#unpublish(workflow: Workflow): void {
		const { name } = workflow;
		this.#tell(`unpublish ${name}`);
		this.#change(workflow);
		workflow.isPublished = false;
		workflow.isWaiting = false;
		workflow.hasFailed = false;
		this.#begin(
			async () => await this.#leave(workflow),
			(error) => {
				workflow.isChanging = false;
				this.#tell(`${name} is unpublished${error ? `, but ${error.message}` : ''}`);
			},
		);
	}

	#startTest(workflow: Workflow): void {
		const { name, endings } = workflow;
		this.#tell(`test ${name}`);
		const isGoingOn = workflow.isTested || workflow.begins > 0 || workflow.ends > 0;
		const isInChange = this.workflows.some(({ isChanging }) => isChanging);
		const receiver = this.#isUnreadable ? undefined : this.#receivingWhileItWaits();
		workflow.beganInChange = isInChange || (isGoingOn && workflow.beganInChange);
		workflow.begins++;
		workflow.isTested = true;
		const context = this.#context(workflow, 'manual', 'manual');
		this.#begin(
			async () => await this.#modules.publishing.register(context),
			(error) => {
				workflow.begins--;
				this.#tell(`${name} ${error ? `does not listen: ${error.message}` : 'listens'}`);
				const isTaken = receiver?.isWaiting && this.#registeredUrl === testUrl(workflow);
				if (isTaken && receiver === this.#waitingAlone())
					this.#broken(`the test of ${name} takes the URL of ${receiver.name}, which waits`);
				if (error === undefined) return this.#checkListens(workflow, endings);
				this.#checkNamed(error);
				this.#endTest(workflow);
			},
		);
	}

	/** The only one that is published, and whose trigger could not be registered yet. */
	#waitingAlone(): Workflow | undefined {
		const inUse = this.workflows.filter(
			({ isPublished, isWaiting, isChanging }) => isPublished || isWaiting || isChanging,
		);
		const [only] = inUse;
		return inUse.length === 1 && only?.isWaiting && !only.isChanging ? only : undefined;
	}

	/** The same, if the service sends to it all the same. */
	#receivingWhileItWaits(): Workflow | undefined {
		const waiting = this.#waitingAlone();
		return waiting && this.#registeredUrl === productionUrl(waiting) ? waiting : undefined;
	}

	/** Who is told that a test listens can wait for an event. */
	#checkListens(workflow: Workflow, endings: number): void {
		const { accounts } = this.#modules;
		const isKnown = accounts.knownOfTested(triggerOf(workflow)) !== undefined;
		if (!isKnown && endings === workflow.endings)
			this.#broken(`${workflow.name} is told that it listens, and does not`);
	}

	/** If it fails, n8n goes on listening, and ends the test again with the next event. */
	#endTest(workflow: Workflow): void {
		const { name } = workflow;
		this.#tell(`end the test of ${name}`);
		workflow.ends++;
		workflow.endings++;
		const context = this.#context(workflow, 'manual', 'update');
		const isKnown = this.#modules.accounts.knownOfTested(triggerOf(workflow)) !== undefined;
		this.#begin(
			async () => await this.#modules.publishing.unregister(context),
			(error) => {
				workflow.ends--;
				workflow.isTested = error !== undefined || workflow.begins > 0;
				this.#tell(`the test of ${name} has ended${error ? `, but ${error.message}` : ''}`);
				if (error === undefined && isKnown) this.#checkGivenBack(workflow);
			},
		);
	}

	/** A test that has ended, without a failure, leaves the URL to who is published. */
	#checkGivenBack(ended: Workflow): void {
		const isBusy = this.workflows.some(
			({ isChanging, isTested, ends, begins }) => isChanging || isTested || ends > 0 || begins > 0,
		);
		const isAnyPublished =
			this.#isPublishedElsewhere || this.workflows.some(({ isPublished }) => isPublished);
		const isOwn = this.#registeredUrl === testUrl(ended) && !this.#isSetElsewhere;
		if (!isBusy && isAnyPublished && isOwn)
			this.#broken(`the test of ${ended.name} has ended, and the service still sends to it`);
	}

	/** The process ends, and another one publishes again what is published. */
	#restart(): void {
		this.#tell('n8n is restarted');
		this.#told.clear();
		this.#toldWhy.clear();
		this.#isRefused = false;
		this.#takenLast = undefined;
		this.#process++;
		this.#isUnreadable = this.#chance(0.3, this.#randomOfLater);
		if (this.#isUnreadable) this.#tell('the credentials cannot be read');
		this.#isToBeGivenBack = false;
		this.#isPublishedElsewhere = false;
		// What is under way reaches the service, or does not.
		for (const pending of this.#pending) if (this.#chance(0.5)) pending.end(this.#random, true);
		this.#pending = [];
		for (const workflow of this.workflows)
			Object.assign(workflow, { isChanging: false, close: undefined, ...notTested });
		this.#surelyRegistered = undefined;
		if (this.#chance(0.3)) this.#setOutside();
		this.#modules = this.#startProcess();
		const published = this.workflows.filter(
			({ isPublished, isWaiting }) => isPublished || isWaiting,
		);
		for (const workflow of published)
			Object.assign(workflow, { isPublished: true, isWaiting: false });
		for (const workflow of published.toSorted(() => this.#random() - 0.5))
			this.#publish(workflow, 'init');
	}

	/** The service sends an event at this instant. */
	#deliver(): void {
		const { accounts, knowledge } = this.#modules;
		for (const workflow of this.workflows) {
			const isRegistered = this.#registeredUrl === testUrl(workflow);
			if (isRegistered && workflow.isTested) this.#deliverToTest(workflow);
		}
		for (const workflow of this.workflows.filter(({ isPublished }) => isPublished)) {
			const known = accounts.accountUrlOfPublished(triggerOf(workflow))?.known;
			const copies = known ? knowledge.sharingTestUrls(known, triggerOf(workflow)) : [];
			for (const url of copies) {
				const tested = this.workflows.find((other) => testUrl(other) === url);
				if (tested?.whileTesting !== 'share')
					this.#broken(`the test of ${tested?.name} gets a copy, and was not to`);
			}
		}
	}

	#deliverToTest(workflow: Workflow): void {
		const { accounts, knowledge } = this.#modules;
		const { name, whileTesting, beganInChange } = workflow;
		if (whileTesting === 'leaveUrl' && !this.#isSetElsewhere)
			this.#broken(`the service sends to the test of ${name}, which leaves the URL alone`);
		const known = accounts.knownOfTested(triggerOf(workflow));
		const production = known ? knowledge.productionOf(known, triggerOf(workflow)) : 'unknown';
		const published = this.workflows.find(
			({ isPublished, isChanging }) => isPublished && !(isChanging && beganInChange),
		);
		const meantFor = this.#isPublishedElsewhere ? 'another process' : published?.name;
		if (production === 'nobody' && meantFor !== undefined)
			this.#broken(`an event for ${meantFor} is lost to the test of ${name}`);
	}
}

/** @throws {Broken} with the story, when this world breaks */
export async function live(seed: number, steps: number, code: Code): Promise<void> {
	await new World(seed, code).run(steps);
}
