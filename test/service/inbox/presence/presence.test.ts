// Who looks and who writes: how often that is stored, and for how long.
import { describe, expect, it } from '@jest/globals';
import { sweepAll } from '../../../../service/src/app/retention/housekeeping.ts';
import {
  presenceAfter,
  type Doing,
  type Presence,
} from '../../../../service/src/inbox/presence/presence.ts';
import { openFreshStore } from '../../../helpers/openStore.ts';

describe('what is stored of a member who is there', () => {
  const of = { workspaceId: 'ws', conversationId: 'conv_1', memberId: 'mbr_1' };
  const start = Date.UTC(2026, 0, 1);

  /** @returns the seconds at which something is stored of what a page says */
  function stored(said: readonly (readonly [second: number, doing: Doing])[]): readonly number[] {
    let presence: Presence | null = null;
    const seconds: number[] = [];
    for (const [second, doing] of said) {
      const next = presenceAfter(presence, of, doing, new Date(start + second * 1000));
      if (next === null) continue;
      presence = next;
      seconds.push(second);
    }
    return seconds;
  }
  const every = (step: number, upTo: number, doing: Doing) =>
    Array.from({ length: upTo / step + 1 }, (_, at) => [at * step, doing] as const);

  it('is written about once a minute while they look, and never lapses between', () =>
    expect(stored(every(25, 200, 'looking'))).toEqual([0, 50, 100, 150, 200]));

  it('is written every four seconds while they write, however often they say so', () =>
    expect(stored(every(1, 20, 'writing'))).toEqual([0, 4, 8, 12, 16, 20]));

  it('is written when they stop or leave, once', () =>
    expect(
      stored([
        [0, 'writing'],
        [1, 'looking'],
        [2, 'stopped'],
        [3, 'stopped'],
        [4, 'left'],
        [5, 'left'],
      ]),
    ).toEqual([0, 2, 4]));
});

describe('who has long been gone', () => {
  it('is removed by the clean-up', async () => {
    const { store, remove } = await openFreshStore();
    const now = new Date();
    const of = { workspaceId: 'ws', conversationId: 'conv_1' };
    const lately = new Date(now.getTime() - 10 * 60_000);
    await store.transaction(async (tx) => {
      await tx.presences.put(presenceAfter(null, { ...of, memberId: 'a' }, 'looking', lately)!);
      await tx.presences.put(presenceAfter(null, { ...of, memberId: 'b' }, 'looking', now)!);
    });
    await sweepAll(store, now, { days: 30, conversationDays: 0 });
    const left = await store.transaction((tx) =>
      tx.presences.find({ where: { conversationId: 'conv_1' }, limit: 9 }),
    );
    expect(left.map(({ memberId }) => memberId)).toEqual(['b']);
    await remove();
  });
});
