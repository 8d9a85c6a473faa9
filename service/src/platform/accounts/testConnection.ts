import { isDeepStrictEqual } from 'node:util';
import type { Collection } from '../../store/store.ts';
import {
  openSetup,
  type ConnectedAccount,
  type ConnectionTest,
  type SetupValues,
  type TestResult,
} from './accountSetup.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../deps.ts';

/**
 * Tests a connection. Records the result, unless the account was changed during the test.
 * @param ask asks the third party, outside of any transaction, with the secrets in the clear
 */
export async function testConnection<Account extends ConnectedAccount>(
  deps: Deps,
  account: Account,
  collectionIn: (tx: Tx) => Pick<Collection<Account>, 'get' | 'put'>,
  ask: (values: SetupValues) => Promise<TestResult>,
): Promise<ConnectionTest> {
  const tested = openSetup(deps, account);
  const { ok, message } = await ask(tested);
  const lastTest = { ok, message, at: timestamp(deps.clock.now()) };
  await deps.store.transaction(async (tx) => {
    const current = await collectionIn(tx).get(account.id);
    if (current && isDeepStrictEqual(openSetup(deps, current), tested))
      await collectionIn(tx).put({ ...current, lastTest });
  });
  return lastTest;
}
