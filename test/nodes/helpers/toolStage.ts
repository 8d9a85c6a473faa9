// Workflows that are tools: a real service, a line to it that can refuse calls and lose answers, and the
// part of n8n around a trigger.
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { TOOL_TRIGGER, type Credential } from './n8n.ts';
import { startWire, type Wire } from './strangers.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type Trigger,
  type TriggerOptions,
  type WebhookHost,
} from './webhookHost.ts';

/** What a test file has after `setStage()`. */
interface Stage {
  service: TestService;
  host: WebhookHost;
  /** The line that n8n's calls take to the service. */
  wire: Wire;
  /** What n8n uses: the service over the line, unless a test enters something else. */
  credential: Credential;
}

export const stage = {} as Stage;

/** Starts it before the tests of a file, and removes all tools after each of them. */
export function setStage(): void {
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    stage.service = await startTestService({ ca, env: { TOOL_RETRY_DELAYS_MS: '10,20' } });
    stage.wire = await startWire(() => stage.service.url);
    stage.host = await startWebhookHost(() => stage.credential);
  });
  beforeEach(() => {
    stage.credential = { baseUrl: stage.wire.url, apiKey: stage.service.apiKey };
    stage.wire.seen.length = 0;
  });
  afterEach(async () => {
    stage.wire.refuses = undefined;
    stage.wire.before = undefined;
    for (const { id } of await tools()) await stage.service.api.delete(`/api/tools/${id}`);
  });
  afterAll(async () => {
    await stage.host.close();
    await stage.wire.close();
    await stage.service.stop();
  });
}

export interface Tool extends Json {
  id: string;
  name: string;
  status: 'draft' | 'live' | 'paused';
  endpoint: string;
  going_live: boolean;
  last_test: { succeeded: boolean; error: string | null } | null;
}
export const tools = async (): Promise<Tool[]> =>
  (await stage.service.api.get('/api/tools?limit=200')).body.data;
export const named = async (name: string): Promise<Tool | undefined> =>
  (await tools()).find((tool) => tool.name === name);
export const theTool = async (): Promise<Tool> => {
  const all = await tools();
  if (all.length !== 1) throw new Error(`expected one tool, there are ${all.length}`);
  return all[0]!;
};
export const isLive = (name = 'find_order') =>
  waitFor(`${name} to be live`, async () => (await named(name))?.status === 'live');
export const isTested = (name = 'find_order') =>
  waitFor(`the test of ${name}`, async () => {
    const tool = await named(name);
    return tool?.last_test && !tool.going_live && tool;
  });

export type Stored = { name?: string; secret?: string; revision?: number; draftId?: string };
export const stored = (side: Side): Stored => (side.staticData['node:Trigger'] ?? {}) as Stored;
export const calls = (ending: string, method = 'POST') =>
  stage.wire.seen.filter((each) => each.method === method && each.path.endsWith(ending));

export const FIELDS = [{ name: 'order_number' }];
export const PARAMETERS: TriggerOptions['parameters'] = {
  toolName: 'find_order',
  toolDescription: 'Finds an order.',
  parameters: { fields: FIELDS },
};
/** Answers as n8n does when the last node finishes. */
export function trigger(
  parameters: TriggerOptions['parameters'] = {},
  options: Partial<TriggerOptions> = {},
): Trigger {
  const made = stage.host.addTrigger({
    type: TOOL_TRIGGER,
    parameters: { ...PARAMETERS, ...parameters },
    ...options,
  });
  for (const side of [made.production, made.test]) {
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(200).json({ found: true });
    };
  }
  return made;
}
export async function published(
  parameters?: TriggerOptions['parameters'],
  options?: Partial<TriggerOptions>,
): Promise<Trigger> {
  const made = trigger(parameters, options);
  await made.production.activate();
  await isLive(made.parameters.toolName as string);
  return made;
}
/** Has the service call a live tool, as its test does. */
export const call = async (name = 'find_order', args: Json = { order_number: 'A-1042' }) =>
  (await stage.service.api.post(`/api/tools/${(await named(name))!.id}/test`, { arguments: args }))
    .body as Json & { status: string };
export const define = async (name: string, endpoint: string, changes: Json = {}): Promise<Tool> =>
  (
    await stage.service.api.post('/api/tools', {
      name,
      description: 'Another.',
      kind: 'Webhook',
      endpoint,
      ...changes,
    })
  ).body;
/** An address where no workflow is. */
export const elsewhere = () => `${stage.host.url}/webhook/elsewhere-${Math.random()}/tool`;
