/**
 * Which URL the service has, whatever is published, tested and started in which order: one table. A row holds
 * its beginnings too.
 */
import type { IDataObject, INodeType, WorkflowActivateMode } from 'n8n-workflow';
import { callTriggerHook, credentialFor, loadAnew } from '../support/engine/engine.mts';
import { payInEachTest, sandbox } from '../support/engine/paying.mts';

payInEachTest();

/** A workflow with a trigger, as n8n's database has it. */
interface Workflow {
	staticData: IDataObject;
	isPublished: boolean;
}

/** n8n with workflows `a` and `b` that use one credential. */
class N8n {
	#process: INodeType;
	#other?: INodeType;
	readonly #workflows = new Map<string, Workflow>();
	readonly #credential = credentialFor(sandbox);
	#credentialId = '1';
	/** By workflow, the beginning of the address in its own credential. */
	readonly #strayed = new Map<string, string>();
	#address = 'http://127.0.0.1:5678';

	constructor(process: INodeType) {
		this.#process = process;
	}

	/**
	 * Does one step after the other, such as `publish a`; with `+` between them two at once. One that ends with `…` goes
	 * on by itself once the service has its request, one with `~` at once. The result has the reason behind each step that
	 * n8n could not carry out; reasons in `steps` are left out of what is done.
	 */
	async run(steps: string): Promise<string> {
		const begun: Array<Promise<string[]>> = [];
		for (const text of steps.replace(/ \([^)]*\)/g, '').split(', ')) {
			const requests = sandbox.requests.length;
			const doing = Promise.all(text.split(' + ').map(async (step) => await this.#step(step)));
			begun.push(doing);
			if (!/[…~]$/.test(text)) await doing;
			while (text.endsWith('…') && sandbox.requests.length === requests) await turn();
			for (let turns = 0; text.endsWith('~') && turns < 20; turns++) await turn();
		}
		return (await Promise.all(begun)).map((told) => told.join(' + ')).join(', ');
	}

	async #step(step: string): Promise<string> {
		const [verb = '', name = ''] = step.replace(/[…~]$/, '').split(' ');
		try {
			await this.#verbs[verb]?.(name);
			return step;
		} catch (error) {
			return `${step} (${reasonIn((error as Error).message)})`;
		}
	}

