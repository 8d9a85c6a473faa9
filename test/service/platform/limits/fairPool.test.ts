import { FairPool } from '../../../../service/src/platform/limits/fairPool.ts';

const takeAll = (pool: FairPool, workspace: string): (() => void)[] => {
  const places: (() => void)[] = [];
  for (let leave = pool.enter(workspace); leave !== null; leave = pool.enter(workspace))
    places.push(leave);
  return places;
};

describe('a pool of places that workspaces share', () => {
  it('gives a workspace that is alone half of the places, as many as freeFor said', () => {
    const pool = new FairPool(256);
    expect(pool.freeFor('a')).toBe(128);
    expect(takeAll(pool, 'a')).toHaveLength(128);
    expect(pool.freeFor('a')).toBe(0);
  });

  it('still has a place for a ninth workspace when eight have taken all they may', () => {
    const pool = new FairPool(256);
    const taken = Array.from({ length: 8 }, (_, n) => takeAll(pool, `w${n}`).length);
    expect(taken).toEqual([128, 64, 32, 16, 8, 4, 2, 1]);
    expect(pool.freeFor('w8')).toBe(1);
  });

  it('evens out as places are given back: two workspaces that want all end with about a third each', () => {
    const pool = new FairPool(30);
    const held = { a: takeAll(pool, 'a'), b: [] as (() => void)[] };
    for (let turn = 0; turn < 100; turn += 1) {
      held.a.shift()?.();
      held.b.push(...takeAll(pool, 'b'));
      held.a.push(...takeAll(pool, 'a'));
    }
    for (const workspace of ['a', 'b']) expect([10, 11]).toContain(pool.heldBy(workspace));
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
