import { expect, it } from '@jest/globals';
import {
  beginAttempt,
  newToolCall,
  recordToolAttempt,
  recoverInterrupted,
  type ToolCall,
} from '../../../service/src/tools/calls/toolCall.ts';

const BEGUN = new Date('2026-03-01T12:00:00Z');
const afterMs = (ms: number) => new Date(BEGUN.getTime() + ms);

/** A Webhook call during the attempt that follows these answers. */
const underWay = (purpose: ToolCall['purpose'], answers: readonly number[]): ToolCall => {
  const request = { purpose, kind: 'Webhook' } as Parameters<typeof newToolCall>[0];
  const recordFailure = (call: ToolCall, httpStatus: number) =>
    recordToolAttempt(
      beginAttempt(call),
      {
        type: 'failure',
        retry: 'later',
        httpStatus,
        durationMs: 1,
        error: { type: 'http_status', message: `The endpoint answered ${httpStatus}.` },
      },
      [0],
      BEGUN,
    ).call;
  return beginAttempt(answers.reduce(recordFailure, newToolCall(request, BEGUN)));
};

it.each([
  ['a test, in its third attempt', 'test', [503, 503], 1, 'failed'],
  ['a test, in its second attempt', 'test', [503], 1, 'running'],
  [
    'a tool that goes live, in its sixth attempt',
    'go_live',
    [503, 401, 503, 503, 503],
    1,
    'running',
  ],
  ['the same, when its minute is over', 'go_live', [503, 401, 503, 503, 503], 60_000, 'failed'],
  [
    'a tool that goes live, in its third attempt after other answers',
    'go_live',
    [500, 500],
    1,
    'failed',
  ],
] as const)(
  'a call whose process died goes on while attempts are left, and fails otherwise: %s',
  (_which, purpose, answers, ms, status) => {
    const call = recoverInterrupted(underWay(purpose, answers), afterMs(ms));
    expect([call.status, call.isUnderWay]).toEqual([status, false]);
    expect(call.error?.type).toBe(status === 'failed' ? 'interrupted' : 'http_status');
  },
);
