import type { Deps } from '../deps.ts';
import { pageOf, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';
import { findActiveSubscriptions } from './loadSubscription.ts';

/** The workspace's subscriptions, newest first. */
export const listSubscriptions = ({ store }: Deps, workspace: Workspace, page: PageRequest) =>
  store.transaction(async (tx) => {
    const all = await findActiveSubscriptions(tx, workspace.id);
    return pageOf(page, async ({ limit, after }) =>
      all.filter(({ id }) => after === undefined || id < after.id).slice(0, limit),
    );
  });
