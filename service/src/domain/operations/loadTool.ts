import type { Tx } from '../collections.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';

/** @throws not_found (404), also for another workspace's tool */
export async function loadTool(tx: Tx, workspace: Workspace, id: string): Promise<Tool> {
  const tool = await tx.tools.get(id);
  if (!tool || tool.workspaceId !== workspace.id) throw notFound('tool', id);
  return tool;
}
