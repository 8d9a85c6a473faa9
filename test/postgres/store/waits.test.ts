// Two transactions that share no document never wait for each other, whatever else they have in
// common.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { job, put, thing, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { openStore } from './contractStores.ts';
import { claimAll, openStage, type Stage } from './twoProcesses.ts';

const SOON_MS = 8_000; // long before a lock's time is over (15 s)
const soon = <T>(what: string, promise: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what} waits`)), SOON_MS);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
};

describe('two that share no document', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  afterEach(() => stage.close());

  /** Writes a document, and a job for it. */
  const write = (store: ContractStore, id: string, inMs = 0) =>
    store.transaction(async (tx) => {
      await tx.things.get(id);
      await tx.things.put(thing(id));
      await tx.jobs.enqueue(job(id, { group: 'shared', runAt: Date.now() + inMs }));
    });

  it.each([
    ['at once', 0],
    ['later', 3_600_000],
  ])(
    'add jobs to the same group, due %s, while one is stopped before its commit',
    async (_when, inMs) => {
      const { stoppable, other, database } = stage;
      database.stopBeforeCommit();
      const first = write(stoppable, 'a', inMs);
      await waitFor('it to stand before its commit', () => database.stopped > 0);
      await soon('the other', write(other, 'b', inMs));
      if (inMs === 0) await claimAll(other, 'b'); // nor does a claim wait
      database.goOn();
      await first;
      if (inMs === 0) await claimAll(other, 'a');
    },
  );

  it('one goes on while more transactions than there are connections wait for another document', async () => {
    const { schema, other } = stage;
    const few = await openStore(schema, { connections: 5 });
    try {
      await put(few, thing('hot'));
      const gate = Promise.withResolvers<undefined>();
      const locked = Promise.withResolvers<undefined>();
      const holder = other.transaction(async (tx) => {
        await tx.things.get('hot');
        locked.resolve(undefined);
        await gate.promise;
      });
      await locked.promise;
      const increment = () =>
        few.transaction(async (tx) => {
          const hot = await tx.things.get('hot');
          await tx.things.put({ ...hot!, number: hot!.number + 1 });
        });
      const waiting = Promise.all(Array.from({ length: 40 }, increment));
      waiting.catch(() => {}); // awaited below
      try {
        await soon('another document', put(few, thing('cold')));
      } finally {
        gate.resolve(undefined);
      }
      await holder;
      await waiting;
      expect((await few.transaction((tx) => tx.things.get('hot')))!.number).toBe(40);
    } finally {
      await few.close();
    }
  });
});
