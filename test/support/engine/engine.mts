/** Runs the built nodes in n8n-core's real engine: real WorkflowExecute, real contexts, real HTTP. */
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import { createServer, type IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import express from 'express';
import type { Request, Response } from 'express';
import {
	CredentialTestContext,
	DataDeduplicationService,
	ExecutionLifecycleHooks,
	HookContext,
	PackageDirectoryLoader,
	TriggerContext,
	WebhookContext,
	WorkflowExecute,
} from 'n8n-core';
import { Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	IConnections,
	ICredentialDataDecryptedObject,
	ICredentialType,
	ICredentialsHelper,
	IDataObject,
	IHttpRequestOptions,
	INode,
	INodeCredentialTestResult,
	INodeExecutionData,
	INodeParameters,
	INodeType,
	INodeTypes,
	IRun,
	IRunExecutionData,
	ITaskData,
	IWebhookData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
	WebhookSetupMethodNames,
	WorkflowActivateMode,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { credentialFor as credentialOf } from '../../../demo/examples.mts';
import type { Sandbox } from '../../../sandbox/sandbox.mts';
import { outcomeByCode } from '../../../nodes/EtbWallet/codes.ts';
import { actionSchemaFile, checkOutput, triggerSchemaFile } from './schema-files.mts';
import { requireFreshBuild } from '../fresh-build.mts';
import { MemoryDeduplicator } from './deduplicator.mts';
import { serve } from './served.mts';

export const actionType = 'n8n-nodes-etb-wallet.etbWallet';
const triggerType = 'n8n-nodes-etb-wallet.etbWalletTrigger';

/** The marks of the record, as n8n's database would hold them. */
export const deduplicator = new MemoryDeduplicator();

const manualTrigger: INodeType = {
	description: {
		displayName: 'Manual Trigger',
		name: 'manualTrigger',
		group: ['trigger'],
		version: 1,
		description: '',
		defaults: { name: 'Manual Trigger' },
		inputs: [],
		outputs: ['main'],
		properties: [],
	},
	async execute() {
		return await Promise.resolve([this.getInputData()]);
	},
};

interface Package {
	types: Map<string, INodeType>;
	credential: ICredentialType;
}

let loaded: Promise<Package> | undefined;

/** A node of the built package, loaded with new modules, as by a start of n8n or an update. */
export async function loadAnew(name: 'EtbWallet' | 'EtbWalletTrigger'): Promise<INodeType> {
	requireFreshBuild();
	let node: INodeType | undefined;
	await jest.isolateModulesAsync(async () => {
		const file = resolve(`dist/nodes/${name}/${name}.node.js`);
		const loadedFile = (await import(file)) as Record<string, new () => INodeType>;
		const Type = loadedFile[name];
		if (Type !== undefined) node = new Type();
	});
	if (node === undefined) throw new Error(`the package has no ${name}`);
	return node;
}

async function load(): Promise<Package> {
	requireFreshBuild();
	await DataDeduplicationService.init(deduplicator);
	const loader = new PackageDirectoryLoader(resolve('.'));
	await loader.loadAll();
	const types = new Map<string, INodeType>([['n8n-nodes-base.manualTrigger', manualTrigger]]);
	for (const [name, { type }] of Object.entries(loader.nodeTypes)) {
		if ('execute' in type || 'webhook' in type) types.set(`${loader.packageName}.${name}`, type);
	}
	const credential = loader.credentialTypes.etbWalletApi?.type;
	if (credential === undefined) throw new Error('the package has no credential etbWalletApi');
	return { types, credential };
}

/** The package as n8n's own loader sees it in the built folder. */
export function loadPackage(): Promise<Package> {
	loaded ??= load();
	return loaded;
}

export type CredentialData = ICredentialDataDecryptedObject;

/** The data of a credential for a sandbox, or for a server in its place. */
export function credentialFor(
	sandbox: Pick<Sandbox, 'url' | 'apiKey' | 'webhookSecret'>,
	changes: CredentialData = {},
): CredentialData {
	return { ...credentialOf(sandbox), ...changes };
}

/** Tests a credential as its button does: runs the function that the action node names in `testedBy`. */
export async function testCredential(data: CredentialData): Promise<INodeCredentialTestResult> {
	const { types } = await loadPackage();
	const { description, methods } = types.get(actionType) ?? {};
	const use = description?.credentials?.find(({ name }) => name === 'etbWalletApi');
	const name = typeof use?.testedBy === 'string' ? use.testedBy : '';
	const test = methods?.credentialTest?.[name];
	if (test === undefined) throw new Error('the action node does not test its credential');
	const context = new CredentialTestContext({} as IWorkflowExecuteAdditionalData);
	const credential = { id: '1', name: 'ETB Wallet account', type: 'etbWalletApi', data };
	return await test.call(context, credential);
}

/** The types of the package; `current` is the action node in place of the loaded one. */
export function nodeTypesOf({ types }: Package, current?: () => INodeType): INodeTypes {
	const get = (name: string): INodeType => {
		const type = (name === actionType ? current?.() : undefined) ?? types.get(name);
		if (type === undefined) throw new Error(`unknown node type ${name}`);
		return type;
	};
	return { getByName: get, getByNameAndVersion: get, getKnownTypes: () => ({}) };
}

function credentialsHelper({ credential }: Package, data: CredentialData): ICredentialsHelper {
	const helper: Partial<ICredentialsHelper> = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getCredentialsProperties: () => credential.properties,
		getDecrypted: () => Promise.resolve({ ...data }),
		preAuthentication: () => Promise.resolve(undefined),
		authenticate: async (decrypted, _name, request) => {
			const { authenticate } = credential;
			if (typeof authenticate !== 'function') throw new Error('authenticate is not a function');
			return await authenticate(decrypted, request as IHttpRequestOptions);
		},
	};
	return helper as ICredentialsHelper;
}

let executions = 0;

export function additionalData(
	nodePackage: Package,
	credential: CredentialData,
	executionId: string,
): IWorkflowExecuteAdditionalData {
	const base = 'http://127.0.0.1:5678';
	return {
		credentialsHelper: credentialsHelper(nodePackage, credential),
		executionId,
		currentNodeExecutionIndex: 0,
		webhookBaseUrl: `${base}/webhook`,
		webhookTestBaseUrl: `${base}/webhook-test`,
		webhookWaitingBaseUrl: `${base}/webhook-waiting`,
		formWaitingBaseUrl: `${base}/form-waiting`,
		variables: {},
		hooks: new ExecutionLifecycleHooks('manual', executionId, {} as IWorkflowBase),
	} as unknown as IWorkflowExecuteAdditionalData;
}

export interface NodeRun {
	credential: CredentialData;
	parameters: INodeParameters;
	/** Default: one empty item. */
	items?: IDataObject[];
	onError?: INode['onError'];
	retryOnFail?: boolean;
	maxTries?: number;
	/** Executions with the same ID share the node's record. */
	nodeId?: string;
	/** Default: a new one. */
	executionId?: string;
	/** The mode of the execution. Default: `manual`. */
	mode?: WorkflowExecuteMode;
	/** The mode of the execution that called this one as a sub-workflow. */
	calledIn?: WorkflowExecuteMode;
	/** Whether n8n resumes the execution after a wait. */
	resumed?: boolean;
	/** Fields of a second action node, which gets the output of the first. */
	behind?: Partial<INode>;
	/** Receives the running engine, to stop it. */
	started?: (engine: { cancel(): void }) => void;
	/** The loaded node, read at each try: an update can replace it between two tries. */
	currentNode?: () => INodeType;
}

export interface RunResult {
	/** Items of the success output. */
	output: INodeExecutionData[];
	/** Items of the error output, when the node has one. */
	errorOutput: INodeExecutionData[];
	/** The error that stopped the workflow. */
	error?: {
		message: string;
		description?: string | null;
		context?: IDataObject;
		httpCode?: string | null;
	};
	hints: string[];
	/** The whole run as text, to search it for secrets. */
	everything: string;
}

/** The same as `executeNode`; fails when output does not fit its schema, or an error does not say what to do. */
export async function runNode(options: NodeRun): Promise<RunResult> {
	const result = await executeNode(options);
	checkOutput(actionSchemaFile(options.parameters), result.output);
	const failed = [...result.output, ...result.errorOutput].map(({ json }) => json.error);
	for (const error of [result.error, ...failed]) checkError(error);
	for (const { json } of [...result.output, ...result.errorOutput]) checkOutcome(json);
	return result;
}

const told = z.object({ outcome: z.string(), code: z.string() });

/** The result of a payment: its code belongs to its outcome. */
function checkOutcome(json: IDataObject): void {
	const { success, data } = told.safeParse(json.error ?? json);
	if (!success) return;
	const known = new Map<string, string>(Object.entries(outcomeByCode));
	const meant = known.get(data.code);
	if (meant !== data.outcome) throw new Error(`${data.code} is told as ${data.outcome}`);
}

const text = z.string().min(1);
/** An error with its message and the remedy, which n8n's errors call the description. */
const explained = z
	.object({ message: text })
	.and(z.object({ description: text }).or(z.object({ remedy: text })));

/** n8n's own errors, which have no remedy. */
const foreignErrors: unknown[] = ['ExpressionError', 'ManualExecutionCancelledError'];

function checkError(error: unknown): void {
	if (error === undefined) return;
	if (foreignErrors.includes(Reflect.get(Object(error), 'name'))) return;
	const problems = explained.safeParse(error).error?.issues ?? [];
	if (problems.length > 0) throw new Error(`${JSON.stringify(error)}: ${JSON.stringify(problems)}`);
}

/** A node of version 1 with nothing set. */
export const plainNode = (name: string, type: string): INode => ({
	id: name,
	name,
	type,
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
});

/** A workflow whose first node emits the items, with the data to run it. */
export function workflowOf(
	nodes: [INode, ...INode[]],
	connections: IConnections,
	nodeTypes: INodeTypes,
	items: IDataObject[] = [{}],
): { workflow: Workflow; data: IRunExecutionData } {
	const settings = { executionOrder: 'v1' as const };
	const identity = { id: 'wf1', name: 'test', active: false, settings };
	const main = [items.map((json) => ({ json }))];
	return {
		workflow: new Workflow({ ...identity, nodes, connections, nodeTypes }),
		data: createRunExecutionData({
			startData: {},
			executionData: { nodeExecutionStack: [{ node: nodes[0], data: { main }, source: null }] },
		}),
	};
}

/** Runs the action node behind a trigger that emits `items`. */
export async function executeNode(options: NodeRun): Promise<RunResult> {
	const nodePackage = await loadPackage();
	const start = plainNode('Start', 'n8n-nodes-base.manualTrigger');
	const node: INode = {
		...plainNode('ETB Wallet', actionType),
		id: options.nodeId ?? 'etb-wallet',
		parameters: options.parameters,
		credentials: { etbWalletApi: { id: '1', name: 'ETB Wallet account' } },
		...(options.onError && { onError: options.onError }),
		...(options.retryOnFail && {
			retryOnFail: true,
			maxTries: options.maxTries ?? 3,
			waitBetweenTries: 1,
		}),
	};
	const behind = options.behind && { ...node, id: 'behind', name: 'Behind', ...options.behind };
	const connections = {
		Start: { main: [[{ node: node.name, type: 'main' as const, index: 0 }]] },
		...(behind && {
			[node.name]: { main: [[{ node: behind.name, type: 'main' as const, index: 0 }]] },
		}),
	};
	const { workflow, data } = workflowOf(
		[start, node, ...(behind ? [behind] : [])],
		connections,
		nodeTypesOf(nodePackage, options.currentNode),
		options.items,
	);
	const executionId = options.executionId ?? String(++executions);
	const engine = new WorkflowExecute(
		{
			...additionalData(nodePackage, options.credential, executionId),
			rootExecutionMode: options.calledIn,
			...(options.resumed && { restartExecutionId: executionId }),
		},
		options.mode ?? (options.calledIn ? 'integrated' : 'manual'),
		data,
	);
	const running = engine.processRunExecutionData(workflow);
	options.started?.(running);
	return resultOf(await running, node.name);
}

export function resultOf(run: IRun, name: string): RunResult {
	const task: ITaskData | undefined = run.data.resultData.runData[name]?.at(-1);
	const error = run.data.resultData.error ?? task?.error;
	return {
		output: task?.data?.main?.[0] ?? [],
		errorOutput: task?.data?.main?.[1] ?? [],
		...(error && { error: error as RunResult['error'] }),
		hints: (task?.hints ?? []).map(({ message }) => message),
		everything: JSON.stringify(run, (_key, value: unknown) =>
			value instanceof Error ? { ...value, message: value.message, stack: value.stack } : value,
		),
	};
}

export function onlyJson({ output, error }: RunResult): IDataObject {
	if (output.length !== 1 || output[0] === undefined) {
		throw new Error(`expected one item, got ${output.length}; ${error?.message ?? 'no error'}`);
	}
	return output[0].json;
}

export interface TriggerOptions {
	credential: CredentialData;
	parameters?: INodeParameters;
	/** The base of n8n's webhook URLs. */
	webhookBaseUrl?: string;
	workflow?: { id: string; name: string };
	/** The static data of the workflow, which n8n saves after each hook. Default: new data. */
	staticData?: IDataObject;
	/** The trigger of another process of n8n: see `loadAnew`. */
	type?: INodeType;
	/** Whether a hook is called, or webhook requests come, for a test; by default `create` in mode `manual` is. */
	isTest?: boolean;
	/** The work of the started workflow, which fails when this rejects. */
	work?: () => Promise<void>;
	/** The response of n8n after a workflow that failed, if it waits for its end; 500 when left out. */
	statusOfFailure?: number;
	/** Saves an execution that ended, before the node's hook runs. */
	save?: () => Promise<void>;
	/** Settings of the trigger node beside its parameters. */
	node?: Partial<INode>;
	/** The project of n8n that the workflow belongs to; by default the same for all. */
	projectId?: string;
}

const workType = 'n8n-nodes-base.work';

/** A node behind the trigger that waits or fails. */
function withWork(
	types: INodeTypes,
	work: TriggerOptions['work'],
): Pick<INodeTypes, 'getByName' | 'getByNameAndVersion'> {
	const type: INodeType = {
		description: { ...manualTrigger.description, name: 'work', inputs: ['main'] },
		async execute() {
			await work?.();
			return [this.getInputData()];
		},
	};
	const get: INodeTypes['getByNameAndVersion'] = (name, version) =>
		name === workType ? type : types.getByNameAndVersion(name, version);
	return { getByName: get, getByNameAndVersion: get };
}

async function triggerParts(options: TriggerOptions) {
	const nodePackage = await loadPackage();
	const types = nodeTypesOf(nodePackage);
	const type = options.type ?? types.getByNameAndVersion(triggerType);
	const node: INode = {
		...plainNode('ETB Wallet Trigger', triggerType),
		id: 'etb-wallet-trigger',
		typeVersion: 2,
		webhookId: `webhook-of-${options.workflow?.id ?? 'wf1'}`,
		parameters: options.parameters ?? {},
		credentials: { etbWalletApi: { id: '1', name: 'ETB Wallet account' } },
		...options.node,
	};
	const work = plainNode('Work', workType);
	const workflow = new Workflow({
		id: options.workflow?.id ?? 'wf1',
		name: options.workflow?.name ?? 'test',
		nodes: [node, work],
		connections: { [node.name]: { main: [[{ node: work.name, type: 'main', index: 0 }]] } },
		active: true,
		nodeTypes: { ...types, ...withWork(types, options.work) },
		staticData: options.staticData,
		settings: { executionOrder: 'v1' },
	});
	const webhookDescription = type.description.webhooks?.find(({ name }) => name === 'default');
	if (webhookDescription === undefined) throw new Error('the trigger describes no webhook');
	const additional = additionalData(nodePackage, options.credential, '1');
	additional.projectId = 'projectId' in options ? options.projectId : 'project';
	if (options.webhookBaseUrl !== undefined) additional.webhookBaseUrl = options.webhookBaseUrl;
	const webhookData = {
		webhookDescription,
		node: node.name,
		path: 'x',
		httpMethod: 'POST',
		workflowId: workflow.id,
		workflowExecuteAdditionalData: additional,
	} satisfies IWebhookData;
	const inWorkflow = workflow.getNode(node.name) ?? node;
	return { nodePackage, type, node: inWorkflow, workflow, additional, webhookData };
}

/** Calls the hook that n8n calls when a workflow is published or unpublished. */
export async function callTriggerHook(
	options: TriggerOptions,
	method: WebhookSetupMethodNames,
	mode: WorkflowExecuteMode = 'trigger',
	activation: WorkflowActivateMode = 'activate',
): Promise<boolean> {
	const { type, node, workflow, additional, webhookData } = await triggerParts(options);
	const hook = type.webhookMethods?.default?.[method];
	if (hook === undefined) throw new Error(`the trigger has no ${method}`);
	const isTest = options.isTest ?? mode === 'manual';
	const context = new HookContext(workflow, node, additional, mode, activation, {
		...webhookData,
		isTest,
	});
	try {
		return await hook.call(context);
	} catch (error) {
		checkError(error);
		throw error;
	}
}

/** A trigger that listens on a port of this machine, as n8n does for it. */
export interface ListeningTrigger {
	url: string;
	/** The output of the trigger in each execution that went on: a list of items for each output. */
	started: INodeExecutionData[][][];
	/** The number of executions that began, including those that ended in the trigger. */
	executions: () => number;
	/** Resolves when the trigger has handled its next request. */
	nextHandled: () => Promise<void>;
	/** Whether n8n would save the workflow's static data. */
	hasChangedStaticData: () => boolean;
	/** The lines of n8n's log. */
	log: string[];
	/** As n8n does when it has published the workflow; resolves to what it calls when it ends, or loses the lead. */
	open: () => Promise<() => Promise<void>>;
	stop: () => Promise<void>;
}

type RawRequest = Request & { rawBody?: Buffer; readRawBody(): Promise<void> };

async function readAll(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	// As in n8n, a request that is cut off never ends.
	const isGzip = request.headers['content-encoding'] === 'gzip';
	const body = isGzip ? request.pipe(createGunzip()) : request;
	for await (const chunk of body) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

/** n8n reads what these types announce before it calls a node of version 2. */
const isReadByN8n = (type = ''): boolean =>
	/^(application\/json|text\/plain|application\/x-www-form-urlencoded)|[/+]xml/.test(type);

/** The same as `openTrigger`; stopping it fails when an output does not fit the output schema. */
export async function listen(options: TriggerOptions): Promise<ListeningTrigger> {
	const trigger = await openTrigger(options);
	const stop = async (): Promise<void> => {
		await trigger.stop();
		checkOutput(triggerSchemaFile, trigger.started.flat(2));
	};
	return { ...trigger, stop };
}

export async function openTrigger(options: TriggerOptions): Promise<ListeningTrigger> {
	const { nodePackage, type, node, workflow, additional, webhookData } =
		await triggerParts(options);
	const started: INodeExecutionData[][][] = [];
	let begun = 0;
	const handled = new EventEmitter();
	const log: string[] = [];
	const mode = options.isTest ? 'manual' : 'webhook';

	/** Runs the workflow as n8n does after `webhook`; false when it failed. */
	const run = async (received: INodeExecutionData[][]): Promise<boolean> => {
		begun++;
		const additional = additionalData(nodePackage, options.credential, String(++executions));
		// Through n8n's database, as in queue mode.
		const main = structuredClone(received);
		const data = createRunExecutionData({
			executionData: { nodeExecutionStack: [{ node, data: { main }, source: null }] },
		});
		if (options.save) additional.hooks?.addHandler('workflowExecuteAfter', options.save);
		const execution = new WorkflowExecute(additional, mode, data);
		const result = await execution.processRunExecutionData(workflow);
		const given = result.data.resultData.runData[node.name]?.at(-1)?.data?.main ?? [];
		const outputs = given.map((items) => (items ?? []).map(({ json }) => ({ json })));
		if (outputs.flat().length > 0) started.push(outputs);
		return result.data.resultData.error === undefined;
	};

	const app = express();
	app.post('/webhook{/*path}', async (plain: Request, response: Response) => {
		const request = plain as RawRequest;
		// As n8n does for each request.
		request.readRawBody = async () => {
			request.rawBody ??= await readAll(request);
		};
		if (isReadByN8n(request.headers['content-type'])) await request.readRawBody();
		const perRequest = additionalData(nodePackage, options.credential, '1');
		const context = new WebhookContext(
			workflow,
			node,
			{ ...perRequest, httpRequest: request, httpResponse: response },
			mode,
			webhookData,
			[],
			null,
		);
		const write = (message: string) => void log.push(message);
		Object.defineProperty(context, 'logger', { value: { warn: write, error: write } });
		const result = await type.webhook?.call(context);
		const isAnswered = result?.noWebhookResponse === true;
		const succeeded = isAnswered || (await run(result?.workflowData ?? []));
		handled.emit('request');
		if (isAnswered) return;
		const isAnsweredAtEnd = node.parameters.acknowledge === 'lastNode';
		const failure = options.statusOfFailure ?? 500;
		response.status(succeeded || !isAnsweredAtEnd ? 200 : failure).json({ message: 'By n8n' });
	});
	const { url, close } = await serve(createServer(app));
	return {
		url: `${url}/webhook`,
		started,
		executions: () => begun,
		nextHandled: async () => {
			await once(handled, 'request');
		},
		hasChangedStaticData: () => workflow.staticData.__dataChanged === true,
		log,
		open: async () => {
			const context = new TriggerContext(workflow, node, additional, 'trigger', 'activate');
			const { closeFunction } = (await type.trigger?.call(context)) ?? {};
			return async () => await closeFunction?.();
		},
		stop: close,
	};
}
