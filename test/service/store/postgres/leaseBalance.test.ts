import { beforeEach, describe, expect, it } from '@jest/globals';
import { LeaseBalance } from '../../../../service/src/store/postgres/jobs/leaseBalance.ts';

describe('how many leases a process gives back', () => {
  let nowMs = 0;
  let shares: LeaseBalance;
  beforeEach(() => {
    nowMs = 0;
    shares = new LeaseBalance(() => nowMs);
  });
  /** What is said a second later, and then once more. */
  const twice = (own: number): number | undefined => {
    shares.surplus(new Map([['q', own]]));
    return shares.surplus(new Map([['q', own]])).get('q');
  };

  it('is none when nobody else works', () => {
    expect(shares.isAlone).toBe(true);
    expect(twice(50)).toBeUndefined();
  });

  it.each([
    [12, [0, 0], 8],
    [12, [0], 6],
    [2, [0], 1],
    [1, [0], undefined],
    [3, [2], undefined],
    [5, [5, 5], undefined],
    [5, [9, 1], undefined],
    [9, [5, 1], 4],
  ])('of %d beside %j: %s', (own, others, expected) => {
    for (const [n, count] of others.entries())
      shares.hear(`process ${n}`, count === 0 ? {} : { q: count });
    expect(shares.isAlone).toBe(false);
    expect(twice(own)).toBe(expected);
  });

  it('is what was too many a moment ago, and still is', () => {
    shares.hear('other', {});
    expect(shares.surplus(new Map([['q', 10]])).size).toBe(0);
    expect(shares.surplus(new Map([['q', 4]])).get('q')).toBe(2);
    expect(shares.surplus(new Map([['q', 1]])).size).toBe(0);
    expect(shares.surplus(new Map([['q', 10]])).size).toBe(0);
  });

  it('leaves who has stopped, or says nothing any more, out of account', () => {
    shares.hear('stops', {});
    shares.hear('stops', null);
    expect(shares.isAlone).toBe(true);
    shares.hear('dies', {});
    nowMs += 4_999;
    expect(twice(10)).toBe(5);
    nowMs += 2;
    expect(twice(10)).toBeUndefined();
    expect(shares.isAlone).toBe(true);
  });
});
