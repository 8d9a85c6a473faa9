import { setImmediate as oneTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitFor } from './waitFor.ts';

/** Waits until nothing holds the object any more. */
export async function letGo(held: WeakRef<object>): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await oneTurn(); // a WeakRef holds what it returned until the turn ends
  await waitFor('the object to be let go', () => {
    collect();
    return held.deref() === undefined;
  });
}
