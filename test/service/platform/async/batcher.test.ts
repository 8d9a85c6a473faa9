import { describe, expect, it } from '@jest/globals';
import { Batcher, isolateFailures } from '../../../../service/src/platform/async/batcher.ts';

const doubling = () => {
  const batches: (readonly number[])[] = [];
  const run = async (items: readonly number[]) => {
    batches.push(items);
    if (items.includes(-1)) throw new Error('minus one');
    if (items.includes(-2)) throw new RangeError('everything');
    return items.map((item) => 2 * item);
  };
  const batcher = new Batcher<number, number>({
    run: isolateFailures(run, (error) => error instanceof RangeError),
    schedule: setImmediate,
    maxItems: 100,
  });
  return { batches, batcher };
};

describe('items that are added in one turn of the event loop', () => {
  it('run as one batch, and each caller gets its own result', async () => {
    const { batches, batcher } = doubling();
    expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([2, 4, 6]);
    expect(await batcher.add(4)).toBe(8);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });

  it('run in batches of at most maxItems', async () => {
    const { batches, batcher } = doubling();
    await Promise.all(Array.from({ length: 250 }, (_, item) => batcher.add(item)));
    expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('wait while maxRunning batches are under way, and then run together', async () => {
    const batches: (readonly number[])[] = [];
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<undefined>());
    const batcher = new Batcher<number, number>({
      run: async (items) => {
        await gates[batches.push(items) - 1]!.promise;
        return items;
      },
      schedule: setImmediate,
      maxRunning: 2,
    });
    const added: Promise<number>[] = [];
    for (const item of [1, 2, 3, 4]) {
      added.push(batcher.add(item));
      await new Promise(setImmediate);
    }
    expect(batches).toEqual([[1], [2]]);
    gates[1]!.resolve(undefined);
    await added[1];
    await new Promise(setImmediate);
    expect(batches).toEqual([[1], [2], [3, 4]]);
    for (const { resolve } of gates) resolve(undefined);
    expect(await Promise.all(added)).toEqual([1, 2, 3, 4]);
  });

  it('fail alone where their own result is an error', async () => {
    const batcher = new Batcher<number, number>({
      run: async (items) => items.map((item) => (item === 2 ? new Error('two') : item)),
      schedule: process.nextTick,
    });
    const settled = await Promise.allSettled([1, 2].map((item) => batcher.add(item)));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: new Error('two') },
    ]);
  });
});

describe('a batch that fails', () => {
  it('runs again item by item, so that one bad item fails no other', async () => {
    const { batches, batcher } = doubling();
    const settled = await Promise.allSettled([1, -1, 3].map((item) => batcher.add(item)));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: new Error('minus one') },
      { status: 'fulfilled', value: 6 },
    ]);
    expect(batches).toEqual([[1, -1, 3], [1], [-1], [3]]);
  });

  it('fails as a whole where each item would fail in the same way', async () => {
    const { batches, batcher } = doubling();
    const settled = await Promise.allSettled([1, -2].map((item) => batcher.add(item)));
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(batches).toHaveLength(1);
  });
});
