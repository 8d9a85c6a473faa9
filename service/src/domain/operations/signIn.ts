import { hashToken, newSessionToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import { normalizeEmail } from '../contact.ts';
import type { Deps } from '../deps.ts';
import { inOneTransaction } from '../inOneTransaction.ts';
import { SESSION_IDLE_MS, type Session } from '../session.ts';
import type { Member } from '../workspace.ts';

/**
 * Signs a member in.
 * @param tries of the same address in the last minutes: when many passwords wait to be checked, the
 * fewest go first
 * @returns the session's token, for a cookie; null when e-mail or password are wrong
 * @throws rate_limited (429) when too many passwords are being checked
 */
export async function signIn(
  deps: Pick<Deps, 'store' | 'clock' | 'passwords'>,
  { email, password, tries }: { email: string; password: string; tries: number },
): Promise<string | null> {
  const [member] = await deps.store.transaction((tx) =>
    tx.members.find({ where: { email: normalizeEmail(email) }, limit: 1 }),
  );
  const isRight = await deps.passwords.isRight(password, member?.passwordHash ?? null, tries);
  if (!member || !isRight) return null;
  return inOneTransaction(deps, async (within, tx) => {
    // Locked, so that a change of the password, or a removal of the member, at this moment ends this
    // session too.
    const now = await tx.members.get(member.id);
    return now?.passwordHash === member.passwordHash ? startSession(within, member) : null;
  });
}

/**
 * Opens a session for a member who has proven to be one. @returns its token, of which only the hash
 * is kept
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
