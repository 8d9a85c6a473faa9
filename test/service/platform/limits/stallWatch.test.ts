import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { readMetrics } from '../../../helpers/metrics.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import {
  watchStalls,
  type StallWatch,
} from '../../../../service/src/platform/metrics/stallWatch.ts';

const MINUTE_MS = 60_000;

describe('the longest stall of the event loop', () => {
  let watch: StallWatch | undefined;
  let service: TestService | undefined;
  afterEach(async () => {
    watch?.stop();
    await service?.stop();
    [watch, service] = [undefined, undefined];
  });

  it('is reported for five minutes, however often it is read; a stall of a second or more is logged once', () => {
    let now = 10 * MINUTE_MS;
    const warn = jest.fn<(...line: unknown[]) => void>();
    watch = watchStalls({ warn }, () => now);
    const pass = (ms: number) => {
      for (const end = now + ms; now < end; ) {
        now = Math.min(end, now + 50);
        watch!.longestMs();
      }
    };
    pass(1000);
    expect(watch.longestMs()).toBe(0);
    now += 350;
    expect([watch.longestMs(), watch.longestMs()]).toEqual([300, 300]);
    expect(warn).not.toHaveBeenCalled();
    now += 2000;
    pass(1000);
    expect(watch.longestMs()).toBe(2000);
    expect(warn.mock.calls).toEqual([
      [{ stalledMs: 2000 }, expect.stringContaining('stood still')],
    ]);
    pass(3.9 * MINUTE_MS);
    expect(watch.longestMs()).toBe(2000);
    pass(1.2 * MINUTE_MS);
    expect(watch.longestMs()).toBe(0);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('is in /metrics and in /readyz, and reading one leaves it in the other', async () => {
    service = await startTestService();
    await fetch(`${service.url}/healthz`);
    const end = performance.now() + 400;
    while (performance.now() < end);
    const ready = async () =>
      (await (await fetch(`${service!.url}/readyz`)).json()) as {
        status: string;
        longest_stall_ms: number;
      };
    const gauge = async () =>
      (await readMetrics(service!.url)).value('conversation_service_longest_stall_seconds')!;
    const seen = [
      (await ready()).longest_stall_ms / 1000,
      await gauge(),
      await gauge(),
      (await ready()).longest_stall_ms / 1000,
    ];
    expect(Math.min(...seen)).toBeGreaterThan(0.3);
  });
});
