// n8n's own packages and the built nodes, loaded the way n8n loads them: as CommonJS, one copy of
// n8n-workflow for all. `npm test` builds the nodes first.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from '@jest/globals';
import type * as N8nCore from 'n8n-core';
import type * as N8nWorkflow from 'n8n-workflow';
import type {
  ICredentialDataDecryptedObject,
  ICredentialType,
  IDataObject,
  IHttpRequestOptions,
  INode,
  INodeExecutionData,
  INodeListSearchResult,
  INodeType,
  INodeTypes,
  IRun,
  IRunExecutionData,
  IWorkflowExecuteAdditionalData,
  Logger,
  NodeApiError,
  Workflow,
} from 'n8n-workflow';

// n8n keeps its instance id in its folder: not in the home folder of the person who runs the tests.
const userFolder = mkdtempSync(join(tmpdir(), 'conversation-service-n8n-'));
process.env.N8N_USER_FOLDER = userFolder;
afterAll(() => rmSync(userFolder, { recursive: true, force: true }));
process.env.N8N_LOG_LEVEL = 'silent';

const require = createRequire(import.meta.url);
export const core = require('n8n-core') as typeof N8nCore;
export const workflow = require('n8n-workflow') as typeof N8nWorkflow;
// n8n-workflow adds it globally; the service's suites, which run in the same process, do without.
Reflect.deleteProperty(BigInt.prototype, 'toJSON');
/** An instance of the class that a built file and its class are named after. */
const built = <T>(folder: string, name: string, kind: string): T => {
  const classes = require(`../../../dist/${folder}/${name}.${kind}.js`) as Record<
    string,
    new () => T
  >;
  return new classes[name]!();
};
const node = (name: string) => built<INodeType>('nodes/ConversationService', name, 'node');

export const credentialType = built<ICredentialType>(
  'credentials',
  'ConversationServiceApi',
  'credentials',
);
export const actionNode = node('ConversationService');
export const triggerNode = node('ConversationServiceTrigger');
export const toolTriggerNode = node('ConversationServiceAgentCallTrigger');
export const agentTriggerNode = node('ConversationServiceAgentTrigger');

export const ACTION = 'n8n-nodes-conversation-service.conversationService';
/** The type that n8n derives from the action node for a tool of an AI agent. */
export const ACTION_TOOL = `${ACTION}Tool`;
export const TRIGGER = 'n8n-nodes-conversation-service.conversationServiceTrigger';
export const TOOL_TRIGGER = 'n8n-nodes-conversation-service.conversationServiceAgentCallTrigger';
export const AGENT_TRIGGER = 'n8n-nodes-conversation-service.conversationServiceAgentTrigger';
const isTrigger = (type: string) => [TRIGGER, TOOL_TRIGGER, AGENT_TRIGGER].includes(type);

/** Passes its items on; stands for whatever comes before and after our nodes. */
const passThrough: INodeType = {
  description: {
    displayName: 'Start',
    name: 'start',
    group: ['transform'],
    version: 1,
    description: '',
    defaults: { name: 'Start' },
    inputs: ['main'],
    outputs: ['main'],
    properties: [],
  },
  async execute() {
    return [this.getInputData()];
  },
};

/** Outputs one item of its own, as an AI Agent does. */
const replace: INodeType = {
  description: {
    ...passThrough.description,
    name: 'replace',
    properties: [{ displayName: 'Output', name: 'output', type: 'json', default: {} }],
  },
  async execute() {
    return [[{ json: this.getNodeParameter('output', 0) as never }]];
  },
};

const types: Record<string, INodeType> = {
  [ACTION]: actionNode,
  [ACTION_TOOL]: Object.assign(Object.create(actionNode) as INodeType, {
    description: { ...actionNode.description, name: 'conversationServiceTool' },
  }),
  [TRIGGER]: triggerNode,
  [TOOL_TRIGGER]: toolTriggerNode,
  [AGENT_TRIGGER]: agentTriggerNode,
  start: passThrough,
  replace,
};

export const nodeTypes: INodeTypes = {
  getByName: (name) => types[name]!,
  getByNameAndVersion: (name) => types[name]!,
  getKnownTypes: () => ({}),
};

