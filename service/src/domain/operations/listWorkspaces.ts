import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';

/** Far more than one service has in use; the oldest come first. */
const MAX_WORKSPACES = 10_000;

/** All workspaces, the oldest first: it is the one that is meant where none is named. */
export const listWorkspaces = ({ store }: Pick<Deps, 'store'>): Promise<readonly Workspace[]> =>
  store.transaction((tx) => tx.workspaces.find({ where: {}, limit: MAX_WORKSPACES }));
