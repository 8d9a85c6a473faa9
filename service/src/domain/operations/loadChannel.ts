import type { Channel } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';

/**
 * For changing it: locked until the transaction ends. @throws not_found (404), also for another
 * workspace's
 */
export const loadChannel = async (tx: Tx, workspace: Workspace, id: string): Promise<Channel> =>
  ofWorkspace(await tx.channels.get(id), workspace, id);

/** As it stands, without a lock. @throws not_found (404), also for another workspace's */
export const peekChannel = async (tx: Tx, workspace: Workspace, id: string): Promise<Channel> =>
  ofWorkspace(await tx.channels.peek(id), workspace, id);

function ofWorkspace(found: Channel | null, workspace: Workspace, id: string): Channel {
  if (found?.workspaceId !== workspace.id) throw notFound('channel', id);
  return found;
}

/** @throws not_found (404) */
export const getChannel = ({ store }: Pick<Deps, 'store'>, workspace: Workspace, id: string) =>
  store.transaction((tx) => peekChannel(tx, workspace, id));
