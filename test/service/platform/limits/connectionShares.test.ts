import { describe, expect, it } from '@jest/globals';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { ConnectionShares } from '../../../../service/src/platform/limits/connectionShares.ts';

const LONG_MS = 600_000;

function openShares(places: number, waitMs = LONG_MS) {
  const reached: BoundName[] = [];
  const shares = new ConnectionShares(
    { reached: (bound) => void reached.push(bound) },
    { places, waitMs },
  );
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Begins a transaction that lasts until `endFirst` ends it. */
  const run = (workspaceId: string) =>
    shares.run(workspaceId, () => {
      begun.push(workspaceId);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      ends.push(() => resolve(undefined));
      return promise;
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endFirst = async () => {
    ends.shift()?.();
    await settle();
  };
  return { shares, reached, begun, run, endFirst, settle };
}

describe('shares of the connections', () => {
  it('give a workspace alone half of the places; another workspace begins at once, and the two take turns', async () => {
    const { shares, begun, run, endFirst, settle } = openShares(4);
    const all = [run('a'), run('a'), run('a'), run('a'), run('b'), run('b'), run('b')];
    await settle();
    expect(begun).toEqual(['a', 'a', 'b']);
    expect(shares.waiting).toBe(4);
    for (let ended = 0; ended < all.length; ended += 1) await endFirst();
    await Promise.all(all);
    expect(begun.slice(3).sort()).toEqual(['a', 'a', 'b', 'b']);
    expect(begun.slice(3, 5).sort()).toEqual(['a', 'b']);
    expect([shares.held, shares.waiting]).toEqual([0, 0]);
  });

  it('refuse a transaction that waits too long, or behind too many others, and take it out of the queue', async () => {
    const { shares, reached, run, endFirst } = openShares(2, 1);
    const first = run('a');
    await expect(run('a')).rejects.toMatchObject({
      code: 'unavailable',
      details: { retryAfterSeconds: 2 },
    });
    expect(shares.waiting).toBe(0);
    const long = openShares(2);
    const held = long.run('a');
    const waiting = Array.from({ length: 1000 }, () => long.run('a'));
    await expect(long.run('a')).rejects.toMatchObject({ code: 'unavailable' });
    for (let ended = 0; ended <= waiting.length; ended += 1) await long.endFirst();
    await Promise.all([held, ...waiting]);
    expect([...reached, ...long.reached]).toEqual([
      'workspace_transactions',
      'workspace_transactions',
    ]);
    await endFirst();
    await first;
  });

  it('get the place of a transaction back when it fails', async () => {
    const { shares, run, endFirst } = openShares(2);
    await expect(shares.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const next = run('a');
    await endFirst();
    await next;
    expect(shares.held).toBe(0);
  });
});
