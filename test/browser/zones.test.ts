// A thread around midnight shows the reader's local time.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startConversation } from './customers.ts';
import { lateClock } from './sampleContent.ts';
import { team, useTeam } from './team.ts';

const DAY = 86_400_000;
const TODAY = Math.floor(Date.now() / DAY) * DAY;
/** A time of the day before yesterday, in UTC. Midnight in Tokyo, nine hours ahead, is at 15:00. */
const atUtc = (time: string) => TODAY - 2 * DAY + Date.parse(`1970-01-01T${time}Z`);

describe('a thread around midnight in Tokyo', () => {
  const clock = lateClock();
  const setClockTo = (instant: number) => void (clock.behindMs = Date.now() - instant);
  setClockTo(atUtc('14:57:00'));
  useTeam({ clock });
  let path: string;
  beforeAll(async () => {
    const { customer, path: started } = await startConversation('Yuki Mori', 'Are you still open?');
    setClockTo(atUtc('15:02:00'));
    await customer.write('And tomorrow?');
    clock.behindMs = 0;
    path = started;
  });

  it('has the reader’s days and times of day', async () => {
    const { page } = await team.openSignedIn(path, { context: { timezoneId: 'Asia/Tokyo' } });
    expect(await linesOf(page)).toEqual([
      dayIn('Asia/Tokyo', '14:57:00'),
      '23:57 Are you still open?',
      dayIn('Asia/Tokyo', '15:02:00'),
      '00:02 And tomorrow?',
    ]);
  });

  it('calls yesterday what was today, once midnight has passed', async () => {
    const { page } = await team.openSignedIn('/account', { context: { timezoneId: 'UTC' } });
    await page.clock.install({ time: atUtc('23:00:00') });
    await page.goto(team.service.url + path);
    const day = page.locator('[data-days] > .day');
    expect(await day.textContent()).toBe('Today');
    await page.clock.fastForward('02:00:00');
    expect(await day.textContent()).toBe('Yesterday');
  });

  it('has one day for a reader whose afternoon it is', async () => {
    const { page } = await team.openSignedIn(path, { context: { timezoneId: 'UTC' } });
    expect(await linesOf(page)).toEqual([
      dayIn('UTC', '14:57:00'),
      '14:57 Are you still open?',
      '15:02 And tomorrow?',
    ]);
  });
});

const dayIn = (timeZone: string, time: string): string => {
  const dayOf = (instant: number) =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone }).format(instant);
  const day = dayOf(atUtc(time));
  return day === dayOf(Date.now() - DAY) ? 'Yesterday' : day;
};

/** The lines that name a day, and what the customer wrote, in the order of the thread. */
const linesOf = (page: Page): Promise<string[]> =>
  page.locator('[data-days] > li').evaluateAll((items) =>
    items.flatMap((item) => {
      if (item.matches('.day')) return item.textContent!;
      const text = ['Are you still open?', 'And tomorrow?'].find((each) =>
        item.textContent!.includes(each),
      );
      return text ? `${item.querySelector('[data-clock]')!.textContent} ${text}` : [];
    }),
  );
