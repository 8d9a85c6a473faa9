import { describe, expect, it } from '@jest/globals';
import {
  MAX_IN_FLIGHT,
  INITIAL_IN_FLIGHT,
  InFlightLimit,
  InFlightLimits,
} from '../../../../service/src/deliveries/sending/inFlightLimits.ts';

const TIMEOUT_MS = 10_000;
const RETRY_DELAYS_MS = [5000, 30_000, 120_000];

interface Receiver {
  /**
   * Requests that it handles at once; others wait in its queue, also those that nobody waits for
   * any more.
   */
  readonly workers?: number;
  /** How long a request takes that begins at that moment. */
  readonly serviceMs: (at: number) => number;
}

interface Outcome {
  delivered: number;
  failed: number;
  timedOut: number;
  lastTimeOutAt: number;
  endedAt: number;
  mostInFlight: number;
  /** How long each answer took that came in time, in the order of the answers. */
  readonly waitsMs: number[];
}

/**
 * Simulates deliveries to a receiver that queues what it cannot handle yet. The limit is the real
 * one, the time is simulated.
 */
function deliverAll(
  events: number,
  { workers = 1, serviceMs }: Receiver,
  subscriptions = 1,
): Outcome {
  let now = 0;
  const agenda: { at: number; run: () => void }[] = [];
  const schedule = (when: number, run: () => void) => void agenda.push({ at: when, run });
  const outcome: Outcome = {
    delivered: 0,
    failed: 0,
    timedOut: 0,
    lastTimeOutAt: 0,
    endedAt: 0,
    mostInFlight: 0,
    waitsMs: [],
  };

  const queue: (() => void)[] = [];
  let busy = 0;
  const handle = () => {
    while (busy < workers && queue.length > 0) {
      const done = queue.shift()!;
      busy += 1;
      schedule(now + serviceMs(now), () => {
        busy -= 1;
        done();
        handle();
      });
    }
  };

  const senders = Array.from({ length: subscriptions }, () => ({
    limit: new InFlightLimit(TIMEOUT_MS, () => now),
    waiting: [] as { tries: number }[],
  }));
  type Sender = (typeof senders)[number];
  for (let n = 0; n < events; n += 1) senders[n % subscriptions]!.waiting.push({ tries: 0 });
  const send = (sender: Sender) => {
    while (sender.limit.free > 0 && sender.waiting.length > 0) {
      const event = sender.waiting.shift()!;
      const sentAt = now;
      let isOver = false;
      event.tries += 1;
      sender.limit.start();
      outcome.mostInFlight = Math.max(outcome.mostInFlight, sender.limit.inFlight);
      queue.push(() => {
        if (isOver) return;
        isOver = true;
        sender.limit.end('success', now - sentAt);
        outcome.delivered += 1;
        outcome.waitsMs.push(now - sentAt);
        send(sender);
      });
      schedule(now + TIMEOUT_MS, () => {
        if (isOver) return;
        isOver = true;
        sender.limit.end('retry', TIMEOUT_MS);
        outcome.timedOut += 1;
        outcome.lastTimeOutAt = now;
        const delayMs = RETRY_DELAYS_MS[event.tries - 1];
        if (delayMs === undefined) outcome.failed += 1;
        else schedule(now + delayMs, () => (sender.waiting.push(event), send(sender)));
        if (sender.limit.pausedMs > 0) schedule(now + sender.limit.pausedMs, () => send(sender));
        send(sender);
      });
    }
    handle();
  };
  for (const sender of senders) send(sender);
  while (outcome.delivered + outcome.failed < events) {
    // Take the earliest entry; of several, the one that was added first.
    let next = 0;
    for (let i = 1; i < agenda.length; i += 1) if (agenda[i]!.at < agenda[next]!.at) next = i;
    const [{ at: when, run }] = agenda.splice(next, 1) as [(typeof agenda)[number]];
    now = when;
    run();
  }
  outcome.endedAt = now;
  return outcome;
}

const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0);

/** Begins as many requests as the limit allows, and has one of them succeed. */
const answerOneOfMany = (limit: InFlightLimit, durationMs: number) => {
  while (limit.free > 0) limit.start();
  limit.end('success', durationMs);
};

