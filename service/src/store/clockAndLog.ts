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
  /** For tests, whose clocks are moved: calls the listener after each move. */
  onMoved?(listener: () => void): void;
}

export const systemTime: StoreClock = { now: () => new Date(), steadyMs: () => performance.now() };

export const silent: Logger = { info() {}, warn() {}, error() {} };
