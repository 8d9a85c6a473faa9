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
