import type { ApiKey } from '../apiKey.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/** The workspace's keys, revoked ones included, oldest first. */
export const listApiKeys = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
): Promise<readonly ApiKey[]> =>
  store.transaction((tx) => tx.apiKeys.find({ where: { workspaceId: workspace.id }, limit: 1000 }));
