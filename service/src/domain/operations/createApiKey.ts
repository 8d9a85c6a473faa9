import { API_KEY_PREFIX, hashToken, newApiKey } from '../../security/tokens.ts';
import type { ApiKey } from '../apiKey.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { newId } from '../ids.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Makes an API key.
 * @param given a key to use instead of a new one (BOOTSTRAP_API_KEY)
 * @returns the key itself, shown this once, and what is kept of it
 */
export const createApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  { name, createdBy, given }: { name: string; createdBy: string; given?: string },
) => {
  const key = given ?? newApiKey();
  return store.transaction(async (tx): Promise<{ key: string; apiKey: ApiKey }> => {
    const apiKey: ApiKey = {
      id: newId('key'),
      workspaceId: workspace.id,
      name,
      hash: hashToken(key),
      prefix: API_KEY_PREFIX,
      lastFour: key.slice(-4),
      createdBy,
      createdAt: timestamp(clock.now()),
      lastUsedAt: null,
      revokedAt: null,
    };
    await tx.apiKeys.put(apiKey);
    return { key, apiKey };
  });
};
