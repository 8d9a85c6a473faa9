// The stage of the agent call trigger's tests, and what they do on it. All tools are removed after
// each test.
import { afterEach } from '@jest/globals';
import { newestCall as newestCallOf, TOOL_TEST_ENV } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { TOOL_TRIGGER } from './n8n.ts';
import { triggerStage } from './triggerStage.ts';
import {
  answerWith,
  type Json,
  type Side,
  type Trigger,
  type TriggerOptions,
} from './webhookHost.ts';

export const stage = triggerStage(TOOL_TEST_ENV);
afterEach(async () => {
  for (const { id } of await tools()) await stage.service.api.delete(`/api/tools/${id}`);
});

export interface Tool extends Json {
  id: string;
  name: string;
  status: 'draft' | 'live' | 'paused';
  going_live: boolean;
  last_test: { succeeded: boolean; error: string | null } | null;
}
export const tools = async (): Promise<Tool[]> =>
  (await stage.service.api.get('/api/tools?limit=200')).body.data;
export const toolNamed = async (name: string): Promise<Tool | undefined> =>
  (await tools()).find((tool) => tool.name === name);
export const theTool = async (): Promise<Tool> => {
  const all = await tools();
  if (all.length !== 1) throw new Error(`expected one tool, there are ${all.length}`);
  return all[0]!;
};
export const untilLive = (name = 'find_order') =>
  waitFor(`${name} to be live`, async () => (await toolNamed(name))?.status === 'live');
export const untilTested = (name = 'find_order') =>
  waitFor(`the test of ${name}`, async () => {
    const tool = await toolNamed(name);
    return tool?.last_test && !tool.going_live && tool;
  });

type Stored = { name?: string; secret?: string; revision?: number; draftId?: string };
export const stored = (side: Side): Stored => (side.staticData['node:Trigger'] ?? {}) as Stored;
/** The requests of the nodes to paths of the service that end so. */
export const requestsTo = (ending: string, method = 'POST') =>
  stage.wire.seen.filter((each) => each.method === method && each.path.endsWith(ending));

export const FIELDS = [{ name: 'order_number' }];
export const PARAMETERS: TriggerOptions['parameters'] = {
  toolName: 'find_order',
  toolDescription: 'Finds an order.',
  parameters: { fields: FIELDS },
};
/** Makes a trigger whose workflow answers as n8n does when the last node finishes. */
export function trigger(
  parameters: TriggerOptions['parameters'] = {},
  options: Partial<TriggerOptions> = {},
): Trigger {
  const made = stage.host.addTrigger({
    type: TOOL_TRIGGER,
    parameters: { ...PARAMETERS, ...parameters },
    ...options,
  });
  for (const side of [made.production, made.test]) answerWith(side, 200, { found: true });
  return made;
}
/** Changes fields of a trigger. */
export function change(made: Trigger, parameters: TriggerOptions['parameters']): void {
  made.parameters = { ...made.parameters, ...parameters };
}
export async function published(
  parameters?: TriggerOptions['parameters'],
  options?: Partial<TriggerOptions>,
): Promise<Trigger> {
  const made = trigger(parameters, options);
  await made.production.activate();
  await untilLive(made.parameters.toolName as string);
  return made;
}
export const newestCall = () => newestCallOf(stage.service.api, 'tool=find_order');
/** Has the service call a tool as a test. @returns how the call ended */
export const call = async (name = 'find_order', args: Json = { order_number: 'A-1042' }) =>
  (
    await stage.service.api.post(`/api/tools/${(await toolNamed(name))!.id}/test`, {
      arguments: args,
    })
  ).body as Json & { status: string };
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