	readonly #verbs: Record<string, (name: string) => unknown> = {
		publish: async (name) => await this.#publish(name, 'activate'),
		change: async (name) => {
			await this.#hook(name, 'delete');
			await this.#publish(name, 'update');
		},
		unpublish: async (name) => {
			this.#workflow(name).isPublished = false;
			await this.#hook(name, 'delete');
		},
		test: async (name) => await this.#hook(name, 'create', 'manual', {}),
		end: async (name) => await this.#hook(name, 'delete', 'manual', {}),
		restart: async () => {
			this.#process = await loadAnew('EtbWalletTrigger');
			for (const [name, { isPublished }] of this.#workflows)
				if (isPublished) await this.#publish(name, 'init');
		},
		/** A new process that has not published anything yet. */
		boot: async () => void (this.#process = await loadAnew('EtbWalletTrigger')),
		init: async (name) => await this.#publish(name, 'init'),
		/** This process takes the lead, and starts what is published. */
		lead: async (name) => await this.#publish(name, 'leadershipChange'),
		/** Another main process of n8n takes the lead, and then the first one again. */
		elsewhere: async () => {
			const other = this.#other ?? (await loadAnew('EtbWalletTrigger'));
			[this.#process, this.#other] = [other, this.#process];
		},
		down: () => sandbox.faults.next('PUT /webhook', { process: 'never', response: refusal }, 1_000),
		up: () => sandbox.faults.clear(),
		/** The next call is tried again after a second. */
		busy: () => sandbox.faults.next('PUT /webhook', 'tooManyRequests'),
		lose: () =>
			sandbox.faults.next('PUT /webhook', { process: 'before-response', response: refusal }),
		move: () => void (this.#address = 'http://127.0.0.1:5679'),
		replaceKey: () => void (this.#credential.apiKey = 'replaced-api-key'),
		replaceCredential: () => void (this.#credentialId = '2'),
		/** Its credential, one of its own, is for another account until a person corrects it. */
		otherAccount: (name) => void this.#strayed.set(name, 'http://localhost'),
		sameAccount: (name) => void this.#strayed.set(name, 'http://127.0.0.1'),
		deleteCredential: () => void (this.#credential.baseUrl = ''),
		restoreCredential: () => void (this.#credential.baseUrl = sandbox.url),
	};

	#workflow(name: string): Workflow {
		const workflow = this.#workflows.get(name) ?? { staticData: {}, isPublished: false };
		this.#workflows.set(name, workflow);
		return workflow;
	}

	/** As n8n publishes: it asks first, and takes back what failed. */
	async #publish(name: string, activation: WorkflowActivateMode): Promise<void> {
		this.#workflow(name).isPublished = true;
		if (await this.#hook(name, 'checkExists', activation)) return;
		try {
			await this.#hook(name, 'create', activation);
		} catch (error) {
			await this.#hook(name, 'delete');
			throw error;
		}
	}

	async #hook(
		name: string,
		hook: 'checkExists' | 'create' | 'delete',
		activation: WorkflowActivateMode = 'update',
		staticData = this.#workflow(name).staticData,
	): Promise<boolean> {
		const isTest = activation === 'manual';
		const strayed = this.#strayed.get(name);
		const baseUrl = sandbox.url.replace('http://127.0.0.1', strayed ?? '');
		const id = strayed === undefined ? this.#credentialId : `of ${name}`;
		return await callTriggerHook(
			{
				credential: strayed === undefined ? this.#credential : { ...this.#credential, baseUrl },
				parameters: { events: ['*'] },
				webhookBaseUrl: `${this.#address}/webhook`,
				workflow: { id: name, name },
				node: { credentials: { etbWalletApi: { id, name: 'Account' } } },
				staticData,
				type: this.#process,
				isTest,
			},
			hook,
			isTest ? 'manual' : 'trigger',
			activation,
		);
	}
}

const refusal = { status: 400, body: '{}' };

/** The text that n8n shows for a step that fails, and the words of the table for it. */
const reasons: [shown: RegExp, words: string][] = [
	[/^Unpublish the workflow "(\w)" first:.*/s, '$1 has it'],
	[/^Publish this workflow again[:(].*/s, 'publish again'],
	[/^The service refused the request \(.*/s, 'refused'],
	[/^The service does not accept the API key \(.*/s, 'wrong key'],
	[/^Base URL is empty\. Enter the full address, for example https:.*/s, 'no Base URL'],
];
const reasonIn = (message: string): string =>
	reasons.reduce((text, [shown, words]) => text.replace(shown, words), message);

const turn = async (): Promise<void> => await new Promise(setImmediate);

/** Whose URLs the service took, in order, such as `a, b test`. */
const taken = (): string =>
	sandbox.books
		.webhookUrlHistory()
		.map((url) => /:(\d+)\/webhook(-test)?\/webhook-of-(\w)/.exec(url) ?? [])
		.map(
			([, port, test, name]) => `${name}${test ? ' test' : ''}${port === '5678' ? '' : ' moved'}`,
		)
		.join(', ');

test.each(
	Object.entries({
		'publish a, unpublish a, publish a': 'a, a',
		// One holder for each account.
		'publish a, publish b (a has it), change a': 'a, a',
		'publish a + publish b (a has it)': 'a',
		'publish a, unpublish a + publish b': 'a, b',
		'busy, publish a…, publish b (a has it)': 'a',
		'busy, publish a…, unpublish a, publish b~, unpublish b': 'a, b',
		'down, publish a (refused), up, publish b': 'b',
		// A publication that ended meanwhile leaves nothing behind, and takes nothing from the next one.
		'busy, publish a…, unpublish a, publish b, unpublish b, boot, init a': 'a, b, a',
		'busy, lose, publish a…, unpublish a, publish a, publish b (a has it)': 'a, a',
		'publish a, init b (a has it)': 'a',
		'publish a, lead a, publish b (a has it)': 'a',
		// Another process, which had the lead meanwhile, has unpublished it.
		'publish a, elsewhere, lead a, unpublish a, publish b, elsewhere, lead b, publish a (b has it)':
			'a, b, b',
		'publish a, elsewhere, down, lead a, elsewhere, lead a, publish b (a has it)': 'a',
		// This one is not told: to publish and to unpublish it again helps.
		'publish a, elsewhere, lead a, unpublish a, elsewhere, publish b (a has it), publish a, unpublish a, publish b':
			'a, a, b',
		'publish a, replaceKey, publish b (a has it)': 'a',
		'publish a, replaceCredential, publish b (a has it)': 'a',
		// A test takes nothing from a published workflow.
		'publish a, test a, end a': 'a',
		'publish a, test b, end b': 'a',
		'publish a, replaceKey, test b': 'a',
		'publish a, down, test b, end b': 'a',
		'test a, end a': 'a test',
		'test a, publish b, end a': 'a test, b',
		'test a, publish a, end a, publish b (a has it)': 'a test, a',
		'busy, test a…, publish b': 'a test, b',
		'busy, test a…, test b~, publish c': 'a test, c',
		'busy, publish a…, test b, end b, unpublish a, publish b': 'a, b',
		'publish a, unpublish a, test b, end b': 'a, b test',
		'down, test a (refused)': '',
		// n8n starts: nothing is done, also if nothing can be.
		'publish a, down, restart, publish b (a has it)': 'a',
		'publish a, restart, test a, test b': 'a',
		'publish a, deleteCredential, restart': 'a',
		'publish a, change a, restart, unpublish a, publish b': 'a, a, b',
		// A trigger that was refused calls nobody when n8n starts it, before or after the holder.
		'publish a, publish b (a has it), boot, init b (publish again), init a': 'a',
		'publish a, publish b (a has it), boot, down, init b (publish again), init a, publish b (a has it)':
			'a',
		'publish a, publish b (a has it), boot, down, init b (a has it) + init a, boot, init a + init b (a has it)':
			'a',
		'publish a, publish b (a has it), unpublish a, boot, init b (publish again), publish b': 'a, b',
		// Published by the command line, and refused when n8n starts.
		'publish a, boot, init a, init b (a has it), boot, init b (publish again), init a': 'a',
		// One that was never refused, or a test, is first: the one that had the account has it all the same.
		'publish a, boot, init b, init a, restart (a has it)': 'a, b, a',
		'publish a, boot, init b, init a, init b (a has it)': 'a, b, a',
		'publish a, boot, init b, init a, boot, init b, init a': 'a, b, a, b, a',
		'publish a, boot, init b (a has it) + init a': 'a',
		'publish a, boot, init b, init a, unpublish a, boot, init b': 'a, b, a, b',
		'publish a, boot, publish b, init a': 'a, b, a',
		// A trigger that was refused is not first, although it once was.
		'publish a, unpublish a, publish b, publish a (b has it), boot, init a (publish again), init b':
			'a, b',
		'publish a, boot, test b, down, init a (refused), up, boot, init a': 'a, b test, a',
		'publish a, boot, busy, test b…, init a': 'a, b test, a',
		'publish a, boot, test b + init a': 'a, b test, a',
		'publish a, boot, init a + test b': 'a',
		'publish a, boot, test b~, init a': 'a, b test, a',
		// A test, and a trigger that never had the account, wait behind another call: the one that had it is
		// started meanwhile.
		'publish a, boot, busy, test b…, test c~, init a': 'a, b test, a',
		'publish a, boot, busy, test b…, init c~, init a': 'a, b test, a',
		'publish a, boot, test b, init a, restart': 'a, b test, a',
		// Unless what the service has is no longer right, or not certain.
		'publish a, boot, publish a': 'a, a',
		'publish a, move, restart': 'a, a moved',
		'publish a, replaceKey, restart (wrong key)': 'a',
		'publish a, down, move, restart (refused)': 'a',
		// A trigger that could not be published waits for a person, so it costs nobody the account when n8n starts.
		'down, publish a (refused), up, restart (publish again)': '',
		'down, publish b (refused), up, publish a, boot, down, init b (publish again), init a': 'a',
		'deleteCredential, publish b (no Base URL), restoreCredential, publish a, boot, down, init b (publish again), init a':
			'a',
		'down, publish a (refused), up, publish a, boot, down, init a': 'a',
		'otherAccount b, publish b, publish a, sameAccount b, restart': 'b, a, b, a',
		'publish a, publish b (a has it), restart (a has it)': 'a',
		// A refusal of the URL that the service has already is none.
		'publish a, down, change a, change a, publish b (a has it)': 'a',
		'publish a, restart, down, change a': 'a',
		'publish a, down, unpublish a, publish a': 'a',
		'publish a, unpublish a, test b, down, publish a (refused)': 'a, b test',
		'publish a, unpublish a, lose, publish b (refused), down, publish a (refused)': 'a, b',
		'publish a, replaceKey, down, change a (refused)': 'a',
		// n8n tries a start again that failed: what was published first is not forgotten by that.
		'publish a, move, boot, down, init a (refused), up, init a, boot, down, init a': 'a, a moved',
		'publish a, move, boot, down, init a (refused), up, init b, init a (b has it), boot, init a':
			'a, b moved, a moved',
		'publish a, move, boot, down, init a (refused), up, init a, boot, init b, init a':
			'a, a moved, b moved, a moved',
	}),
)('%s', async (steps, expected) => {
	const n8n = new N8n(await loadAnew('EtbWalletTrigger'));
	expect([await n8n.run(steps), taken()]).toEqual([steps, expected]);
});
