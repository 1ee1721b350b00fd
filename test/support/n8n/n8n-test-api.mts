/** The client of n8n's own interface with the requests that only tests and pictures send. */
import { z } from 'zod';
import {
	EXECUTION_ENDED,
	N8nApi,
	WithId,
	type DataTableColumn,
	type Execution,
	type Login,
} from '../../../demo/n8n-api.mts';

const SavedWorkflow = WithId.extend({
	versionId: z.string(),
	nodes: z.array(z.object({ name: z.string() }).passthrough()),
	connections: z.record(z.unknown()),
});
type SavedWorkflow = z.infer<typeof SavedWorkflow>;
const CommunityPackage = z.object({
	packageName: z.string(),
	installedVersion: z.string(),
	installedNodes: z.array(z.object({ type: z.string() })),
	/** The newer version that the registry has, if it has one. */
	updateAvailable: z.string().optional(),
	failedLoading: z.boolean().optional(),
});
type CommunityPackage = z.infer<typeof CommunityPackage>;

const EXECUTION_RESTS = new Set([...EXECUTION_ENDED, 'waiting']);

/** As `N8nApi`: log in or set up the owner first. */
export class N8nTestApi extends N8nApi {
	/** Invites a member, who accepts with this password; resolves to the interface as that person uses it. */
	async addMember(
		{ email, password }: Login,
		firstName: string,
		lastName: string,
	): Promise<N8nTestApi> {
		const invitees = [{ email, role: 'global:member' }];
		const Invited = z.array(z.object({ user: z.object({ inviteAcceptUrl: z.string() }) }));
		const [invited] = await this.request('POST', '/rest/invitations', Invited, invitees);
		const invitation = new URL(invited?.user.inviteAcceptUrl ?? this.url).searchParams;
		// Older n8n name both people instead of a token.
		const [invitee] = invitation.has('token') ? [] : invitation.getAll('inviteeId');
		const path = ['/rest/invitations', invitee, 'accept'].filter((part) => part !== undefined);
		const member = new N8nTestApi(this.url);
		await member.request('POST', path.join('/'), z.unknown(), {
			firstName,
			lastName,
			password,
			...Object.fromEntries(invitation),
		});
		return member;
	}

	/**
	 * "Install" under Settings > Community nodes: from the package registry, the newest unless `name` ends in a
	 * version.
	 */
	async installCommunityPackage(name: string): Promise<CommunityPackage> {
		return await this.request('POST', '/rest/community-packages', CommunityPackage, { name });
	}

	/** "Update" there, while n8n runs. */
	async updateCommunityPackage(name: string): Promise<CommunityPackage> {
		return await this.request('PATCH', '/rest/community-packages', CommunityPackage, { name });
	}

	async uninstallCommunityPackage(name: string): Promise<void> {
		await this.request('DELETE', `/rest/community-packages?name=${name}`, z.unknown());
	}

	/** The packages that are listed there. */
	async communityPackages(): Promise<CommunityPackage[]> {
		return await this.request('GET', '/rest/community-packages', z.array(CommunityPackage));
	}

	/** Adds columns to a data table, as a person does on its page. */
	async addColumns(table: string, columns: DataTableColumn[]): Promise<void> {
		const { path } = await this.dataTable(table);
		for (const column of columns) await this.request('POST', `${path}/columns`, WithId, column);
	}

	/** Renames a column of a data table, as a person does on its page. */
	async renameColumn(table: string, from: string, to: string): Promise<void> {
		const { path, columns } = await this.dataTable(table);
		const id = columns.find(({ name }) => name === from)?.id;
		await this.request('PATCH', `${path}/columns/${id}/rename`, z.unknown(), { name: to });
	}

	private async dataTable(table: string) {
		const { id: project } = await this.request('GET', '/rest/projects/personal', WithId);
		const path = `/rest/projects/${project}/data-tables`;
		const Named = WithId.extend({ name: z.string() });
		const Tables = z.object({ data: z.array(Named.extend({ columns: z.array(Named) })) });
		const { data } = await this.request('GET', path, Tables);
		const found = data.find(({ name }) => name === table);
		return { path: `${path}/${found?.id}`, columns: found?.columns ?? [] };
	}

