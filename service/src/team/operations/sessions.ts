import { hashToken, newSessionToken, csrfTokenOf } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import { normalizeEmail } from '../../platform/contactDetails.ts';
import { inOneTransaction, type Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { Session, Member, Workspace } from '../workspace.ts';

/** An unused session ends after this time, a used one after `MAX_SESSION_MS`. */
const SESSION_IDLE_MS = 7 * 24 * 60 * 60 * 1000;
export const MAX_SESSION_MS = 30 * 24 * 60 * 60 * 1000;

/** How many sessions of a member are read at once to end them all. */
const BATCH = 1000;

/** The expiry of a session is extended at most this often, so that most requests write nothing. */
const PRECISION_MS = 60 * 60 * 1000;

/** Finds a member by e-mail, in upper or lower case, without locking. */
export async function findMemberByEmail(tx: Tx, email: string): Promise<Member | null> {
  const [member] = await tx.members.find({ where: { email: normalizeEmail(email) }, limit: 1 });
  return member ?? null;
}

/**
 * Signs a member in.
 * @param tries how often the same network address tried in the last minutes; while many passwords
 * wait to be checked, those with the fewest tries go first
 * @returns the session's token, for a cookie; null when e-mail or password are wrong
 * @throws rate_limited (429) when too many passwords are being checked
 */
export async function signIn(
  deps: Pick<Deps, 'store' | 'clock' | 'passwords'>,
  { email, password, tries }: { email: string; password: string; tries: number },
): Promise<string | null> {
  const member = await deps.store.transaction((tx) => findMemberByEmail(tx, email));
  const isRight = await deps.passwords.isRight(password, member?.passwordHash ?? null, tries);
  if (!member || !isRight) return null;
  return inOneTransaction(deps, async (txDeps, tx) => {
    // Locked: if the password changes or the member is removed at the same moment, this session ends
    // too.
    const locked = await tx.members.get(member.id);
    return locked?.passwordHash === member.passwordHash ? startSession(txDeps, member) : null;
  });
}

/**
 * Opens a session for a member. The caller has checked who it is.
 * @returns its token, of which only the hash is stored
 */
export async function startSession(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  member: Member,
): Promise<string> {
  const token = newSessionToken();
  const now = clock.now();
  const session: Session = {
    id: hashToken(token),
    kind: 'session',
    memberId: member.id,
    workspaceId: member.workspaceId,
    createdAt: timestamp(now),
    expiresAt: timestamp(new Date(now.getTime() + SESSION_IDLE_MS)),
  };
  await store.transaction((tx) => tx.sessions.put(session));
  return token;
}

export interface SignedIn {
  readonly session: Session;
  /** Every form carries it, so that no other site can post one. */
  readonly csrfToken: string;
  readonly member: Member;
  readonly workspace: Workspace;
  /** How up to date the requested page is, as a position in the feed of changes. */
  readonly livePosition?: string;
}

/**
 * Finds the member whom a session's token signs in, and extends the session. Null when the session
 * has expired or was ended, or the member was removed.
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

/** Signs one browser out. */
export const endSession = ({ store }: Pick<Deps, 'store'>, sessionId: string) =>
  store.transaction((tx) => tx.sessions.delete(sessionId));

/** Signs a member out of every browser. */
export const endAllSessions = ({ store }: Pick<Deps, 'store'>, memberId: string) =>
  store.transaction((tx) => deleteSessionsOf(tx, memberId));

/** @param except a session that stays */
export async function deleteSessionsOf(tx: Tx, memberId: string, except?: string): Promise<void> {
  let found: readonly Session[];
  do {
    found = await tx.sessions.find({ where: { memberId }, limit: BATCH });
    for (const { id } of found) if (id !== except) await tx.sessions.delete(id);
  } while (found.length === BATCH);
}

/**
 * Gives a member another password and signs every other browser out.
 * @throws invalid_request (400) when the current password is wrong, rate_limited (429) when too
 * many passwords are being checked
 */
export async function changePassword(
  { store, passwords }: Pick<Deps, 'store' | 'passwords'>,
  { member, session }: SignedIn,
  { current, next }: { current: string; next: string },
): Promise<void> {
  const wrong = new AppError('invalid_request', 'The current password is wrong.', {
    param: 'current',
  });
  if (!(await passwords.isRight(current, member.passwordHash))) throw wrong;
  const passwordHash = await passwords.hash(next);
  await store.transaction(async (tx) => {
    const locked = await tx.members.get(member.id);
    // The password was changed while this one was being checked.
    if (locked?.passwordHash !== member.passwordHash) throw wrong;
    await tx.members.put({ ...locked, passwordHash, passwordReset: null });
    await deleteSessionsOf(tx, member.id, session.id);
  });
}
