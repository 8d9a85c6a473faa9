import { describe, expect, it } from '@jest/globals';
import {
  MAX_IN_FLIGHT,
  INITIAL_IN_FLIGHT,
  InFlightLimit,
  MIN_IN_FLIGHT,
} from '../../../../service/src/deliveries/sending/inFlightLimits.ts';

describe('in-flight limit', () => {
  const use = (limit: InFlightLimit, verdict: 'success' | 'retry', durationMs: number) => {
    while (limit.free > 0) limit.start();
    while (limit.inFlight > 0) limit.end(verdict, durationMs);
  };

  it('starts at 4 and rises to 32 while answers are fast', () => {
    const limit = new InFlightLimit(10_000);
    expect(limit.free).toBe(INITIAL_IN_FLIGHT);
    for (let n = 0; n < 500; n++) use(limit, 'success', 10);
    expect(limit.limit).toBe(MAX_IN_FLIGHT);
  });

  it('does not rise on slow answers, and halves on each failure, down to 1', () => {
    const limit = new InFlightLimit(10_000);
    use(limit, 'success', 2000);
    expect(limit.limit).toBe(INITIAL_IN_FLIGHT);
    limit.start();
    limit.end('retry', 10);
    expect(limit.limit).toBe(2);
    for (let n = 0; n < 5; n++) use(limit, 'retry', 10);
    expect(limit.limit).toBe(MIN_IN_FLIGHT);
  });

  it('rises only when it was used to the full', () => {
    const limit = new InFlightLimit(10_000);
    for (let n = 0; n < 100; n++) {
      limit.start();
      limit.end('success', 1);
    }
    expect(limit.limit).toBe(INITIAL_IN_FLIGHT);
  });
});
