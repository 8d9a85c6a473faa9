import { afterEach, describe, expect, it } from '@jest/globals';
import { openMonotonicClock } from '../../../../service/src/platform/jobs/monotonicClock.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { apiClient, chatCustomer, type ChatCustomer } from '../../../helpers/apiClient.ts';
import { TestClock } from '../../../helpers/testClock.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-06-01T12:00:00Z');

describe('the clock by which old things are removed', () => {
  /** @param newestAgoMs the age of the newest event in the store; null: the store has none */
  const open = async (newestAgoMs: number | null) => {
    const clock = new TestClock(NOW);
    const lines: string[] = [];
    const events =
      newestAgoMs === null ? [] : [{ createdAt: new Date(NOW - newestAgoMs).toISOString() }];
    const store = {
      transaction: (fn: (tx: never) => unknown) =>
        fn({ events: { find: async () => events } } as never),
    } as never;
    const monotonic = await openMonotonicClock({
      clock,
      store,
      log: { warn: (line) => void lines.push(line) },
    });
    return {
      clock,
      lagMs: () => clock.now().getTime() - monotonic.now().getTime(),
      nowMs: () => monotonic.now().getTime(),
      lines,
    };
  };

  it.each([null, 0, 6 * DAY])(
    'follows the wall clock when nothing is odd (newest event %s ms ago)',
    async (newestAgoMs) => {
      const { clock, lagMs, lines } = await open(newestAgoMs);
      expect(lagMs()).toBe(0);
      clock.advance(40 * DAY);
      expect(lagMs()).toBe(0);
      expect(lines).toEqual([]);
    },
  );

  it('does not follow a jump forward, and counts on', async () => {
    const { clock, nowMs } = await open(0);
    clock.jump(365 * DAY);
    expect(nowMs()).toBe(NOW);
    clock.advance(DAY);
    expect(nowMs()).toBe(NOW + DAY);
  });

  it('follows a jump back', async () => {
    const { clock, lagMs } = await open(0);
    clock.jump(-DAY);
    expect(lagMs()).toBe(0);
  });

  it('doubts a start that is more than a week ahead of what is stored, for an hour, and says so', async () => {
    const { clock, nowMs, lagMs, lines } = await open(8 * DAY);
    expect(nowMs()).toBe(NOW - 8 * DAY);
    clock.advance(HOUR - 1);
    expect(lagMs()).toBe(8 * DAY);
    clock.advance(1);
    expect(lagMs()).toBe(0);
    expect(lines).toHaveLength(1);
  });
});

describe('housekeeping while the wall clock is wrong', () => {
  let service: TestService;
  let receiver: EventReceiver;
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });

  it.each(['while the service runs', 'at a start'])(
    'by a year, set forward %s, removes nothing that is young',
    async (when) => {
      let [aheadMs, passedMs] = [0, 0];
      const clock = {
        now: () => new Date(Date.now() + passedMs + aheadMs),
        steadyMs: () => performance.now() + passedMs,
      };
      receiver = await startEventReceiver();
      service = await startTestService({ ca: receiver.ca, clock, housekeepingEveryMs: 20 });
      const statusOf = async ({ token }: ChatCustomer) =>
        (await apiClient(service.url, token).get('/api/chat/messages')).status;
      const old = await chatCustomer(service.url);
      passedMs = 23.75 * HOUR;
      const { id } = await receiver.subscribe(service, 'message.received');
      await (await chatCustomer(service.url)).write('keep this');
      const deliveries = async (): Promise<{ status: string }[]> =>
        (await service.api.get(`/api/hooks/${id}/deliveries`)).body.data;
      await waitFor('the delivery', async () => (await deliveries())[0]?.status === 'delivered');
      const young = await chatCustomer(service.url);

      aheadMs = 365 * DAY;
      if (when === 'at a start') await service.restart();
      passedMs += HOUR / 2;
      await waitFor(
        'a sweep: a visitor who has been silent for a day is gone',
        async () => (await statusOf(old)) === 401,
      );
      expect(await statusOf(young)).toBe(200);
      expect(await deliveries()).toHaveLength(1);
    },
  );
});
