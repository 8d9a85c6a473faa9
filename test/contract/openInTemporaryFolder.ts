import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LowdbOptions } from '../../service/src/store/lowdb/index.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import type { ContractStore } from './schema.ts';
import { contractSchema } from './schema.ts';

/** A lowdb store with the contract's collections in a new folder. */
export const openInTemporaryFolder = async (options: Partial<LowdbOptions> = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'conversation-store-'));
  const open = (): Promise<ContractStore> => openLowdbStore(contractSchema, { folder, ...options });
  let store = await open();
  return {
    folder,
    store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async remove() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
