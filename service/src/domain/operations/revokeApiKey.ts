import type { ApiKey } from '../apiKey.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';

/** Revokes a key, at once and for good; a revoked one stays as it was. @throws not_found (404) */
export const revokeApiKey = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
) =>
  store.transaction(async (tx): Promise<ApiKey> => {
    const apiKey = await tx.apiKeys.get(id);
    if (!apiKey || apiKey.workspaceId !== workspace.id) throw notFound('API key', id);
    if (apiKey.revokedAt !== null) return apiKey;
    const revoked = { ...apiKey, revokedAt: timestamp(clock.now()) };
    await tx.apiKeys.put(revoked);
    return revoked;
  });
