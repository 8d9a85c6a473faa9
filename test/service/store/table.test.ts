import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { systemTime } from '../../../service/src/store/clockAndLog.ts';
import { JobClock } from '../../../service/src/store/lowdb/jobs/jobClock.ts';
import { LowdbUnitOfWork } from '../../../service/src/store/lowdb/unitOfWork.ts';
import { State } from '../../../service/src/store/lowdb/state.ts';
import type { AnyQuery } from '../../../service/src/store/unitOfWork.ts';
import type { Thing } from '../../contract/schema.ts';
import { contractSchema } from '../../contract/schema.ts';

const few = <T>(...values: T[]) => fc.constantFrom(...values);
const things = fc.record<Thing>({
  id: few('a', 'b', 'c', 'd', 'e', 'f'),
  group: few('g', 'h', '1:g'),
  kind: few('k', 'l'),
  number: fc.integer({ min: -2, max: 2 }),
  at: few('2026-01-01', '2026-01-02', '2026-01-03'),
  code: few(null, 'x', 'y', 'z'),
});
const removals = fc.record({ remove: few('a', 'b', 'c', 'd') });
const transactions = fc.record({
  steps: fc.array(fc.oneof(things, removals), { maxLength: 5 }),
  rolledBack: fc.boolean(),
});
const queries = fc.record({
  where: few<AnyQuery['where']>(
    {},
    { group: 'g' },
    { group: 'h', kind: 'k' },
    { group: 'g', number: 1 },
  ),
  orderBy: few('id', 'at', 'number'),
  direction: few('asc' as const, 'desc' as const),
  limit: fc.integer({ min: 1, max: 4 }),
  after: few(undefined, { id: 'c' }, { id: undefined }),
});

/** What the indexes should answer, by a full scan. */
const search = (model: Map<string, Thing>, query: AnyQuery): Thing[] => {
  const { where, orderBy = 'id', direction, after, limit } = query;
  const sign = direction === 'desc' ? -1 : 1;
  const compare = (a: unknown, b: unknown) =>
    a === b ? 0 : (a as string) < (b as string) ? -sign : sign;
  const value = (thing: Thing) => thing[orderBy as keyof Thing];
  const isBehind = (thing: Thing) => {
    if (after === undefined) return true;
    const order = compare(value(thing), after.value);
    return order > 0 || (order === 0 && after.id !== undefined && compare(thing.id, after.id) > 0);
  };
  return [...model.values()]
    .filter((thing) =>
      Object.entries(where).every(([field, wanted]) => thing[field as keyof Thing] === wanted),
    )
    .filter(isBehind)
    .sort((a, b) => compare(value(a), value(b)) || compare(a.id, b.id))
    .slice(0, limit);
};

/** The schema orders by number only over all things, and by time only within a group. */
const answerable = (orderBy: string, where: AnyQuery['where']): AnyQuery['where'] => {
  if (orderBy === 'number') return {};
  return orderBy === 'at' ? { group: 'g', ...where } : where;
};

const SOME_VALUE = { id: 'c', at: '2026-01-02', number: 0 };

const time = new JobClock(systemTime);

describe('tables', () => {
  it('find what a full scan finds, whatever was put, removed or rolled back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(transactions, { maxLength: 12 }),
        fc.array(queries, { maxLength: 8 }),
        async (history, asked) => {
          const state = new State(contractSchema, {});
          const table = state.table('things');
          let model = new Map<string, Thing>();
          for (const { steps, rolledBack } of history) {
            const work = new LowdbUnitOfWork(state, time);
            const after = new Map(model);
            for (const step of steps) {
              if ('remove' in step) {
                expect(await work.delete('things', step.remove)).toBe(after.delete(step.remove));
                continue;
              }
              const taken =
                step.code !== null &&
                [...after.values()].some(({ id, code }) => code === step.code && id !== step.id);
              if (taken) await expect(work.put('things', step)).rejects.toThrow('already holds');
              else {
                await work.put('things', step);
                after.set(step.id, step);
              }
            }
            if (rolledBack) work.rollBack();
            else model = after;
          }
          for (const { after, ...rest } of asked) {
            const query = { ...rest, where: answerable(rest.orderBy, rest.where) };
            const value = SOME_VALUE[query.orderBy as 'id'];
            const whole = {
              ...query,
              after: after && { value, id: query.orderBy === 'id' ? undefined : after.id },
            };
            expect(table.find(whole)).toEqual(search(model, whole));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
