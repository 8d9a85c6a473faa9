import { shareOf } from '../../store/store.ts';

/**
 * The group of a job. The jobs of a group share one limit, as the deliveries of one subscription
 * do. The group also names the workspace, which shares the worker's places with all other
 * workspaces.
 * @see docs/decisions/0017-workspaces-share-what-is-under-way.md
 */
export const workGroup = (workspaceId: string, limited: string): string =>
  `${workspaceId} ${limited}`;

/** The `limited` of a group: what its limit applies to. */
export const limitedBy = (group: string): string => group.slice(shareOf(group).length + 1);