describe('the in-flight limit of a subscription', () => {
  it('takes a burst of 1,000 events to a receiver that handles ten a second, without a time-out and without leaving it idle', () => {
    const { delivered, timedOut, endedAt, waitsMs } = deliverAll(1000, { serviceMs: () => 100 });
    expect({ delivered, timedOut, endedAt }).toEqual({
      delivered: 1000,
      timedOut: 0,
      endedAt: 100_000,
    });
    expect(most(waitsMs)).toBeLessThan(0.2 * TIMEOUT_MS);
  });

  it.each([1, 5, 20, 100, 200, 400, 1000, 2400])(
    'settles well below the deadline where requests are handled one by one in %i ms',
    (serviceMs) => {
      const { delivered, timedOut, waitsMs } = deliverAll(200, { serviceMs: () => serviceMs });
      expect({ delivered, timedOut }).toEqual({ delivered: 200, timedOut: 0 });
      expect(most(waitsMs.slice(100))).toBeLessThanOrEqual(
        Math.max(0.3 * TIMEOUT_MS, 2 * serviceMs),
      );
    },
  );

  it('uses all of a quick receiver that handles many at once', () => {
    const { mostInFlight, endedAt } = deliverAll(1000, { workers: 64, serviceMs: () => 50 });
    expect(mostInFlight).toBe(MAX_IN_FLIGHT);
    expect(endedAt).toBeLessThan(4000);
  });

  it('seven subscriptions of one receiver share it without a time-out', () => {
    expect(deliverAll(700, { serviceMs: () => 200 }, 7)).toMatchObject({
      delivered: 700,
      timedOut: 0,
    });
  });

  it('settles again when the receiver turns from 5 ms to 1 s a request while 32 are under way, and loses nothing', () => {
    const { delivered, failed, timedOut, lastTimeOutAt, mostInFlight, waitsMs } = deliverAll(1500, {
      serviceMs: (at) => (at < 5000 ? 5 : 1000),
    });
    expect({ delivered, failed, mostInFlight }).toEqual({
      delivered: 1500,
      failed: 0,
      mostInFlight: 32,
    });
    expect(timedOut).toBeLessThanOrEqual(32); // what was under way already
    expect(lastTimeOutAt).toBeLessThan(60_000);
    expect(most(waitsMs.slice(-400))).toBeLessThanOrEqual(0.3 * TIMEOUT_MS);
  });

  it('comes back to 32 within 130 quick answers after all 32 have timed out at once', () => {
    let now = 0;
    const limit = new InFlightLimit(TIMEOUT_MS, () => now);
    const answer = () => {
      now += 5;
      answerOneOfMany(limit, 5);
    };
    for (let n = 0; n < 200; n += 1) answer();
    expect(limit.limit).toBe(32);
    while (limit.inFlight > 0) limit.end('retry', TIMEOUT_MS);
    expect(limit.limit).toBe(1);
    now += 200;
    let answers = 0;
    while (limit.limit < 32) {
      answer();
      answers += 1;
    }
    expect(answers).toBeLessThan(130);
  });

  it('one time-out among good answers halves it, no more', () => {
    const limit = new InFlightLimit(TIMEOUT_MS);
    for (let n = 0; n < 200; n += 1) answerOneOfMany(limit, 5);
    limit.end('retry', TIMEOUT_MS);
    expect(limit.limit).toBe(16);
  });

  it('rises only when it was used to the full', () => {
    const limit = new InFlightLimit(TIMEOUT_MS);
    for (let n = 0; n < 100; n += 1) {
      limit.start();
      limit.end('success', 1);
    }
    expect(limit.limit).toBe(INITIAL_IN_FLIGHT);
  });

  it('takes an answer within a tenth of the deadline as quick and one after three tenths as slow, whatever the deadline', () => {
    const after = (durationMs: number, timeoutMs: number) => {
      const limit = new InFlightLimit(timeoutMs);
      for (let n = 0; n < 4; n += 1) answerOneOfMany(limit, durationMs);
      return Math.sign(limit.limit - INITIAL_IN_FLIGHT);
    };
    for (const timeoutMs of [500, 10_000, 60_000]) {
      expect([0.05, 0.2, 0.4].map((part) => after(part * timeoutMs, timeoutMs))).toEqual([
        1, 0, -1,
      ]);
    }
  });

  it('attempts a receiver that always fails at most ten times a second, from the fifth failure in a row until the first answer', () => {
    let now = 0;
    const limit = new InFlightLimit(TIMEOUT_MS, () => now);
    let tries = 0;
    for (; now < 10_000; now += 1) {
      if (limit.free === 0) continue;
      limit.start();
      limit.end('retry', 1);
      tries += 1;
    }
    expect(tries).toBeGreaterThan(90);
    expect(tries).toBeLessThanOrEqual(105);
    now += 100;
    limit.start();
    limit.start();
    limit.end('retry', 5);
    expect([limit.pausedMs, limit.free]).toEqual([100, 0]);
    limit.end('success', 5); // the other request that was under way
    expect([limit.pausedMs, limit.free > 0]).toEqual([0, true]);
  });

  it('a refusal that is final (4xx) is an answer: nothing is paused', () => {
    const limit = new InFlightLimit(TIMEOUT_MS);
    for (let n = 0; n < 50; n += 1) {
      limit.start();
      limit.end('failure', 5);
    }
    expect(limit.free).toBe(INITIAL_IN_FLIGHT);
  });
});

describe('the limits of all subscriptions', () => {
  it('forget those that have long been idle, however many come and go, and none that is in use', () => {
    let now = 0;
    const limits = new InFlightLimits(TIMEOUT_MS, () => now);
    limits.of('busy').start();
    for (let n = 0; n < 10_000; n += 1) {
      now += 60_000;
      const limit = limits.of(`sub_${n}`);
      limit.start();
      limit.end('success', 5);
    }
    expect(limits.size).toBeLessThan(150);
    expect(limits.of('busy').inFlight).toBe(1);
  });
});
