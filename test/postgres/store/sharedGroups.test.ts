// Several processes serve the groups of one queue: nobody's work waits for a process that died or
// stands still, and together they keep each group's limit.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';
import { add, claim, claimAll, complete, openStage, type Stage } from './twoProcesses.ts';

describe('two processes that both hold a group for theirs', () => {
  let schema: string;
  let one: ContractStore;
  let another: ContractStore;
  beforeEach(async () => {
    schema = freshSchema();
    // They do not tell each other that they work.
    one = await openStore(schema, undefined, 5, false);
    another = await openStore(schema, undefined, 5, false);
  });
  afterEach(async () => {
    await one.close();
    await another.close();
    await removeSchema(schema);
  });

  it('take no more of it together than its limit, also when they claim at the same moment', async () => {
    const enqueue = (id: string, rank: number) =>
      one.transaction((tx) =>
        tx.jobs.enqueue({ id, queue: 'q', group: 'g', runAt: Date.now(), rank, data: {} }),
      );
    const claimOne = (store: ContractStore) =>
      store.claim({ queue: 'q', limit: 10, freeSlots: () => 1, leaseMs: 60_000 });
    // After seven fresh jobs, a retry is next for the one; for the other, a fresh job is.
    for (let n = 0; n < 7; n += 1) {
      await enqueue(`fresh ${n}`, 0);
      expect(await claimOne(one)).toHaveLength(1);
      await complete(one, `fresh ${n}`);
    }
    const client = await openClient();
    // A claim takes long enough that the second one begins within it.
    await client.query(`CREATE FUNCTION "${schema}".wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE UPDATE ON "${schema}".jobs FOR EACH ROW EXECUTE FUNCTION "${schema}".wait()`);
    await client.end();
    await enqueue('fresh', 0);
    await enqueue('retry', 1);
    const claimed = await Promise.all([claimOne(one), claimOne(another)]);
    expect(claimed.flat()).toHaveLength(1);
  });
});

describe('of two processes', () => {
  let stage: Stage;
  /** Groups that the process that can be stopped serves, and one that the other serves. */
  let itsGroup: string;
  let othersGroup: string;
  beforeEach(async () => {
    stage = await openStage();
    itsGroup = await groupOf(stage.stopped, stage.other);
    othersGroup = await groupOf(stage.other, stage.stopped);
  });
  /** A group of which one process always gets the work, though the other is told first and asks first. */
  const groupOf = async (one: ContractStore, another: ContractStore): Promise<string> => {
    const winner = async (group: string): Promise<ContractStore> => {
      await add(another, 'job', group);
      try {
        return await waitFor(
          'it to be claimed',
          async () => {
            for (const store of [another, one]) if ((await claim(store)).length > 0) return store;
            return null;
          },
          { everyMs: 2 },
        );
      } finally {
        await complete(another, 'job');
      }
    };
    const deadline = performance.now() + 12_000;
    for (let n = 0; performance.now() < deadline; n += 1) {
      const group = `group ${n}`;
      let wins = 0;
      while (wins < 3 && (await winner(group)) === one) wins += 1;
      if (wins === 3) return group;
    }
    throw new Error('neither leaves anything to the other');
  };
  afterEach(() => stage.close());

  it('one leaves the other its group, while that has jobs of it', async () => {
    const { stopped, other } = stage;
    await add(stopped, 'a', itsGroup);
    await claimAll(stopped, 'a');
    await add(stopped, 'b', itsGroup);
    const until = performance.now() + 1_000;
    while (performance.now() < until) {
      expect(await claim(other)).toEqual([]);
      await sleep(20);
    }
    await claimAll(stopped, 'b');
  });

  it("one takes the other's work when that does nothing, soon", async () => {
    const { stopped, other, database } = stage;
    database.stop();
    const at = performance.now();
    await add(other, 'a', itsGroup);
    await claimAll(other, 'a');
    expect(performance.now() - at).toBeLessThan(4_000); // long before it counts as dead
    database.goOn();
    await waitFor('the other one to be back', async () => (await claim(stopped)).length === 0);
  });

  it('one goes on with a group in the middle of which the other one died', async () => {
    const { stopped, other, database } = stage;
    await add(stopped, 'a', itsGroup);
    await claimAll(stopped, 'a');
    database.stop();
    await add(other, 'b', itsGroup);
    await claimAll(other, 'b');
    database.goOn();
    expect(await claim(stopped)).toEqual([]);
  });

  it('one that comes back claims nothing that the other one has', async () => {
    const { stopped, other, database } = stage;
    await add(stopped, 'a', itsGroup);
    await claimAll(stopped, 'a');
    database.stop();
    await add(other, 'b', itsGroup);
    await claimAll(other, 'b');
    await complete(other, 'a');
    database.goOn();
    await add(other, 'c', itsGroup);
    const claimed = new Set<string>();
    await waitFor('it to be claimed', async () => {
      for (const store of [stopped, other]) for (const id of await claim(store)) claimed.add(id);
      return claimed.size > 0;
    });
    expect([...claimed]).toEqual(['c']);
  });

  it('one does not wait for a commit of the other', async () => {
    const { stopped, other, database } = stage;
    database.stopBeforeCommit();
    const first = add(stopped, 'a', othersGroup);
    await waitFor('it to stand before its commit', () => database.stopped > 0);
    await add(other, 'b', othersGroup);
    await claimAll(other, 'b');
    database.goOn();
    await first;
    await claimAll(other, 'a');
  });

  it('one finds a job that nobody told of, as when a process dies after its commit', async () => {
    const { client, schema, other } = stage;
    await client.query(
      `INSERT INTO "${schema}".jobs (id, queue, group_key, run_at, rank, data, due_at)
        VALUES ('b', 'q', $1, 0, 0, '{}', extract(epoch FROM now()) * 1000)`,
      [othersGroup],
    );
    await claimAll(other, 'b');
  });

  it('one finds old jobs too once its notifications were cut off', async () => {
    const { client, schema, other } = stage;
    await client.query(
      `INSERT INTO "${schema}".jobs (id, queue, group_key, run_at, rank, data, due_at)
        VALUES ('b', 'q', $1, 0, 0, '{}', 0)`,
      [othersGroup],
    );
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' AND strpos(query, $1) > 0`,
      [schema],
    );
    await claimAll(other, 'b');
  });
});

it('a timer fires on time in a process that did not hear of it', async () => {
  const schema = freshSchema();
  const store = await openStore(schema);
  const client = await openClient();
  try {
    expect(await claim(store)).toEqual([]);
    await client.query(
      `INSERT INTO "${schema}".jobs (id, queue, group_key, run_at, rank, data, due_at)
        VALUES ('later', 'q', 'g', 0, 0, '{}', extract(epoch FROM now()) * 1000 + 1500)`,
    );
    const wait = await waitFor('it to be seen', () => store.msUntilDue('q'));
    expect(wait).toBeGreaterThan(1_000);
    expect(wait).toBeLessThanOrEqual(1_500);
    await claimAll(store, 'later');
  } finally {
    await client.end();
    await store.close();
    await removeSchema(schema);
  }
});
