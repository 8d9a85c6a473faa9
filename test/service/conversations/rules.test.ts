import { describe, expect, it } from '@jest/globals';
import {
  close,
  countMessage,
  handBack,
  openConversation,
  takeOver,
  FUNNEL_STAGES,
  isForward,
  isQualifiedOrBeyond,
  type Conversation,
} from '../../../service/src/conversations/conversation.ts';
import {
  recordAttempt,
  recordLateAttempt,
  requeue,
  judge,
  type Delivery,
} from '../../../service/src/deliveries/delivery.ts';
import {
  MAX_IN_FLIGHT,
  INITIAL_IN_FLIGHT,
  InFlightLimit,
  MIN_IN_FLIGHT,
} from '../../../service/src/deliveries/sending/inFlightLimits.ts';
import { slugFrom } from '../../../service/src/team/workspace.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

describe('who is in control', () => {
  const open = openConversation(
    {
      id: 'c',
      workspaceId: 'w',
      contactId: 'p',
      channel: 'web_chat',
      previousConversationId: null,
    },
    NOW,
  );
  const awaiting: Conversation = {
    ...open,
    status: 'awaiting_human',
    handover: {
      reason: 'customer_request',
      note: null,
      triggeredBy: { type: 'agent', name: 'Agent' },
      at: open.createdAt,
    },
  };
  const actor = { type: 'api', name: 'key' } as const;

  it('awaiting_human: take-over gives it to a person, hand-back to the agent, close closes', () => {
    expect(takeOver(awaiting, { reason: 'api_takeover', note: null, actor }, NOW)).toMatchObject({
      status: 'human_active',
      handover: { reason: 'api_takeover' },
    });
    expect(handBack(awaiting, NOW)).toMatchObject({ status: 'ai_active', handover: null });
    expect(close(awaiting, { verdict: 'unknown', summary: 's', actor }, NOW)).toMatchObject({
      status: 'closed',
    });
    expect(countMessage(awaiting, 'inbound', NOW).status).toBe('awaiting_human');
  });

  it('the control epoch rises with take-over, hand-back, close and each inbound message, and with nothing else', () => {
    const taken = takeOver(open, { reason: 'api_takeover', note: null, actor }, NOW);
    expect(taken.controlEpoch).toBe(1);
    expect(takeOver(taken, { reason: 'api_takeover', note: null, actor }, NOW)).toBe(taken);
    expect(handBack(taken, NOW).controlEpoch).toBe(2);
    expect(handBack(open, NOW)).toBe(open);
    expect(close(open, { verdict: 'unknown', summary: 's', actor }, NOW).controlEpoch).toBe(1);
    expect(countMessage(open, 'inbound', NOW).controlEpoch).toBe(1);
    expect(countMessage(open, 'outbound', NOW).controlEpoch).toBe(0);
  });
});

describe('funnel', () => {
  it('automatic moves go up the ladder only, and never out of lost', () => {
    const forward = FUNNEL_STAGES.flatMap((from) =>
      FUNNEL_STAGES.filter((to) => isForward(from, to)).map((to) => `${from} ${to}`),
    );
    expect(forward).toEqual([
      'new engaged',
      'new qualified',
      'new payment_pending',
      'new customer',
      'engaged qualified',
      'engaged payment_pending',
      'engaged customer',
      'qualified payment_pending',
      'qualified customer',
      'payment_pending customer',
    ]);
  });

  it('qualified or beyond', () =>
    expect(FUNNEL_STAGES.filter(isQualifiedOrBeyond)).toEqual([
      'qualified',
      'payment_pending',
      'customer',
    ]));
});

