import type { Deps } from '../deps.ts';
import { isSameOwner, type OwnerIdentity } from '../owner.ts';
import type { Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { putPaused } from './pauseTool.ts';

export interface Unpublishing {
  readonly owner: OwnerIdentity;
  /** The publication to take back; undefined: the newest. */
  readonly revision: number | undefined;
  /** Only while the tool calls this address. */
  readonly endpoint: string | undefined;
}

/**
 * Pauses a tool for the workflow that published it. Nothing happens to a tool that is gone, that
 * another workflow published, or that was published again since.
 * @returns whether the tool is paused now on this demand
 */
export const unpublishTool = (
  deps: Deps,
  workspace: Workspace,
  name: string,
  unpublishing: Unpublishing,
) =>
  deps.store.transaction(async (tx): Promise<boolean> => {
    const where = { workspaceId: workspace.id, name };
    const [found] = await tx.tools.find({ where, limit: 1 });
    const tool = found ? await tx.tools.get(found.id) : null;
    if (!tool || !isMeant(tool, unpublishing)) return false;
    await putPaused(tx, deps, tool);
    return true;
  });

const isMeant = (
  { publication, endpoint: current }: Tool,
  { owner, revision, endpoint }: Unpublishing,
): boolean =>
  publication !== undefined &&
  isSameOwner(publication.owner, owner) &&
  (revision === undefined || revision === publication.revision) &&
  (endpoint === undefined || endpoint === current);
