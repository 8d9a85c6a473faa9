import type { Channel } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';

/** @throws not_found (404), also for another workspace's channel */
export async function loadChannel(tx: Tx, workspace: Workspace, id: string): Promise<Channel> {
  const channel = await tx.channels.get(id);
  if (!channel || channel.workspaceId !== workspace.id) throw notFound('channel', id);
  return channel;
}

/** @throws not_found (404) */
export const getChannel = ({ store }: Pick<Deps, 'store'>, workspace: Workspace, id: string) => store.transaction((tx) => loadChannel(tx, workspace, id));
