import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadChannel } from './loadChannel.ts';

/**
 * Disconnects an account; its secrets are gone, its conversations stay. What was still to be sent
 * fails when its turn comes, since there is no account to send it with.
 * @throws not_found (404)
 */
export const deleteChannel = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => {
    await loadChannel(tx, workspace, id);
    await tx.channels.delete(id);
  });
