// A real n8n in a folder of its own, with our package installed, used over its APIs.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request, type Dispatcher } from 'undici';
import type { TlsFiles } from '../helpers/tls.ts';
import { freePort, startProgram, type Program } from '../helpers/program.ts';
import { installNodesPackage } from './nodesPackage.ts';
import { ensureRuntime } from './runtime.ts';

export interface WorkflowNode {
  id: string;
  name: string;
  type: string;
  parameters: Record<string, unknown>;
  webhookId?: string;
  credentials?: Record<string, { id: string; name: string }>;
}

export interface Workflow {
  id: string;
  name: string;
  active: boolean;
  nodes: WorkflowNode[];
  connections: Record<string, unknown>;
  settings: Record<string, unknown>;
  /** What its nodes keep between executions, at the moment the workflow was read. */
  staticData: Record<string, Record<string, unknown>> | null;
}

export interface Credential {
  id: string;
  name: string;
  type: string;
}

/** Looks nodes up by name and changes them, as the notes in a workflow tell a user to. */
export type ChangeNodes = (node: (name: string) => WorkflowNode) => void | Promise<void>;

/** Parameters that are merged into those of our triggers, or a function that changes nodes. */
export type Changes = Record<string, unknown> | ChangeNodes;

/** One run of a node in an execution. */
interface NodeRun {
  data?: { main?: ({ json: Record<string, unknown> }[] | null)[] };
}

export interface Execution {
  id: string;
  status: string;
  mode: string;
  /**
   * What each node put out in its first run, by node name: the items of the first output that has
   * any. A node that did not run is missing.
   */
  output: Record<string, Record<string, unknown>[]>;
  error?: string;
}

/** Whether an execution has yet to start or is running. One that waits is not. */
export const isRunning = ({ status }: Execution) => status === 'new' || status === 'running';

export interface N8nServer {
  /** `https://localhost:<port>`, or `http://` without a certificate. */
  readonly url: string;
  readonly port: number;
  readonly owner: { readonly email: string; readonly password: string };
  readonly logFile: string;
  readonly pid: number;
  readonly workerPids: readonly number[];
  /** Calls n8n's public API, under /api/v1. @throws when the answer is not a 2xx */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  /**
   * Calls the API of n8n's own editor, under /rest, as the logged-in owner.
   * @returns the `data` of the answer
   * @throws when the answer is not a 2xx
   */
  rest<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Makes any other call to n8n, such as a webhook's. @returns the answer, whatever its status */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createCredential(type: string, data: Record<string, unknown>, name?: string): Promise<Credential>;
  /**
   * Imports a workflow as the editor does: our nodes get this credential, and our triggers
   * addresses of their own.
   */
  importWorkflow(file: string, credential: Credential, changes?: Changes): Promise<Workflow>;
  /** Changes a workflow and saves it, which publishes an active one again. */
  edit(workflowId: string, changes: Changes): Promise<Workflow>;
  /** Resolves before n8n has registered anything: wait for the subscription. */
  activate(workflowId: string): Promise<void>;
  deactivate(workflowId: string): Promise<void>;
  /** The error of publishing the workflow's trigger, as the editor shows it; null without one. */
  publishingError(workflowId: string): Promise<string | null>;
  /** The executions of a workflow, with the data that n8n has stored of them, oldest first. */
  executions(workflowId: string): Promise<Execution[]>;
  /** Executes a workflow from a trigger, as the editor does. Ours listen for a test event then. */
  listen(workflowId: string, triggerName: string): Promise<{ waitingForWebhook?: boolean }>;
  stopListening(workflowId: string): Promise<void>;
  /** SIGTERM; its folder stays. */
  stop(): Promise<void>;
  /** SIGKILL to the main process of an n8n without workers. */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port and folder.
   * @param settings further environment variables, for this start alone
   */
  start(settings?: Record<string, string>): Promise<void>;
  /** Stops it and removes its folder. */
  close(): Promise<void>;
}

