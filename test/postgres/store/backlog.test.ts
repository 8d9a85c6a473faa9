// A claim of others' jobs does not read past a dead subscriber's backlog: counted in pages, not in
// time.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { enqueue, job } from '../../contract/schema.ts';
import { openCounted, type CountedStore } from './countedPages.ts';

const BACKLOG = 10_000;

let counted: CountedStore;
beforeEach(async () => {
  counted = await openCounted();
});
afterEach(() => counted.close());

const add = (group: string, count: number, inMs: number, rank: number) =>
  enqueue(
    counted.store,
    ...Array.from({ length: count }, (_, n) =>
      job(`${group} ${n} ${inMs}`, { group, runAt: Date.now() + inMs, rank }),
    ),
  );

/** Pages that one claim of the living group's job reads, over all its statements. */
async function pagesOfAClaim(): Promise<number> {
  const { store, asked, pagesOf } = counted;
  await add('living', 1, 0, 0);
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
  await add('dead', BACKLOG, inMs, 1);
  expect(await pagesOfAClaim()).toBeLessThan(2 * alone + 50); // reading past it: hundreds
});
