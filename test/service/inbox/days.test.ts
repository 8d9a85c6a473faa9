// Where a day begins in a thread.
import { expect, it } from '@jest/globals';
import type { Message } from '../../../service/src/conversations/message.ts';
import { beginsDay } from '../../../service/src/inbox/days.ts';
import type { ThreadItem } from '../../../service/src/inbox/readThread.ts';
import type { Wait } from '../../../service/src/waits/wait.ts';

const MONDAY = '2026-11-23T10:00:00.000+00:00';
const TUESDAY = '2026-11-24T10:00:00.000+00:00';
const WEDNESDAY = '2026-11-25T10:00:00.000+00:00';

const message = (createdAt: string): ThreadItem => ({
  type: 'message',
  message: { createdAt } as Message,
});
const question = (isAtAnswer: boolean, endedAt: string): ThreadItem => ({
  type: 'wait',
  wait: { kind: 'reply', createdAt: MONDAY, endedAt } as Wait,
  isAtAnswer,
});
const firstOfDays = (items: readonly ThreadItem[]) =>
  items.map((item, at) => beginsDay(item, items[at - 1]));

it('a question that nobody answered stands in its own day, and the reminder in the next', () => {
  const items = [message(MONDAY), question(false, WEDNESDAY), message(TUESDAY)];
  expect(firstOfDays(items)).toEqual([true, false, true]);
});

it('what is said of an answer stands in the day of the answer', () => {
  const items = [message(MONDAY), message(TUESDAY), question(true, TUESDAY), message(TUESDAY)];
  expect(firstOfDays(items)).toEqual([true, true, false, false]);
});
