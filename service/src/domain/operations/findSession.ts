import { csrfTokenOf, hashToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { SESSION_IDLE_MS, MAX_SESSION_MS, type Session } from '../session.ts';
import type { Member, Workspace } from '../workspace.ts';

export interface SignedIn {
  readonly session: Session;
  /** Stands in every form, so that no other site can post one. */
  readonly csrfToken: string;
  readonly member: Member;
  readonly workspace: Workspace;
}

/** Expiry is moved on at most this often, so that reading does not write. */
const PRECISION_MS = 60 * 60 * 1000;

/**
 * Who a session's token speaks for; null when it has expired, was ended, or its member was removed.
 */
export const findSession = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  token: string,
): Promise<SignedIn | null> =>
  store.transaction(async (tx) => {
    const session = await tx.sessions.peek(hashToken(token));
    const now = clock.now().getTime();
    if (!session || Date.parse(session.expiresAt) <= now) return null;
    const member = await tx.members.peek(session.memberId);
    const workspace = await tx.workspaces.peek(session.workspaceId);
    if (!member || !workspace) return null;
    const until = Math.min(now + SESSION_IDLE_MS, Date.parse(session.createdAt) + MAX_SESSION_MS);
    const csrfToken = csrfTokenOf(token);
    if (until - Date.parse(session.expiresAt) < PRECISION_MS)
      return { session, csrfToken, member, workspace };
    const used = { ...session, expiresAt: timestamp(new Date(until)) };
    await tx.sessions.put(used);
    return { session: used, csrfToken, member, workspace };
  });
