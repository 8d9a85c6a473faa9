import { API_KEY_PATTERN, hashToken } from '../../security/tokens.ts';
import type { ApiKey } from '../apiKey.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/** "Last used" is exact to the minute, so that reading does not write. */
const LAST_USED_PRECISION_MS = 60_000;

/** Who a key speaks for; null when there is no such key or it was revoked. */
export const findApiKey = async ({ store, clock }: Pick<Deps, 'store' | 'clock'>, key: string) => {
  if (!API_KEY_PATTERN.test(key)) return null;
  return store.transaction(async (tx): Promise<{ apiKey: ApiKey; workspace: Workspace } | null> => {
    const [apiKey] = await tx.apiKeys.find({ where: { hash: hashToken(key) }, limit: 1 });
    if (!apiKey || apiKey.revokedAt !== null) return null;
    const workspace = await tx.workspaces.peek(apiKey.workspaceId);
    if (!workspace) return null;
    const now = clock.now();
    const lastUsed = apiKey.lastUsedAt === null ? 0 : Date.parse(apiKey.lastUsedAt);
    if (Math.abs(now.getTime() - lastUsed) >= LAST_USED_PRECISION_MS) {
      await tx.apiKeys.put({ ...apiKey, lastUsedAt: timestamp(now) });
    }
    return { apiKey, workspace };
  });
};
