// A claim of others' jobs does not read past a dead subscriber's backlog: counted in pages, not in
// time.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { openCounted, type CountedStore } from './countedPages.ts';

const BACKLOG = 10_000;

let counted: CountedStore;
beforeEach(async () => {
  counted = await openCounted();
});
afterEach(() => counted.close());

const enqueue = (group: string, count: number, inMs: number, rank: number) =>
  counted.store.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1)
      await tx.jobs.enqueue({
        id: `${group} ${n} ${inMs}`,
        queue: 'q',
        group,
        runAt: Date.now() + inMs,
        rank,
        data: {},
      });
  });

/** Pages that one claim of the living group's job reads, over all its statements. */
async function pagesOfAClaim(): Promise<number> {
  const { store, asked, pagesOf } = counted;
  await enqueue('living', 1, 0, 0);
  asked.length = 0;
  const jobs = await store.claim({
    queue: 'q',
    limit: 10,
    freeSlots: (group) => (group === 'dead' ? 0 : 4),
    leaseMs: 60_000,
  });
  expect(jobs.map(({ group }) => group)).toEqual(['living']);
  const statements = asked.filter(({ text }) => /^\s*WITH/.test(text));
  expect(statements.some(({ name }) => name === 'cs_claim')).toBe(true);
  const pages = await pagesOf(statements);
  await store.transaction((tx) => tx.jobs.complete(jobs[0]!.id));
  return pages;
}

it.each([
  ['waits for its time', 3_600_000],
  ['is due', -1_000],
])('a claim for others reads no more while the backlog of one group %s', async (_what, inMs) => {
  const alone = await pagesOfAClaim();
  await enqueue('dead', BACKLOG, inMs, 1);
  expect(await pagesOfAClaim()).toBeLessThan(2 * alone + 50); // reading past it: hundreds
});
