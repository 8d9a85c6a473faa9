import type { Logger } from 'pino';

/**
 * A stall that the log tells of, and /readyz says what to do about: nobody waits so long for a
 * page.
 */
export const LONG_STALL_MS = 1_000;

/** For how long a stall is told of. */
export const STALLS_SHOWN_MINUTES = 5;

const TICK_MS = 50;
const MINUTE_MS = 60_000;

/**
 * How long the event loop stood still at a time. Reading it takes nothing away from other readers.
 */
export interface StallWatch {
  /** The longest stall of the last five minutes, give or take `TICK_MS`. */
  longestMs(): number;
  stop(): void;
}

/**
 * Watches by a timer that comes late when the event loop stands still: one request, one pattern or
 * one large answer that is worked on without a break, or a machine that gives the process no time.
 */
export function watchStalls(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): StallWatch {
  /** The longest of each minute, by its number. */
  const longest = new Map<number, number>();
  const minuteOf = (time: number) => Math.floor(time / MINUTE_MS);
  let last = now();

  const tick = () => {
    const time = now();
    const stalledMs = Math.max(0, time - last - TICK_MS);
    last = time;
    const minute = minuteOf(time);
    longest.set(minute, Math.max(longest.get(minute) ?? 0, stalledMs));
    for (const old of longest.keys()) if (old <= minute - STALLS_SHOWN_MINUTES) longest.delete(old);
    if (stalledMs >= LONG_STALL_MS)
      log.warn(
        { stalledMs: Math.round(stalledMs) },
        'the event loop stood still: no request was answered in this time',
      );
  };
  const timer = setInterval(tick, TICK_MS);
  timer.unref();
  return {
    longestMs() {
      tick(); // the question may come before the timer
      return Math.round(Math.max(...longest.values()));
    },
    stop: () => clearInterval(timer),
  };
}
