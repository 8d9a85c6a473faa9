import type { TestClock } from '../helpers/testClock.ts';
import type { Job, Store } from '../../service/src/store/store.ts';
import { collection } from '../../service/src/store/store.ts';

/** A document of the contract: one field of each kind that queries treat differently. */
export interface Thing {
  readonly id: string;
  readonly group: string;
  readonly kind: string;
  readonly number: number;
  readonly at: string;
  readonly code: string | null;
  readonly note?: unknown;
}

export const contractSchema = {
  things: collection<Thing>({
    indexes: [
      { on: [] },
      { on: ['group'] },
      { on: ['group'], orderBy: 'at' },
      { on: ['group', 'kind'], orderBy: 'at' },
      { on: [], orderBy: 'number' },
      { on: ['code'], unique: true },
    ],
    words: {
      within: 'group',
      of: ({ note }) => (typeof note === 'string' ? note.split(' ') : []),
    },
  }),
  others: collection<{ readonly id: string }>({ indexes: [] }),
};

export type ContractStore = Store<typeof contractSchema>;
export type ContractTransaction = Parameters<Parameters<ContractStore['transaction']>[0]>[0];

/** What the clock of the contract's stores says at first, in milliseconds since the epoch. */
export const CONTRACT_NOW = Date.parse('2026-06-01T12:00:00Z');

export type ContractClock = Pick<TestClock, 'now' | 'advance' | 'jump'>;

/**
 * Opens a fresh, empty store; `reopen` closes it and opens what it left; `remove` closes it and
 * leaves nothing. The store tells the time by `clock`; where a store has a database with a clock of
 * its own, `advance` moves that clock too.
 */
export type OpenContractStore = () => Promise<{
  store: ContractStore;
  clock: ContractClock;
  reopen(): Promise<ContractStore>;
  remove(): Promise<void>;
}>;

export const thing = (id: string, parts: Partial<Thing> = {}): Thing => ({
  id,
  group: 'g',
  kind: 'k',
  number: 0,
  at: '2026-01-01',
  code: null,
  ...parts,
});

/** Puts the things, all in one transaction. */
export const put = (store: ContractStore, ...things: Thing[]): Promise<void> =>
  store.transaction(async (tx) => {
    for (const one of things) await tx.things.put(one);
  });

export const job = (id: string, parts: Partial<Job> = {}): Job => ({
  id,
  queue: 'q',
  group: 'g',
  runAt: CONTRACT_NOW,
  rank: 0,
  data: {},
  ...parts,
});

/** Enqueues the jobs, all in one transaction. */
export const enqueue = (store: ContractStore, ...jobs: Job[]): Promise<void> =>
  store.transaction(async (tx) => {
    for (const one of jobs) await tx.jobs.enqueue(one);
  });

export const all = (store: ContractStore): Promise<readonly Thing[]> =>
  store.transaction((tx) => tx.things.find({ where: {}, limit: 10_000 }));
