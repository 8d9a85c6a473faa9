import type { Logger } from 'pino';

/** A stall of this length or more is logged, and /readyz says what to do. */
export const LONG_STALL_MS = 1_000;

/** For how many minutes a stall is reported. */
export const STALLS_SHOWN_MINUTES = 5;

const TICK_MS = 50;
const MINUTE_MS = 60_000;

/** Measures how long the event loop stands still. Reading the result does not reset it. */
export interface StallWatch {
  /** The longest stall of this minute and the four before it, to within `TICK_MS`. */
  longestMs(): number;
  stop(): void;
}

/**
 * Watches a timer that is late when the event loop stands still: because of one long computation,
 * or because the machine gives the process no time.
 */
export function watchStalls(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): StallWatch {
  /** The longest stall of each minute, by the minute's number. */
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
        'the event loop stood still; no request was answered in this time',
      );
  };
  const timer = setInterval(tick, TICK_MS);
  timer.unref();
  return {
    longestMs() {
      tick(); // the timer may be late now
      return Math.round(Math.max(...longest.values()));
    },
    stop: () => clearInterval(timer),
  };
}
