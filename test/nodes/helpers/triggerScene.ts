// The stage of the event trigger's tests, and what can be done on it.
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { Agent } from 'undici';
import { sendCall, type CallOptions } from './signedCalls.ts';
import { triggerStage } from './triggerStage.ts';
import type { Json, Side, TriggerOptions } from './webhookHost.ts';

export interface Hook {
  id: string;
  revision: number;
  events: string[];
  filter: Json | null;
  target_url: string;
}

/** What n8n stores for a trigger. */
interface Stored {
  id: string;
  revision: number;
  secret: string;
}

export type SendOptions = CallOptions & { payload?: Json };

export const EVENTS = ['conversation.opened', 'message.received'];

/** One stage for all tests of a file; each test begins without subscriptions. */
export function triggerScene() {
  const stage = triggerStage();
  let agent: Agent;
  beforeAll(() => {
    agent = new Agent({ connect: { ca: stage.host.ca } });
  });
  afterEach(async () => {
    for (const { id } of await hooks())
      await stage.service.api.delete(`/api/hooks/${id}?pending=cancel`);
  });
  afterAll(() => agent.destroy());

  const hooks = async (): Promise<Hook[]> =>
    (await stage.service.api.get('/api/hooks?limit=200')).body.data;
  const hooksAt = async ({ url }: Side) =>
    (await hooks()).filter(({ target_url: targetUrl }) => targetUrl === url);
  const eventsAt = async (side: Side) => (await hooksAt(side)).map(({ events }) => events);
  /** Subscribes an address as a caller that is not a trigger. */
  const subscribe = async (
    targetUrl: string,
    rest: Json = {},
  ): Promise<Hook & { secret: string }> =>
    (
      await stage.service.api.post('/api/hooks', {
        event: 'message.received',
        target_url: targetUrl,
        source: 'n8n',
        ...rest,
      })
    ).body;
  const trigger = (
    parameters: TriggerOptions['parameters'] = { events: EVENTS },
    options: Partial<TriggerOptions> = {},
  ) => stage.host.addTrigger({ parameters, ...options });
  /** The production side of a new trigger, activated. */
  async function activated(...options: Parameters<typeof trigger>): Promise<Side> {
    const { production } = trigger(...options);
    await production.activate();
    return production;
  }
  /** POSTs what the service would send, signed by hand. */
  const send = (side: Side, { payload = payloadOf(), headers, ...options }: SendOptions = {}) =>
    sendCall(side, {
      agent,
      body: JSON.stringify(payload),
      secret: stored(side)?.secret ?? 'unknown',
      headers: {
        'x-service-event': payload.event as string,
        'x-service-delivery': payload.id as string,
        ...headers,
      },
      ...options,
    });
  return Object.assign(stage, { hooks, hooksAt, eventsAt, subscribe, trigger, activated, send });
}

export const stored = (side: Side): Stored | undefined =>
  (side.staticData['node:Trigger'] as IDataObject | undefined)?.subscription as Stored | undefined;

export const payloadOf = (event = 'message.received'): Json => ({
  id: `evt_${randomUUID().replaceAll('-', '')}`,
  event,
  occurred_at: new Date().toISOString(),
  workspace: 'test',
  conversation: {
    id: 'conv_1',
    channel: 'web_chat',
    status: 'ai_active',
    funnel_stage: 'new',
  },
});

export const textOf = (execution: Json): string => (execution.message as { text: string }).text;
