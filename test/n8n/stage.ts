// What every proof runs on: the service and n8n as real processes, and ways to act on both.
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chatCustomer, type ChatCustomer } from '../helpers/apiClient.ts';
import { MEMBER_ENV } from '../helpers/browserless.ts';
import {
  setUpForLocalN8n,
  startServiceProcess,
  type ServiceProcess,
} from '../helpers/serviceProcess.ts';
import { makeTestCa, writeTlsFiles } from '../helpers/tls.ts';
import { startGraphServer, type GraphServer } from '../helpers/graphServer.ts';
import { saidByAgent } from '../helpers/toolEndpoint.ts';
import { tailOf } from '../helpers/program.ts';
import { waitFor } from '../helpers/waitFor.ts';
import {
  startN8n,
  triggerOf,
  webhookPath,
  type Answer,
  type Changes,
  type Credential,
  type Execution,
  type N8nServer,
  type Workflow,
} from './n8nServer.ts';

export const examplesFolder = fileURLToPath(new URL('../../examples/workflows/', import.meta.url));
export const example = (name: string) => join(examplesFolder, name);
export const ownWorkflow = (name: string) =>
  fileURLToPath(new URL(`workflows/${name}.json`, import.meta.url));

/** A workflow that takes the six events of conversations and messages, and does nothing. */
export const recordEvents = ownWorkflow('record-events');

/** The same with all ten events. */
export const recordAllEvents = ownWorkflow('record-all-events');

/** Sends one more message after each message that was sent. */
export const answerWhatIsSent = ownWorkflow('answer-what-is-sent');

/** Answers each message and closes the conversation. It takes the other five events too. */
export const answerAndClose = ownWorkflow('answer-and-close');

/** The last pause of a delivery: enough for an n8n that is slow to publish a workflow again. */
export const LAST_RETRY_MS = 15_000;

export const TRIGGER = 'Conversation Service Trigger';

export interface Subscription {
  id: string;
  revision: number;
  events: string[];
  target_url: string;
  status: string;
}

/** The payload of an event as the trigger puts it out. */
export interface Payload {
  id: string;
  delivery_id: string;
  event: string;
  occurred_at: string;
  workspace: string;
  conversation: Record<string, unknown> & { id: string };
  [detail: string]: unknown;
}

export interface Stage {
  readonly service: ServiceProcess;
  readonly n8n: N8nServer;
  /** Where the service sends WhatsApp messages. */
  readonly graph: GraphServer;
  readonly credential: Credential;
  /** Imports a workflow, activates it and waits until deliveries to it are verified. */
  run(file: string, changes?: Changes, credential?: Credential): Promise<Workflow>;
  /** Deactivates a workflow and waits until its subscription is gone. */
  retire(workflow: Workflow): Promise<void>;
  /** The subscriptions of a workflow's production address: one, or none. */
  subscriptionsOf(workflow: Workflow): Promise<Subscription[]>;
  /**
   * Waits until the workflow has exactly one subscription, to these events and other than those in
   * `replaced`, and its webhook verifies signatures.
   */
  untilReceiving(
    workflow: Workflow,
    events?: readonly string[],
    replaced?: readonly Subscription[],
  ): Promise<Subscription[]>;
  /**
   * `waitFor`, with the end of both logs in its error. It waits for a minute by default, because a
   * busy machine is slow, and asks ten times a second, because n8n takes long to answer.
   */
  until: typeof waitFor;
  /** The executions of a workflow that events of this conversation started, oldest first. */
  executionsOf(workflow: Workflow, conversationId: string): Promise<Execution[]>;
  /** Waits for an execution that this event of this conversation started. */
  execution(workflow: Workflow, event: string, conversationId: string): Promise<Execution>;
  /** A new customer writes one message. */
  customerWrites(text: string, claims?: Record<string, unknown>): Promise<Customer>;
  /** The tool of this name. */
  tool(name: string): Promise<Tool | undefined>;
  /** Waits until the tool of this name has this status. */
  untilTool(name: string, status: string): Promise<Tool>;
  /** POSTs a body to the workflow's production address, signed as the service signs. */
  deliver(workflow: Workflow, body: string, signing: Signing): Promise<Answer>;
  /** Starts a second n8n, which the caller closes. */
  startAnotherN8n(): Promise<N8nServer>;
  /** The secret of the workflow's subscription, as n8n keeps it. */
  secretOf(workflow: Workflow): Promise<string>;
  close(): Promise<void>;
}

