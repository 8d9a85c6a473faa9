import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac, randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { Agent, fetch } from 'undici';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { sharedTestCa } from '../helpers/tls.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { failureOf, listenToLog, type Credential } from './helpers/n8n.ts';
import { freeAddress, startWire, type Wire } from './helpers/strangers.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type Trigger,
  type TriggerOptions,
  type WebhookHost,
} from './helpers/webhookHost.ts';

let service: TestService;
let host: WebhookHost;
let wire: Wire;
let agent: Agent;
let credential: Credential;

beforeAll(async () => {
  const { ca } = await sharedTestCa();
  agent = new Agent({ connect: { ca } });
  service = await startTestService({ ca });
  wire = await startWire(() => service.url);
  host = await startWebhookHost(() => credential);
});
beforeEach(() => {
  credential = { baseUrl: wire.url, apiKey: service.apiKey };
  wire.seen.length = 0;
});
afterEach(async () => {
  wire.loses = () => false;
  wire.refusals.length = 0;
  for (const { id } of await hooks()) await service.api.delete(`/api/hooks/${id}?pending=cancel`);
});
afterAll(async () => {
  await agent.close();
  await host.close();
  await wire.close();
  await service.stop();
});

interface Hook {
  id: string;
  revision: number;
  event: string;
  target_url: string;
  source: string;
}
const hooks = async (): Promise<Hook[]> =>
  (await service.api.get('/api/hooks?limit=200')).body.data;
const hooksAt = async (side: Side) =>
  (await hooks()).filter(({ target_url: url }) => url === side.url);
const eventsAt = async (side: Side) => (await hooksAt(side)).map(({ event }) => event).sort();

const EVENTS = ['conversation.opened', 'message.received'];
const trigger = (
  parameters: TriggerOptions['parameters'] = { events: EVENTS },
  options: Partial<TriggerOptions> = {},
): Trigger => host.addTrigger({ parameters, ...options });
async function activated(
  parameters?: TriggerOptions['parameters'],
  options?: Partial<TriggerOptions>,
): Promise<Side> {
  const { production } = trigger(parameters, options);
  await production.activate();
  return production;
}

type Stored = Record<string, { id: string; revision: number; secret: string }>;
const stored = (side: Side): Stored =>
  ((side.staticData['node:Trigger'] as IDataObject | undefined)?.subscriptions ??
    {}) as unknown as Stored;

