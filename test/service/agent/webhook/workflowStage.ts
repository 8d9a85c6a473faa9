// A whole service whose agent is a workflow: a real receiver on this machine that answers as the test
// says.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import {
  chatCustomer,
  type ApiAnswer,
  type ApiClient,
  type ChatCustomer,
} from '../../../helpers/apiClient.ts';
import { signatureFault } from '../../../helpers/eventReceiver.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../../helpers/service.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { chatTalk, type ChatTalk } from '../agentService.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are held against the contract by the client
export type Json = any;

export interface ReceivedTurn {
  readonly body: Json;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Resolves when the service has let go of the call, or has the whole answer. */
  readonly closed: Promise<undefined>;
}

/** Answers one turn. */
export type Workflow = (res: ServerResponse, turn: Json) => void;

export const answers =
  (body: unknown, status = 200): Workflow =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const says = (...texts: string[]): Workflow => answers({ reply: texts });
/** Accepts the turn: its answer is to come by the API. */
export const accepts: Workflow = (res) => void res.writeHead(202).end('{}');
export const hangs: Workflow = () => {};

export interface WorkflowServer extends TrackedServer {
  readonly url: string;
  readonly turns: ReceivedTurn[];
  /** What was wrong with the signatures. */
  readonly faults: string[];
  secret: string | null;
  /** The service's clock. */
  now: () => number;
  /** Answers the next turns, in order; the last of these answers is repeated. */
  answer(...workflows: Workflow[]): void;
  /** Waits for the nth turn (from 1). */
  turn(nth?: number): Promise<ReceivedTurn>;
  forget(): void;
}

/**
 * Where executions rest. They collect only when a test says so, and a call to resume one is not
 * taken for a turn.
 */
const RESTS_PATH = '/agent/rests/';

export async function startWorkflowServer(port = 0): Promise<WorkflowServer> {
  const turns: ReceivedTurn[] = [];
  const faults: string[] = [];
  let script: Workflow[] = [];
  const server = createServer((req, res) => {
    if (req.url?.startsWith(RESTS_PATH)) return void res.writeHead(409).end();
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const rawBody = Buffer.concat(chunks);
      const body = JSON.parse(rawBody.toString()) as Json;
      const closed = Promise.withResolvers<undefined>();
      res.once('close', () => closed.resolve(undefined));
      const { headers, method = '' } = req;
      const received = { body, headers, rawBody, closed: closed.promise };
      if (started.secret !== null) {
        const request = { method, path: req.url!, headers, rawBody, receivedAt: new Date() };
        const fault = signatureFault(request as never, started.secret, started.now());
        if (fault !== null) faults.push(fault);
      }
      turns.push(received);
      const next = script.length > 1 ? script.shift()! : (script[0] ?? says('Hello.'));
      next(res, body);
    });
  });
  const tracked = await listenTracked(server, port, '127.0.0.1');
  const started: WorkflowServer = Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}/agent`,
    turns,
    faults,
    secret: null as string | null,
    now: () => Date.now(),
    answer: (...workflows: Workflow[]) => void (script = workflows),
    turn: (nth = 1) => waitFor(`turn ${nth}`, () => turns[nth - 1], { everyMs: 5 }),
    forget: () => {
      turns.length = 0;
      script = [];
    },
  });
  return started;
}

export const OWNER = {
  instance_id: 'n8n-1',
  workflow_id: 'wf-1',
  workflow_name: 'Support agent',
  node_id: 'node-1',
  host: 'n8n.example.com',
};

/** The fields that identify an owner, as a query. */
export const ownerQuery = (changes: Partial<typeof OWNER> = {}) => {
  const { workflow_name: _, ...identity } = { ...OWNER, ...changes };
  return new URLSearchParams(identity);
};

export interface Talk extends ChatTalk {
  /** The conversation's turns, the oldest first. */
  turns(): Promise<Json[]>;
  /** Waits for the newest turn to be in this status. */
  turnIn(status: string): Promise<Json>;
}

export interface WorkflowStage {
  readonly service: TestService;
  readonly workflow: WorkflowServer;
  readonly api: ApiClient;
  publish(fields?: Record<string, unknown>): Promise<Json>;
  talk(words: string, claims?: Record<string, unknown>): Promise<Talk>;
  /** Begins a conversation whose turn the workflow accepts: the answer is to come by the API. */
  acceptedTurn(words?: string): Promise<{ talk: Talk; id: string }>;
  /** Answers a turn by the API. */
  operate(turnId: string, operation: string, body?: unknown): Promise<ApiAnswer>;
  close(): Promise<void>;
}

export const QUIET_MS = 30;

export async function startWorkflowStage({
  env,
  isPublished = true,
  ...options
}: TestServiceOptions & { isPublished?: boolean } = {}): Promise<WorkflowStage> {
  const workflow = await startWorkflowServer();
  const { clock } = options;
  if (clock !== undefined) workflow.now = () => clock.now().getTime();
  const service = await startTestService({
    ...options,
    env: { INSECURE_TARGETS: 'true', AGENT_QUIET_MS: String(QUIET_MS), ...env },
  }).catch(async (error) => {
    await workflow.close(); // a server that still listens would keep the suite from ending
    throw error;
  });
  const stage: WorkflowStage = {
    service,
    workflow,
    get api() {
      return service.api;
    },
    publish: async (fields = {}) => {
      const { body } = await service.api.put('/api/agent/webhook', {
        endpoint: workflow.url,
        owner: OWNER,
        turn_on: true,
        ...fields,
      });
      workflow.secret = body.secret ?? workflow.secret;
      return body;
    },
    talk: async (words, claims) => {
      const customer = await chatCustomer(service.url, claims);
      const { conversation_id: id } = await customer.write(words);
      return talkOf(() => service.api, customer, id);
    },
    acceptedTurn: async (words = 'hello') => {
      workflow.answer(accepts);
      const talk = await stage.talk(words);
      // A turn of the test before may still arrive.
      const { body } = await waitFor(
        'the turn',
        () => workflow.turns.find((turn) => turn.body.conversation_id === talk.id),
        { everyMs: 5 },
      );
      return { talk, id: body.turn_id };
    },
    operate: (turnId, operation, body = {}) =>
      service.api.post(`/api/agent-turns/${turnId}/${operation}`, body),
    close: async () => {
      await service.stop();
      await workflow.close();
    },
  };
  if (isPublished) await stage.publish();
  return stage;
}

export function talkOf(api: () => ApiClient, customer: ChatCustomer, id: string): Talk {
  const turns = async () =>
    (await api().get(`/api/agent-turns?conversation_id=${id}`)).body.data.toReversed();
  return {
    ...chatTalk(api, customer, id),
    turns,
    turnIn: (status) =>
      waitFor(
        `a turn that is ${status}`,
        async () => {
          const newest = (await turns()).at(-1);
          return newest?.status === status ? newest : null;
        },
        { everyMs: 10 },
      ),
  };
}