export interface Customer {
  conversationId: string;
  read: ChatCustomer['read'];
  write: ChatCustomer['write'];
  /** Waits until the agent has sent so many texts. @returns all of them */
  answers(count: number): Promise<string[]>;
}

/** A tool of the agent, as the API shows it. */
export interface Tool {
  id: string;
  name: string;
  status: string;
  endpoint: string;
  last_test: { succeeded: boolean } | null;
}

export interface Signing {
  secret: string;
  event: string;
  /** Added to the headers of a delivery, or instead of them. */
  headers?: Record<string, string>;
}

/** The payload of the event that started an execution. */
export const payloadOf = (execution: Execution) =>
  execution.output[TRIGGER]?.[0] as Payload | undefined;

export const eventsOf = (workflow: Workflow) => triggerOf(workflow).parameters.events as string[];

/** Signs as docs/events-and-signatures.md describes it, without any code of the service. */
export const signature = (body: string, secret: string) => {
  const t = Math.floor(Date.now() / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};

export interface StageOptions {
  /**
   * As on the first start on one machine: n8n over http, and a service that knows where n8n runs
   * from its set-up form alone. Default: n8n over https with a certificate that both trust.
   */
  isFirstStart?: boolean;
  /** An n8n that already runs, over http. It stays open when the stage closes. */
  n8n?: N8nServer;
  /** Is told what is going on, in lines for a person. */
  say?: (line: string) => void;
}

/** Starts n8n and the service. If one does not start, the error shows the end of its log. */
export async function openStage({
  isFirstStart = false,
  n8n: runningN8n,
  say = () => {},
}: StageOptions = {}): Promise<Stage> {
  const closers: (() => Promise<void>)[] = [];
  // On a first start, a person opens the editor.
  const n8nOptions = { hasEditor: isFirstStart };
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const tls = isFirstStart ? null : await writeTlsFiles(await makeTestCa());
    if (tls) closers.push(() => tls.remove());
    const n8n = runningN8n ?? (await startN8n(tls, say, n8nOptions));
    if (runningN8n === undefined) closers.push(() => n8n.close());
    const graph = await startGraphServer();
    closers.push(() => graph.close());
    const service = await startServiceProcess({
      ...(tls ? { caFile: tls.caFile } : { setUp: setUpForLocalN8n(n8n.port) }),
      env: {
        ...(tls && MEMBER_ENV),
        GRAPH_API_URL: graph.url,
        DELIVERY_RETRY_DELAYS_MS: `500,2000,${LAST_RETRY_MS}`,
      },
    });
    closers.push(() => service.close());
    say(`The service runs at ${service.url}.`);
    const credential = await n8n.createCredential('conversationServiceApi', {
      baseUrl: service.url,
      apiKey: service.apiKey,
    });
    const startAnotherN8n = () => startN8n(tls, say, n8nOptions);
    return { ...stageOf(service, n8n, credential), graph, startAnotherN8n, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function stageOf(
  service: ServiceProcess,
  n8n: N8nServer,
  credential: Credential,
): Omit<Stage, 'close' | 'graph' | 'startAnotherN8n'> {
  const until: typeof waitFor = (what, probe, options) =>
    waitFor(what, probe, { timeoutMs: 60_000, everyMs: 100, ...options }).catch(
      async (cause: Error) => {
        const logs = [service.logFile, n8n.logFile].map(
          async (file) => `\nThe end of ${file}:\n${await tailOf(file)}`,
        );
        throw new Error(cause.message + (await Promise.all(logs)).join('\n'), { cause });
      },
    );

  const subscriptionsOf = async (workflow: Workflow) => {
    const { data } = (await service.api.get('/api/hooks?limit=200')).body as {
      data: Subscription[];
    };
    return data.filter(({ target_url }) => target_url === n8n.url + webhookPath(workflow));
  };

  /** An unsigned call gets 404 before the webhook is there, 503 before its secret is, then 401. */
  const verifies = async (workflow: Workflow) => {
    const headers = { 'content-type': 'application/json' };
    return (await n8n.call('POST', webhookPath(workflow), { headers, body: '{}' })).status === 401;
  };

  const untilReceiving: Stage['untilReceiving'] = async (
    workflow,
    events = eventsOf(workflow),
    replaced = [],
  ) => {
    const sorted = (names: readonly string[]) => [...names].sort().join();
    const isReplaced = ({ id, revision }: Subscription) =>
      replaced.some((old) => old.id === id && old.revision === revision);
    const subscriptions = await until(
      `"${workflow.name}" to have a subscription to ${sorted(events)}`,
      async () => {
        const found = await subscriptionsOf(workflow);
        const [only] = found;
        if (only === undefined || found.length > 1 || isReplaced(only)) return null;
        return sorted(only.events) === sorted(events) && found;
      },
    );
    await until(`"${workflow.name}" to verify what comes`, () => verifies(workflow));
    return subscriptions;
  };

  const tool = async (name: string) =>
    ((await service.api.get(`/api/tools?name=${name}`)).body.data as Tool[])[0];

  const executionsOf = async (workflow: Workflow, conversationId: string) =>
    (await n8n.executions(workflow.id)).filter(
      (execution) => payloadOf(execution)?.conversation.id === conversationId,
    );

  return {
    service,
    n8n,
    credential,
    until,
    subscriptionsOf,
    untilReceiving,
    executionsOf,
    tool,
    untilTool: (name, status) =>
      until(`${name} to be ${status}`, async () => {
        const found = await tool(name);
        return found?.status === status && found;
      }),
    async run(file, changes, itsCredential = credential) {
      const workflow = await n8n.importWorkflow(file, itsCredential, changes);
      await n8n.activate(workflow.id);
      await untilReceiving(workflow);
      return workflow;
    },
    async retire(workflow) {
      await n8n.deactivate(workflow.id);
      await until(
        `"${workflow.name}" to have no subscription`,
        async () => (await subscriptionsOf(workflow)).length === 0,
      );
    },
    execution: (workflow, event, conversationId) =>
      until(`"${workflow.name}" to have run on ${event} of ${conversationId}`, async () =>
        (await executionsOf(workflow, conversationId)).find(
          (execution) => payloadOf(execution)?.event === event,
        ),
      ),
    async customerWrites(text, claims = {}) {
      const customer = await chatCustomer(service.url, claims);
      const { conversation_id: conversationId } = await customer.write(text);
      const answers = (count: number) =>
        until(`${count} answers of the agent`, async () => {
          const texts = await saidByAgent(customer);
          return texts.length >= count && texts;
        });
      return { conversationId, read: customer.read, write: customer.write, answers };
    },
    deliver: (workflow, body, { secret, event, headers }) =>
      n8n.call('POST', webhookPath(workflow), {
        headers: {
          'content-type': 'application/json',
          'x-service-signature': signature(body, secret),
          'x-service-event': event,
          'x-service-delivery': (JSON.parse(body) as { id: string }).id,
          ...headers,
        },
        body,
      }),
    async secretOf(workflow) {
      const { staticData } = await n8n.api<Workflow>('GET', `/workflows/${workflow.id}`);
      const subscription = staticData?.[`node:${TRIGGER}`]?.subscription as
        | { secret?: string }
        | undefined;
      if (subscription?.secret === undefined)
        throw new Error(`n8n keeps no secret for "${workflow.name}".`);
      return subscription.secret;
    },
  };
}
