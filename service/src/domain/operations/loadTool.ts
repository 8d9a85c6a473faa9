import type { Tx } from '../collections.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';

/**
 * For changing it: locked until the transaction ends. @throws not_found (404), also for another
 * workspace's
 */
export const loadTool = async (tx: Tx, workspace: Workspace, id: string): Promise<Tool> =>
  ofWorkspace(await tx.tools.get(id), workspace, id);

/** As it stands, without a lock. @throws not_found (404), also for another workspace's */
export const peekTool = async (tx: Tx, workspace: Workspace, id: string): Promise<Tool> =>
  ofWorkspace(await tx.tools.peek(id), workspace, id);

function ofWorkspace(found: Tool | null, workspace: Workspace, id: string): Tool {
  if (found?.workspaceId !== workspace.id) throw notFound('tool', id);
  return found;
}
