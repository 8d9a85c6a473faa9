import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/**
 * The workspace with this slug; without one, the only (oldest) workspace. Null when there is none.
 */
export const findWorkspace = ({ store }: Pick<Deps, 'store'>, slug?: string) =>
  store.transaction(async (tx): Promise<Workspace | null> => {
    const [workspace] = await tx.workspaces.find({
      where: slug === undefined ? {} : { slug },
      limit: 1,
    });
    return workspace ?? null;
  });
