import { FairPool } from '../../../../service/src/platform/limits/fairPool.ts';

const takeAll = (pool: FairPool, workspace: string): (() => void)[] => {
  const places: (() => void)[] = [];
  for (let leave = pool.enter(workspace); leave !== null; leave = pool.enter(workspace))
    places.push(leave);
  return places;
};

describe('a pool of places that workspaces share', () => {
  it('gives a workspace that is alone half of it, and as many as it was told', () => {
    const pool = new FairPool(256);
    expect(pool.freeFor('a')).toBe(128);
    expect(takeAll(pool, 'a')).toHaveLength(128);
    expect(pool.freeFor('a')).toBe(0);
  });

  it('always has a place for one more workspace, however many have taken all they may', () => {
    const pool = new FairPool(256);
    const taken = Array.from({ length: 8 }, (_, n) => takeAll(pool, `w${n}`).length);
    expect(taken).toEqual([128, 64, 32, 16, 8, 4, 2, 1]);
    expect(pool.held).toBeLessThan(256);
  });

  it('evens out as places are given back: of two workspaces that want all, none ends with much more than a third', () => {
    const pool = new FairPool(30);
    const held = { a: takeAll(pool, 'a'), b: [] as (() => void)[] };
    for (let turn = 0; turn < 100; turn += 1) {
      held.a.shift()?.();
      held.b.push(...takeAll(pool, 'b'));
      held.a.push(...takeAll(pool, 'a'));
    }
    expect(pool.heldBy('a') + pool.heldBy('b')).toBeGreaterThanOrEqual(19);
    expect(Math.abs(pool.heldBy('a') - pool.heldBy('b'))).toBeLessThanOrEqual(1);
  });

  it('takes a place back once, however often it is given back', () => {
    const pool = new FairPool(4);
    const leave = pool.enter('a')!;
    pool.enter('a');
    leave();
    leave();
    expect(pool.held).toBe(1);
  });
});
