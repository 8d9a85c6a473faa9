// One open conversation for each contact, messages counted without a gap, control that passes once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { connectNumber, deliver, metaText, type ConnectedNumber } from '../../helpers/meta.ts';
import { allDelivered } from '../payments/support.ts';
import { atOnce, rounds, sides, upTo } from './sides.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

const EVENTS = [
  'conversation.opened',
  'conversation.handed_over',
  'conversation.closed',
  'conversation.qualified',
];

describe('a conversation that several change at once', () => {
  let receiver: EventReceiver;
  let number: ConnectedNumber;
  beforeAll(async () => {
    receiver = await startEventReceiver();
  });
  const service = sides({ ca: () => receiver.ca });
  beforeAll(async () => {
    for (const event of EVENTS) await receiver.subscribe(service, event);
    number = await connectNumber(service.api);
    await service.api.patch('/api/agent', { enabled: false });
  });
  afterAll(() => receiver?.close());

  /** A customer of the chat, who reaches each of the services. @returns writes a message */
  const customer = async () => {
    const { token } = await chatCustomer(service.url);
    return (text: string) =>
      apiClient(service.url, token).post('/api/chat/messages', { text, client_message_id: text });
  };
  const read = async (id: string): Promise<Json> =>
    (await service.api.get(`/api/conversations/${id}?messages=200`)).body;
  /** How often each event was emitted about a conversation, once all that is owed has been sent. */
  const emitted = async (id: string) => {
    await allDelivered(service);
    const events = receiver.payloads().filter(({ conversation }) => conversation.id === id);
    return Object.fromEntries(
      EVENTS.map((event) => [
        event,
        new Set(events.filter((each) => each.event === event).map((each) => each.id)).size,
      ]),
    );
  };
  const expectTexts = ({ messages, message_count: count }: Json, texts: readonly string[]) => {
    expect(count).toBe(texts.length);
    expect(messages.map(({ text }: Json) => text).sort()).toEqual([...texts].sort());
  };

  it('is one for the first messages of a visitor that come at once', async () => {
    for (const _ of rounds(10)) {
      const write = await customer();
      const answers = await atOnce(5, (n) => write(`first ${n}`));
      const ids = new Set(answers.map(({ body }) => body.conversation_id));
      expect(ids.size).toBe(1);
      expectTexts(
        await read([...ids][0]!),
        upTo(5).map((n) => `first ${n}`),
      );
    }
  });

  it('holds a message once, though it is sent several times at once', async () => {
    for (const _ of rounds(10)) {
      const write = await customer();
      const answers = await atOnce(5, () => write('the same'));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
      expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1);
      expectTexts(await read(answers[0]!.body.conversation_id), ['the same']);
    }
  });

  it('is one contact and one conversation for the first messages of a WhatsApp customer', async () => {
    for (const round of rounds(10)) {
      const phone = String(5491160000000 + round);
      const send = (n: number) => deliver(service.url, number, metaText(`first ${n}`, { phone }));
      expect((await atOnce(4, send)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const { status, body } = await service.api.post('/api/contacts/lookup', {
        phone: `+${phone}`,
      });
      expect(status).toBe(200);
      expectTexts(
        await read(body.id),
        upTo(4).map((n) => `first ${n}`),
      );
    }
  });

  it('counts what the customer and the team write at once', async () => {
    for (const _ of rounds(10)) {
      const write = await customer();
      const { conversation_id: id } = (await write('hello')).body;
      const texts = upTo(6);
      await Promise.all([
        ...texts.map((n) => write(`in ${n}`)),
        ...texts.map((n) =>
          service.api.post(`/api/conversations/${id}/messages`, { text: `out ${n}` }),
        ),
      ]);
      expectTexts(await read(id), [
        'hello',
        ...texts.map((n) => `in ${n}`),
        ...texts.map((n) => `out ${n}`),
      ]);
    }
  });

  it('is handed over, closed and qualified once, no matter who does it', async () => {
    for (const _ of rounds(10)) {
      const write = await customer();
      const { conversation_id: id } = (await write('hello')).body;
      const act = (path: string, body: Json = {}) =>
        service.api.post(`/api/conversations/${id}/${path}`, body);
      expect(new Set((await atOnce(4, () => act('takeover'))).map(({ status }) => status))).toEqual(
        new Set([200]),
      );
      const moved = await atOnce(3, (n) =>
        service.api.patch(`/api/conversations/${id}`, {
          funnel_stage: n === 0 ? 'qualified' : 'customer',
        }),
      );
      expect(moved.map(({ status }) => status)).toEqual([200, 200, 200]);
      const closed = await atOnce(4, (n) =>
        act('close', { summary: `by ${n}`, verdict: 'unknown' }),
      );
      expect(closed.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect((await read(id)).outcome.summary).toBe(
        closed.find(({ status }) => status === 200)!.body.outcome.summary,
      );
      expect(await emitted(id)).toEqual({
        'conversation.opened': 1,
        'conversation.handed_over': 1,
        'conversation.closed': 1,
        'conversation.qualified': 1,
      });
    }
  });

  it('takes no message once it is closed: what comes at that moment is in it, or opens the next one', async () => {
    for (const _ of rounds(10)) {
      const write = await customer();
      const { conversation_id: id } = (await write('hello')).body;
      const [closed, ...written] = await Promise.all([
        service.api.post(`/api/conversations/${id}/close`, { summary: 's', verdict: 'unknown' }),
        ...upTo(4).map((n) => write(`late ${n}`)),
      ]);
      expect(closed.status).toBe(200);
      const ids = new Set(written.map(({ body }) => body.conversation_id as string));
      expect(ids.size).toBeLessThanOrEqual(2);
      const old = await read(id);
      const next = [...ids].find((each) => each !== id);
      expect(old.message_count).toBe(
        1 + written.filter(({ body }) => body.conversation_id === id).length,
      );
      if (next === undefined) continue;
      const opened = await read(next);
      expect([opened.previous_conversation_id, opened.status]).toEqual([id, 'ai_active']);
      expect(old.message_count + opened.message_count).toBe(5);
    }
  });

  it('takes a write with one Idempotency-Key once', async () => {
    for (const round of rounds(10)) {
      const write = await customer();
      const { conversation_id: id } = (await write('hello')).body;
      const answers = await atOnce(5, () =>
        service.api.post(
          `/api/conversations/${id}/messages`,
          { text: 'once' },
          { 'idempotency-key': `race-${round}` },
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expectTexts(await read(id), ['hello', 'once']);
    }
  });
});
