// Whose lease it is: a process that stood still takes nobody's for its own.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { add, claim, claimAll, complete, openLeaseStage, type LeaseStage } from './leaseStage.ts';

describe('the lease of a process that stood still, when another one has taken it over, done its work and had a new one', () => {
  let stage: LeaseStage;
  beforeEach(async () => {
    stage = await openLeaseStage({ sweeps: true });
  });
  afterEach(() => stage.close());

  const leases = async ({ client, schema }: LeaseStage) =>
    (await client.query(`SELECT id, state, retry_count FROM "${schema}_work".job WHERE name = 'q'`))
      .rows;

  /** @param before what the process that stands still has done of its job by then */
  const takeOver = async (before: (stage: LeaseStage) => Promise<unknown>) => {
    const { stopped, other, database, client, schema } = stage;
    await add(stopped, 'a');
    await claimAll(stopped, 'a');
    await before(stage);
    database.stop();
    // As after a long time: it said that it lives a minute ago.
    await client.query(
      `UPDATE "${schema}_work".job SET heartbeat_on = heartbeat_on - interval '1 minute'`,
    );
    await add(other, 'b');
    await claimAll(other, 'b');
    await complete(other, 'b');
    await complete(other, 'a');
    await waitFor(
      'the lease to be given back',
      async () => (await claim(other)).length === 0 && (await leases(stage)).length === 0,
    );
    await add(other, 'c');
    await claimAll(other, 'c');
    const made = await leases(stage);
    expect(made).toMatchObject([{ state: 'active', retry_count: 0 }]); // as the first one was
    return made;
  };
  /** Lets it go on until such statements of its rounds were answered, one after the other. */
  const goOnUntil = async (...statements: RegExp[]) => {
    const { database } = stage;
    let from = database.answered.length;
    database.goOn();
    for (const statement of statements) {
      await waitFor(`${statement} to be answered`, () => {
        const at = database.answered.findIndex(
          (text, index) => index >= from && statement.test(text),
        );
        if (at === -1) return false;
        from = at + 1;
        return true;
      });
    }
  };

  it('is not given back by it: what it wanted to remove was a lease of its own', async () => {
    const made = await takeOver(async ({ stopped }) => {
      await complete(stopped, 'a');
      await claim(stopped); // finds nothing, and is about to give the lease back
    });
    await goOnUntil(/DELETE FROM \S+_work\S+job/, /^COMMIT$/);
    expect(await leases(stage)).toEqual(made);
    await add(stage.other, 'd');
    await claimAll(stage.other, 'd');
  });

  it('is not its own any more either when the other one still has it', async () => {
    const { stopped, other, database, client, schema } = stage;
    await add(stopped, 'a');
    await claimAll(stopped, 'a');
    database.stop();
    await client.query(
      `UPDATE "${schema}_work".job SET heartbeat_on = heartbeat_on - interval '1 minute'`,
    );
    await add(other, 'b');
    await claimAll(other, 'b');
    await goOnUntil(/SET heartbeat_on/);
    await add(other, 'c');
    expect(await claim(stopped)).toEqual([]);
    await claimAll(other, 'c');
  });

  it('is not kept alive by it, and it claims nothing more', async () => {
    await takeOver(async () => {});
    await goOnUntil(/SET heartbeat_on/);
    await add(stage.other, 'd');
    expect(await claim(stage.stopped)).toEqual([]);
    await claimAll(stage.other, 'd');
  });
});
