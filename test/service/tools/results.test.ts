// Large results are kept whole only while there is room for all of them.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServiceStore, Tx } from '../../../service/src/store/collections.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import { boundResults, LargeResults } from '../../../service/src/tools/calls/largeResults.ts';
import { resultExcerpt } from '../../../service/src/tools/calls/maskedResult.ts';
import {
  MAX_LARGE_RESULTS_CHARACTERS,
  resultOf,
  type ToolCall,
} from '../../../service/src/tools/calls/toolCall.ts';
import { unwatchedBounds } from '../../../service/src/platform/limits/bounds.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { contact } from './contact.ts';

const MEBIBYTE = 1024 * 1024;

describe('results of tool calls', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
  });
  afterEach(async () => {
    await fresh.remove();
  });

  const call = (characters: number, workspaceId = 'w') =>
    ({
      id: newId('call'),
      workspaceId,
      status: 'succeeded',
      resultJson: JSON.stringify('x'.repeat(characters)),
      hasLargeResult: characters >= MEBIBYTE,
    }) as ToolCall;
  const put = (calls: readonly ToolCall[]) =>
    store.transaction(async (tx) => {
      for (const each of calls) await tx.toolCalls.put(each);
    });
  const stored = () => store.transaction((tx) => tx.toolCalls.find({ where: {}, limit: 100 }));

  it('lose the oldest large ones, except for their beginning, when there are too many; small ones stay, and all are read only when there may be too many', async () => {
    let transactions = 0;
    const counting = {
      transaction: <T>(body: (tx: Tx) => Promise<T>) => {
        transactions += 1;
        return store.transaction(body);
      },
    } as ServiceStore;
    const largeResults = new LargeResults();
    const small = call(100);
    await put([small]);
    const large = Array.from({ length: 56 }, () => call(MEBIBYTE));
    for (const each of large) {
      await put([each]);
      await largeResults.add({ store: counting, bounds: unwatchedBounds }, each);
      const largeCharacters = (await stored())
        .filter(({ hasLargeResult }) => hasLargeResult)
        .reduce((sum, { resultJson }) => sum + resultJson!.length, 0);
      expect(largeCharacters).toBeLessThanOrEqual(MAX_LARGE_RESULTS_CHARACTERS);
    }
    expect(transactions).toBeLessThanOrEqual(5);
    const kept = await stored();
    expect(kept.reduce((sum, { resultJson }) => sum + resultJson!.length, 0)).toBeLessThan(
      MAX_LARGE_RESULTS_CHARACTERS + MEBIBYTE / 2,
    );
    expect(kept.find(({ id }) => id === small.id)).toEqual(small);
    expect(kept.at(-1)).toEqual(large.at(-1));
    expect(resultOf(kept.find(({ id }) => id === large[0]!.id)!)).toMatch(
      /^"x{8000,}… \(the rest was removed/,
    );
  });

  it('are all read by one check at a time, however many are stored at once', async () => {
    let [underWay, mostAtOnce] = [0, 0];
    const watched = {
      transaction: async <T>(body: (tx: Tx) => Promise<T>) => {
        underWay += 1;
        mostAtOnce = Math.max(mostAtOnce, underWay);
        return store.transaction(body).finally(() => (underWay -= 1));
      },
    } as ServiceStore;
    const largeResults = new LargeResults();
    const large = Array.from({ length: 56 }, () => call(MEBIBYTE));
    await put(large);
    const deps = { store: watched, bounds: unwatchedBounds };
    await Promise.all(large.map((each) => largeResults.add(deps, each)));
    expect(mostAtOnce).toBe(1);
    const kept = await stored();
    expect(kept.reduce((sum, { resultJson }) => sum + resultJson!.length, 0)).toBeLessThan(
      MAX_LARGE_RESULTS_CHARACTERS + MEBIBYTE / 2,
    );
  });

  it('make room in the workspace that stores the most: those of another stay whole', async () => {
    /** @returns how many results were dropped */
    const add = async (calls: readonly ToolCall[]) => {
      await put(calls);
      return (await store.transaction((tx) => boundResults(tx))).dropped;
    };
    const wholeOf = async (workspaceId: string) =>
      (await stored())
        .filter((each) => each.hasLargeResult && each.workspaceId === workspaceId)
        .map(({ id }) => id);
    const mine = call(MEBIBYTE, 'mine');
    expect(await add([mine])).toBe(0);
    const flood = Array.from({ length: 50 }, () => call(MEBIBYTE, 'flooder'));
    // 47 of these results fit: each is a little longer than 1 MiB, and there is room for 48 MiB.
    expect(await add(flood)).toBe(4);
    expect(await wholeOf('mine')).toEqual([mine.id]);
    expect(await wholeOf('flooder')).toEqual(flood.slice(4).map(({ id }) => id));
    // The flooder makes room for another workspace until both have as much.
    await add(Array.from({ length: 25 }, () => call(MEBIBYTE, 'mine')));
    const [leftOfFlooder, leftOfMine] = [await wholeOf('flooder'), await wholeOf('mine')];
    expect(leftOfFlooder.length + leftOfMine.length).toBe(47);
    expect(Math.abs(leftOfFlooder.length - leftOfMine.length)).toBeLessThanOrEqual(1);
    expect(leftOfFlooder).toEqual(flood.slice(50 - leftOfFlooder.length).map(({ id }) => id));
  });

  it.each(['+54 9 11 5555 1234', '+54 9 11 5555\\n1234', 'maria@example.com'])(
    'an excerpt masks %s wherever the cut lies',
    (detail) => {
      for (let at = 60; at <= 110; at++) {
        const { text, isCut } = resultExcerpt(
          { resultJson: `"${'.'.repeat(at)} ${detail} ${'.'.repeat(3000)}"` },
          contact,
          100,
        );
        expect(isCut).toBe(true);
        expect(text).not.toMatch(/5555|maria/);
      }
    },
  );

  it('an excerpt keeps a backslash before an n', () => {
    const resultJson = JSON.stringify(`C:\\new ${'.'.repeat(3000)}`);
    const { text } = resultExcerpt({ resultJson }, contact, 100);
    expect(JSON.parse(`${text}"`)).toMatch(/^C:\\new \.+$/);
  });
});
