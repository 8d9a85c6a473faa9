// Several processes serve the groups of one queue: no work waits for a process that died or hangs,
// and together they keep each group's limit.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueue, job, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../client.ts';
import {
  freshSchema,
  openClient,
  openQuietStore,
  openStore,
  removeSchema,
} from './contractStores.ts';
import { add, claim, claimAll, complete, openStage, type Stage } from './twoProcesses.ts';

/** A job `b` that no process is told of. @param due a time in SQL */
const insertJob = (
  { client, schema }: Pick<Stage, 'client' | 'schema'>,
  group: string,
  due: string,
) =>
  client.query(
    `INSERT INTO "${schema}".jobs (id, queue, group_key, run_at, rank, data, due_at)
      VALUES ('b', 'q', $1, 0, 0, '{}', extract(epoch FROM ${due}) * 1000)`,
    [group],
  );

describe('two processes that both take a group for their own', () => {
  let schema: string;
  let one: ContractStore;
  let another: ContractStore;
  beforeEach(async () => {
    schema = freshSchema();
    // Neither tells the other which queues it works on.
    one = await openQuietStore(schema, { connections: 5 });
    another = await openQuietStore(schema, { connections: 5 });
  });
  afterEach(async () => {
    await one.close();
    await another.close();
    await removeSchema(schema);
  });

  it('together take no more of it than its limit, even when they claim at the same moment', async () => {
    const addOne = (id: string, rank: number) => enqueue(one, job(id, { runAt: Date.now(), rank }));
    const claimOne = (store: ContractStore) =>
      store.claim({ queue: 'q', limit: 10, freeSlots: () => 1, leaseMs: 60_000 });
    // After seven fresh jobs, the first process takes a retry next; the other takes a fresh job.
    for (let n = 0; n < 7; n += 1) {
      await addOne(`fresh ${n}`, 0);
      expect(await claimOne(one)).toHaveLength(1);
      await complete(one, `fresh ${n}`);
    }
    // A claim is so slow that the second one begins before it ends.
    await query(
      process.env.DATABASE_URL!,
      `CREATE FUNCTION "${schema}".wait() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE UPDATE ON "${schema}".jobs
        FOR EACH ROW EXECUTE FUNCTION "${schema}".wait()`,
    );
    await addOne('fresh', 0);
    await addOne('retry', 1);
    const claimed = await Promise.all([claimOne(one), claimOne(another)]);
    expect(claimed.flat()).toHaveLength(1);
  });
});

describe('of two processes', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage();
  });
  /** A group that `owner` serves: it gets every job, although `rival` adds them and claims first. */
  const groupOf = async (owner: ContractStore, rival: ContractStore): Promise<string> => {
    const winner = async (group: string): Promise<ContractStore> => {
      await add(rival, 'job', group);
      try {
        return await waitFor(
          'it to be claimed',
          async () => {
            for (const store of [rival, owner]) if ((await claim(store)).length > 0) return store;
            return null;
          },
          { everyMs: 2 },
        );
      } finally {
        await complete(rival, 'job');
      }
    };
    const deadline = performance.now() + 12_000;
    for (let n = 0; performance.now() < deadline; n += 1) {
      const group = `group ${n}`;
      let wins = 0;
      while (wins < 3 && (await winner(group)) === owner) wins += 1;
      if (wins === 3) return group;
    }
    throw new Error('found no group that is left to its owner');
  };
  afterEach(() => stage.close());

  it('one leaves a group to the other while the other has jobs of it', async () => {
    const { stoppable, other } = stage;
    const group = await groupOf(stoppable, other);
    await add(stoppable, 'a', group);
    await claimAll(stoppable, 'a');
    await add(stoppable, 'b', group);
    const until = performance.now() + 1_000;
    while (performance.now() < until) {
      expect(await claim(other)).toEqual([]);
      await sleep(20);
    }
    await claimAll(stoppable, 'b');
  });

  it("one takes the other's work when the other is alive and takes none", async () => {
    const { stoppable, other } = stage;
    const group = await groupOf(stoppable, other);
    await add(other, 'a', group);
    await claimAll(other, 'a');
  });

  it('one goes on with a group when the other stops in the middle of it; once back, the other claims no job a second time', async () => {
    const { stoppable, other, database } = stage;
    const group = await groupOf(stoppable, other);
    await add(stoppable, 'a', group);
    await claimAll(stoppable, 'a');
    database.stop();
    await add(other, 'b', group);
    await claimAll(other, 'b');
    database.goOn();
    expect(await claim(stoppable)).toEqual([]);
    await complete(other, 'a');
    await add(other, 'c', group);
    const claimed = new Set<string>();
    await waitFor('it to be claimed', async () => {
      for (const store of [stoppable, other]) for (const id of await claim(store)) claimed.add(id);
      return claimed.size > 0;
    });
    expect([...claimed]).toEqual(['c']);
  });

  it('one finds a job that was not announced, as when a process dies after its commit', async () => {
    const { stoppable, other } = stage;
    const group = await groupOf(other, stoppable);
    await insertJob(stage, group, 'now()');
    await claimAll(other, 'b');
  });

  it('one finds old jobs too after its notifications were cut off', async () => {
    const { client, schema, stoppable, other } = stage;
    const group = await groupOf(other, stoppable);
    await insertJob(stage, group, 'to_timestamp(0)');
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' AND strpos(query, $1) > 0`,
      [schema],
    );
    await claimAll(other, 'b');
  });
});

it('a job that is due later is claimed on time by a process that was not told of it', async () => {
  const schema = freshSchema();
  const store = await openStore(schema);
  const client = await openClient();
  try {
    expect(await claim(store)).toEqual([]);
    await insertJob({ client, schema }, 'g', "now() + interval '3 s'");
    expect(await waitFor('it to be seen', () => store.msUntilDue('q'))).toBeLessThanOrEqual(3_000);
    await claimAll(store, 'b');
  } finally {
    await client.end();
    await store.close();
    await removeSchema(schema);
  }
});
