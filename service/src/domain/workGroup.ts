import { shareOf } from '../store/store.ts';

/**
 * The group of a workspace's work: what shares a limit, such as one subscription's deliveries. The
 * workspaces share the places that there are for work of all groups.
 * @see docs/decisions/0040
 */
export const workGroup = (workspaceId: string, limited: string): string =>
  `${workspaceId} ${limited}`;

/** What the group's limit is for. Jobs of earlier versions have groups that name nothing else. */
export function limitedBy(group: string): string {
  const share = shareOf(group);
  return share === group ? group : group.slice(share.length + 1);
}