describe('attempts', () => {
  const delivery: Delivery = {
    id: 'dlv',
    workspaceId: 'w',
    subscriptionId: 's',
    eventId: 'evt',
    event: 'message.sent',
    status: 'pending',
    attempts: [],
    roundStart: 0,
    trigger: 'automatic',
    isRepeat: false,
    everDelivered: false,
    nextAttemptAt: null,
    createdAt: NOW.toISOString(),
  };
  const attempt = {
    at: NOW.toISOString(),
    statusCode: 500,
    durationMs: 1,
    error: 'x',
    responseExcerpt: null,
  };
  const DELAYS = [5000, 60_000, 600_000];
  const waitsMs = (random: number) => {
    let each = delivery;
    const waits = [];
    for (let n = 0; n < 4; n++) {
      each = recordAttempt(each, attempt, 'retry', DELAYS, NOW, random);
      waits.push(
        each.nextAttemptAt === null ? null : Date.parse(each.nextAttemptAt) - NOW.getTime(),
      );
    }
    return { waits, status: each.status };
  };

  it('waits 5 s, 1 min and 10 min between attempts, ±20 %, then gives up', () => {
    expect(waitsMs(0.5)).toEqual({ waits: [5000, 60_000, 600_000, null], status: 'failed' });
    expect(waitsMs(0).waits).toEqual([4000, 48_000, 480_000, null]);
    expect(waitsMs(1).waits).toEqual([6000, 72_000, 720_000, null]);
  });

  it('an attempt that ends late is on record and takes no retry from the others', () => {
    const once = recordAttempt(delivery, attempt, 'retry', DELAYS, NOW, 0.5);
    const late = recordLateAttempt(once, attempt, 'retry');
    expect(late).toMatchObject({ status: 'pending', nextAttemptAt: once.nextAttemptAt });
    expect(late.attempts.map(({ number }) => number)).toEqual([1, 2]);
    const next = recordAttempt(late, attempt, 'retry', DELAYS, NOW, 0.5);
    expect(Date.parse(next.nextAttemptAt!) - NOW.getTime()).toBe(DELAYS[1]);
    const last = recordAttempt(next, attempt, 'retry', DELAYS, NOW, 0.5);
    expect(last.status).toBe('pending');
    expect(recordAttempt(last, attempt, 'retry', DELAYS, NOW, 0.5).status).toBe('failed');
  });

  it("a success that ends late is the delivery's", () => {
    const once = recordAttempt(delivery, attempt, 'retry', DELAYS, NOW, 0.5);
    expect(recordLateAttempt(once, { ...attempt, statusCode: 200 }, 'success')).toMatchObject({
      status: 'delivered',
      everDelivered: true,
      nextAttemptAt: null,
    });
  });

  it('a redelivery has its own three retries', () => {
    let failed = delivery;
    for (let n = 0; n < 4; n++) failed = recordAttempt(failed, attempt, 'retry', DELAYS, NOW, 0.5);
    const again = recordAttempt(
      requeue(failed, { trigger: 'manual', isRepeat: true }, NOW),
      attempt,
      'retry',
      DELAYS,
      NOW,
      0.5,
    );
    expect(again).toMatchObject({ status: 'pending', attempts: { length: 5 } });
    expect(Date.parse(again.nextAttemptAt!) - NOW.getTime()).toBe(5000);
  });

  it.each([
    [200, 'success'],
    [204, 'success'],
    [299, 'success'],
    [300, 'failure'],
    [301, 'failure'],
    [400, 'failure'],
    [404, 'failure'],
    [410, 'gone'],
    [429, 'failure'],
    [499, 'failure'],
    [500, 'retry'],
    [503, 'retry'],
    [599, 'retry'],
    [null, 'retry'],
  ] as const)('status %s is a %s', (status, verdict) => expect(judge(status)).toBe(verdict));
});

describe('in-flight limit', () => {
  const use = (limit: InFlightLimit, verdict: 'success' | 'retry', durationMs: number) => {
    while (limit.free > 0) limit.start();
    while (limit.inFlight > 0) limit.end(verdict, durationMs);
  };

  it('starts at 4, rises while answers are fast, to 32', () => {
    const limit = new InFlightLimit(10_000);
    expect(limit.free).toBe(INITIAL_IN_FLIGHT);
    for (let n = 0; n < 500; n++) use(limit, 'success', 10);
    expect(limit.limit).toBe(MAX_IN_FLIGHT);
  });

  it('does not rise on slow answers, and halves on failures, to 1', () => {
    const limit = new InFlightLimit(10_000);
    use(limit, 'success', 2000);
    expect(limit.limit).toBe(INITIAL_IN_FLIGHT);
    limit.start();
    limit.end('retry', 10);
    expect(limit.limit).toBe(2);
    for (let n = 0; n < 5; n++) use(limit, 'retry', 10);
    expect(limit.limit).toBe(MIN_IN_FLIGHT);
  });

  it('rises only when it was used to the full', () => {
    const limit = new InFlightLimit(10_000);
    for (let n = 0; n < 100; n++) {
      limit.start();
      limit.end('success', 1);
    }
    expect(limit.limit).toBe(INITIAL_IN_FLIGHT);
  });
});

describe('workspace slugs', () => {
  it.each([
    ['Acme & Söhne GmbH', 'acme-sohne-gmbh'],
    ['  --  ', 'workspace'],
    ['你好', 'workspace'],
    ['x'.repeat(90), 'x'.repeat(40)],
  ])('%s → %s', (name, slug) => expect(slugFrom(name)).toBe(slug));
});
