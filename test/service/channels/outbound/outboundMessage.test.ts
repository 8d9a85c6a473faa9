import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DELIVERY_STATES } from '../../../../service/src/conversations/message.ts';
import { windowOf } from '../../../../service/src/channels/channel.ts';
import {
  startAttempt,
  isForwardState,
  afterAttempt,
  stateOf,
  type SendResult,
  type OutboundMessage,
} from '../../../../service/src/channels/outbound/outboundMessage.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const POLICY = { retryDelaysMs: [1000, 10_000], graceMs: 15_000 };
const pending: OutboundMessage = {
  id: 'out_1',
  workspaceId: 'ws_1',
  conversationId: 'conv_1',
  contactId: 'ctc_1',
  messageId: 'msg_1',
  part: 1,
  text: 'Hello',
  status: 'pending',
  channelMessageId: null,
  attempts: 0,
  isUnderWay: false,
  error: null,
  nextAttemptAt: null,
  createdAt: '2026-11-21T10:00:00.000+00:00',
};
const failed = (given: Partial<Extract<SendResult, { type: 'failed' }>> = {}): SendResult => ({
  type: 'failed',
  error: 'Down.',
  isRefused: false,
  retryAfterMs: null,
  mayHaveArrived: false,
  ...given,
});
const waitMs = (outbound: OutboundMessage) => Date.parse(outbound.nextAttemptAt!) - NOW.getTime();
const tried = (result: SendResult, random = 0.5, before: OutboundMessage = pending) =>
  afterAttempt(startAttempt(before), result, POLICY, NOW, random);

describe('after an attempt', () => {
  it('a retry waits as long as is set, give or take a fifth', () => {
    expect([0, 0.5, 1].map((random) => waitMs(tried(failed(), random)))).toEqual([800, 1000, 1200]);
    expect(waitMs(tried(failed(), 0.5, { ...pending, attempts: 1 }))).toBe(10_000);
  });

  it.each([
    ['as long as the channel asks for', { retryAfterMs: 60_000 }, 60_000],
    ['no shorter than is set when the channel asks for less', { retryAfterMs: 1 }, 1000],
    ['an hour at most', { retryAfterMs: 86_400_000 }, 3_600_000],
    ['for a receipt when the text may have arrived', { mayHaveArrived: true }, 15_000],
  ])('a retry waits %s', (_what, result, ms) => expect(waitMs(tried(failed(result)))).toBe(ms));

  it('the message has failed when it was the last', () => {
    const last = { ...pending, attempts: 2 };
    expect(tried(failed(), 0.5, last)).toMatchObject({
      status: 'failed',
      error: 'Down. It was tried 3 times.',
      nextAttemptAt: null,
      isUnderWay: false,
    });
  });

  it('the state never moves backwards, whatever receipts came before', () => {
    const results = fc.oneof(
      fc.constant<SendResult>({ type: 'sent', channelMessageId: 'wamid.1' }),
      fc.record({ isRefused: fc.boolean(), mayHaveArrived: fc.boolean() }).map(failed),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...DELIVERY_STATES),
        results,
        fc.nat({ max: 4 }),
        (status, result, attempts) => {
          const after = afterAttempt(
            { ...pending, status, attempts: attempts + 1, isUnderWay: true },
            result,
            POLICY,
            NOW,
            0.5,
          );
          expect(after.status === status || isForwardState(status, after.status)).toBe(true);
          expect(after.isUnderWay).toBe(false);
          expect(after.nextAttemptAt === null || after.status === 'pending').toBe(true);
          if (status !== 'pending') expect(after.status).toBe(status);
        },
      ),
    );
  });

  it('a message is as far as its least advanced part, and has failed when one part has', () => {
    const of = (...states: (typeof DELIVERY_STATES)[number][]) =>
      stateOf(states.map((status) => ({ status })));
    expect(of('read', 'delivered')).toBe('delivered');
    expect(of('sent', 'pending')).toBe('pending');
    expect(of('read', 'failed', 'pending')).toBe('failed');
    expect(of('read', 'read')).toBe('read');
  });
});

describe('the messaging window', () => {
  const day = { windowMs: 86_400_000 };
  const wroteAt = (lastWroteAt?: string | null) => ({ lastWroteAt });

  it('is open to the millisecond, and says when it closes', () => {
    const contact = wroteAt('2026-11-20T10:00:00.000+00:00');
    const closesAt = '2026-11-21T10:00:00.000+00:00';
    const justBefore = new Date(NOW.getTime() - 1);
    expect(windowOf(day, contact, justBefore)).toEqual({ isOpen: true, closesAt });
    expect(windowOf(day, contact, NOW)).toEqual({ isOpen: false, closesAt });
  });

  it('is closed for a contact who has never written, and always open where the channel has none', () => {
    for (const never of [wroteAt(null), wroteAt()])
      expect(windowOf(day, never, NOW)).toEqual({ isOpen: false, closesAt: null });
    expect(windowOf({ windowMs: null }, wroteAt(), NOW)).toEqual({ isOpen: true, closesAt: null });
  });
});
