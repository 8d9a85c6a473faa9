import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { withShares, type ConnectionShares } from '../../platform/limits/connectionShares.ts';
import { inZone } from '../../platform/html/readerZone.ts';
import { signedInOf } from '../../team/signedIn.ts';

/** The workspace of the member who makes the request. */
const workspaceId = new AsyncLocalStorage<string>();

/**
 * Remembers the member's workspace and time zone for the rest of the request. Use it only after
 * requireMember.
 */
export const rememberMember: RequestHandler = (_request, response, next) => {
  const { workspace, member } = signedInOf(response);
  workspaceId.run(workspace.id, () => inZone(member.timeZone ?? 'UTC', next));
};

/**
 * Where database connections are shared, a member's transactions wait for the workspace's turn, as
 * those of API calls do.
 */
export const withMemberShare = (deps: Deps, shares: ConnectionShares | null): Deps =>
  withShares(deps, shares, () => workspaceId.getStore());
