import type { ApiKey } from '../apiKey.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';

/** "Last used" is exact to the minute, so that a call writes nothing as a rule. */
const PRECISION_MS = 60_000;

export const isUseNoted = ({ lastUsedAt }: ApiKey, now: Date): boolean =>
  lastUsedAt !== null && Math.abs(now.getTime() - Date.parse(lastUsedAt)) < PRECISION_MS;

/**
 * Notes that a key was used. Not part of the call that used it, which waits for nobody who uses the
 * same key.
 */
export const noteKeyUse = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, { id }: ApiKey) =>
  store.transaction(async (tx): Promise<void> => {
    const now = clock.now();
    const apiKey = await tx.apiKeys.get(id);
    if (apiKey && !isUseNoted(apiKey, now))
      await tx.apiKeys.put({ ...apiKey, lastUsedAt: timestamp(now) });
  });
