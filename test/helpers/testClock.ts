import type { SteadyClock } from '../../service/src/platform/clock.ts';

/** A clock that stands still until a test moves it. */
export class TestClock implements SteadyClock {
  private wallMs: number;
  private elapsedMs = 0;

  constructor(wallMs = Date.parse('2026-06-01T12:00:00Z')) {
    this.wallMs = wallMs;
  }

  now(): Date {
    return new Date(this.wallMs);
  }

  steadyMs(): number {
    return this.elapsedMs;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.wallMs += ms;
    this.elapsedMs += ms;
  }

  /** Somebody sets the clock on the wall. */
  jump(ms: number): void {
    this.wallMs += ms;
  }

  /** A new process, or a new machine: steady time has nothing to do with what it was. */
  restart(): void {
    this.elapsedMs = this.elapsedMs > 1_000 ? 17 : 1_000_000_000;
  }
}

/** A clock of a test that knows `now` alone: where it moves, time has passed. */
export const steadied = (clock: { now(): Date } & Partial<SteadyClock>): SteadyClock => ({
  now: () => clock.now(),
  steadyMs: () => clock.steadyMs?.() ?? clock.now().getTime(),
});

const LOOK_EVERY_MS = 20;

/** Wakes waiting workers when a test has moved its clock. */
export class MovedClock {
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(clock: SteadyClock) {
    let last = clock.steadyMs() - performance.now();
    this.#timer = setInterval(() => {
      const ahead = clock.steadyMs() - performance.now();
      if (ahead - last > LOOK_EVERY_MS) for (const tell of this.#listeners) tell();
      last = ahead;
    }, LOOK_EVERY_MS);
  }

  readonly onMoved = (listener: () => void): void => void this.#listeners.add(listener);

  close(): void {
    clearInterval(this.#timer);
  }
}

/**
 * What a database's clock says while time passes as on `clock`: it goes on evenly, whatever the
 * clock on the wall is set to.
 */
export function databaseClock(clock: SteadyClock): () => number {
  const start = clock.now().getTime() - clock.steadyMs();
  return () => start + clock.steadyMs();
}
