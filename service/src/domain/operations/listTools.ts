import type { Deps } from '../deps.ts';
import { pageOf, type PageRequest } from '../page.ts';
import type { Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';

/** The workspace's tools, newest first. */
export const listTools = (
  { store }: Deps,
  workspace: Workspace,
  filter: Partial<Pick<Tool, 'name' | 'status'>>,
  page: PageRequest,
) =>
  store.transaction((tx) =>
    pageOf(page, (query) =>
      tx.tools.find({
        where: { workspaceId: workspace.id, ...filter },
        direction: 'desc',
        ...query,
      }),
    ),
  );
