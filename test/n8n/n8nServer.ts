// A real n8n in a folder of its own, with our package installed, driven over its APIs.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
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
  /** What nodes keep between executions, as stored when it was read. */
  staticData: Record<string, Record<string, unknown>> | null;
}

export interface Credential {
  id: string;
  name: string;
  type: string;
}

/** Changes nodes, found by their names, as notes in a workflow tell a user to. */
export type ChangeNodes = (node: (name: string) => WorkflowNode) => void | Promise<void>;

/** Parameters of our triggers, set beside or over those that are there; or nodes. */
export type Changes = Record<string, unknown> | ChangeNodes;

/** What one node put out in one execution. */
interface NodeRun {
  data?: { main?: ({ json: Record<string, unknown> }[] | null)[] };
  error?: { message: string };
}

export interface Execution {
  id: string;
  status: string;
  mode: string;
  /**
   * Each node's items of its first run and output, by node name; a node that did not run is
   * missing.
   */
  output: Record<string, Record<string, unknown>[]>;
  error?: string;
}

/** An answer of n8n that was not a 2xx. */
export class N8nFailure extends Error {
  readonly status: number;

  constructor(call: string, status: number, text: string) {
    super(`n8n answered ${call} with ${status}: ${text.slice(0, 2000)}`);
    this.status = status;
  }
}

export interface N8nServer {
  /** `https://localhost:<port>`, or `http://` without a certificate. */
  readonly url: string;
  readonly port: number;
  readonly owner: { readonly email: string; readonly password: string };
  readonly logFile: string;
  readonly pid: number;
  readonly workerPids: readonly number[];
  /** n8n's public API, under /api/v1. @throws N8nFailure */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  /**
   * The API of n8n's own editor, under /rest, as the logged-in owner; what is in `data`. @throws
   * N8nFailure
   */
  rest<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Any call to n8n, such as a webhook's. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createCredential(type: string, data: Record<string, unknown>, name?: string): Promise<Credential>;
  /**
   * Imports a workflow as the editor does: with this credential, and an address of its own for the
   * trigger.
   */
  importWorkflow(file: string, credential: Credential, changes?: Changes): Promise<Workflow>;
  /** Changes a workflow and saves it, which publishes it again when it is active. */
  edit(workflowId: string, changes: Changes): Promise<Workflow>;
  /** Answers before n8n has registered anything: wait for the subscriptions. */
  activate(workflowId: string): Promise<void>;
  deactivate(workflowId: string): Promise<void>;
  /** What its editor shows of a trigger that could not be published; null while there is nothing. */
  publishingError(workflowId: string): Promise<string | null>;
  /** The finished executions of a workflow with their data, oldest first. */
  executions(workflowId: string): Promise<Execution[]>;
  /** Presses "Listen for test event" on a trigger. */
  listen(workflowId: string, triggerName: string): Promise<{ waitingForWebhook?: boolean }>;
  stopListening(workflowId: string): Promise<void>;
  /** SIGTERM; its folder stays. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port and folder.
   * @param settings beside its own, until it is started again
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
  /** Environment variables beside its own, at every start. */
  settings?: Record<string, string>;
  /** How many processes beside the main one run executions, in queue mode. */
  workers?: number;
}

/**
 * Starts n8n (installing the runtime first when it is missing) with our package in it and an owner
 * set up. It is ready when this resolves.
 * @param tls null: over http, as n8n starts by itself
 */
export async function startN8n(
  tls: TlsFiles | null,
  say: (line: string) => void = () => {},
  { settings: always = {}, workers = 0 }: N8nOptions = {},
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
      method: method as 'GET',
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
    if (answer.status >= 300) throw new N8nFailure(`${method} ${path}`, answer.status, answer.text);
    const set = [answer.headers['set-cookie'] ?? []]
      .flat()
      .find((one) => one.startsWith('n8n-auth='));
    if (set) cookie = set.split(';')[0]!;
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
    ...always,
  };
  const isReady = async () =>
    (await call('GET', '/healthz/readiness')).status === 200 &&
    (await call('GET', '/rest/settings')).status === 200;
  const start = async (settings: Record<string, string> = {}): Promise<Program> => {
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
    const answers = () => fetch(`http://127.0.0.1:${healthPort}/healthz`).then(({ ok }) => ok);
    await worker.ready(answers, { timeoutMs: 180_000, everyMs: 250 });
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

  let program: Program | undefined;
  let helpers: Program[] = [];
  const startAll = async (settings?: Record<string, string>) => {
    program = await start(settings);
    for (let n = 0; n < workers; n += 1) helpers.push(await startWorker(settings));
  };
  const stopAll = async () => {
    await Promise.all([program, ...helpers].map((each) => each?.stop()));
    helpers = [];
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
  const running = () => program!;

  return {
    url,
    port,
    owner: OWNER,
    logFile,
    get pid() {
      return running().pid;
    },
    get workerPids() {
      return helpers.map(({ pid }) => pid);
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
      connect(nodes, credential);
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
        const after: string = cursor === null ? '' : `&cursor=${cursor}`;
        const page: { data: RawExecution[]; nextCursor: string | null } = await api(
          'GET',
          `/executions?workflowId=${workflowId}&includeData=true&limit=250${after}`,
        );
        found.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return found.map(toExecution).sort((one, other) => Number(one.id) - Number(other.id));
    },
    listen: (workflowId, triggerName) =>
      rest('POST', `/workflows/${workflowId}/run`, { triggerToStartFrom: { name: triggerName } }),
    async stopListening(workflowId) {
      await rest('DELETE', `/test-webhook/${workflowId}`);
    },
    stop: stopAll,
    kill: () => running().kill(),
    start: startAll,
    close,
  };
}

const OUR_NODES = 'n8n-nodes-conversation-service.';

const isOurs = ({ type }: WorkflowNode) => type.startsWith(OUR_NODES);
const isOurTrigger = (node: WorkflowNode) => isOurs(node) && node.type.endsWith('Trigger');

/** Our nodes get the credential, and triggers an address of their own. */
function connect(nodes: WorkflowNode[], { id, name, type }: Credential): void {
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
  const runs = Object.entries(data?.resultData.runData ?? {});
  return {
    id,
    status,
    mode,
    output: Object.fromEntries(
      runs.map(([name, [first]]) => [
        name,
        (first?.data?.main?.find((items) => items?.length) ?? []).map((item) => item.json),
      ]),
    ),
    error: data?.resultData.error?.message,
  };
}

/** Where a workflow's trigger listens in production. */
export function triggerOf(workflow: Workflow): WorkflowNode {
  const trigger = workflow.nodes.find(
    ({ type }) => type === `${OUR_NODES}conversationServiceTrigger`,
  );
  if (!trigger) throw new Error(`The workflow "${workflow.name}" has none of our triggers.`);
  return trigger;
}

export const webhookPath = (workflow: Workflow) =>
  `/webhook/${triggerOf(workflow).webhookId}/webhook`;
