/** Random sequences of what people do with workflows: the service has the URL of who is published. `SEQUENCES=200` runs more. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { eventWorkflow, post, TRIGGER, withCredential } from '../../support/events.mts';
import { eventually, startLab, type Lab } from '../../support/lab.mts';
import { credentialFor } from '../../../demo/examples.mts';
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.mts';

const sequences = Number(process.env.SEQUENCES ?? 24);
/** Each with an account of its own. */
const lanes = 8;
const steps = 6;

let lab: Lab;
before(async () => {
	lab = await startLab();
});
after(async () => await lab?.stop());

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

interface Workflow {
	id: string;
	path: string;
	/** Of its trigger: what n8n publishes is another node then. */
	nodeName: string;
}

/** What people do to the workflows of one account. */
class Account {
	readonly #sandbox: Sandbox;
	readonly #credential: { id: string; name: string };
	readonly #random: () => number;
	readonly #workflows: Workflow[] = [];
	/** The published workflow that receives the events. */
	#holder: Workflow | undefined;
	readonly done: string[] = [];
	refusals = 0;

	constructor(sandbox: Sandbox, credential: { id: string; name: string }, random: () => number) {
		this.#sandbox = sandbox;
		this.#credential = credential;
		this.#random = random;
	}

	async live(): Promise<void> {
		await this.#create();
		await this.#create();
		for (let step = 0; step < steps; step++) {
			const verb = this.#oneOf(Object.keys(this.#verbs));
			const workflow = this.#oneOf(this.#workflows);
			this.done.push(`${verb} ${this.#workflows.indexOf(workflow)}`);
			await this.#verbs[verb]?.(workflow);
			await this.#check();
		}
		await this.end();
	}

