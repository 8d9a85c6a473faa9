/** What every store is given, whatever is behind it. */

/** Where the store says what an operator should know. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** The time of jobs; `steadyMs` never jumps. */
export interface StoreClock {
  now(): Date;
  steadyMs(): number;
}

export const systemTime: StoreClock = { now: () => new Date(), steadyMs: () => performance.now() };

export const silent: Logger = { info() {}, warn() {}, error() {} };
