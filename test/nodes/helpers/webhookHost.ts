// The part of n8n around a webhook trigger: https, the raw body, the order of its life cycle, the
// static data that is stored when `create` has returned and read from the store for every call, and
// the answer. As measured on n8n 2.41.1. The contexts are n8n-core's own.
import express, { type Request, type Response } from 'express';
import { createServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type {
  IDataObject,
  INode,
  INodeType,
  IWebhookDescription,
  WorkflowActivateMode,
} from 'n8n-workflow';
import { sharedTestCa } from '../../helpers/tls.ts';
import { listenTracked } from '../../helpers/trackedServer.ts';
import {
  additionalData,
  core,
  nodeTypes,
  ourNode,
  TRIGGER,
  workflowWith,
  type Credential,
} from './n8n.ts';

export interface TriggerOptions {
  /** TRIGGER by default. */
  type?: string;
  parameters: INode['parameters'];
  workflowId?: string;
  nodeId?: string;
  /**
   * `buffer`, the default: n8n sets `rawBody` before the call, as for nodes of version 1.
   * `when_read`: the node gets it with `readRawBody()`, as newer versions do.
   */
  rawBody?: 'buffer' | 'when_read';
  /** The origin of the addresses that the node sees; the host's own by default. */
  url?: string;
}

export type Json = Record<string, unknown>;

/** One side of a trigger: production, or listening for a test event. */
export interface Side {
  readonly url: string;
  /** What n8n would have stored with the workflow. */
  staticData: IDataObject;
  /** Output of each execution that was started, oldest first. */
  readonly executions: Json[];
  /** How many calls the trigger has taken, refused, or kept waiting. */
  calls: number;
  /** Whether the URL is known: n8n answers 404 otherwise. */
  isRegistered: boolean;
  /** What n8n does after webhook() returned data: default starts the execution and answers 200. */
  startExecution: (json: Json, res: Response) => void | Promise<void>;
  checkExists(): Promise<boolean>;
  create(): Promise<boolean>;
  delete(): Promise<boolean>;
  /**
   * Registers the URL, then checkExists, and create when needed; stores the static data. @throws
   * what the node throws
   */
  activate(): Promise<void>;
  /** What n8n does with a published workflow when it starts again. */
  restart(): Promise<void>;
  /** delete, which stores the static data; then the URL is unregistered. */
  deactivate(): Promise<boolean>;
}

/** Makes each execution of the workflow answer with this status and body. */
export function answerWith(side: Side, status: number, body: unknown): void {
  side.startExecution = (json, res) => {
    side.executions.push(json);
    res.status(status).json(body);
  };
}

export interface Trigger {
  readonly production: Side;
  readonly test: Side;
  parameters: INode['parameters'];
}

export interface WebhookHost {
  readonly url: string;
  readonly ca: string;
  addTrigger(options: TriggerOptions): Trigger;
  close(): Promise<void>;
}

export async function startWebhookHost(credential: () => Credential): Promise<WebhookHost> {
  const { ca, server: certificate } = await sharedTestCa();
  const sides = new Map<string, (req: Request, res: Response) => Promise<void>>();
  const app = express();
  app.use(async (req, res) => {
    const bytes = await buffer(req);
    const handle = sides.get(req.path);
    if (!handle) return void res.status(404).json({ message: 'not registered' });
    // n8n itself refuses what is not JSON.
    try {
      req.body = JSON.parse(bytes.toString());
    } catch {
      return void res.status(422).json({ message: 'Failed to parse request body' });
    }
    Object.assign(req, { pendingBytes: bytes });
    await handle(req, res);
  });
  const server = createServer(certificate, app);
  const { port, close } = await listenTracked(server, 0, '127.0.0.1');
  const url = `https://localhost:${port}`;
  let triggers = 0;

  return {
    url,
    ca,
    addTrigger(options) {
      const webhookId = `hook-${++triggers}`;
      const trigger = { parameters: options.parameters } as Trigger;
      const make = (isTest: boolean) =>
        makeSide({ webhookId, isTest, sides, trigger, credential, options: { url, ...options } });
      return Object.assign(trigger, { production: make(false), test: make(true) });
    },
    close,
  };
}

interface SideOptions {
  webhookId: string;
  isTest: boolean;
  sides: Map<string, (req: Request, res: Response) => Promise<void>>;
  trigger: Trigger;
  credential: () => Credential;
  options: TriggerOptions & { url: string };
}

function makeSide({ webhookId, isTest, sides, trigger, credential, options }: SideOptions): Side {
  const { type = TRIGGER, url } = options;
  const triggerNode = nodeTypes.getByNameAndVersion(type) as INodeType;
  const [webhookDescription] = triggerNode.description.webhooks as [IWebhookDescription];
  const path = `/${isTest ? 'webhook-test' : 'webhook'}/${webhookId}/${webhookDescription.path}`;
  const node = () =>
    ourNode(type, trigger.parameters, { webhookId, id: options.nodeId ?? `node-${webhookId}` });
  const workflowId = options.workflowId ?? `workflow-${webhookId}`;
  const urls = { webhookBaseUrl: `${url}/webhook`, webhookTestBaseUrl: `${url}/webhook-test` };
  const webhookData = {
    isTest,
    webhookDescription,
    node: 'Trigger',
    workflowId,
    httpMethod: 'POST',
    path,
  } as never;
  /** The workflow with the stored static data. */
  const load = () => workflowWith(node(), { id: workflowId, staticData: side.staticData });

  /** Runs a life-cycle method, and stores the static data afterwards. */
  const hook = async (
    method: 'checkExists' | 'create' | 'delete',
    activation: WorkflowActivateMode = 'activate',
  ): Promise<boolean> => {
    const wf = load();
    const context = new core.HookContext(
      wf,
      wf.getNode('Trigger')!,
      additionalData(credential, urls),
      method === 'delete' ? 'internal' : isTest ? 'manual' : 'trigger',
      method === 'delete' ? 'update' : isTest ? 'manual' : activation,
      webhookData,
    );
    const result = await triggerNode.webhookMethods!.default![method]!.call(context);
    side.staticData = JSON.parse(JSON.stringify(wf.staticData)) as IDataObject;
    return result;
  };

  const handle = async (req: Request, res: Response): Promise<void> => {
    const { pendingBytes } = req as unknown as { pendingBytes: Buffer };
    const readRawBody = async () => void Object.assign(req, { rawBody: pendingBytes });
    Object.assign(req, { readRawBody });
    if (options.rawBody !== 'when_read') await readRawBody();
    const wf = load();
    const data = additionalData(credential, { ...urls, httpRequest: req, httpResponse: res });
    const context = new core.WebhookContext(
      wf,
      wf.getNode('Trigger')!,
      data,
      isTest ? 'manual' : 'webhook',
      webhookData,
      [],
      null,
    );
    try {
      const { workflowData, noWebhookResponse, webhookResponse } =
        await triggerNode.webhook!.call(context);
      side.calls += 1;
      if (noWebhookResponse) {
        // Answered by the node itself; an execution can start all the same.
        if (workflowData) side.executions.push(workflowData[0]![0]!.json);
        return;
      }
      if (!workflowData) return void res.status(200).json(webhookResponse ?? {});
      await side.startExecution(workflowData[0]![0]!.json, res);
    } catch (error) {
      res.status(500).json({ message: String(error) });
    }
  };

  const side: Side = {
    url: url + path,
    staticData: {},
    executions: [],
    calls: 0,
    get isRegistered() {
      return sides.has(path);
    },
    set isRegistered(wanted) {
      if (wanted) sides.set(path, handle);
      else sides.delete(path);
    },
    startExecution(json, res) {
      side.executions.push(json);
      res.status(200).end();
    },
    checkExists: () => hook('checkExists'),
    create: () => hook('create'),
    delete: () => hook('delete'),
    async activate() {
      side.isRegistered = true;
      if (!(await side.checkExists())) await side.create();
    },
    async restart() {
      if (!(await hook('checkExists', 'init'))) await hook('create', 'init');
    },
    async deactivate() {
      const result = await side.delete();
      side.isRegistered = false;
      return result;
    },
  };
  return side;
}
