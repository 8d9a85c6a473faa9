import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LowdbOptions } from '../../service/src/store/lowdb/index.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { TestClock } from '../helpers/testClock.ts';
import type { ContractStore } from './schema.ts';
import { CONTRACT_NOW, contractSchema } from './schema.ts';

/**
 * A lowdb store with the contract's collections in a new folder, and a clock that only the test
 * moves.
 */
export const openInTemporaryFolder = async (options: Partial<Omit<LowdbOptions, 'clock'>> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-store-'));
  const clock = new TestClock(CONTRACT_NOW);
  const open = (): Promise<ContractStore> =>
    openLowdbStore(contractSchema, { folder, clock, ...options });
  let store = await open();
  return {
    folder,
    clock,
    store,
    async reopen() {
      await store.close();
      clock.restart();
      store = await open();
      return store;
    },
    async remove() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
