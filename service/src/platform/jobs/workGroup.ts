import { shareOf } from '../../store/store.ts';

/**
 * The group of a job. The jobs of a group share one limit, such as the deliveries of one
 * subscription; its workspace shares the places for work in flight with all others.
 * @see docs/decisions/0017-workspaces-share-what-is-under-way.md
 */
export const workGroup = (workspaceId: string, limited: string): string =>
  `${workspaceId} ${limited}`;

/** What the group's limit applies to: the second argument of `workGroup`. */
export const limitedBy = (group: string): string => group.slice(shareOf(group).length + 1);
