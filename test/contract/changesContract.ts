import { describe, expect, it } from '@jest/globals';
import type { ContractStore } from './schema.ts';
import { rollBack } from './rollBack.ts';
import { put, thing } from './schema.ts';
import type { Change, Gap } from '../../service/src/store/store.ts';

type Seen = Change | Gap;

/** What the change feed promises. */
export const describeChanges = (
  current: () => ContractStore,
  reopen: () => Promise<ContractStore>,
): void => {
  describe('change feed', () => {
    /** Reads `count` changes, beginning at once. */
    const read = async (count: number, since?: string): Promise<Seen[]> => {
      const abort = new AbortController();
      const seen: Seen[] = [];
      if (count === 0) return seen;
      for await (const change of current().changes({ since, signal: abort.signal })) {
        seen.push(change as Seen);
        if (seen.length === count) break;
      }
      return seen;
    };
    const follow = (signal: AbortSignal, since?: string) =>
      current().changes({ since, signal })[Symbol.asyncIterator]();
    const short = (seen: readonly Seen[]) =>
      seen.map((change) =>
        'gap' in change
          ? 'gap'
          : `${change.collection} ${change.id}${change.document === null ? ' removed' : ''}`,
      );

    it('shows what is written after reading began, in order', async () => {
      await put(current(), thing('before'));
      const reading = read(4);
      await put(current(), thing('a'), thing('b'));
      await current().transaction(async (tx) => {
        await tx.others.put({ id: 'o' });
        await tx.things.delete('a');
      });
      const seen = await reading;
      expect(short(seen)).toEqual(['things a', 'things b', 'others o', 'things a removed']);
      expect(seen[0]).toMatchObject({ document: thing('a') });
    });

    it('shows nothing of a transaction that rolled back', async () => {
      const reading = read(1);
      await rollBack(current(), (tx) => tx.things.put(thing('never')));
      await put(current(), thing('a'));
      expect(short(await reading)).toEqual(['things a']);
    });

    it('continues from a position', async () => {
      const reading = read(3);
      await put(current(), thing('a'), thing('b'), thing('c'));
      const [first] = await reading;
      expect(short(await read(2, first!.position))).toEqual(['things b', 'things c']);
    });

    it('shows the same to several readers', async () => {
      const readings = [read(2), read(2)];
      await put(current(), thing('a'), thing('b'));
      const [one, other] = await Promise.all(readings);
      expect(one).toEqual(other);
    });

    it('says that there is a gap when it does not know the position, and continues with what is written next', async () => {
      const abort = new AbortController();
      const changes = follow(abort.signal, 'nonsense');
      const gap = await changes.next();
      expect(gap.value).toMatchObject({ gap: true, position: expect.any(String) });
      const next = changes.next();
      await put(current(), thing('a'));
      expect((await next).value).toMatchObject({ id: 'a' });
      abort.abort();
      expect((await changes.next()).done).toBe(true);
    });

    it('can be resumed from the position of a gap', async () => {
      const [gap] = await read(1, 'nonsense');
      await put(current(), thing('a'));
      expect(short(await read(1, gap!.position))).toEqual(['things a']);
    });

    it('skips no change after a restart without saying that there is a gap', async () => {
      const reading = read(1);
      await put(current(), thing('a'));
      const [{ position }] = (await reading) as [Seen];
      await put(current(), thing('b'));
      await reopen();
      expect(['gap', 'things b']).toContain(short(await read(1, position))[0]);
    });

    it('ends without an error when it is aborted, waiting or before it began', async () => {
      const abort = new AbortController();
      const waiting = follow(abort.signal).next();
      abort.abort();
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await follow(abort.signal).next()).toEqual({ done: true, value: undefined });
    });

    it('ends when the store is closed', async () => {
      const waiting = follow(new AbortController().signal).next();
      await current().close();
      expect((await waiting).done).toBe(true);
    });
  });
};
