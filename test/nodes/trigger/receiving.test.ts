import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { listenToLog } from '../helpers/n8n.ts';
import { heldBack, now, sign } from '../helpers/signedCalls.ts';
import {
  EVENTS,
  payloadOf,
  stored,
  triggerScene,
  type Hook,
  type SendOptions,
} from '../helpers/triggerScene.ts';
import type { Json } from '../helpers/webhookHost.ts';

const log = listenToLog();
const scene = triggerScene();
const { activated, hooksAt, send, trigger } = scene;

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
      const signature = sign(stored(side)!.secret, now(), body);
      expect((await send(side, { payload, body: reformatted, signature })).status).toBe(401);
      expect(side.executions).toHaveLength(1);
    },
  );

  it.each<[string, () => SendOptions]>([
    ['a forged signature', () => ({ secret: 'whsec_forged' })],
    ['no signature', () => ({ headers: { 'x-service-signature': undefined } })],
    ['a time more than 300 seconds ago', () => ({ t: now() - 302 })],
    ['a time more than 300 seconds ahead', () => ({ t: now() + 303 })],
    ['no event header', () => ({ headers: { 'x-service-event': undefined } })],
    // an event that the trigger is subscribed to as well
    [
      'another event than the body’s',
      () => ({ headers: { 'x-service-event': 'conversation.opened' } }),
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
    expect((await send(side, { t: now() - 40 })).status).toBe(401);
    expect((await send(side, { t: now() + 40 })).status).toBe(401);
    expect((await send(side, { t: now() - 20 })).status).toBe(200);
  });

  it.each([0, -1, 'x'])('takes 300 seconds for a tolerance of %s', async (tolerance) => {
    const side = await activated({
      events: EVENTS,
      options: { tolerance: `={{ ${JSON.stringify(tolerance)} }}` },
    });
    expect((await send(side, { t: now() - 400 })).status).toBe(401);
    expect((await send(side, { t: now() - 200 })).status).toBe(200);
  });

  it('verifies during the overlap after rotations at the service, and has the new secret after publishing again', async () => {
    const event = 'conversation.opened';
    const side = await activated({ events: [event] });
    const receiveNewConversation = async (nth: number) => {
      await (await chatCustomer(scene.service.url)).write('Hello');
      await waitFor('the event', () => side.executions.length === nth);
    };
    const rotate = async () =>
      (await scene.service.api.post(`/api/hooks/${stored(side)!.id}/rotate-secret`)).body as {
        id: string;
        secret: string;
      };
    await receiveNewConversation(1);
    expect(log.warnings).toEqual([]);
    const { secret: second } = await rotate();
    await receiveNewConversation(2);
    expect(log.warnings).toEqual([
      expect.stringMatching(
        /The secret of this subscription was rotated .* publish it again within 24 hours of the rotation/,
      ),
    ]);
    await rotate();
    await receiveNewConversation(3);
    expect(log.warnings).toHaveLength(1); // once an hour is enough

    await side.deactivate();
    await side.activate();
    await receiveNewConversation(4);
    expect(log.warnings).toHaveLength(1);
    expect((await send(side, { payload: payloadOf(event), secret: second })).status).toBe(401);
    expect(JSON.stringify(log)).not.toContain('whsec_');
  });

  it('refuses an event when the secret that the trigger knows was revoked; publishing again brings the event', async () => {
    const event = 'conversation.opened';
    const side = await activated({ events: [event] });
    const hookId = () => stored(side)!.id;
    await scene.service.api.post(`/api/hooks/${hookId()}/rotate-secret`);
    expect(
      (await scene.service.api.post(`/api/hooks/${hookId()}/revoke-previous-secrets`)).body,
    ).toMatchObject({ revoked: 1 });
    await (await chatCustomer(scene.service.url)).write('Hello');
    await waitFor(
      'the refusal',
      async () =>
        (await scene.service.api.get(`/api/hooks/${hookId()}/deliveries?status=failed`)).body
          .data[0]?.attempts[0].status_code === 401,
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
    expect(early.retryAfter).toBe('2');
    await side.activate();
    expect((await send(side, { payload })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it('answers 503 to everything while no secret is stored: it cannot tell what is genuine', async () => {
    const { production: side } = trigger({ events: ['message.sent'] });
    side.isRegistered = true;
    for (const event of ['payment.paid', undefined])
      expect((await send(side, { headers: { 'x-service-event': event } })).status).toBe(503);
  });
});

describe('One execution for a delivery', () => {
  const MANUAL = { 'x-service-redelivery': 'manual' };
  const accepted = { status: 200, text: expect.stringContaining('already accepted') };

  it('answers a repeat 503 while the first is still in flight, and 200 afterwards', async () => {
    const side = await activated();
    const payload = payloadOf();
    const { started, finish } = heldBack(side);
    const first = send(side, { payload });
    await started;
    expect((await send(side, { payload })).status).toBe(503);
    await finish(200, {});
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

  it.each([
    ['accepts it in the end', 200, 200, 1],
    ['answers 500 in the end', 500, 200, 2],
  ])(
    'answers repeats 503 after the service hung up, until n8n %s',
    async (_what, status, repeatStatus, executions) => {
      const side = await activated();
      const payload = payloadOf();
      const { startExecution } = side;
      const { started, hungUp, finish } = heldBack(side);
      const abort = new AbortController();
      const first = send(side, { payload, signal: abort.signal });
      await started;
      abort.abort();
      await expect(first).rejects.toThrow();
      await hungUp;
      side.startExecution = startExecution;
      for (let repeat = 1; repeat <= 3; repeat += 1)
        expect((await send(side, { payload })).status).toBe(503);
      await finish(status, {});
      expect((await send(side, { payload })).status).toBe(repeatStatus);
      expect(side.executions).toHaveLength(executions);
    },
  );

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
    const t = now();
    await send(side, { payload, t });
    expect(
      (await send(side, { payload, t, headers: { 'x-service-redelivery': 'automatic' } })).status,
    ).toBe(200);
    expect(side.executions).toHaveLength(1);
    expect((await send(side, { payload, t: t + 1, headers: MANUAL })).status).toBe(200);
    expect(side.executions).toHaveLength(2);
    await send(side, { payload, t: t + 2 });
    expect(side.executions).toHaveLength(2);
  });

  it('takes each manual redelivery once, however often the service has to send it', async () => {
    const side = await activated();
    const payload = payloadOf();
    const t = now();
    const inRound = (round: number) => ({ ...MANUAL, 'x-service-redelivery-round': String(round) });
    await send(side, { payload, t });
    await send(side, { payload, t: t + 1, headers: inRound(1) });
    expect(side.executions).toHaveLength(2);
    expect(await send(side, { payload, t: t + 6, headers: inRound(1) })).toMatchObject(accepted);
    expect(side.executions).toHaveLength(2);
    await send(side, { payload, t: t + 7, headers: inRound(3) });
    expect(side.executions).toHaveLength(3);
  });

  it('starts nothing for a captured delivery to which somebody added the manual redelivery header', async () => {
    const side = await activated();
    const payload = payloadOf();
    const t = now();
    await send(side, { payload, t });
    await send(side, { payload, t: t + 1, headers: MANUAL });
    expect(side.executions).toHaveLength(2);
    for (const replayed of [t - 5, t, t + 1])
      expect(await send(side, { payload, t: replayed, headers: MANUAL })).toMatchObject(accepted);
    expect(side.executions).toHaveLength(2);
  });
});

describe('With the real service', () => {
  it('receives what a customer writes, verified, once, with contact details masked', async () => {
    const side = await activated({ events: ['conversation.opened', 'message.received'] });
    const visitor = { name: 'Ana', email: 'ana@example.com' };
    const customer = await chatCustomer(scene.service.url, visitor);
    const { conversation_id: id } = await customer.write('Hello');
    await waitFor('both events', () => side.executions.length === 2);
    const startedBy = (name: string) => side.executions.find(({ event }) => event === name);
    expect(startedBy('message.received')).toMatchObject({
      conversation: { id },
      message: { text: 'Hello', direction: 'inbound' },
    });
    expect(startedBy('conversation.opened')).toMatchObject({ conversation: { id } });
    for (const each of side.executions) expect(each.delivery_id).toBe(each.id);
    expect(JSON.stringify(side.executions)).not.toContain('ana@example.com');
  });

  it('gets an event that came too early with the service’s next attempt', async () => {
    const { production: side } = trigger({ events: ['conversation.opened'] });
    side.isRegistered = true;
    await side.create();
    const known = side.staticData;
    side.staticData = {};
    const customer = await chatCustomer(scene.service.url);
    await customer.write('Hello');
    const [{ id }] = (await hooksAt(side)) as [Hook];
    const attempts = async () =>
      (await scene.service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0]?.attempts ?? [];
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
    await (await chatCustomer(scene.service.url)).write('Hello');
    await waitFor('the event', () => side.executions.length > 0);
    expect(side.executions).toHaveLength(1);
    const { id } = stored(side)!;
    const delivery = async () =>
      (await scene.service.api.get(`/api/hooks/${id}/deliveries`)).body.data[0];
    await waitFor('it to be delivered', async () => (await delivery()).status === 'delivered');
    await scene.service.api.post(`/api/hooks/${id}/deliveries/${(await delivery()).id}/redeliver`);
    await waitFor('it to come again', () => side.executions.length === 2);
    expect(side.executions[1]).toEqual(side.executions[0]);
  });
});
