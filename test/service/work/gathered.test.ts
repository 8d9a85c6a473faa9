import { describe, expect, it } from '@jest/globals';
import { Gathered } from '../../../service/src/work/gathered.ts';

const doubling = () => {
  const goes: (readonly number[])[] = [];
  const gathered = new Gathered<number, number>(
    async (items) => {
      goes.push(items);
      if (items.includes(-1)) throw new Error('minus one');
      if (items.includes(-2)) throw new RangeError('everything');
      return items.map((item) => 2 * item);
    },
    (error) => error instanceof RangeError,
  );
  return { goes, gathered };
};

describe('what one turn of the event loop asks for', () => {
  it('is done in one go, and each asker gets its own result', async () => {
    const { goes, gathered } = doubling();
    expect(await Promise.all([1, 2, 3].map((item) => gathered.do(item)))).toEqual([2, 4, 6]);
    expect(await gathered.do(4)).toBe(8);
    expect(goes).toEqual([[1, 2, 3], [4]]);
  });

  it('is done in goes of a hundred, so that the loop is not held for long', async () => {
    const { goes, gathered } = doubling();
    await Promise.all(Array.from({ length: 250 }, (_, item) => gathered.do(item)));
    expect(goes.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('waits while two goes are under way, and what came meanwhile goes together', async () => {
    const goes: (readonly number[])[] = [];
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<undefined>());
    const gathered = new Gathered<number, number>(
      async (items) => {
        await gates[goes.push(items) - 1]!.promise;
        return items;
      },
      () => false,
    );
    const asked: Promise<number>[] = [];
    for (const item of [1, 2, 3, 4]) {
      asked.push(gathered.do(item));
      await new Promise(setImmediate);
    }
    expect(goes).toEqual([[1], [2]]);
    gates[1]!.resolve(undefined);
    await asked[1];
    await new Promise(setImmediate);
    expect(goes).toEqual([[1], [2], [3, 4]]);
    for (const { resolve } of gates) resolve(undefined);
    expect(await Promise.all(asked)).toEqual([1, 2, 3, 4]);
  });

  it('is tried one by one when a go fails: one item that cannot be done takes no other with it', async () => {
    const { goes, gathered } = doubling();
    const settled = await Promise.allSettled([1, -1, 3].map((item) => gathered.do(item)));
    expect(settled).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: new Error('minus one') },
      { status: 'fulfilled', value: 6 },
    ]);
    expect(goes).toEqual([[1, -1, 3], [1], [-1], [3]]);
  });

  it('fails as a whole where the error has nothing to do with any one of them', async () => {
    const { goes, gathered } = doubling();
    const settled = await Promise.allSettled([1, -2].map((item) => gathered.do(item)));
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(goes).toHaveLength(1);
  });
});
