import type { Deps } from '../deps.ts';
import { pageOf, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';

/** The accounts that the workspace has connected, newest first. */
export const listChannels = ({ store }: Deps, workspace: Workspace, page: PageRequest) =>
  store.transaction((tx) =>
    pageOf(page, (query) =>
      tx.channels.find({ where: { workspaceId: workspace.id }, direction: 'desc', ...query }),
    ),
  );