export type Credential = { baseUrl: string; apiKey: string };

type GetDecrypted = Parameters<IWorkflowExecuteAdditionalData['credentialsHelper']['getDecrypted']>;

/** Reads the credential of a test and authenticates as n8n's own helper does. */
function credentialsHelper(
  getCredential: () => Credential,
): IWorkflowExecuteAdditionalData['credentialsHelper'] {
  const helper = {
    getParentTypes: () => [],
    isCredentialUsableByNode: () => true,
    getCredentialsProperties: () => credentialType.properties,
    preAuthentication: async () => undefined,
    getDecrypted: async (...[, , , mode, executeData, , resolve]: GetDecrypted) =>
      resolve
        ? resolve.workflow.expression.getParameterValue(
            { ...getCredential() },
            resolve.runExecutionData,
            resolve.runIndex,
            resolve.itemIndex,
            resolve.node.name,
            resolve.connectionInputData,
            mode,
            {},
            executeData,
          )
        : { ...getCredential() },
    authenticate: async (
      credentials: ICredentialDataDecryptedObject,
      _type: string,
      options: IHttpRequestOptions,
    ) => {
      if (typeof credentialType.authenticate !== 'function') throw new Error('expected a function');
      return credentialType.authenticate(credentials, options);
    },
  };
  return helper as unknown as IWorkflowExecuteAdditionalData['credentialsHelper'];
}

export function additionalData(
  getCredential: () => Credential,
  extra: Partial<IWorkflowExecuteAdditionalData> = {},
): IWorkflowExecuteAdditionalData {
  return {
    credentialsHelper: credentialsHelper(getCredential),
    currentNodeExecutionIndex: 0,
    executionId: '1',
    variables: {},
    restApiUrl: 'https://n8n.example.com',
    instanceBaseUrl: 'https://n8n.example.com',
    webhookBaseUrl: 'https://n8n.example.com',
    webhookTestBaseUrl: 'https://n8n.example.com',
    webhookWaitingBaseUrl: 'https://n8n.example.com',
    formWaitingBaseUrl: 'https://n8n.example.com',
    ...extra,
  } as IWorkflowExecuteAdditionalData;
}

export function ourNode(
  type: string,
  parameters: INode['parameters'],
  extra: Partial<INode> = {},
): INode {
  return {
    id: 'node-1',
    name: isTrigger(type) ? 'Trigger' : 'Conversation Service',
    type,
    typeVersion: 1,
    position: [0, 0],
    parameters,
    credentials: { conversationServiceApi: { id: 'cred-1', name: 'Test' } },
    ...extra,
  };
}

export const passThroughNode = (name: string): INode => ({
  id: name,
  name,
  type: 'start',
  typeVersion: 1,
  position: [0, 0],
  parameters: {},
});
/** The connections of a node to others. */
export const to = (...names: string[]) => ({
  main: [names.map((node) => ({ node, type: 'main' as const, index: 0 }))],
});

/**
 * A workflow Start → our node, or Start → Way 1, Way 2 … → our node, which then runs once for each
 * way. n8n fills in the defaults of the parameters here.
 */
export function workflowWith(
  node: INode,
  {
    id = 'workflow-1',
    staticData = {},
    ways = 0,
    settings = {},
  }: { id?: string; staticData?: object; ways?: number; settings?: object } = {},
): Workflow {
  const between = Array.from({ length: ways }, (_, way) => `Way ${way + 1}`);
  return new workflow.Workflow({
    id,
    name: 'Test',
    nodes: isTrigger(node.type) ? [node] : [...['Start', ...between].map(passThroughNode), node],
    connections: {
      ...(isTrigger(node.type) ? {} : { Start: to(...(ways > 0 ? between : [node.name])) }),
      ...Object.fromEntries(between.map((way) => [way, to(node.name)])),
    },
    active: true,
    nodeTypes,
    staticData: structuredClone(staticData) as never,
    settings: { timezone: 'Europe/Berlin', ...settings },
  });
}