	async end(): Promise<void> {
		for (const workflow of [...this.#workflows]) await this.#delete(workflow);
	}

	readonly #verbs: Record<string, (workflow: Workflow) => Promise<void>> = {
		publish: async (workflow) => await this.#publishing(workflow, () => this.#publish(workflow)),
		change: async (workflow) => await this.#publishing(workflow, () => this.#change(workflow)),
		renameNode: async (workflow) =>
			await this.#publishing(workflow, () => this.#renameNode(workflow)),
		rename: async (workflow) =>
			await lab.api.changeWorkflow(workflow.id, ({ nodes, connections }) => ({
				name: `Renamed ${randomUUID().slice(0, 4)}`,
				nodes,
				connections,
			})),
		unpublish: async (workflow) => await this.#unpublish(workflow),
		copy: async () => void (await this.#create()),
		delete: async (workflow) => {
			await this.#delete(workflow);
			await this.#create();
		},
		test: async (workflow) => {
			const before = this.#sandbox.books.webhookUrl();
			await lab.api.listenForTestEvent(workflow.id, workflow.nodeName);
			await lab.api.stopListening(workflow.id);
			if (this.#holder !== undefined) assert.equal(this.#sandbox.books.webhookUrl(), before);
		},
		publishBoth: async (workflow) => await this.#atOnce(workflow, () => this.#publish(workflow)),
		changeAndPublish: async (workflow) =>
			await this.#atOnce(workflow, () => this.#change(workflow)),
		unpublishAndPublish: async (workflow) => {
			const other = this.#other(workflow);
			const isFree = this.#holder === undefined || this.#holder === workflow;
			const [, published] = await Promise.allSettled([
				this.#unpublish(workflow),
				this.#publish(other),
			]);
			if (isFree || this.#holder === other) assert.equal(published.status, 'fulfilled');
			if (published.status === 'fulfilled') this.#holder = other;
			else this.#explained(published.reason);
		},
	};

	#oneOf<Item>(items: Item[]): Item {
		const item = items[Math.floor(this.#random() * items.length)];
		if (item === undefined) throw new Error('nothing to choose from');
		return item;
	}

	#other(workflow: Workflow): Workflow {
		return this.#oneOf(this.#workflows.filter((each) => each !== workflow));
	}

	async #create(): Promise<void> {
		const webhookId = randomUUID();
		const file = eventWorkflow();
		const nodes = file.nodes.map((node) => ({ ...node, webhookId }));
		const id = await lab.api.createWorkflow(withCredential({ ...file, nodes }, this.#credential));
		this.#workflows.push({ id, path: `/webhook/${webhookId}/webhook`, nodeName: TRIGGER });
	}

	async #publish({ id }: Workflow): Promise<void> {
		// n8n publishes a few at a time.
		await lab.api.activate(id, 300_000);
	}

	async #change(workflow: Workflow): Promise<void> {
		await lab.api.changeWorkflow(workflow.id, ({ nodes, connections }) => ({
			nodes: nodes.map((node) => ({
				...node,
				parameters: { acknowledge: this.#oneOf(['onReceived', 'lastNode']) },
			})),
			connections,
		}));
		await this.#publish(workflow);
	}

	async #renameNode(workflow: Workflow): Promise<void> {
		workflow.nodeName = `Trigger ${randomUUID().slice(0, 4)}`;
		await lab.api.changeWorkflow(workflow.id, ({ nodes, connections }) => ({
			nodes: nodes.map((node) => ({ ...node, name: workflow.nodeName })),
			connections,
		}));
		await this.#publish(workflow);
	}

	async #unpublish(workflow: Workflow): Promise<void> {
		await lab.api.deactivate(workflow.id);
		if (this.#holder === workflow) this.#holder = undefined;
	}

	async #delete(workflow: Workflow): Promise<void> {
		await lab.api.deleteWorkflow(workflow.id);
		this.#workflows.splice(this.#workflows.indexOf(workflow), 1);
		if (this.#holder === workflow) this.#holder = undefined;
	}

	async #publishing(workflow: Workflow, publish: () => Promise<void>): Promise<void> {
		if (this.#holder !== undefined && this.#holder !== workflow) {
			await assert.rejects(publish(), (reason) => this.#explained(reason));
		} else {
			await publish();
			this.#holder = workflow;
		}
	}

	/** Beside the publication of another one: one of the two has the account. */
	async #atOnce(workflow: Workflow, publish: () => Promise<void>): Promise<void> {
		const other = this.#other(workflow);
		const holder = this.#holder;
		const both = await Promise.allSettled([publish(), this.#publish(other)]);
		for (const each of both) if (each.status === 'rejected') this.#explained(each.reason);
		const published = [workflow, other].filter((_, index) => both[index]?.status === 'fulfilled');
		if (holder === undefined || [workflow, other].includes(holder))
			assert.equal(published.length, 1);
		if (published[0] !== undefined) this.#holder = published[0];
	}

	#explained(reason: unknown): boolean {
		this.refusals++;
		assert.match(String(reason), /Unpublish the workflow ".+" first/);
		return true;
	}

	async #check(): Promise<void> {
		if (this.#holder === undefined) return;
		const { path } = this.#holder;
		const url = this.#sandbox.books.webhookUrl() ?? '';
		assert.equal(new URL(url).pathname, path);
		await eventually('the trigger to listen', async () =>
			(await post(url, '{}', 'nobody')) === 401 ? true : undefined,
		);
	}
}

void test(`${sequences} sequences: the service has the URL of who is published, and a refusal says why`, async (context) => {
	const seeds = Array.from({ length: sequences }, (_, index) => index);
	let refusals = 0;
	const failures: string[] = [];
	const runLane = async (): Promise<void> => {
		const sandbox = await startSandbox();
		const credential = await lab.addCredential(credentialFor(sandbox));
		for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
			const account = new Account(sandbox, credential, randomOf(seed));
			try {
				await account.live();
			} catch (error) {
				failures.push(`seed ${seed}, after ${account.done.join(', ')}: ${String(error)}`);
				await account.end();
			}
			refusals += account.refusals;
		}
		await sandbox.stop();
	};
	await Promise.all(Array.from({ length: lanes }, runLane));
	context.diagnostic(`${sequences * steps} steps, ${refusals} publications refused`);
	assert.deepEqual(failures, []);
});
