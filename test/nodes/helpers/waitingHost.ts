// The part of n8n around an execution that waits, as measured on 2.41.1: it is stored as text, rests,
// and goes on with what the node makes of a call to its address. The contexts are n8n-core's own;
// the address is served over https.
import express, { type Request, type Response } from 'express';
import { createServer } from 'node:https';
import type { IDataObject, INode, IRunExecutionData } from 'n8n-workflow';
import { Agent, fetch } from 'undici';
import { sharedTestCa } from '../../helpers/tls.ts';
import { listenTracked } from '../../helpers/trackedServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  ACTION,
  actionNode,
  additionalData,
  core,
  execute,
  ourNode,
  runDataAt,
  workflowWith,
  type Credential,
} from './n8n.ts';

interface WaitOptions {
  /** The action node by default. */
  type?: string;
  resource: 'conversation' | 'approval';
  parameters?: INode['parameters'];
  input?: IDataObject[];
  node?: Partial<INode>;
  settings?: IDataObject;
}

/** One execution of a workflow with our node in it. */
interface Waiting {
  /** What calls of its address were answered, oldest first. */
  readonly answers: Array<{ status: number; body: unknown }>;
  /** Runs the node once more in the same execution, as a loop does. */
  again(parameters?: INode['parameters']): Promise<void>;
  /** The node's output when the execution went on; waits for it. */
  output(): Promise<IDataObject>;
  isWaiting(): boolean;
  /** POSTs to its address, as anybody can who knows it. */
  call(body: unknown): Promise<{ status: number; body: IDataObject }>;
}

export interface WaitingHost {
  /** Runs the node until it waits. @throws the node's error */
  wait(options: WaitOptions): Promise<Waiting>;
  close(): Promise<void>;
}

interface Host {
  credential: () => Credential;
  waitingUrl: string;
  dispatcher: Agent;
}

interface Execution {
  id: string;
  host: Host;
  status: 'running' | 'waiting' | 'success';
  /** As n8n stores it. */
  data: string;
  node: INode;
  settings: IDataObject;
  outputs: IDataObject[];
  answers: Array<{ status: number; body: unknown }>;
}

export async function startWaitingHost(credential: () => Credential): Promise<WaitingHost> {
  const { ca, server: certificate } = await sharedTestCa();
  const dispatcher = new Agent({ connect: { ca } });
  const executions = new Map<string, Execution>();
  const app = express().use(express.json({ strict: false }));
  app.post('/webhook-waiting/:id/:nodeId', async (req, res) => {
    const execution = executions.get(req.params.id);
    if (!execution) return void res.status(404).json({ message: 'does not exist' });
    await receive(execution, req, res);
  });
  const server = createServer(certificate, app);
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  const waitingUrl = `https://localhost:${tracked.port}/webhook-waiting`;

  return {
    async wait({
      type = ACTION,
      resource,
      parameters = {},
      input = [{}],
      node: more,
      settings = { executionOrder: 'v1' },
    }) {
      const operation = 'sendAndWait';
      const node = ourNode(type, { resource, operation, ...parameters }, more);
      const execution: Execution = {
        id: String(executions.size + 1),
        host: { credential, waitingUrl, dispatcher },
        status: 'running',
        data: '',
        node,
        settings,
        outputs: [],
        answers: [],
      };
      executions.set(execution.id, execution);
      const items = input.map((json) => ({ json }));
      await runUntilItWaits(execution, runDataAt(node, items));
      return waiting(execution);
    },
    async close() {
      await dispatcher.close();
      await tracked.close();
    },
  };
}

const dataFor = ({ id, host }: Execution, more = {}) =>
  additionalData(host.credential, {
    executionId: id,
    webhookWaitingBaseUrl: host.waitingUrl,
    ...more,
  });

const workflowOf = ({ node, settings }: Execution) => workflowWith(node, { settings });

async function runUntilItWaits(execution: Execution, runData: IRunExecutionData): Promise<void> {
  const run = await execute(workflowOf(execution), dataFor(execution), runData);
  if (!run.waitTill) throw new Error('The execution does not wait.');
  execution.data = JSON.stringify(run.data);
  execution.status = 'waiting';
}

/** What n8n does with a call of a waiting execution's address, once the signature is checked. */
async function receive(execution: Execution, req: Request, res: Response): Promise<void> {
  const answered = new Promise((resolve) => res.once('finish', resolve));
  const send = res.json.bind(res);
  res.json = (body) => {
    execution.answers.push({ status: res.statusCode, body });
    return send(body);
  };
  if (execution.status === 'running') res.status(409).json({ message: 'is running already' });
  else if (execution.status === 'success') res.status(200).json({ message: 'a page' });
  else await resume(execution, req, res);
  await answered;
}

async function resume(execution: Execution, req: Request, res: Response) {
  const wf = workflowOf(execution);
  const stored = JSON.parse(execution.data) as IRunExecutionData;
  const context = new core.WebhookContext(
    wf,
    wf.getNode(execution.node.name)!,
    dataFor(execution, { httpRequest: req, httpResponse: res }),
    'webhook',
    { webhookDescription: actionNode.description.webhooks![0] } as never,
    [],
    stored,
  );
  const answer = await actionNode.webhook!.call(context);
  if (!answer.workflowData) return;
  // Of two calls at once, one lets the execution go on.
  if (execution.status !== 'waiting') return void res.status(500).json({});
  execution.status = 'success';
  execution.outputs.push(answer.workflowData[0]![0]!.json);
  res.status(200).json(answer.webhookResponse);
}

function waiting(execution: Execution): Waiting {
  const { waitingUrl, dispatcher } = execution.host;
  return {
    answers: execution.answers,
    isWaiting: () => execution.status === 'waiting',
    async again(parameters = {}) {
      const { node } = execution;
      execution.status = 'running';
      execution.node = { ...node, parameters: { ...node.parameters, ...parameters } };
      // What nodes keep in an execution stays with it.
      const { contextData } = (JSON.parse(execution.data) as IRunExecutionData).executionData!;
      const data = runDataAt(execution.node, [{ json: {} }]);
      data.executionData!.contextData = contextData;
      await runUntilItWaits(execution, data);
    },
    output: () => waitFor('the execution to go on', () => execution.outputs.shift()),
    async call(body) {
      const url = `${waitingUrl}/${execution.id}/${execution.node.id}`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        dispatcher,
      });
      return { status: answer.status, body: (await answer.json()) as IDataObject };
    },
  };
}
