import type { Tx } from './collections.ts';
import type { Deps } from './deps.ts';

/** Runs several operations as one transaction: all of them are kept, or none. */
export const inOneTransaction = <D extends Pick<Deps, 'store'>, T>(
  deps: D,
  run: (within: D, tx: Tx) => Promise<T>,
): Promise<T> =>
  deps.store.transaction((tx) => run({ ...deps, store: { transaction: (fn) => fn(tx) } }, tx));
