/** A client of n8n's own interface, the one that the editor uses: the requests of `npm start` and `npm run demo`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'flatted';
import { z } from 'zod';

export interface Login {
	email: string;
	password: string;
}

/** A workflow as the editor exports it; other fields pass through unchanged. */
export const WorkflowFile = z
	.object({
		name: z.string(),
		nodes: z.array(
			z
				.object({
					name: z.string(),
					type: z.string(),
					credentials: z.record(z.object({ id: z.string(), name: z.string() })).optional(),
				})
				.passthrough(),
		),
		connections: z.record(z.unknown()),
	})
	.passthrough();
export type WorkflowFile = z.infer<typeof WorkflowFile>;

export interface NodeRun {
	/** The json of each item of each output. */
	outputs: Array<Array<Record<string, unknown>>>;
	/** The hints that the editor shows beside them. */
	hints: string[];
	/** The reason why the node failed, as the editor shows it. */
	error?: string;
}

export interface Execution {
	id: string;
	workflowId: string;
	status: string;
	mode: string;
	/** Each node's runs, by the node's name. */
	nodes: Record<string, NodeRun[]>;
	/** The reason why the execution failed, with the node's name where it is known. */
	error?: string;
}

export interface DataTableColumn {
	name: string;
	/** `string`, `number`, `boolean` or `date`. */
	type: string;
}

/** A response of n8n with an error status. */
export class N8nApiError extends Error {
	readonly status: number;

	constructor(message: string, status: number) {
		super(message);
		this.status = status;
	}
}

export const EXECUTION_ENDED = new Set(['success', 'error', 'crashed', 'canceled']);
const POLL_EVERY_MS = 200;
/** The time that n8n may be without its database on a busy machine. */
const READY_WITHIN_MS = 60_000;

const nodeTypesFile = '/types/nodes.json';

const Settings = z.object({ userManagement: z.object({ showSetupOnFirstLoad: z.boolean() }) });
export const WithId = z.object({ id: z.string() });
const Workflow = WithId.extend({ name: z.string(), versionId: z.string() });
const Publication = z.object({
	status: z.string(),
	triggers: z.array(z.object({ status: z.string(), errorMessage: z.string().nullable() })),
});
const CredentialTest = z.object({ status: z.enum(['OK', 'Error']), message: z.string() });
const ExecutionRow = WithId.extend({
	workflowId: z.string(),
	status: z.string(),
	mode: z.string(),
});
const ExecutionWithData = ExecutionRow.extend({ data: z.string() });
const NodeType = z
	.object({
		name: z.string(),
		displayName: z.string(),
		version: z.union([z.number(), z.array(z.number())]),
	})
	.passthrough();
export type NodeType = z.infer<typeof NodeType>;
const RunError = z
	.object({
		message: z.string(),
		description: z.string().nullish(),
		node: z.object({ name: z.string() }).nullish(),
	})
	.passthrough();
const Item = z.object({ json: z.record(z.unknown()) }).passthrough();
const RunData = z.record(
	z.array(
		z.object({
			data: z
				.object({ main: z.array(z.array(Item).nullable()) })
				.partial()
				.optional(),
			error: RunError.optional(),
			hints: z.array(z.object({ message: z.string() })).optional(),
		}),
	),
);
const ExecutionData = z.object({
	resultData: z.object({ runData: RunData, error: RunError.optional() }),
});

const reason = ({ message, description }: z.infer<typeof RunError>) =>
	description && description !== message ? `${message} (${description})` : message;

function readExecution(row: z.infer<typeof ExecutionWithData>): Execution {
	const { resultData } = ExecutionData.parse(parse(row.data));
	const nodes: Record<string, NodeRun[]> = {};
	for (const [name, runs] of Object.entries(resultData.runData)) {
		nodes[name] = runs.map((run) => ({
			outputs: (run.data?.main ?? []).map((items) => (items ?? []).map(({ json }) => json)),
			hints: (run.hints ?? []).map(({ message }) => message),
			error: run.error && reason(run.error),
		}));
	}
	const { error } = resultData;
	const where = error?.node ? `${error.node.name}: ` : '';
	return {
		id: row.id,
		workflowId: row.workflowId,
		status: row.status,
		mode: row.mode,
		nodes,
		error: error && where + reason(error),
	};
}

