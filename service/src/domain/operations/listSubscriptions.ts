import type { Deps } from '../deps.ts';
import { pageOf, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';

/** The workspace's subscriptions, newest first. */
export const listSubscriptions = ({ store }: Deps, workspace: Workspace, page: PageRequest) =>
  store.transaction((tx) =>
    pageOf(page, (query) =>
      tx.subscriptions.find({ where: { workspaceId: workspace.id }, direction: 'desc', ...query }),
    ),
  );
