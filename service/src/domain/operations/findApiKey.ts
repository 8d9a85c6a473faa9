import { API_KEY_PATTERN, hashToken } from '../../security/tokens.ts';
import type { ApiKey } from '../apiKey.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/**
 * Who a key speaks for; null when there is no such key or it was revoked. Every call asks: nothing
 * is locked or written.
 */
export const findApiKey = async ({ store }: Pick<Deps, 'store'>, key: string) => {
  if (!API_KEY_PATTERN.test(key)) return null;
  return store.transaction(async (tx): Promise<{ apiKey: ApiKey; workspace: Workspace } | null> => {
    const [apiKey] = await tx.apiKeys.find({ where: { hash: hashToken(key) }, limit: 1 });
    if (!apiKey || apiKey.revokedAt !== null) return null;
    const workspace = await tx.workspaces.peek(apiKey.workspaceId);
    return workspace && { apiKey, workspace };
  });
};
