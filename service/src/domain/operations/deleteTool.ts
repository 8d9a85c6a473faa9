import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { cancelApprovals } from './cancelApprovals.ts';
import { loadTool } from './loadTool.ts';

/**
 * Removes a tool and cancels the calls that wait for approval. The calls it made stay on record.
 * @throws not_found (404)
 */
export const deleteTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx) => {
    await loadTool(tx, workspace, id);
    await removeTool(tx, deps, id);
  });

/** @param id of a locked tool */
export async function removeTool(tx: Tx, deps: Deps, id: string): Promise<void> {
  await cancelApprovals(tx, deps, { toolId: id }, deps.clock.now());
  await tx.tools.delete(id);
}
