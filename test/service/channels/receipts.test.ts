import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { InboundItem, InboundReceipt } from '../../../service/src/channels/inbound.ts';
import type { DeliveryState } from '../../../service/src/conversations/message.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { receiveInbound } from '../../../service/src/channels/operations/receiveInbound.ts';
import { recordAttempt } from '../../../service/src/channels/outbound/attempts.ts';
import { sendMessage } from '../../../service/src/conversations/operations/sendMessage.ts';
import {
  OUTBOUND_QUEUE,
  type OutboundMessage,
} from '../../../service/src/channels/outbound/outboundMessage.ts';
import {
  ACCOUNT,
  connect,
  contacts,
  conversations,
  deps,
  message,
  NOW,
  PHONE,
  store,
  take,
  useInbound,
  who,
  workspace,
} from './inboundStage.ts';

useInbound();

describe('a receipt', () => {
  const receipt = (
    outbound: OutboundMessage,
    state: InboundReceipt['state'],
    more: object = {},
  ): InboundItem => ({
    type: 'receipt',
    account: ACCOUNT,
    channelMessageId: `wamid.${outbound.id}`,
    outboundMessageId: outbound.id,
    state,
    error: state === 'failed' ? 'It failed.' : null,
    ...more,
  });

  /** Makes a text that is owed to the channel. No sender runs here. */
  async function owe(text = 'our answer') {
    await take(message(who(PHONE)));
    const [contact] = await contacts();
    const [conversation] = await conversations(contact!);
    const actor = { type: 'api', name: 'test' } as const;
    const { message: sent } = await sendMessage(deps, workspace, conversation!.id, text, actor);
    const [outbound, ...others] = await store.transaction((tx) =>
      tx.outboundMessages.find({ where: { messageId: sent.id }, limit: 10 }),
    );
    expect(others).toEqual([]);
    return { outbound: outbound!, messageId: sent.id };
  }
  const stateOf = async (id: string) =>
    (await store.transaction((tx) => tx.outboundMessages.get(id)))!;
  const deliveryOf = async (id: string) =>
    (await store.transaction((tx) => tx.messages.get(id)))!.delivery;
  const put = (outbound: OutboundMessage) =>
    store.transaction((tx) => tx.outboundMessages.put(outbound));

  it('moves an outbound message and its message forward only, in whatever order receipts come and however often', async () => {
    const { outbound, messageId } = await owe();
    const after: Record<DeliveryState, readonly DeliveryState[]> = {
      pending: ['sent', 'delivered', 'read', 'failed'],
      sent: ['delivered', 'read', 'failed'],
      delivered: ['read'],
      read: [],
      failed: ['delivered', 'read'],
    };
    const states = ['sent', 'delivered', 'read', 'failed'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 8 }),
        async (order) => {
          await put(outbound);
          let expected: DeliveryState = 'pending';
          for (const state of order) {
            await take(receipt(outbound, state));
            if (after[expected].includes(state)) expected = state;
            const error = expected === 'failed' ? 'It failed.' : null;
            expect(await stateOf(outbound.id)).toMatchObject({
              status: expected,
              error,
              nextAttemptAt: null,
              isUnderWay: false,
            });
            expect(await deliveryOf(messageId)).toEqual({ state: expected, error });
          }
          if (order.includes('read')) expect(expected).toBe('read');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('settles the outbound message that it names when no answer came, and keeps the channel’s id for later receipts', async () => {
    const { outbound, messageId } = await owe();
    await put({ ...outbound, isUnderWay: true, attempts: 1 });
    await take(receipt(outbound, 'sent'));
    expect(await stateOf(outbound.id)).toMatchObject({
      status: 'sent',
      isUnderWay: false,
      channelMessageId: `wamid.${outbound.id}`,
    });
    await take(receipt(outbound, 'read', { outboundMessageId: null }));
    expect(await deliveryOf(messageId)).toEqual({ state: 'read', error: null });
  });

  it('lets the contact’s next text go at once', async () => {
    const { outbound } = await owe();
    const claim = () =>
      store.claim({ queue: OUTBOUND_QUEUE, limit: 10, freeSlots: () => 10, leaseMs: 60_000 });
    const [job] = await claim();
    await store.transaction(async (tx) => {
      await tx.outboundMessages.put({
        ...outbound,
        attempts: 1,
        nextAttemptAt: timestamp(new Date(NOW.getTime() + 60_000)),
      });
      await tx.jobs.release(job!.id, { runAt: NOW.getTime() + 60_000, rank: 1 });
    });
    expect(await claim()).toEqual([]);
    await take(receipt(outbound, 'delivered'));
    expect(await claim()).toMatchObject([
      { id: outbound.contactId, group: job!.group, runAt: NOW.getTime() },
    ]);
    // What was settled before wakes nobody again.
    await store.transaction((tx) => tx.jobs.complete(job!.id));
    await take(receipt(outbound, 'read'));
    expect(await claim()).toEqual([]);
  });

  it('shows a message as far as its least advanced part, and as failed when one part has failed', async () => {
    const { outbound, messageId } = await owe('One sentence. '.repeat(290));
    const more = { ...outbound, id: `out_${'0'.repeat(25)}2`, part: 2 };
    await put(more);
    await take(receipt(outbound, 'read'), receipt(more, 'sent'));
    expect(await deliveryOf(messageId)).toEqual({ state: 'sent', error: null });
    await take(receipt(more, 'failed'));
    expect(await deliveryOf(messageId)).toEqual({
      state: 'failed',
      error: 'Only 1 of its 2 parts was sent. It failed.',
    });
    await take(receipt(more, 'delivered'));
    expect(await deliveryOf(messageId)).toEqual({ state: 'delivered', error: null });
  });

  it('of a failed attempt changes nothing about the attempt that was taken', async () => {
    const { outbound } = await owe();
    await put({ ...outbound, status: 'sent', channelMessageId: 'wamid.second' });
    await take(receipt(outbound, 'failed', { channelMessageId: 'wamid.first' }));
    expect(await stateOf(outbound.id)).toMatchObject({
      status: 'sent',
      channelMessageId: 'wamid.second',
    });
    await take(receipt(outbound, 'delivered', { channelMessageId: 'wamid.first' }));
    expect(await stateOf(outbound.id)).toMatchObject({
      status: 'delivered',
      channelMessageId: 'wamid.second',
    });
  });

  it('of something unknown, of another account or of another workspace is ignored', async () => {
    const { outbound } = await owe();
    await connect('222222');
    const strangers = await createWorkspace(deps, 'Strangers');
    const theirs = await connect(ACCOUNT, strangers);
    await take(
      receipt(outbound, 'read', { account: '222222' }),
      receipt({ ...outbound, id: `out_${'0'.repeat(26)}` }, 'read'),
    );
    await receiveInbound(deps, theirs, [
      receipt(outbound, 'read'),
      receipt(outbound, 'read', { outboundMessageId: null }),
    ]);
    expect(await stateOf(outbound.id)).toEqual(outbound);
    await put({ ...outbound, channelMessageId: 'wamid.known' });
    await receiveInbound(deps, theirs, [
      receipt(outbound, 'read', { outboundMessageId: null, channelMessageId: 'wamid.known' }),
    ]);
    expect((await stateOf(outbound.id)).status).toBe('pending');
  });
});

describe('the late success of an attempt that counted as lost', () => {
  const POLICY = { retryDelaysMs: [], graceMs: 0 };
  const EARLIER = { status: 'failed', error: 'It failed.', attempts: 1 } as const;

  /** Records that the channel took a text which had failed. */
  async function recordLate(channelMessageId: string | null): Promise<OutboundMessage | null> {
    await take(message(who(PHONE)));
    const [conversation] = await conversations((await contacts())[0]!);
    const actor = { type: 'api', name: 'test' } as const;
    const sent = await sendMessage(deps, workspace, conversation!.id, 'our answer', actor);
    const [outbound] = await store.transaction((tx) =>
      tx.outboundMessages.find({ where: { messageId: sent.message.id }, limit: 1 }),
    );
    const failed = { ...outbound!, ...EARLIER, channelMessageId };
    await store.transaction((tx) => tx.outboundMessages.put(failed));
    return recordAttempt(deps, failed, { type: 'sent', channelMessageId: 'wamid.1' }, POLICY);
  }

  it('counts: the text was sent', async () => {
    expect(await recordLate(null)).toMatchObject({
      status: 'sent',
      error: null,
      channelMessageId: 'wamid.1',
    });
  });

  it('does not undo the failure that a receipt has reported', async () => {
    expect(await recordLate('wamid.1')).toMatchObject(EARLIER);
  });
});
