import { html, type View } from '../platform/html/html.ts';
import { dayInZone, formatInZone, readerZone } from '../platform/html/readerZone.ts';
import { exactTime } from '../platform/html/times.ts';
import type { ThreadItem } from './readThread.ts';

const clockFormat = () =>
  formatInZone('clock', 'en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const dayFormat = () =>
  formatInZone('day', 'en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });

/** The time of day, `14:05`. Scripts make it the browser's own. @param time ISO 8601, in UTC */
export const clockView = (time: string): View => html`
  <time datetime=${time} data-clock title=${exactTime(time)}>
    ${clockFormat().format(new Date(time))}
  </time>
`;

/**
 * The line above the first item of a day in the time zone of the member's profile. Scripts put it
 * where the browser's day begins.
 */
export const dayView = (time: string): View => html`
  <li class="day">
    <time datetime=${dayInZone(time)}>
      ${dayFormat().format(new Date(time))} (${readerZone()})
    </time>
  </li>
`;

/** Whether a day begins with an item. @param before the item before it */
export const beginsDay = (item: ThreadItem, before: ThreadItem | undefined): boolean =>
  before === undefined || dayInZone(timeOfItem(item)) > dayInZone(timeOfItem(before));

/** The time of an item's place in the thread. */
export function timeOfItem(item: ThreadItem): string {
  switch (item.type) {
    case 'message':
      return item.message.createdAt;
    case 'note':
      return item.note.createdAt;
    case 'tool_call':
      return item.call.createdAt;
    case 'payment':
      return item.payment.createdAt;
    case 'wait':
      return item.isAtAnswer ? (item.wait.endedAt ?? item.wait.createdAt) : item.wait.createdAt;
  }
}
