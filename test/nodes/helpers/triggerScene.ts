// The service, a wire to it, and n8n's part around event triggers, for the tests of the trigger node.
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { createHmac, randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { Agent, fetch } from 'undici';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import type { Credential } from './n8n.ts';
import { startWire, type Wire } from './strangers.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type Trigger,
  type TriggerOptions,
  type WebhookHost,
} from './webhookHost.ts';

export interface Hook {
  id: string;
  revision: number;
  events: string[];
  filter: Json | null;
  catch_up: boolean;
  owner: Json | null;
  target_url: string;
  source: string;
}

/** What n8n stores for a trigger. */
export interface Stored {
  id: string;
  revision: number;
  secret: string;
}

export interface SendOptions {
  payload?: Json;
  body?: string;
  secret?: string;
  t?: number;
  headers?: Record<string, string | undefined>;
}

export const EVENTS = ['conversation.opened', 'message.received'];

export interface TriggerScene {
  readonly service: TestService;
  readonly host: WebhookHost;
  readonly wire: Wire;
  /** What the triggers use; a test may replace it. */
  credential: Credential;
  hooks(): Promise<Hook[]>;
  hooksAt(side: Side): Promise<Hook[]>;
  /** Subscribes an address as something else than a trigger does. */
  subscribe(targetUrl: string, rest?: Json): Promise<Hook & { secret: string }>;
  trigger(parameters?: TriggerOptions['parameters'], options?: Partial<TriggerOptions>): Trigger;
  /** The production side of a new trigger, activated. */
  activated(
    parameters?: TriggerOptions['parameters'],
    options?: Partial<TriggerOptions>,
  ): Promise<Side>;
  /** POSTs what the service would send, signed by hand as docs/events-and-signatures.md says. */
  send(
    side: Side,
    options?: SendOptions,
  ): Promise<{ status: number; text: string; headers: { get(name: string): string | null } }>;
}

/** Plays for all tests of the file; each test begins without subscriptions. */
export function triggerScene(): TriggerScene {
  const scene = { ...actions(() => scene) } as {
    -readonly [Part in keyof TriggerScene]: TriggerScene[Part];
  };
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    scene.service = await startTestService({ ca });
    scene.wire = await startWire(() => scene.service.url);
    scene.host = await startWebhookHost(() => scene.credential);
  });
  beforeEach(() => {
    scene.credential = { baseUrl: scene.wire.url, apiKey: scene.service.apiKey };
    scene.wire.seen.length = 0;
  });
  afterEach(async () => {
    scene.wire.before = undefined;
    for (const { id } of await scene.hooks())
      await scene.service.api.delete(`/api/hooks/${id}?pending=cancel`);
  });
  afterAll(async () => {
    await scene.host.close();
    await scene.wire.close();
    await scene.service.stop();
  });
  return scene;
}

function actions(scene: () => TriggerScene): Partial<TriggerScene> {
  return {
    hooks: async () => (await scene().service.api.get('/api/hooks?limit=200')).body.data,
    hooksAt: async ({ url }) =>
      (await scene().hooks()).filter(({ target_url: targetUrl }) => targetUrl === url),
    subscribe: async (targetUrl, rest = {}) =>
      (
        await scene().service.api.post('/api/hooks', {
          event: 'message.received',
          target_url: targetUrl,
          source: 'n8n',
          ...rest,
        })
      ).body,
    trigger: (parameters = { events: EVENTS }, options = {}) =>
      scene().host.addTrigger({ parameters, ...options }),
    async activated(parameters, options) {
      const { production } = scene().trigger(parameters, options);
      await production.activate();
      return production;
    },
    send,
  };
}

async function send(
  side: Side,
  {
    payload = payloadOf(),
    body = JSON.stringify(payload),
    secret = stored(side)?.secret ?? 'unknown',
    t = Math.floor(Date.now() / 1000),
    headers = {},
  }: SendOptions = {},
) {
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'x-service-signature': signature(body, secret, t),
    'x-service-event': payload.event as string,
    'x-service-delivery': payload.id as string,
    ...headers,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const { ca } = await sharedTestCa();
  const dispatcher = new Agent({ connect: { ca } });
  try {
    const response = await fetch(side.url, {
      method: 'POST',
      body,
      headers: Object.fromEntries(given) as Record<string, string>,
      dispatcher,
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  } finally {
    await dispatcher.close();
  }
}

export const stored = (side: Side): Stored | undefined =>
  (side.staticData['node:Trigger'] as IDataObject | undefined)?.subscription as Stored | undefined;

export const signature = (body: string, secret: string, t: number): string =>
  `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;

export const payloadOf = (event = 'message.received', conversation: Json = {}): Json => ({
  id: `evt_${randomUUID().replaceAll('-', '')}`,
  event,
  occurred_at: new Date().toISOString(),
  workspace: 'test',
  conversation: {
    id: 'conv_1',
    channel: 'web_chat',
    status: 'ai_active',
    funnel_stage: 'new',
    ...conversation,
  },
});

export const textOf = (execution: Json): string => (execution.message as { text: string }).text;
