import { hashToken, newSetupToken } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import { UniqueViolation } from '../../store/store.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound, AppError } from '../../platform/http/errorCatalogue.ts';
import { isOwner, type Invite, type Member, type Role } from '../workspace.ts';
import { findMemberByEmail } from './sessions.ts';
import { invitesOf, onlyOwners, putMember } from './team.ts';

const INVITE_LASTS_MS = 7 * 24 * 60 * 60 * 1000;
/** Invitations of a workspace that can still be used. */
const MAX_INVITES = 100;

/**
 * Makes the token of a link with which one person can join the team within seven days. It is shown
 * only this once.
 * @param by a member, or the command line
 * @throws not_found (404) when the member who invites has been removed; permission_missing (403) when
 * a member who is not an owner invites an owner; invalid_request (400) at MAX_INVITES
 */
export const createInvite = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  by: Pick<Member, 'id' | 'name' | 'workspaceId'>,
  note: string,
  role: Role = 'member',
): Promise<{ token: string; invite: Invite }> => {
  const token = newSetupToken();
  return store.transaction(async (tx) => {
    // Locked, so that the limit holds.
    await tx.workspaces.get(by.workspaceId);
    // Locked, so that a removal of this member at the same moment ends this invitation too.
    if (by.id.startsWith('mbr_')) {
      const inviting = await tx.members.get(by.id);
      if (!inviting) throw notFound('member', by.id);
      if (role === 'owner' && !isOwner(inviting)) throw onlyOwners();
    }
    const now = clock.now();
    const expiresAt = timestamp(new Date(now.getTime() + INVITE_LASTS_MS));
    const earlier = await invitesOf(tx, by.workspaceId);
    const open = earlier.filter((each) => ifValid(each, now) !== null);
    if (open.length >= MAX_INVITES) throw limitReached();
    for (const each of earlier) if (!open.includes(each)) await tx.invites.delete(each.id);
    const invite = {
      id: hashToken(token),
      workspaceId: by.workspaceId,
      note,
      role,
      createdBy: by.name,
      createdById: by.id,
      createdAt: timestamp(now),
      expiresAt,
    };
    await tx.invites.put(invite);
    return { token, invite };
  });
};

const limitReached = () =>
  new AppError(
    'invalid_request',
    `A workspace has at most ${MAX_INVITES} open invitations. Revoke one that is no longer needed, or ask an owner to.`,
    { param: 'note' },
  );

/** The invitation of a link's token; null when it was used, revoked or has expired. */
export const findInvite = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, token: string) =>
  store.transaction(async (tx) => ifValid(await tx.invites.peek(hashToken(token)), clock.now()));

const ifValid = (invite: Invite | null, now: Date): Invite | null =>
  invite && Date.parse(invite.expiresAt) > now.getTime() ? invite : null;

/**
 * Joins the team by an invitation, which is then used up.
 * @returns null when the link cannot be used any more
 * @throws invalid_request (400) when a member already has the e-mail, rate_limited (429) when too
 * many passwords are being checked
 */
export async function acceptInvite(
  { store, clock, passwords }: Pick<Deps, 'store' | 'clock' | 'passwords'>,
  token: string,
  { name, email, password }: { name: string; email: string; password: string },
): Promise<Member | null> {
  // Checked before the password is hashed: hashing is costly, and anybody may send a token.
  const open = await store.transaction(async (tx) => {
    const invite = ifValid(await tx.invites.peek(hashToken(token)), clock.now());
    if (invite && (await findMemberByEmail(tx, email))) throw emailTaken();
    return invite;
  });
  if (open === null) return null;
  const passwordHash = await passwords.hash(password);
  const joined = store.transaction(async (tx) => {
    const now = clock.now();
    await tx.workspaces.get(open.workspaceId); // locked before the invitation, as in decision 33
    // Locked, so that it lets only one person in.
    const invite = ifValid(await tx.invites.get(hashToken(token)), now);
    if (!invite) return null;
    const { workspaceId, role } = invite;
    const member = await putMember(tx, { workspaceId, name, email, passwordHash, role }, now);
    await tx.invites.delete(invite.id);
    return member;
  });
  return joined.catch(throwEmailTaken);
}

/** Rethrows the error of a store that refused a member: a second one with an e-mail is the caller's. */
export function throwEmailTaken(error: unknown): never {
  throw error instanceof UniqueViolation ? emailTaken() : error;
}

/** For a UniqueViolation of a new member's e-mail. */
const emailTaken = () =>
  new AppError(
    'invalid_request',
    'There is already a member with this e-mail. Sign in, or use another address.',
    { param: 'email' },
  );

/** Ends an invitation: its link no longer works. Members end their own invitations, owners all. */
export const revokeInvite = ({ store }: Pick<Deps, 'store'>, by: Member, id: string) =>
  store.transaction(async (tx) => {
    const invite = await tx.invites.get(id);
    if (invite?.workspaceId !== by.workspaceId) return;
    if (!isOwner(by) && invite.createdById !== by.id) throw onlyOwners();
    await tx.invites.delete(id);
  });
