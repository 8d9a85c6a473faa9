import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  accept,
  startGraphServer,
  takeAndHang,
  takeAndReset,
  type GraphServer,
  type TakenMessage,
  type WhatsAppStatus,
} from '../../helpers/graphServer.ts';
import { connectNumber, deliver, metaText, type ConnectedNumber } from '../../helpers/meta.ts';
import { FAILED_STATUS } from '../../helpers/metaExamples.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

let graph: GraphServer;
let service: TestService;
let number: ConnectedNumber;
let conversationId: string;
let phones = 5491155560000;

beforeAll(async () => {
  graph = await startGraphServer();
  // No retry of its own: what goes on here goes on because a receipt came.
  service = await startTestService({
    env: { GRAPH_API_URL: graph.url, CHANNEL_RETRY_DELAYS_MS: '3600000,3600000,3600000,3600000' },
  });
  number = await connectNumber(service.api, { accessToken: graph.accessToken });
});
afterAll(async () => {
  // First, so that the call that never got an answer ends.
  await graph?.close();
  await service?.stop();
});
beforeEach(async () => {
  const phone = String(++phones);
  expect((await deliver(service.url, number, metaText('hi', { phone }))).status).toBe(200);
  conversationId = (await service.api.post('/api/contacts/lookup', { phone: `+${phone}` })).body.id;
});

/** @returns the message's id */
async function reply(text: string): Promise<string> {
  const { status, body } = await service.api.post(`/api/conversations/${conversationId}/messages`, {
    text,
  });
  expect(status).toBe(201);
  return body.message.id;
}

async function deliveryOf(messageId: string) {
  const { body } = await service.api.get(`/api/conversations/${conversationId}`);
  return body.messages.find(({ id }: { id: string }) => id === messageId).delivery;
}

const isAt = (messageId: string, state: string) =>
  waitFor(`${state}`, async () => (await deliveryOf(messageId)).state === state);

const taken = (text: string): Promise<TakenMessage> =>
  waitFor(`Meta to have ${text}`, () => graph.taken.find(({ body }) => body.text.body === text));

const tell = async (
  message: TakenMessage,
  status: WhatsAppStatus,
  errors?: typeof FAILED_STATUS.errors,
) =>
  expect(
    (await deliver(service.url, number, graph.statusWebhook(message, status, errors))).status,
  ).toBe(200);

describe("WhatsApp's receipts", () => {
  it('show on the message, forward only', async () => {
    const id = await reply('first');
    const message = await taken('first');
    await isAt(id, 'sent');
    for (const [status, shown] of [
      ['delivered', 'delivered'],
      ['sent', 'delivered'],
      ['read', 'read'],
      ['delivered', 'read'],
      ['failed', 'read'],
    ] as const) {
      await tell(message, status);
      expect(await deliveryOf(id)).toEqual({ state: shown, error: null });
    }
    expect(graph.faults).toEqual([]);
  });

  it('say in words why a message failed', async () => {
    const id = await reply('too late');
    await isAt(id, 'sent');
    await tell(await taken('too late'), 'failed', FAILED_STATUS.errors);
    expect(await deliveryOf(id)).toEqual({
      state: 'failed',
      error: expect.stringMatching(/24 hours/),
    });
  });

  it('that come before the answer of the API settle the message, and the next one goes', async () => {
    graph.answerWith((res, take, request) => {
      const message = take();
      void tell(message, 'delivered').then(() => accept(res, () => message, request));
    });
    const first = await reply('answered late');
    const second = await reply('behind it');
    await isAt(first, 'delivered');
    await isAt(second, 'sent');
    expect(graph.taken.filter(({ body }) => body.text.body === 'answered late')).toHaveLength(1);
  });

  it.each([
    ['hung up', takeAndReset],
    ['never answered', takeAndHang],
  ])(
    'settle what Meta took when it %s: nothing is sent twice, and what waits behind it goes',
    async (how, answer) => {
      graph.answerWith(answer);
      const first = await reply(`lost: ${how}`);
      const second = await reply(`behind: ${how}`);
      const message = await taken(`lost: ${how}`);
      expect(await deliveryOf(second)).toEqual({ state: 'pending', error: null });
      await tell(message, 'sent');
      await isAt(first, 'sent');
      await tell(message, 'read');
      expect(await deliveryOf(first)).toEqual({ state: 'read', error: null });
      // One that never answers keeps the line until the call has timed out.
      if (answer === takeAndReset) await isAt(second, 'sent');
      expect(graph.taken.filter(({ body }) => body.text.body === `lost: ${how}`)).toHaveLength(1);
    },
  );
});
