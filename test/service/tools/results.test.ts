// Large results are kept whole only as long as there is room for all of them.
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

const MEBIBYTE = 1024 * 1024;
const contact = {
  id: 'ctc',
  workspaceId: 'w',
  channel: 'web_chat',
  name: null,
  phone: '5491155551234',
  email: 'maria@example.com',
  verified: false,
  createdAt: '',
} as const;

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

  it('the oldest large ones make room, their beginning stays, small ones are left alone; all are read only when there may be too many', async () => {
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
      const characters = (await stored())
        .filter(({ hasLargeResult }) => hasLargeResult)
        .reduce((sum, { resultJson }) => sum + resultJson!.length, 0);
      expect(characters).toBeLessThanOrEqual(MAX_LARGE_RESULTS_CHARACTERS);
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

  it('of the workspace that stores the most make room: another one’s stay whole', async () => {
    const keep = async (calls: readonly ToolCall[]) => {
      await put(calls);
      return (await store.transaction((tx) => boundResults(tx))).dropped;
    };
    const whole = async (workspaceId: string) =>
      (await stored())
        .filter((each) => each.hasLargeResult && each.workspaceId === workspaceId)
        .map(({ id }) => id);
    const mine = call(MEBIBYTE, 'mine');
    expect(await keep([mine])).toBe(0);
    const flood = Array.from({ length: 50 }, () => call(MEBIBYTE, 'flooder'));
    expect(await keep(flood)).toBe(4);
    expect(await whole('mine')).toEqual([mine.id]);
    expect(await whole('flooder')).toEqual(flood.slice(4).map(({ id }) => id));
    // What others need, it gives, until they have as much.
    await keep(Array.from({ length: 25 }, () => call(MEBIBYTE, 'mine')));
    const [theirs, ours] = [await whole('flooder'), await whole('mine')];
    expect(theirs.length + ours.length).toBe(47);
    expect(Math.abs(theirs.length - ours.length)).toBeLessThanOrEqual(1);
    expect(theirs).toEqual(flood.slice(50 - theirs.length).map(({ id }) => id));
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
