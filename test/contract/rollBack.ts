import { expect } from '@jest/globals';
import type { ContractStore, ContractTransaction } from './schema.ts';

/** Does something in a transaction that then fails. */
export const rollBack = (
  store: ContractStore,
  work: (tx: ContractTransaction) => Promise<unknown>,
): Promise<void> =>
  expect(
    store.transaction(async (tx) => {
      await work(tx);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
