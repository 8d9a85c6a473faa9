import { hashPassword } from '../../security/passwords.ts';
import { hashToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import { normalizeEmail } from '../contact.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import { newId } from '../ids.ts';
import type { Invite } from '../session.ts';
import type { Member } from '../workspace.ts';

/** The invitation of a link's token; null when it was used, revoked or has expired. */
export const findInvite = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, token: string) =>
  store.transaction(async (tx) => usable(await tx.invites.peek(hashToken(token)), clock.now()));

const usable = (invite: Invite | null, now: Date): Invite | null => (invite && Date.parse(invite.expiresAt) > now.getTime() ? invite : null);

/**
 * Joins the team by an invitation, which is then used up.
 * @returns null when the link cannot be used any more
 * @throws invalid_request (400) when the e-mail is a member's already
 */
export async function acceptInvite(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  token: string,
  { name, email, password }: { name: string; email: string; password: string },
): Promise<Member | null> {
  const passwordHash = await hashPassword(password);
  return store.transaction(async (tx) => {
    const now = clock.now();
    const invite = usable(await tx.invites.get(hashToken(token)), now); // locked: it lets one person in
    if (!invite) return null;
    const [twin] = await tx.members.find({ where: { email: normalizeEmail(email) }, limit: 1 });
    if (twin) throw new AppError('invalid_request', 'A member with this e-mail is there already. Sign in, or use another address.', { param: 'email' });
    const member = { id: newId('mbr'), workspaceId: invite.workspaceId, name, email: normalizeEmail(email), passwordHash, createdAt: timestamp(now) };
    await tx.members.put(member);
    await tx.invites.delete(invite.id);
    return member;
  });
}

/** Makes an invitation's link useless. */
export const revokeInvite = ({ store }: Pick<Deps, 'store'>, by: Member, id: string) =>
  store.transaction(async (tx) => {
    const invite = await tx.invites.get(id);
    if (invite?.workspaceId === by.workspaceId) await tx.invites.delete(id);
  });
