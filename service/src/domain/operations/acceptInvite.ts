import { hashToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import { normalizeEmail } from '../contact.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import type { Invite } from '../session.ts';
import type { Member } from '../workspace.ts';

/** The invitation of a link's token; null when it was used, revoked or has expired. */
export const findInvite = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, token: string) =>
  store.transaction(async (tx) => usable(await tx.invites.peek(hashToken(token)), clock.now()));

const usable = (invite: Invite | null, now: Date): Invite | null =>
  invite && Date.parse(invite.expiresAt) > now.getTime() ? invite : null;

/**
 * Joins the team by an invitation, which is then used up.
 * @returns null when the link cannot be used any more
 * @throws invalid_request (400) when the e-mail is a member's already, rate_limited (429) when too
 *   many passwords are being checked
 */
export async function acceptInvite(
  { store, clock, passwords }: Pick<Deps, 'store' | 'clock' | 'passwords'>,
  token: string,
  { name, email, password }: { name: string; email: string; password: string },
): Promise<Member | null> {
  // Before the password is hashed, which is work: anybody may send a token.
  const isUsable = await store.transaction(async (tx) => {
    const invite = usable(await tx.invites.peek(hashToken(token)), clock.now());
    if (invite) await refuseTwin(tx, email);
    return invite !== null;
  });
  if (!isUsable) return null;
  const passwordHash = await passwords.hash(password);
  return store.transaction(async (tx) => {
    const now = clock.now();
    // locked: it lets one person in
    const invite = usable(await tx.invites.get(hashToken(token)), now);
    if (!invite) return null;
    await refuseTwin(tx, email);
    const member = {
      id: newId('mbr'),
      workspaceId: invite.workspaceId,
      name,
      email: normalizeEmail(email),
      passwordHash,
      createdAt: timestamp(now),
    };
    await tx.members.put(member);
    await tx.invites.delete(invite.id);
    return member;
  });
}

async function refuseTwin(tx: Tx, email: string): Promise<void> {
  const [twin] = await tx.members.find({ where: { email: normalizeEmail(email) }, limit: 1 });
  if (!twin) return;
  const message = 'A member with this e-mail is there already. Sign in, or use another address.';
  throw new AppError('invalid_request', message, { param: 'email' });
}

/** Makes an invitation's link useless. */
export const revokeInvite = ({ store }: Pick<Deps, 'store'>, by: Member, id: string) =>
  store.transaction(async (tx) => {
    const invite = await tx.invites.get(id);
    if (invite?.workspaceId === by.workspaceId) await tx.invites.delete(id);
  });
