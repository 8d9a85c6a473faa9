// Two processes that share the groups of one queue: one that can be stopped, and one that goes on.
import { expect } from '@jest/globals';
import type pg from 'pg';
import { enqueue, job, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  freshSchema,
  openClient,
  openStore,
  removeSchema,
  StoppableDatabase,
} from './contractStores.ts';

/** Before a lock times out (15 s). */
export const SOON = { timeoutMs: 12_000 };

export interface Stage {
  readonly schema: string;
  /** The database of `stoppable`. */
  readonly database: StoppableDatabase;
  readonly stoppable: ContractStore;
  readonly other: ContractStore;
  /** Belongs to neither process. */
  readonly client: pg.Client;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const schema = freshSchema();
  const database = new StoppableDatabase();
  const stoppable = await openStore(schema, { database });
  const other = await openStore(schema);
  const client = await openClient();
  return {
    schema,
    database,
    stoppable,
    other,
    client,
    async close() {
      database.goOn();
      await stoppable.close();
      await other.close();
      await client.end();
      await removeSchema(schema);
    },
  };
}

export const add = (store: ContractStore, id: string, group = 'shared', inMs = 0): Promise<void> =>
  enqueue(store, job(id, { group, runAt: Date.now() + inMs }));

export const complete = (store: ContractStore, id: string): Promise<void> =>
  store.transaction((tx) => tx.jobs.complete(id));

export const claim = async (store: ContractStore): Promise<string[]> =>
  (await store.claim({ queue: 'q', limit: 10, freeSlots: () => 10, leaseMs: 60_000 })).map(
    ({ id }) => id,
  );

/** Claims until it has these, and nothing else. @param wanted sorted */
export async function claimAll(store: ContractStore, ...wanted: string[]): Promise<void> {
  const ids: string[] = [];
  await waitFor(
    `${wanted.join(' and ')} to be claimed`,
    async () => {
      ids.push(...(await claim(store)));
      return wanted.every((id) => ids.includes(id));
    },
    SOON,
  );
  expect(ids.sort()).toEqual(wanted);
}