/** n8n's own REST interface, the one the editor uses. Log in or set up the owner first. */
export class N8nApi {
	private cookie = '';
	readonly url: string;

	constructor(url: string) {
		this.url = url;
	}

	/** True until somebody has set up the owner account. */
	async needsOwner(): Promise<boolean> {
		const settings = await this.request('GET', '/rest/settings', Settings);
		return settings.userManagement.showSetupOnFirstLoad;
	}

	async setUpOwner({ email, password }: Login): Promise<void> {
		await this.request('POST', '/rest/owner/setup', z.unknown(), {
			email,
			password,
			firstName: 'Workflow',
			lastName: 'Builder',
		});
	}

	/** Rejects with an N8nApiError of status 401 when email and password do not fit. */
	async logIn({ email, password }: Login): Promise<void> {
		await this.request('POST', '/rest/login', z.unknown(), {
			emailOrLdapLoginId: email,
			password,
		});
	}

	/** Every node type that this n8n offers. */
	async nodeTypes(): Promise<NodeType[]> {
		return await this.request('GET', nodeTypesFile, z.array(NodeType));
	}

	/** Resolves to the new credential's id. */
	async createCredential(name: string, type: string, data: object): Promise<string> {
		const body = { name, type, data };
		return (await this.request('POST', '/rest/credentials', WithId, body)).id;
	}

	async updateCredential(id: string, name: string, type: string, data: object): Promise<void> {
		await this.request('PATCH', `/rest/credentials/${id}`, WithId, { name, type, data });
	}

	/** The editor's "Retry" in a credential: resolves to what it shows. */
	async testCredential(
		id: string,
		name: string,
		type: string,
		data: object,
	): Promise<{ ok: boolean; message: string }> {
		const credentials = { id, name, type, data };
		const result = await this.request('POST', '/rest/credentials/test', CredentialTest, {
			credentials,
		});
		return { ok: result.status === 'OK', message: result.message };
	}

	/** Creates a data table in the person's own project, unless there is one of this name. */
	async createDataTable(name: string, columns: DataTableColumn[]): Promise<void> {
		const { id } = await this.request('GET', '/rest/projects/personal', WithId);
		const path = `/rest/projects/${id}/data-tables`;
		try {
			await this.request('POST', path, WithId, { name, columns });
		} catch (error) {
			if (!(error instanceof N8nApiError && error.status === 409)) throw error;
		}
	}

	/** Resolves to the new workflow's id. */
	async createWorkflow(workflow: WorkflowFile): Promise<string> {
		// Without pinned data, n8n fails when a person executes a step of it for the second time; 2.20 wants
		// `active` as well.
		const complete = { pinData: {}, active: false, ...workflow };
		return (await this.request('POST', '/rest/workflows', Workflow, complete)).id;
	}

	/** False when the workflow was deleted. */
	async workflowExists(id: string): Promise<boolean> {
		const Exists = z.object({ exists: z.boolean() });
		return (await this.request('GET', `/rest/workflows/${id}/exists`, Exists)).exists;
	}

	/**
	 * Publishes the newest version and resolves once its triggers are live, which n8n does in the background.
	 * Rejects with the node's reason when one cannot register: n8n tries 5 times, in about 16 s, before it says so.
	 * Before n8n 2.40 there is no background: when it has answered, the triggers are live.
	 */
	async activate(id: string, withinMs = 60_000): Promise<void> {
		const deadline = Date.now() + withinMs;
		const { versionId } = await this.request('GET', `/rest/workflows/${id}`, Workflow);
		await this.request('POST', `/rest/workflows/${id}/activate`, WithId, { versionId });
		for (;;) {
			const publication = await this.publication(id);
			if (publication === 'atOnce') return;
			const { status, triggers } = publication;
			// While a new attempt is in progress, the triggers' statuses are those of the one before.
			const settled = status !== 'in_progress';
			const failed = settled && triggers.find((trigger) => trigger.status === 'failed');
			if (failed) throw new N8nApiError(failed.errorMessage ?? 'The trigger failed', 200);
			if (status === 'published') return;
			if (Date.now() > deadline) {
				throw new Error(`Workflow ${id} is still "${status}" after ${withinMs / 1000} s`);
			}
			await sleep(POLL_EVERY_MS);
		}
	}