	/** Saves a workflow with these changes; the earlier version stays published until it is activated again. */
	async changeWorkflow(id: string, change: (saved: SavedWorkflow) => object): Promise<void> {
		const saved = await this.request('GET', `/rest/workflows/${id}`, SavedWorkflow);
		const body = { ...change(saved), versionId: saved.versionId };
		await this.request('PATCH', `/rest/workflows/${id}`, WithId, body);
	}

	async deactivate(id: string): Promise<void> {
		await this.request('POST', `/rest/workflows/${id}/deactivate`, WithId, {});
	}

	/** Unpublishes every workflow, so that one of a failed test does not get the events of the next test. */
	async unpublishAll(): Promise<void> {
		const filter = encodeURIComponent(JSON.stringify({ active: true }));
		const active = await this.request('GET', `/rest/workflows?filter=${filter}`, z.array(WithId));
		for (const { id } of active) await this.deactivate(id);
	}

	/** Sends a message in the editor's chat; resolves to the execution's id. */
	async chat(
		workflowId: string,
		trigger: string,
		message: { sessionId: string; chatInput: string },
	): Promise<string> {
		const Started = z.object({ executionId: z.string() });
		const item = { json: { ...message, action: 'sendMessage' } };
		const data = {
			startTime: Date.now(),
			executionTime: 0,
			executionIndex: 0,
			executionStatus: 'success',
			source: [],
			data: { main: [[item]] },
		};
		const body = {
			workflowData: await this.savedWorkflow(workflowId),
			triggerToStartFrom: { name: trigger, data },
			chatSessionId: message.sessionId,
		};
		return (await this.request('POST', `/rest/workflows/${workflowId}/run`, Started, body))
			.executionId;
	}

	/** "Stop execution" in the editor. */
	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `/rest/executions/${id}/stop`, z.unknown(), {});
	}

	/** "Retry with original workflow" in the list of executions; resolves to the new execution's id. */
	async retryExecution(id: string, loadWorkflow = false): Promise<string> {
		const path = `/rest/executions/${id}/retry`;
		return (await this.request('POST', path, WithId, { loadWorkflow })).id;
	}

	/** Runs a workflow as n8n's evaluations do, with responses that an AI invents; resolves to the result as text. */
	async runWithInventedResponses(workflowId: string): Promise<string> {
		const path = `/rest/instance-ai/eval/execute-with-llm-mock/${workflowId}`;
		return JSON.stringify(await this.request('POST', path, z.unknown(), {}));
	}

	/** "Listen for test event" in the editor, which waits for 2 minutes; with `upTo`, "Execute step" of that node. */
	async listenForTestEvent(workflowId: string, trigger: string, upTo?: string): Promise<void> {
		const Waiting = z.object({ waitingForWebhook: z.literal(true) });
		const body = {
			workflowData: await this.savedWorkflow(workflowId),
			triggerToStartFrom: { name: trigger },
			...(upTo !== undefined && { destinationNode: { nodeName: upTo, mode: 'inclusive' } }),
		};
		await this.request('POST', `/rest/workflows/${workflowId}/run`, Waiting, body);
	}

	/** "Stop listening" in the editor. */
	async stopListening(workflowId: string): Promise<void> {
		await this.request('DELETE', `/rest/test-webhook/${workflowId}`, z.unknown());
	}

	/** The execution once it has ended, or waits for a person or for a time. */
	async restingExecution(id: string, withinMs = 60_000): Promise<Execution> {
		return await this.executionThat(EXECUTION_RESTS, id, withinMs);
	}

	/** The execution once it waits for a person or for a time; rejects when it ends instead, or does neither. */
	async waitingExecution(id: string, withinMs = 60_000): Promise<Execution> {
		const execution = await this.executionThat(EXECUTION_RESTS, id, withinMs);
		if (execution.status === 'waiting') return execution;
		throw new Error(`Execution ${id} ended as "${execution.status}": ${execution.error ?? ''}`);
	}
}