export interface CallOptions {
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

const OWNER = {
  email: 'owner@example.com',
  password: 'Owner-of-this-n8n-1',
  firstName: 'Olivia',
  lastName: 'Owner',
};

export interface N8nOptions {
  /** Further environment variables, for every start. */
  settings?: Record<string, string>;
  /** How many worker processes run the executions in queue mode; 0 otherwise. */
  workers?: number;
  /**
   * Whether it serves its editor, and has all parts of it that are on by default. Without them a
   * start costs half the CPU time. Default: true.
   */
  hasEditor?: boolean;
}

/** What a workflow's triggers, nodes and executions do not use. */
const WITHOUT_EDITOR = {
  N8N_DISABLE_UI: 'true',
  N8N_DISABLED_MODULES: [
    'agents',
    'chat-hub',
    'instance-ai',
    'mcp',
    'mcp-registry',
    'oauth-server',
    'workflow-builder',
    'source-control',
    'insights',
    'data-table',
    'dynamic-credentials',
    'external-secrets',
    'ldap',
    'log-streaming',
    'n8n-packages',
    'otel',
    'provisioning',
    'quick-connect',
    'sso-oidc',
    'sso-saml',
    'token-exchange',
    'workflow-reviews',
  ].join(),
};

/**
 * Starts n8n with our package in it and an owner set up, and installs the runtime first when it is
 * missing. n8n is ready when this resolves.
 * @param tls null: over http, n8n's default
 */
export async function startN8n(
  tls: TlsFiles | null,
  say: (line: string) => void = () => {},
  { settings: permanentSettings = {}, workers: workerCount = 0, hasEditor = true }: N8nOptions = {},
): Promise<N8nServer> {
  const runtime = await ensureRuntime(say);
  const folder = await mkdtemp(join(tmpdir(), 'conversation-service-real-n8n-'));
  const port = await freePort();
  const brokerPort = await freePort();
  const logFile = join(folder, 'n8n.log');
  const url = `${tls ? 'https' : 'http'}://localhost:${port}`;
  const agent = new Agent(tls ? { connect: { ca: await readFile(tls.caFile, 'utf8') } } : {});
  const browserId = randomUUID();
  let cookie = '';
  let apiKey = '';

  const call = async (
    method: string,
    path: string,
    { headers = {}, body }: CallOptions = {},
  ): Promise<Answer> => {
    const answer = await request(url + path, {
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      dispatcher: agent,
    });
    return { status: answer.statusCode, text: await answer.body.text(), headers: answer.headers };
  };
  const json = async <T>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ) => {
    const answer = await call(method, path, {
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status >= 300) {
      const { status, text } = answer;
      throw new Error(`n8n answered ${method} ${path} with ${status}: ${text.slice(0, 2000)}`);
    }
    const login = [answer.headers['set-cookie'] ?? []]
      .flat()
      .find((each) => each.startsWith('n8n-auth='));
    if (login) cookie = login.split(';')[0]!;
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
  };
  const api = <T>(method: string, path: string, body?: unknown) =>
    json<T>(method, `/api/v1${path}`, { 'x-n8n-api-key': apiKey }, body);
  const rest = async <T>(method: string, path: string, body?: unknown) =>
    (await json<{ data: T }>(method, `/rest${path}`, { cookie, 'browser-id': browserId }, body))
      .data;

  const env = {
    N8N_USER_FOLDER: folder,
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    ...(tls && {
      N8N_PROTOCOL: 'https',
      N8N_HOST: 'localhost',
      N8N_SSL_KEY: tls.keyFile,
      N8N_SSL_CERT: tls.certFile,
      NODE_EXTRA_CA_CERTS: tls.caFile,
    }),
    N8N_RUNNERS_BROKER_PORT: String(brokerPort),
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    ...(!hasEditor && WITHOUT_EDITOR),
    ...permanentSettings,
  };
  const isReady = async () =>
    (await call('GET', '/healthz/readiness')).status === 200 &&
    (await call('GET', '/rest/options/timezones')).status === 200;
  const startMain = async (settings: Record<string, string> = {}): Promise<Program> => {
    const program = await startProgram({
      name: 'n8n',
      script: runtime.bin,
      args: ['start'],
      cwd: folder,
      env: { ...env, ...settings },
      logFile,
    });
    try {
      await program.ready(isReady, { timeoutMs: 180_000, everyMs: 250 });
    } catch (error) {
      await program.kill();
      throw error;
    }
    return program;
  };

  const startWorker = async (settings: Record<string, string> = {}): Promise<Program> => {
    const [healthPort, ownBrokerPort] = [await freePort(), await freePort()];
    const worker = await startProgram({
      name: 'a worker of n8n',
      script: runtime.bin,
      args: ['worker'],
      cwd: folder,
      env: {
        ...env,
        ...settings,
        N8N_RUNNERS_BROKER_PORT: String(ownBrokerPort),
        QUEUE_HEALTH_CHECK_ACTIVE: 'true',
        QUEUE_HEALTH_CHECK_PORT: String(healthPort),
      },
      logFile,
    });
    const isHealthy = () => fetch(`http://127.0.0.1:${healthPort}/healthz`).then(({ ok }) => ok);
    try {
      await worker.ready(isHealthy, { timeoutMs: 180_000, everyMs: 250 });
    } catch (error) {
      await worker.kill();
      throw error;
    }
    return worker;
  };

  const setUpOwner = async () => {
    await rest('POST', '/owner/setup', OWNER);
    const scopes = await rest<string[]>('GET', '/api-keys/scopes');
    const key = await rest<{ rawApiKey: string }>('POST', '/api-keys', {
      label: 'tests',
      scopes,
      expiresAt: null,
    });
    apiKey = key.rawApiKey;
  };

  let main: Program | undefined;
  let workers: Program[] = [];
  const startAll = async (settings?: Record<string, string>) => {
    main = await startMain(settings);
    for (let n = 0; n < workerCount; n += 1) workers.push(await startWorker(settings));
  };
  const stopAll = async () => {
    await Promise.all([main, ...workers].map((program) => program?.stop()));
    workers = [];
  };
  const close = async () => {
    await stopAll();
    await agent.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    say('Installing our package in n8n …');
    await installNodesPackage(folder, logFile);
    say('Starting n8n …');
    await startAll();
    await setUpOwner();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    url,
    port,
    owner: OWNER,
    logFile,
    get pid() {
      return main!.pid;
    },
    get workerPids() {
      return workers.map(({ pid }) => pid);
    },
    api,
    rest,
    call,
    createCredential: (type, data, name = 'Conversation Service') =>
      api('POST', '/credentials', { name, type, data }),
    async importWorkflow(file, credential, changes = {}) {
      const { name, nodes, connections, settings } = JSON.parse(
        await readFile(file, 'utf8'),
      ) as Workflow;
      connectNodes(nodes, credential);
      await applyChanges(nodes, changes);
      return await api('POST', '/workflows', {
        name,
        nodes,
        connections,
        settings: settings ?? {},
      });
    },
    async edit(workflowId, changes) {
      const path = `/workflows/${workflowId}`;
      const { name, nodes, connections, settings } = await api<Workflow>('GET', path);
      await applyChanges(nodes, changes);
      return await api('PUT', path, { name, nodes, connections, settings });
    },
    async activate(workflowId) {
      await api('POST', `/workflows/${workflowId}/activate`);
    },
    async deactivate(workflowId) {
      await api('POST', `/workflows/${workflowId}/deactivate`);
    },
    async publishingError(workflowId) {
      const { triggers } = await rest<{ triggers: { errorMessage: string | null }[] }>(
        'GET',
        `/workflows/${workflowId}/publication-status`,
      );
      return triggers[0]?.errorMessage ?? null;
    },
    async executions(workflowId) {
      const found: RawExecution[] = [];
      let cursor: string | null = null;
      do {
        const fromCursor: string = cursor === null ? '' : `&cursor=${cursor}`;
        const page: { data: RawExecution[]; nextCursor: string | null } = await api(
          'GET',
          `/executions?workflowId=${workflowId}&includeData=true&limit=250${fromCursor}`,
        );
        found.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return found.map(toExecution).sort((a, b) => Number(a.id) - Number(b.id));
    },
    listen: (workflowId, triggerName) =>
      rest('POST', `/workflows/${workflowId}/run`, { triggerToStartFrom: { name: triggerName } }),
    async stopListening(workflowId) {
      await rest('DELETE', `/test-webhook/${workflowId}`);
    },
    stop: stopAll,
    kill: () => main!.kill(),
    start: startAll,
    close,
  };
}

const OUR_NODES = 'n8n-nodes-conversation-service.';

const isOurs = ({ type }: WorkflowNode) => type.startsWith(OUR_NODES);
const isOurTrigger = (node: WorkflowNode) => isOurs(node) && node.type.endsWith('Trigger');

/** Gives our nodes the credential, and our triggers addresses of their own. */
function connectNodes(nodes: WorkflowNode[], { id, name, type }: Credential): void {
  for (const node of nodes.filter(isOurs)) node.credentials = { [type]: { id, name } };
  for (const trigger of nodes.filter(isOurTrigger)) trigger.webhookId = randomUUID();
}

async function applyChanges(nodes: WorkflowNode[], changes: Changes): Promise<void> {
  if (typeof changes === 'function')
    await changes((wanted) => nodes.find(({ name }) => name === wanted)!);
  else for (const { parameters } of nodes.filter(isOurTrigger)) Object.assign(parameters, changes);
}

interface RawExecution {
  id: string;
  status: string;
  mode: string;
  data?: { resultData: { runData?: Record<string, NodeRun[]>; error?: { message: string } } };
}

function toExecution({ id, status, mode, data }: RawExecution): Execution {
  const runsByNode = Object.entries(data?.resultData.runData ?? {});
  return {
    id,
    status,
    mode,
    output: Object.fromEntries(runsByNode.map(([name, [first]]) => [name, itemsOf(first)])),
    error: data?.resultData.error?.message,
  };
}

const itemsOf = (run: NodeRun | undefined) =>
  (run?.data?.main?.find((items) => items?.length) ?? []).map(({ json }) => json);

/** The workflow's event trigger. */
export function triggerOf(workflow: Workflow): WorkflowNode {
  const trigger = workflow.nodes.find(
    ({ type }) => type === `${OUR_NODES}conversationServiceTrigger`,
  );
  if (!trigger)
    throw new Error(`The workflow "${workflow.name}" has no Conversation Service Trigger.`);
  return trigger;
}

/** Where the workflow's event trigger listens in production. */
export const webhookPath = (workflow: Workflow) =>
  `/webhook/${triggerOf(workflow).webhookId}/webhook`;
