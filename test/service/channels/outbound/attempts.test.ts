// The sender on a store of its own: short parts, a short grace, and what a crash leaves behind.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { startSender } from '../../../../service/src/channels/outbound/sender.ts';
import type { Worker } from '../../../../service/src/platform/jobs/worker.ts';
import type { Channel } from '../../../../service/src/channels/channel.ts';
import { whatsappCloud } from '../../../../service/src/channels/whatsapp/whatsappCloud.ts';
import { testDeps } from '../../../helpers/testDeps.ts';
import { systemClock } from '../../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import type { Message } from '../../../../service/src/conversations/message.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import type { ConversationView } from '../../../../service/src/conversations/operations/conversations.ts';
import { createChannel } from '../../../../service/src/channels/operations/channels.ts';
import { receiveInbound } from '../../../../service/src/channels/operations/receiveInbound.ts';
import { recordReceipt } from '../../../../service/src/channels/outbound/queueOutbound.ts';
import { storeReply } from '../../../../service/src/conversations/operations/sendMessage.ts';
import type { OutboundMessage } from '../../../../service/src/channels/outbound/outboundMessage.ts';
import {
  accept,
  graphError,
  startGraphServer,
  takeAndReset,
  type GraphReply,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { respondJson } from '../../../helpers/jsonServer.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const SHORT_TEXTS = { textMax: 20, windowMs: null };
const AS_SHIPPED = whatsappCloud.capabilities;
const GRACE_MS = 400;
const LONG = 'One two three four. Five six seven. Eight nine ten. Eleven.';
const PARTS = ['One two three four.', 'Five six seven.', 'Eight nine ten.', 'Eleven.'];
const outage = graphError(503, { code: 2 });
const refusal = graphError(400, { code: 131026 });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the sender', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let deps: Deps;
  let graph: GraphServer;
  let sender: Worker | null = null;
  let channel: Channel;
  let view: ConversationView;

  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    graph = await startGraphServer();
    deps = testDeps({ store, agent: { quietMs: 0, approvalExpiresMs: 1 } });
    Object.assign(whatsappCloud, { capabilities: SHORT_TEXTS });
    view = await connected();
  });
  afterEach(async () => {
    Object.assign(whatsappCloud, { capabilities: AS_SHIPPED });
    await sender?.stop();
    sender = null;
    expect(graph.faults).toEqual([]);
    await graph.close();
    await fresh.remove();
  });

  /** A customer has written to a connected number. */
  async function connected(): Promise<ConversationView> {
    const workspace = await createWorkspace(deps, 'Test');
    const { phoneNumberId, accessToken } = graph;
    channel = await createChannel(deps, workspace, {
      type: 'whatsapp_cloud',
      name: 'Shop',
      values: { phone_number_id: phoneNumberId, access_token: accessToken, app_secret: 'abc' },
    });
    await receiveInbound(deps, channel, [
      {
        type: 'message',
        account: phoneNumberId,
        from: { phone: '14155552671', userId: null, name: 'Maria' },
        id: 'wamid.1',
        text: 'Hello',
        sentAt: null,
      },
    ]);
    return store.transaction(async (tx) => {
      const where = { workspaceId: workspace.id };
      const [conversation] = await tx.conversations.find({ where, limit: 1 });
      const contact = await tx.contacts.get(conversation!.contactId);
      return { workspace, contact: contact!, conversation: conversation! };
    });
  }

  const start = (retryDelaysMs = [20, 20, 20, 20]) => {
    sender = startSender({
      deps: { ...deps, store, clock: systemClock },
      log: pino({ level: 'silent' }),
      config: { graphApiUrl: `${graph.url}/${graph.version}`, timeoutMs: 5000 },
      retryDelaysMs,
      graceMs: GRACE_MS,
    });
  };
  const reply = (text: string, choices?: readonly string[]): Promise<Message> =>
    store.transaction(async (tx) => {
      const { message, conversation } = await storeReply(
        tx,
        deps,
        view,
        { text, choices, actor: { type: 'api', name: 'test' } },
        systemClock.now(),
      );
      view = { ...view, conversation };
      return message;
    });
  const messageNow = ({ id }: Message) =>
    store.transaction(async (tx) => (await tx.messages.get(id))!.delivery!);
  const reached = (message: Message, state: string) =>
    waitFor(`a message that is ${state}`, async () =>
      (await messageNow(message)).state === state ? messageNow(message) : null,
    );
  const outboundMessages = ({ id }: Message) =>
    store.transaction((tx) =>
      tx.outboundMessages.find({ where: { messageId: id }, orderBy: 'part', limit: 100 }),
    );
  const putOutbound = (outbound: OutboundMessage) =>
    store.transaction((tx) => tx.outboundMessages.put(outbound));
  const texts = () => graph.requests.map(({ body }) => body.text.body);

  it('sends a long text in parts, in order, also while one is tried again; the message is sent once all parts are', async () => {
    const seen: string[] = [];
    const message = await reply(LONG);
    graph.answerBy(() => (res, take, request) => {
      void messageNow(message).then(({ state }) => {
        seen.push(state);
        accept(res, take, request);
      });
    });
    graph.answerWith(accept, outage, outage);
    start();
    expect(await reached(message, 'sent')).toEqual({ state: 'sent', error: null });
    expect(texts()).toEqual([PARTS[0], PARTS[1], PARTS[1], ...PARTS.slice(1)]);
    expect(graph.texts()).toEqual(PARTS);
    expect(seen).toEqual(['pending', 'pending', 'pending']);
  });

  it('sends choices that the channel cannot show as numbered lines, split as any text', async () => {
    const message = await reply('Which one?', ['Red', 'Blue']);
    start();
    await reached(message, 'sent');
    expect(texts()).toEqual(['Which one?', '1. Red\n2. Blue']);
  });

  it('sends no more of a text once a part was refused, and goes on with the next message', async () => {
    const [first, second] = [await reply(LONG), await reply('Next.')];
    graph.answerWith(accept, refusal);
    start();
    await reached(second, 'sent');
    expect(texts()).toEqual([PARTS[0], PARTS[1], 'Next.']);
    expect(await messageNow(first)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/^Only 1 of its 4 parts was sent\. WhatsApp cannot deliver/),
    });
    expect(await outboundMessages(first)).toMatchObject([
      { status: 'sent', attempts: 1 },
      { status: 'failed', attempts: 1 },
      { status: 'failed', attempts: 0 },
      { status: 'failed', attempts: 0 },
    ]);
  });

  it('keeps the time of a retry when more is to be sent', async () => {
    graph.answerWith(outage);
    start([1000, 20, 20, 20]);
    await reply('first');
    await waitFor('the first try', () => graph.requests.length === 1);
    const last = await reply('second');
    await reached(last, 'sent');
    const [one, again] = graph.requests;
    expect(again!.at - one!.at).toBeGreaterThanOrEqual(790);
    expect(texts()).toEqual(['first', 'first', 'second']);
  });

  it('sends again a text that may have arrived, but not before the grace has passed', async () => {
    graph.answerWith(takeAndReset);
    start();
    const message = await reply('Perhaps');
    await reached(message, 'sent');
    const [first, second] = graph.requests;
    expect(graph.requests).toHaveLength(2);
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(GRACE_MS - 20);
  });

  const interrupt = async (message: Message, attempts: number) => {
    const [outbound] = await outboundMessages(message);
    await putOutbound({ ...outbound!, attempts, isUnderWay: true });
  };

  it('treats a text that a crash left under way as one that may have arrived, and sends it again after the grace', async () => {
    const message = await reply('Crashed');
    const next = await reply('After it');
    await interrupt(message, 1);
    const startedAt = Date.now();
    start();
    await reached(next, 'sent');
    expect(texts()).toEqual(['Crashed', 'After it']);
    expect(graph.requests[0]!.at - startedAt).toBeGreaterThanOrEqual(GRACE_MS - 20);
    expect((await outboundMessages(message))[0]).toMatchObject({
      status: 'sent',
      attempts: 2,
      isUnderWay: false,
      error: null,
    });
  });

  it('gives up a text that a crash interrupted at its last attempt, and says that it may have arrived', async () => {
    const message = await reply('Crashed');
    await interrupt(message, 5);
    start();
    expect(await reached(message, 'failed')).toEqual({
      state: 'failed',
      error:
        'The service stopped while this message was being sent. It was tried 5 times. It may still have arrived.',
    });
    expect(graph.requests).toEqual([]);
    const next = await reply('Next');
    await reached(next, 'sent');
  });

  it('has one text of a customer under way at a time, also when a receipt comes before the answer', async () => {
    const held: (() => void)[] = [];
    graph.answerBy(() => (res, take) => {
      const { id } = take();
      held.push(() => respondJson(res, 200, { messages: [{ id }] }));
    });
    start();
    await reply('one');
    const last = await reply('two');
    await waitFor('the first request', () => held.length === 1);
    const { id, body } = graph.taken[0]!;
    const receipt = {
      type: 'receipt',
      account: graph.phoneNumberId,
      channelMessageId: id,
      outboundMessageId: body.biz_opaque_callback_data!,
      state: 'sent',
      error: null,
    } as const;
    await store.transaction((tx) => recordReceipt(tx, deps, channel, receipt, systemClock.now()));
    await pause(100);
    expect(texts()).toEqual(['one']);
    held[0]!();
    await waitFor('the second request', () => held.length === 2);
    await pause(2 * GRACE_MS); // a second run of the job would take the attempt for interrupted
    expect(texts()).toEqual(['one', 'two']);
    held[1]!();
    await reached(last, 'sent');
  });

  it('sends both of two texts that the channel gives the same id', async () => {
    const same: GraphReply = (res, take) => {
      take();
      respondJson(res, 200, { messages: [{ id: 'wamid.same' }] });
    };
    graph.answerWith(same, same);
    start();
    await reply('one');
    const message = await reply('two');
    await reached(message, 'sent');
    expect(graph.texts()).toEqual(['one', 'two']);
  });

  it('records an answer that arrives while it stops', async () => {
    let answer = () => {};
    graph.answerWith((res, take, request) => {
      answer = () => accept(res, take, request);
    });
    start();
    const message = await reply('Last one');
    const unsent = await reply('Not yet');
    await waitFor('the request', () => graph.requests.length === 1);
    const stopped = sender!.stop();
    answer();
    await stopped;
    expect((await messageNow(message)).state).toBe('sent');
    expect((await messageNow(unsent)).state).toBe('pending');
    start();
    await reached(unsent, 'sent');
    expect(graph.texts()).toEqual(['Last one', 'Not yet']);
  });
});
