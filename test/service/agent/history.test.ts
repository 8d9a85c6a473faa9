import { describe, expect, it } from '@jest/globals';
import { historyOf } from '../../../service/src/agent/turn/history.ts';
import type { LoadedTurn } from '../../../service/src/agent/turn/loadTurn.ts';

const at = (minute: number) => `2026-11-25T10:${String(minute).padStart(2, '0')}:00.000+00:00`;

/** A message of each text, one a minute, by turns of customer and agent. */
const messagesOf = (texts: readonly string[]) =>
  texts.map((text, index) => {
    const type = index % 2 === 0 ? 'customer' : 'agent';
    const direction = type === 'customer' ? 'inbound' : 'outbound';
    return { number: index + 1, direction, sender: { type }, text, createdAt: at(index) };
  });

const refund = (change: object) => ({
  id: 'call_1',
  stepId: 'step_1',
  tool: 'refund',
  arguments: {},
  status: 'rejected',
  error: null,
  neededApproval: true,
  afterMessage: 1,
  isTold: false,
  ...change,
});

const historyTypes = (texts: readonly string[], call: object) =>
  historyOf({
    messages: messagesOf(texts),
    calls: [call],
    contact: { name: null, email: null, phone: null },
    unanswered: [],
  } as unknown as LoadedTurn).map(({ type }) => type);

describe('what a model sees of a call whose approval was decided late', () => {
  const short = ['Refund me', 'I have asked the team.', 'Thanks', 'You are welcome.'];
  const long = short.map((text, index) => (index < 2 ? text : text.padEnd(30_000)));

  it('is the call, and later its result', () => {
    expect(historyTypes(short, refund({ finishedAt: at(5) }))).toEqual([
      'customer',
      'tool_calls',
      'reply',
      'customer',
      'reply',
      'late_result',
    ]);
  });

  it('is its result alone when the messages around the call are too old to be shown', () => {
    expect(historyTypes(long, refund({ finishedAt: at(5) }))).toEqual([
      'customer',
      'reply',
      'late_result',
    ]);
  });

  it('is nothing when its result is as old as those messages', () => {
    const told = refund({ finishedAt: at(0), isTold: true });
    expect(historyTypes(long, told)).toEqual(['customer', 'reply']);
  });
});
