/**
 * How many tests and hooks of this file have failed so far, as test/environment.mjs counts them; 0
 * outside of jest.
 */
export const failuresSoFar = (): number =>
  (globalThis as { failuresSoFar?: number }).failuresSoFar ?? 0;
