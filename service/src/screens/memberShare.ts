import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import type { Deps } from '../domain/deps.ts';
import type { ConnectionShares } from '../limits/connectionShares.ts';
import { signedInOf } from './session.ts';

/** The workspace of the member whose request this is. */
const workspaceId = new AsyncLocalStorage<string>();

/** What follows is done for the member's workspace; only behind requireMember. */
export const doForMember: RequestHandler = (_request, response, next) =>
  workspaceId.run(signedInOf(response).workspace.id, next);

/**
 * Where connections to the database are shared, what is done for a member waits for the workspace's
 * turn, as API calls do.
 */
export function withMemberShare(deps: Deps, shares: ConnectionShares | null): Deps {
  if (shares === null) return deps;
  const transaction: Deps['store']['transaction'] = (fn) => {
    const id = workspaceId.getStore();
    return id === undefined
      ? deps.store.transaction(fn)
      : shares.run(id, () => deps.store.transaction(fn));
  };
  return { ...deps, store: { transaction } };
}