/** What n8n has before it runs a node that gets these items. */
export const runDataAt = (node: INode, items: INodeExecutionData[]): IRunExecutionData =>
  workflow.createRunExecutionData({
    executionData: { nodeExecutionStack: [{ node, data: { main: [items] }, source: null }] },
  });

/** Runs a workflow in n8n's engine. @throws the error of its node */
export async function execute(
  wf: Workflow,
  data: IWorkflowExecuteAdditionalData,
  runData: IRunExecutionData,
  onResponse?: (response: unknown) => void,
): Promise<IRun> {
  data.hooks = new core.ExecutionLifecycleHooks('webhook', data.executionId!, {
    id: wf.id,
    name: 'Test',
    nodes: Object.values(wf.nodes),
  } as never);
  if (onResponse) data.hooks.addHandler('sendResponse', async (response) => onResponse(response));
  const run = await new core.WorkflowExecute(data, 'webhook', runData).processRunExecutionData(wf);
  const { error } = run.data.resultData;
  if (error) throw error;
  return run;
}

export interface ActionOptions {
  credential: Credential;
  resource: string;
  operation: string;
  parameters?: INode['parameters'];
  input?: Array<Record<string, unknown>>;
  node?: Partial<INode>;
  executionId?: string;
  workflowId?: string;
  /** How many times the node runs in the execution, as in a loop. */
  runs?: number;
}

/** Runs our action node in a whole execution, as a workflow would. @throws the node's error */
export async function runAction({
  credential,
  resource,
  operation,
  parameters = {},
  input = [{}],
  node: extra,
  executionId = '1',
  workflowId,
  runs = 1,
}: ActionOptions) {
  const node = ourNode(ACTION, { resource, operation, ...parameters }, extra);
  const wf = workflowWith(node, { id: workflowId, ways: runs > 1 ? runs : 0 });
  const items = input.map((json) => ({ json: json as IDataObject }));
  const data = additionalData(() => credential, { executionId });
  const run = await execute(wf, data, runDataAt(wf.getNode('Start')!, items));
  const all = run.data.resultData.runData[node.name] ?? [];
  const output = (index: number) => all.flatMap(({ data }) => data?.main?.[index] ?? []);
  return {
    items: output(0).map(({ json }) => json),
    paired: output(0).map(({ pairedItem }) => pairedItem),
    /** Items of the error output, with "continue (using error output)". */
    errors: output(1).map(({ json }) => json),
  };
}

/** The error of a run that must fail. */
export const failureOf = (run: Promise<unknown>): Promise<NodeApiError> =>
  run.then(
    () => {
      throw new Error('expected the node to fail');
    },
    (error: NodeApiError) => error,
  );

/** What a list of the action node shows. */
export function searchList(
  credential: Credential,
  method: string,
  filter?: string,
  cursor?: string,
): Promise<INodeListSearchResult> {
  const node = ourNode(ACTION, {});
  const data = additionalData(() => credential);
  const context = new core.LoadOptionsContext(workflowWith(node), node, data, '');
  return actionNode.methods!.listSearch![method]!.call(context, filter, cursor);
}

/** Records the errors, warnings and infos that n8n logs during each test of a file. */
export function listenToLog() {
  // n8n-core has its own copies of these packages.
  const requireOfCore = createRequire(require.resolve('n8n-core'));
  const { Container } = requireOfCore('@n8n/di') as { Container: { get(token: unknown): Logger } };
  const { Logger } = requireOfCore('@n8n/backend-common') as { Logger: unknown };
  const logger = Container.get(Logger);
  const { error, warn, info } = logger;
  const log = { errors: [] as string[], warnings: [] as string[], infos: [] as string[] };
  const record = (into: string[]) => (message: string, metadata?: object) =>
    void into.push(`${message} ${JSON.stringify(metadata ?? {})}`);
  const recorders = {
    error: record(log.errors),
    warn: record(log.warnings),
    info: record(log.infos),
  };
  beforeEach(() => {
    for (const entries of Object.values(log)) entries.length = 0;
    Object.assign(logger, recorders);
  });
  afterEach(() => void Object.assign(logger, { error, warn, info }));
  return log;
}
