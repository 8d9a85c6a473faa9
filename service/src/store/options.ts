/** Receives what an operator should know. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** `steadyMs` never jumps. */
export interface StoreClock {
  now(): Date;
  steadyMs(): number;
}

export const systemTime: StoreClock = { now: () => new Date(), steadyMs: () => performance.now() };

export const silent: Logger = { info() {}, warn() {}, error() {} };
