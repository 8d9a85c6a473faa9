// No job is left without a lease, and nobody waits for a process that was stopped while it made or
// removed one.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  add,
  claim,
  claimAll,
  complete,
  openLeaseStage,
  SOON,
  type LeaseStage,
} from './leaseStage.ts';

describe('when nobody looks for jobs without a lease', () => {
  let stage: LeaseStage;
  beforeEach(async () => {
    stage = await openLeaseStage({ sweeps: false });
  });
  afterEach(() => stage.close());

  /** It has a lease with nothing due, and stops on the way to give it back. */
  const stopWhileGivingBack = async (before: (text: string) => boolean) => {
    const { stopped, database } = stage;
    await add(stopped, 'a');
    await claimAll(stopped, 'a');
    await complete(stopped, 'a');
    expect(await claim(stopped)).toEqual([]);
    database.stopBefore(before);
    await waitFor('the lease to be on its way', () => database.stopped > 0);
  };

  it('one is made for a job that came in between the look for more and the removal, by a process that died over it', async () => {
    const { client, schema, database, other } = stage;
    await stopWhileGivingBack((text) => /DELETE FROM \S+_work\S+job/.test(text));
    await client.query(
      `INSERT INTO "${schema}".jobs (id, queue, group_key, run_at, rank, data, due_at) VALUES ('b', 'q', 'shared', 0, 0, '{}', 0)`,
    );
    database.goOn();
    await claimAll(other, 'b');
  });

  it('one is made for a job that came in after the last look, before the removal was done', async () => {
    const { database, other, otherDatabase } = stage;
    let isDeleted = false;
    await stopWhileGivingBack(
      (text) => (
        (isDeleted ||= /DELETE FROM \S+_work\S+job/.test(text)),
        isDeleted && text === 'COMMIT'
      ),
    );
    await add(other, 'b');
    const offers = () =>
      otherDatabase.answered.filter((text) =>
        /^SELECT v.key .* WHERE pg_try_advisory_xact_lock/.test(text),
      ).length;
    await waitFor('it to be offered again and again, not to wait', () => offers() > 2, SOON);
    database.goOn();
    await claimAll(other, 'b');
  });

  it('one is made for a job whose group was just being given one by a process that then died', async () => {
    const { database, stopped, other, client, schema } = stage;
    database.stopBeforeCommit();
    const first = add(stopped, 'a');
    await waitFor('it to stand before its commit', () => database.stopped > 0);
    await add(other, 'b');
    expect(await claim(other)).toEqual([]);
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND strpos(query, $1) > 0`,
      [schema],
    );
    expect(rowCount).toBe(1);
    await claimAll(other, 'b');
    database.goOn();
    await first;
  });
});

describe('when a process is stopped that is just making a lease', () => {
  let stage: LeaseStage;
  beforeEach(async () => {
    stage = await openLeaseStage({ sweeps: true });
  });
  afterEach(() => stage.close());

  it("others get their work, also when its group's timer fires elsewhere", async () => {
    const { database, stopped, other, client, schema } = stage;
    const timers = async () =>
      (await client.query(`SELECT 1 FROM "${schema}_work".job WHERE name = 'q.timers'`)).rowCount;
    await add(other, 'timed', 'shared', 1_500);
    database.stopBeforeCommit();
    const first = add(stopped, 'a');
    await waitFor('it to stand before its commit', () => database.stopped > 0);
    await waitFor(
      'the timer to fire',
      async () => (await claim(other), (await timers()) === 0),
      SOON,
    );
    await add(other, 'b', 'another');
    await claimAll(other, 'b');
    database.goOn();
    await first;
    await claimAll(other, 'a', 'timed');
  });

  it('one that another group lacks is made all the same', async () => {
    const { database, stopped, other, client, schema } = stage;
    database.stopBeforeCommit();
    const first = add(stopped, 'a');
    await waitFor('it to stand before its commit', () => database.stopped > 0);
    await add(other, 'b');
    await add(other, 'stranded', 'another');
    await client.query(`DELETE FROM "${schema}_work".job WHERE data->>'group' = 'another'`);
    await claimAll(other, 'stranded');
    database.goOn();
    await first;
    await claimAll(other, 'a', 'b');
  });
});