	/** The state of publishing; `atOnce` before n8n 2.40, which has no such state. */
	private async publication(id: string): Promise<z.infer<typeof Publication> | 'atOnce'> {
		try {
			const path = `/rest/workflows/${id}/publication-status`;
			return await this.request('GET', path, Publication);
		} catch (error) {
			if (error instanceof N8nApiError && error.status === 404) return 'atOnce';
			throw error;
		}
	}

	/** Runs a workflow from the named trigger as a click in the editor does; resolves to the execution's id. */
	async run(workflowId: string, trigger: string): Promise<string> {
		const Started = z.object({ executionId: z.string() });
		const workflowData = await this.savedWorkflow(workflowId);
		const body = { workflowData, triggerToStartFrom: { name: trigger } };
		return (await this.request('POST', `/rest/workflows/${workflowId}/run`, Started, body))
			.executionId;
	}

	/** The whole saved workflow: older n8n run the workflow that the request contains. */
	protected async savedWorkflow(id: string): Promise<unknown> {
		return await this.request('GET', `/rest/workflows/${id}`, z.unknown());
	}

	/** The execution once it has ended; rejects when that takes longer than `withinMs`. */
	async endedExecution(id: string, withinMs = 60_000): Promise<Execution> {
		return await this.executionThat(EXECUTION_ENDED, id, withinMs);
	}

	protected async executionThat(
		is: ReadonlySet<string>,
		id: string,
		withinMs: number,
	): Promise<Execution> {
		const deadline = Date.now() + withinMs;
		for (;;) {
			const row = await this.request('GET', `/rest/executions/${id}`, ExecutionWithData);
			if (is.has(row.status)) return readExecution(row);
			if (Date.now() > deadline)
				throw new Error(`Execution ${id} is still "${row.status}" after ${withinMs / 1000} s`);
			await sleep(POLL_EVERY_MS);
		}
	}

	/** Ids of a workflow's executions, newest first. */
	async executionIds(workflowId: string): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const Page = z.object({ results: z.array(ExecutionRow) });
		const page = await this.request('GET', `/rest/executions?filter=${filter}&limit=100`, Page);
		// n8n joins two lists, first of those that run: an execution that ends meanwhile is in both.
		const ids = new Set(page.results.map(({ id }) => id));
		return [...ids].toSorted((one, other) => Number(other) - Number(one));
	}

	protected async request<T>(
		method: string,
		path: string,
		shape: z.ZodType<T, z.ZodTypeDef, unknown>,
		body?: object,
	): Promise<T> {
		const deadline = Date.now() + READY_WITHIN_MS;
		let response: Response;
		let text: string;
		for (;;) {
			response = await fetch(this.url + path, {
				method,
				// n8n may close an idle connection at the moment when it is used again.
				headers: { 'content-type': 'application/json', cookie: this.cookie, connection: 'close' },
				body: body && JSON.stringify(body),
			});
			text = await response.text();
			// n8n answers this, and does not handle the request, while its database is too busy.
			const isTooEarly = response.status === 503 && messageOf(text) === 'Database is not ready!';
			// n8n 2.20 answers this for an execution that has just begun.
			const isUnwritten =
				response.status === 500 && method === 'GET' && text.includes("'resultData'");
			// After an update of a package, n8n 2.8 serves this file while it writes it.
			const isCutOff = path === nodeTypesFile && !isWhole(text);
			if (!(isTooEarly || isUnwritten || isCutOff) || Date.now() > deadline) break;
			await sleep(POLL_EVERY_MS);
		}
		const login = response.headers.getSetCookie().find((cookie) => cookie.startsWith('n8n-auth='));
		if (login) this.cookie = login.split(';')[0] ?? '';
		if (!response.ok) throw new N8nApiError(messageOf(text), response.status);
		const parsed: unknown = JSON.parse(text);
		// Its REST paths wrap every response in `data`; the list of node types is a plain file.
		return shape.parse(path.startsWith('/rest/') ? Wrapped.parse(parsed).data : parsed);
	}
}

function isWhole(json: string): boolean {
	try {
		JSON.parse(json);
		return true;
	} catch {
		return false;
	}
}

const Wrapped = z.object({ data: z.unknown() });
const Failure = z.object({ message: z.string() });

function messageOf(body: string): string {
	try {
		return Failure.parse(JSON.parse(body)).message;
	} catch {
		return body.slice(0, 500);
	}
}
