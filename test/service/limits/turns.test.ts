import { describe, expect, it } from '@jest/globals';
import type { BoundName } from '../../../service/src/limits/bounds.ts';
import { Turns } from '../../../service/src/limits/turns.ts';

const LONG_MS = 600_000;

function open(places: number, waitMs = LONG_MS) {
  const reached: BoundName[] = [];
  const turns = new Turns({ places, bounds: { reached: (bound) => void reached.push(bound) }, bound: 'workspace_transactions', waitMs });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Begins what lasts until it is ended. */
  const run = (workspaceId: string) =>
    turns.run(workspaceId, () => {
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
  return { turns, reached, begun, run, endFirst, settle };
}

describe('turns', () => {
  it('a workspace alone has half of the places; one that comes later begins at once, and lines are served in turn', async () => {
    const { turns, begun, run, endFirst, settle } = open(4);
    const all = [run('a'), run('a'), run('a'), run('a'), run('b'), run('b'), run('b')];
    await settle();
    expect(begun).toEqual(['a', 'a', 'b']);
    expect(turns.waiting).toBe(4);
    for (let ended = 0; ended < all.length; ended += 1) await endFirst();
    await Promise.all(all);
    expect(begun.slice(3).sort()).toEqual(['a', 'a', 'b', 'b']);
    expect(begun.slice(3, 5).sort()).toEqual(['a', 'b']);
    expect([turns.held, turns.waiting]).toEqual([0, 0]);
  });

  it('who waits too long, or behind too many, is refused, and leaves the line', async () => {
    const { turns, reached, run, endFirst } = open(2, 1);
    const first = run('a');
    await expect(run('a')).rejects.toMatchObject({ code: 'unavailable', details: { retryAfterSeconds: 2 } });
    expect(turns.waiting).toBe(0);
    const long = open(2);
    const held = long.run('a');
    const waiting = Array.from({ length: 1000 }, () => long.run('a'));
    await expect(long.run('a')).rejects.toMatchObject({ code: 'unavailable' });
    for (let ended = 0; ended <= waiting.length; ended += 1) await long.endFirst();
    await Promise.all([held, ...waiting]);
    expect([...reached, ...long.reached]).toEqual(['workspace_transactions', 'workspace_transactions']);
    await endFirst();
    await first;
  });

  it('what fails gives its place back', async () => {
    const { turns, run, endFirst } = open(2);
    await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const next = run('a');
    await endFirst();
    await next;
    expect(turns.held).toBe(0);
  });
});
