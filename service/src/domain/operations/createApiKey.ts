import { API_KEY_PREFIX, hashToken, newApiKey } from '../../security/tokens.ts';
import type { ApiKey } from '../apiKey.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import type { Workspace } from '../workspace.ts';

/** A workspace's keys that were not revoked: one for each workflow, and more. */
export const MAX_API_KEYS = 100;
const PAGE = 500;

/**
 * Makes an API key.
 * @param given a key to use instead of a new one (BOOTSTRAP_API_KEY)
 * @returns the key itself, shown this once, and what is kept of it
 * @throws invalid_request (400) when the workspace has as many as it may
 */
export const createApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  { name, createdBy, given }: { name: string; createdBy: string; given?: string },
) => {
  const key = given ?? newApiKey();
  return store.transaction(async (tx): Promise<{ key: string; apiKey: ApiKey }> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: the limit is kept
    if ((await countInUse(tx, workspace)) >= MAX_API_KEYS) {
      throw new AppError(
        'invalid_request',
        `A workspace has at most ${MAX_API_KEYS} API keys. Revoke one that is no longer used.`,
        { param: 'name' },
      );
    }
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

/** Revoked keys stay listed, however many there are. */
async function countInUse(tx: Tx, { id: workspaceId }: Workspace): Promise<number> {
  let count = 0;
  for (let lastId: string | null = null; ; ) {
    const keys: readonly ApiKey[] = await tx.apiKeys.find({
      where: { workspaceId },
      limit: PAGE,
      ...(lastId === null ? {} : { after: { value: lastId, id: lastId } }),
    });
    count += keys.filter(({ revokedAt }) => revokedAt === null).length;
    if (keys.length < PAGE) return count;
    lastId = keys.at(-1)!.id;
  }
}