// What the service would send, signed by hand as docs/events-and-signatures.md describes it.
const payloadOf = (event = 'message.received', conversation: Json = {}): Json => ({
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
interface SendOptions {
  payload?: Json;
  body?: string;
  secret?: string;
  t?: number;
  headers?: Record<string, string | undefined>;
}
async function send(
  side: Side,
  {
    payload = payloadOf(),
    body = JSON.stringify(payload),
    secret,
    t = Math.floor(Date.now() / 1000),
    headers = {},
  }: SendOptions = {},
) {
  const key = secret ?? stored(side)[payload.event as string]?.secret ?? 'unknown';
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'x-service-signature': `t=${t},v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`,
    'x-service-event': payload.event as string,
    'x-service-delivery': payload.id as string,
    ...headers,
  };
  const given = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  const response = await fetch(side.url, {
    method: 'POST',
    body,
    headers: given,
    dispatcher: agent,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('Life cycle', () => {
  it('makes one subscription for each event, and keeps ids and secrets in the static data', async () => {
    const side = await activated();
    const here = await hooksAt(side);
    expect(
      here
        .map(({ event, source }) => ({ event, source }))
        .sort((a, b) => a.event.localeCompare(b.event)),
    ).toEqual(EVENTS.map((event) => ({ event, source: 'n8n' })));
    for (const { id, event } of here)
      expect(stored(side)[event]).toEqual({
        id,
        revision: 1,
        secret: expect.stringMatching(/^whsec_/),
      });
  });

  it('makes one subscription for an event that is chosen twice', async () => {
    expect(await eventsAt(await activated({ events: ['message.sent', 'message.sent'] }))).toEqual([
      'message.sent',
    ]);
  });

  it('finds its subscriptions again and leaves them alone', async () => {
    const side = await activated();
    const before = stored(side);
    wire.seen.length = 0;
    expect(await side.checkExists()).toBe(true);
    expect(stored(side)).toEqual(before);
    expect(wire.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  it.each<[string, (side: Side) => Promise<void> | void]>([
    [
      'a subscription was deleted at the service',
      async (side) => void (await service.api.delete(`/api/hooks/${(await hooksAt(side))[0]!.id}`)),
    ],
    ['the static data was lost', (side) => void (side.staticData = {})],
    [
      'the static data belongs to other subscriptions',
      (side) => void (stored(side)['message.received']!.id = 'sub_other'),
    ],
    [
      'a subscription was made again, with another secret',
      async (side) => {
        for (const { id, event, target_url, source } of await hooksAt(side)) {
          await service.api.delete(`/api/hooks/${id}`);
          const revived = await service.api.post('/api/hooks', { event, target_url, source });
          expect(revived.body).toMatchObject({ id, revision: 2 });
        }
      },
    ],
  ])('heals itself when %s', async (_what, damage) => {
    const side = await activated();
    await damage(side);
    await side.activate();
    expect(await eventsAt(side)).toEqual(EVENTS);
    expect((await hooksAt(side)).map(({ id }) => id).sort()).toEqual(
      Object.values(stored(side))
        .map(({ id }) => id)
        .sort(),
    );
    expect((await send(side)).status).toBe(200);
  });

  it('follows a changed choice of events', async () => {
    const changed = trigger();
    const side = changed.production;
    await side.activate();
    changed.parameters = { events: ['message.sent', 'message.received'] };
    await side.activate();
    expect(await eventsAt(side)).toEqual(['message.received', 'message.sent']);
    expect(Object.keys(stored(side)).sort()).toEqual(['message.received', 'message.sent']);
  });

  it('forgets the secret of an event that is no longer chosen', async () => {
    const changed = trigger();
    const side = changed.production;
    await side.activate();
    const { secret } = stored(side)['conversation.opened']!;
    changed.parameters = { events: ['message.received'] };
    await side.activate();
    expect(await eventsAt(side)).toEqual(['message.received']);
    expect((await send(side, { payload: payloadOf('conversation.opened'), secret })).status).toBe(
      401,
    );
    expect(side.executions).toEqual([]);
  });

  it('removes an orphan of its own address that is in the way, and no other subscription', async () => {
    const { production: side } = trigger();
    await service.api.post('/api/hooks', {
      event: 'message.received',
      target_url: side.url,
      source: 'n8n',
    });
    await service.api.post('/api/hooks', {
      event: 'payment.paid',
      target_url: side.url,
      source: 'n8n',
    });
    const foreign = (
      await service.api.post('/api/hooks', {
        event: 'message.received',
        target_url: `${side.url}/other`,
        source: 'n8n',
      })
    ).body.id;
    await side.activate();
    expect(await eventsAt(side)).toEqual(EVENTS);
    expect((await hooks()).map(({ id }) => id)).toContain(foreign);
  });

  it('replaces a subscription that appears between looking and creating (subscription_exists)', async () => {
    const { production: side } = trigger({ events: ['message.received'] });
    let orphan: string | undefined;
    wire.before = async (method) => {
      if (method !== 'POST' || orphan) return;
      orphan = (
        await service.api.post('/api/hooks', {
          event: 'message.received',
          target_url: side.url,
          source: 'n8n',
        })
      ).body.id as string;
    };
    await side.activate();
    wire.before = undefined;
    const [only, ...rest] = await hooksAt(side);
    expect(rest).toEqual([]);
    expect(orphan).toBeDefined();
    expect(stored(side)['message.received']).toMatchObject({
      id: only!.id,
      revision: only!.revision,
    });
    expect((await send(side)).status).toBe(200);
  });

  it('is all or nothing: what it made is removed when one event fails', async () => {
    const { production: side } = trigger({
      events: ['message.received', 'message.sent', 'no.such_event'],
    });
    const error = await failureOf(side.activate());
    expect(error).toMatchObject({
      name: 'NodeApiError',
      httpCode: '400',
      message: expect.stringContaining('no.such_event'),
    });
    expect(await hooksAt(side)).toEqual([]);
    expect(stored(side)).toEqual({});
  });

  it('is all or nothing at the 26th subscription too, and the error says what to do', async () => {
    for (let i = 0; i < 24; i += 1)
      await service.api.post('/api/hooks', {
        event: 'message.sent',
        target_url: `${host.url}/full/${i}`,
        source: 'other',
      });
    const { production: side } = trigger();
    const error = await failureOf(side.activate());
    expect(error).toMatchObject({
      httpCode: '409',
      message: expect.stringMatching(/24 from "other".*unpublish a workflow.*publish again\.$/),
    });
    expect(await hooksAt(side)).toEqual([]);
  });

  it('says in the message how a local n8n is opened at the service', async () => {
    const strict = await startTestService({ env: { ALLOWED_NETWORKS: '' } });
    try {
      const own = { baseUrl: strict.url, apiKey: strict.apiKey };
      const closed = trigger({ events: ['message.sent'] }, { credential: () => own });
      const { message } = await failureOf(closed.production.activate());
      expect(message).toBe(
        `Conversation Service may not call n8n at ${host.url} yet. Choose where n8n runs under Settings of the service (${strict.url}/settings), or set N8N_URL of the service. Then publish again.`,
      );
      expect((await failureOf(closed.test.activate())).message).toMatch(
        /Then execute the step again\.$/,
      );
    } finally {
      await strict.stop();
    }
  });

  it('asks for an event when none is chosen', async () => {
    const error = await failureOf(trigger({ events: [] }).production.activate());
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message: 'No event is chosen. Choose at least one event that starts this workflow.',
    });
  });

  it('fails to activate with a clear error when the service is away', async () => {
    credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    const error = await failureOf(trigger().production.activate());
    expect(error.message).toMatch(/^Nothing answers at .* Check the base URL in the credential/);
  });

  it('removes its subscriptions on deactivation, by id and by address, and forgets the secrets', async () => {
    const side = await activated();
    await service.api.post('/api/hooks', {
      event: 'message.sent',
      target_url: side.url,
      source: 'n8n',
    });
    expect(await side.deactivate()).toBe(true);
    expect(await hooksAt(side)).toEqual([]);
    expect(stored(side)).toEqual({});
  });

  it('removes by address when the ids are lost', async () => {
    const side = await activated();
    side.staticData = {};
    expect(await side.deactivate()).toBe(true);
    expect(await hooksAt(side)).toEqual([]);
  });

  it('removes a known subscription whose address has changed', async () => {
    const side = await activated({ events: ['message.sent'] });
    const elsewhere = (
      await service.api.post('/api/hooks', {
        event: 'message.sent',
        target_url: `${host.url}/old-address`,
        source: 'n8n',
      })
    ).body;
    const { id, revision, secret } = elsewhere;
    stored(side)['message.sent'] = { id, revision, secret };
    await side.delete();
    expect(await hooks()).toEqual([]);
  });

  it('is content when a subscription is gone already, and when it is called again', async () => {
    const side = await activated();
    for (const { id } of await hooksAt(side)) await service.api.delete(`/api/hooks/${id}`);
    expect(await side.delete()).toBe(true);
    expect(await side.delete()).toBe(true);
  });

  it('never throws from delete: the next activation removes what is left', async () => {
    const side = await activated();
    credential = { baseUrl: await freeAddress(), apiKey: service.apiKey };
    expect(await side.deactivate()).toBe(false);
    expect(stored(side)).toEqual({});
    expect(await hooksAt(side)).toHaveLength(2);
    credential = { baseUrl: service.url, apiKey: service.apiKey };
    await side.activate();
    expect(await hooksAt(side)).toHaveLength(2);
    expect((await send(side)).status).toBe(200);
  });

  it('spares a subscription that was made again before a late delete arrives', async () => {
    const side = await activated({ events: ['message.received'] });
    const [{ id, event, target_url, source }] = (await hooksAt(side)) as [Hook];
    wire.before = async (method) => {
      if (method !== 'DELETE') return;
      wire.before = undefined;
      await service.api.delete(`/api/hooks/${id}`);
      await service.api.post('/api/hooks', { event, target_url, source });
    };
    expect(await side.deactivate()).toBe(true);
    expect(await hooksAt(side)).toEqual([expect.objectContaining({ id, revision: 2 })]);
  });

  it('moves with another credential: subscribes at the new service and refuses the old secret', async () => {
    const other = await startTestService({ ca: host.ca });
    try {
      const side = await activated();
      const old = stored(side)['message.received']!.secret;
      await side.delete();
      credential = { baseUrl: other.url, apiKey: other.apiKey };
      await side.activate();
      expect(await hooksAt(side)).toEqual([]);
      expect((await other.api.get('/api/hooks')).body.data).toHaveLength(2);
      expect((await send(side, { secret: old })).status).toBe(401);
      expect((await send(side)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it('never touches the production subscriptions in test mode, nor the other way round', async () => {
    const both = trigger();
    await both.production.activate();
    const before = await hooksAt(both.production);
    await both.test.activate();
    expect(await eventsAt(both.test)).toEqual(EVENTS);
    await both.test.deactivate();
    expect(await hooksAt(both.test)).toEqual([]);
    expect(await hooksAt(both.production)).toEqual(before);
    await both.test.activate();
    await both.production.deactivate();
    expect(await eventsAt(both.test)).toEqual(EVENTS);
  });

  it('finds the orphans of an earlier test that was never stopped, with empty static data', async () => {
    const { test } = trigger();
    await test.activate();
    test.staticData = {};
    await test.activate();
    expect(await eventsAt(test)).toEqual(EVENTS);
    expect((await send(test)).status).toBe(200);
  });
});

describe('A sample when listening for a test event', () => {
  it('arrives verified, after registration, and passes the filters', async () => {
    const { test, production } = trigger({
      events: ['conversation.closed', 'message.sent'],
      options: { sendSample: true },
      filters: { channels: ['nowhere'] },
    });
    await test.activate();
    expect(wire.seen.filter(({ path }) => path.endsWith('/test'))).toEqual([]);
    await waitFor('the sample', () => test.executions.length > 0);
    expect(test.executions).toEqual([
      expect.objectContaining({
        event: 'conversation.closed',
        outcome: expect.anything(),
        delivery_id: expect.stringMatching(/^evt_/),
      }),
    ]);
    expect(production.executions).toEqual([]);
    const deliveries = `/api/hooks/${stored(test)['conversation.closed']!.id}/deliveries`;
    const sent = await waitFor('the record of it', async () =>
      (await service.api.get(deliveries)).body.data.find(
        ({ status }: { status: string }) => status === 'delivered',
      ),
    );
    expect(sent.attempts).toHaveLength(1);
  });

  it('is harmless when listening has been stopped', async () => {
    const { test } = trigger({ events: ['message.sent'], options: { sendSample: true } });
    await test.activate();
    await test.deactivate();
    await waitFor('the sample to be asked for', () =>
      wire.seen.some(({ path }) => path.endsWith('/test')),
    );
    expect(test.executions).toEqual([]);
  });

  it('is not sent in production, nor unless asked for', async () => {
    const quiet = trigger({ events: ['message.sent'] });
    const asked = trigger({ events: ['message.sent'], options: { sendSample: true } });
    await quiet.test.activate();
    await asked.production.activate();
    await asked.test.activate();
    await waitFor('the sample of the one that asked', () => asked.test.executions.length > 0);
    expect(wire.seen.filter(({ path }) => path.endsWith('/test'))).toHaveLength(1);
    expect([...quiet.test.executions, ...asked.production.executions]).toEqual([]);
  });
});

describe('Verification', () => {
  it('emits the payload as sent, plus delivery_id', async () => {
    const side = await activated();
    const payload: Json = {
      ...payloadOf(),
      message: { text: 'Grüße 🎉', big: 1.5, empty: null, list: [] },
    };
    expect(await send(side, { payload })).toMatchObject({ status: 200, text: '' });
    expect(side.executions).toEqual([{ ...payload, delivery_id: payload.id }]);
  });

  it.each(['buffer', 'when_read'] as const)(
    'verifies the raw bytes (rawBody: %s), not the parsed body',
    async (rawBody) => {
      const side = await activated({ events: EVENTS }, { rawBody });
      const payload = payloadOf();
      const body = `{ "z": 1.0,\n  "event":"message.received", "id" : "${payload.id as string}", "text":"\\u00fc" }`;
      expect((await send(side, { payload, body })).status).toBe(200);
      expect(side.executions[0]).toMatchObject({ z: 1, text: 'ü' });
      const reformatted = JSON.stringify(JSON.parse(body));
      const t = Math.floor(Date.now() / 1000);
      const signature = `t=${t},v1=${createHmac('sha256', stored(side)['message.received']!.secret).update(`${t}.${body}`).digest('hex')}`;
      expect(
        (
          await send(side, {
            payload,
            body: reformatted,
            headers: { 'x-service-signature': signature },
          })
        ).status,
      ).toBe(401);
      expect(side.executions).toHaveLength(1);
    },
  );

  it.each<[string, () => SendOptions]>([
    ['a forged signature', () => ({ secret: 'whsec_forged' })],
    ['no signature', () => ({ headers: { 'x-service-signature': undefined } })],
    [
      'a signature without a time',
      () => ({ headers: { 'x-service-signature': `v1=${'0'.repeat(64)}` } }),
    ],
    ['a time 301 seconds ago', () => ({ t: Math.floor(Date.now() / 1000) - 302 })],
    ['a time 301 seconds ahead', () => ({ t: Math.floor(Date.now() / 1000) + 303 })],
    ['no event header', () => ({ headers: { 'x-service-event': undefined } })],
    ['an event that was not chosen', () => ({ headers: { 'x-service-event': 'payment.paid' } })],
    [
      'the name of a property of every object as event',
      () => ({ headers: { 'x-service-event': 'constructor' } }),
    ],
    [
      'another delivery id than the body’s',
      () => ({ headers: { 'x-service-delivery': 'evt_other' } }),
    ],
  ])('answers 401 and starts nothing: %s', async (_what, options) => {
    const side = await activated();
    const answer = await send(side, options());
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toEqual({ message: expect.stringMatching(/./) });
    expect(side.executions).toEqual([]);
  });

  it('chooses the secret by X-Service-Event, which must equal the event of the body', async () => {
    const side = await activated();
    const payload = payloadOf('conversation.opened');
    const secret = stored(side)['message.received']!.secret;
    expect((await send(side, { payload, secret })).status).toBe(401);
    expect(
      (await send(side, { payload, secret, headers: { 'x-service-event': 'message.received' } }))
        .status,
    ).toBe(401);
    expect((await send(side, { payload })).status).toBe(200);
  });

  it.each(['[]', '"text"', 'null', '1', '{}'])(
    'refuses a signed body that is no event: %s',
    async (body) => {
      const side = await activated();
      expect((await send(side, { body })).status).toBe(401);
      expect(side.executions).toEqual([]);
    },
  );

  it('keeps to the tolerance that is set', async () => {
    const side = await activated({ events: EVENTS, options: { tolerance: 30 } });
    const now = Math.floor(Date.now() / 1000);
    expect((await send(side, { t: now - 40 })).status).toBe(401);
    expect((await send(side, { t: now + 40 })).status).toBe(401);
    expect((await send(side, { t: now - 20 })).status).toBe(200);
  });

  it.each([0, -1, 'x'])('takes 300 seconds for a tolerance of %s', async (tolerance) => {
    const side = await activated({
      events: EVENTS,
      options: { tolerance: `={{ ${JSON.stringify(tolerance)} }}` },
    });
    const now = Math.floor(Date.now() / 1000);
    expect((await send(side, { t: now - 400 })).status).toBe(401);
    expect((await send(side, { t: now - 200 })).status).toBe(200);
  });

  it('verifies during the overlap after rotations at the service, and has the new secret after publishing again', async () => {
    const event = 'conversation.opened';
    const side = await activated({ events: [event] });
    const log = listenToLog();
    const opens = async (nth: number) => {
      await (await chatCustomer(service.url)).write('Hello');
      await waitFor('the event', () => side.executions.length === nth);
    };
    const rotate = async () =>
      (await service.api.post(`/api/hooks/${stored(side)[event]!.id}/rotate-secret`)).body as {
        id: string;
        secret: string;
      };
    try {
      await opens(1);
      expect(log.warnings).toEqual([]);
      const { secret: second } = await rotate();
      await opens(2);
      expect(log.warnings).toEqual([
        expect.stringMatching(
          /The secret of conversation\.opened was rotated .* publish it again within 24 hours of the rotation/,
        ),
      ]);
      await rotate();
      await opens(3);
      expect(log.warnings).toHaveLength(1); // once an hour is enough

      await side.deactivate();
      await side.activate();
      await opens(4);
      expect(log.warnings).toHaveLength(1);
      expect((await send(side, { payload: payloadOf(event), secret: second })).status).toBe(401);
      expect(JSON.stringify(log)).not.toContain('whsec_');
    } finally {
      log.stop();
    }
  });

  it('refuses what comes when its secret was revoked; publishing again brings it', async () => {
    const event = 'conversation.opened';
    const side = await activated({ events: [event] });
    const hook = () => stored(side)[event]!.id;
    await service.api.post(`/api/hooks/${hook()}/rotate-secret`);
    expect(
      (await service.api.post(`/api/hooks/${hook()}/revoke-previous-secrets`)).body,
    ).toMatchObject({ revoked: 1 });
    await (await chatCustomer(service.url)).write('Hello');
    await waitFor(
      'the refusal',
      async () =>
        (await service.api.get(`/api/hooks/${hook()}/deliveries?status=failed`)).body.data[0]
          ?.attempts[0].status_code === 401,
    );
    await side.deactivate();
    await side.activate();
    await waitFor('the event', () => side.executions.length === 1);
  });

  it('answers 503 while the secrets are not stored yet, then takes the event', async () => {
    const { production: side } = trigger();
    side.isRegistered = true;
    const payload = payloadOf();
    const early = await send(side, { payload });
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('2');
    await side.activate();
    expect((await send(side, { payload })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it('answers 503 to everything while no secret is stored: it cannot be told from the service', async () => {
    const { production: side } = trigger({ events: ['message.sent'] });
    side.isRegistered = true;
    for (const event of ['payment.paid', undefined])
      expect((await send(side, { headers: { 'x-service-event': event } })).status).toBe(503);
  });

  it('answers 503 for a chosen event whose secret is missing', async () => {
    const changed = trigger({ events: ['message.sent'] });
    await changed.production.activate();
    changed.parameters = { events: EVENTS };
    expect((await send(changed.production)).status).toBe(503);
  });
});

describe('Filters', () => {
  const filters = {
    channels: ['web_chat'],
    statuses: ['ai_active', 'awaiting_human'],
    funnelStages: ['qualified'],
  };

  it.each<[Json, boolean]>([
    [{ funnel_stage: 'qualified' }, true],
    [{ funnel_stage: 'qualified', status: 'awaiting_human' }, true],
    [{ funnel_stage: 'new' }, false],
    [{ funnel_stage: 'qualified', status: 'closed' }, false],
    [{ funnel_stage: 'qualified', channel: 'whatsapp_cloud' }, false],
  ])('of %j: starts an execution: %s', async (conversation, starts) => {
    const side = await activated({ events: EVENTS, filters });
    expect(
      (await send(side, { payload: payloadOf('message.received', conversation) })).status,
    ).toBe(200);
    expect(side.executions).toHaveLength(starts ? 1 : 0);
  });

  it('let everything through when none is set', async () => {
    const side = await activated({ events: EVENTS, filters: { channels: [] } });
    await send(side, { payload: payloadOf('message.received', { channel: 'new_channel' }) });
    expect(side.executions).toHaveLength(1);
  });
});

describe('One execution for a delivery', () => {
  it('answers a repeat 200 and starts nothing', async () => {
    const side = await activated();
    const payload = payloadOf();
    expect([
      (await send(side, { payload })).status,
      (await send(side, { payload })).status,
    ]).toEqual([200, 200]);
    expect(side.executions).toHaveLength(1);
  });

  it('answers a repeat 503 while the first is still in flight, and 200 afterwards', async () => {
    const side = await activated();
    const payload = payloadOf();
    const taken = Promise.withResolvers<unknown>();
    const goOn = Promise.withResolvers<unknown>();
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      taken.resolve(json);
      await goOn.promise;
      res.status(200).end();
    };
    const first = send(side, { payload });
    await taken.promise;
    expect((await send(side, { payload })).status).toBe(503);
    goOn.resolve(true);
    expect((await first).status).toBe(200);
    expect((await send(side, { payload })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it('takes a repeat when n8n answered 500 after the trigger had returned', async () => {
    const side = await activated();
    const payload = payloadOf();
    const { startExecution } = side;
    side.startExecution = (_json, res) => void res.status(500).json({ message: 'could not start' });
    expect((await send(side, { payload })).status).toBe(500);
    side.startExecution = startExecution;
    expect((await send(side, { payload })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it('takes a repeat when the connection broke before the answer', async () => {
    const side = await activated();
    const payload = payloadOf();
    const { startExecution } = side;
    side.startExecution = (_json, res) => void res.destroy();
    await expect(send(side, { payload })).rejects.toThrow();
    side.startExecution = startExecution;
    expect((await send(side, { payload })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it.each([
    [
      'in one workflow',
      { workflowId: 'workflow-a', nodeId: 'one' },
      { workflowId: 'workflow-a', nodeId: 'two' },
    ],
    [
      'in a copy of the workflow',
      { workflowId: 'workflow-a', nodeId: 'three' },
      { workflowId: 'workflow-b', nodeId: 'three' },
    ],
  ])(
    'starts one execution for each of two triggers that the same event goes to, %s',
    async (_what, first, second) => {
      const [one, two] = [await activated(undefined, first), await activated(undefined, second)];
      const payload = payloadOf();
      await send(one, { payload });
      await send(two, { payload });
      expect([one.executions.length, two.executions.length]).toEqual([1, 1]);
    },
  );

  it('starts the test and the production workflow, one each', async () => {
    const both = trigger();
    await both.production.activate();
    await both.test.activate();
    const payload = payloadOf();
    await send(both.production, { payload });
    await send(both.test, { payload });
    expect([both.production.executions.length, both.test.executions.length]).toEqual([1, 1]);
  });

  it('does not let a forged call use up a delivery id', async () => {
    const side = await activated();
    const payload = payloadOf();
    await send(side, { payload, secret: 'whsec_forged' });
    await send(side, { payload });
    expect(side.executions).toHaveLength(1);
  });

  it('lets a manual redelivery through, and only what is marked so', async () => {
    const side = await activated();
    const payload = payloadOf();
    const t = Math.floor(Date.now() / 1000);
    const manual = { 'x-service-redelivery': 'manual' };
    await send(side, { payload, t });
    expect(
      (await send(side, { payload, t, headers: { 'x-service-redelivery': 'automatic' } })).status,
    ).toBe(200);
    expect(side.executions).toHaveLength(1);
    expect((await send(side, { payload, t: t + 1, headers: manual })).status).toBe(200);
    expect(side.executions).toHaveLength(2);
    await send(side, { payload, t: t + 2 });
    expect(side.executions).toHaveLength(2);
  });

  it('takes a manual redelivery once, however often the service has to send it, and the next one that is asked for', async () => {
    const side = await activated();
    const payload = payloadOf();
    const t = Math.floor(Date.now() / 1000);
    const inRound = (round: number) => ({
      'x-service-redelivery': 'manual',
      'x-service-redelivery-round': String(round),
    });
    await send(side, { payload, t });
    await send(side, { payload, t: t + 1, headers: inRound(1) });
    expect(side.executions).toHaveLength(2);
    expect(await send(side, { payload, t: t + 6, headers: inRound(1) })).toMatchObject({
      status: 200,
      text: expect.stringContaining('already accepted'),
    });
    expect(side.executions).toHaveLength(2);
    await send(side, { payload, t: t + 7, headers: inRound(3) });
    expect(side.executions).toHaveLength(3);
  });

  it('takes no captured delivery again because someone wrote into its header that it was asked for', async () => {
    const side = await activated();
    const payload = payloadOf();
    const t = Math.floor(Date.now() / 1000);
    const manual = { 'x-service-redelivery': 'manual' };
    for (const captured of [
      { payload, t },
      { payload, t: t + 1, headers: manual },
    ])
      await send(side, captured);
    expect(side.executions).toHaveLength(2);
    for (const replayed of [t - 5, t, t + 1]) {
      expect(await send(side, { payload, t: replayed, headers: manual })).toMatchObject({
        status: 200,
        text: expect.stringContaining('already accepted'),
      });
    }
    expect(side.executions).toHaveLength(2);
  });
});

describe('With the real service', () => {
  it('receives what a customer writes, verified, once, with contact details masked', async () => {
    const side = await activated({ events: ['conversation.opened', 'message.received'] });
    const customer = await chatCustomer(service.url, { name: 'Ana', email: 'ana@example.com' });
    const { conversation_id: id } = await customer.write('Hello');
    await waitFor('both events', () => side.executions.length === 2);
    const byEvent = Object.fromEntries(side.executions.map((each) => [each.event, each])) as Record<
      string,
      Json
    >;
    expect(byEvent['message.received']).toMatchObject({
      conversation: { id },
      message: { text: 'Hello', direction: 'inbound' },
    });
    expect(byEvent['conversation.opened']).toMatchObject({ conversation: { id } });
    for (const each of side.executions) expect(each.delivery_id).toBe(each.id);
    expect(JSON.stringify(side.executions)).not.toContain('ana@example.com');
  });

  it('gets what happened between deactivation and activation, once', async () => {
    const side = await activated({ events: ['message.received'] });
    const customer = await chatCustomer(service.url);
    await customer.write('before');
    await waitFor('the first event', () => side.executions.length === 1);
    await side.deactivate();
    await customer.write('between 1');
    await customer.write('between 2');
    await side.activate();
    await customer.write('after');
    await waitFor('all four', () => side.executions.length === 4);
    const texts = side.executions.map((each) => (each.message as { text: string }).text);
    expect(texts.sort()).toEqual(['after', 'before', 'between 1', 'between 2']);
  });

  it('gets the next event when it listens for a test event, not those since the last time', async () => {
    const { test: side } = trigger({ events: ['message.received'] });
    const customer = await chatCustomer(service.url);
    await side.activate();
    await side.deactivate();
    await customer.write('while nobody listened');
    await side.activate();
    await customer.write('now');
    await waitFor('an event', () => side.executions.length > 0);
    expect(side.executions.map((each) => (each.message as { text: string }).text)).toEqual(['now']);
  });

  it('gets an event that came too early on the service’s next try', async () => {
    const { production: side } = trigger({ events: ['conversation.opened'] });
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = {};
    const customer = await chatCustomer(service.url);
    await customer.write('Hello');
    const [{ id }] = (await hooksAt(side)) as [Hook];
    const attempts = async () =>
      (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0]?.attempts ?? [];
    await waitFor('a refusal', async () => (await attempts())[0]?.status_code === 503);
    side.staticData = known;
    await waitFor('the event', () => side.executions.length > 0);
    expect(side.executions).toHaveLength(1);
  });

  it('gets an event once although n8n answered 500 first, and again when a person sends it again', async () => {
    const side = await activated({ events: ['conversation.opened'] });
    const { startExecution } = side;
    side.startExecution = (_json, res) => {
      side.startExecution = startExecution;
      res.status(500).end();
    };
    await (await chatCustomer(service.url)).write('Hello');
    await waitFor('the event', () => side.executions.length > 0);
    expect(side.executions).toHaveLength(1);
    const { id } = stored(side)['conversation.opened']!;
    const delivery = async () =>
      (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0];
    await waitFor('it to be delivered', async () => (await delivery()).status === 'delivered');
    await service.api.post(`/api/hooks/${id}/deliveries/${(await delivery()).id}/redeliver`);
    await waitFor('it to come again', () => side.executions.length === 2);
    expect(side.executions[1]).toEqual(side.executions[0]);
  });
});
