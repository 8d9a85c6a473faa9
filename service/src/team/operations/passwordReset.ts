import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { hashToken, isSameText, newSetupToken } from '../../platform/security/tokens.ts';
import type { Tx } from '../../store/collections.ts';
import type { Member, Workspace } from '../workspace.ts';
import { deleteSessionsOf, findMemberByEmail } from './sessions.ts';
import { assertOwner, memberOf } from './team.ts';

const RESET_LASTS_MS = 24 * 60 * 60 * 1000;

/** The token of a new link, and the member it is for. */
interface MadeReset {
  readonly token: string;
  readonly member: Member;
}

/**
 * Makes the token of a link with which a member can choose another password, once, within 24 hours. It
 * is shown only this once, and replaces an earlier one. Until it is used, the old password works.
 * @throws not_found (404); permission_missing (403); invalid_request (400) for the owner's own
 * password, which changes only with the current one
 */
export const createPasswordReset = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { workspace, member: by }: { readonly workspace: Workspace; readonly member: Member },
  id: string,
): Promise<MadeReset> =>
  store.transaction(async (tx) => {
    // Locked, so that a demotion or removal of the owner at this moment finds this link and ends it.
    await tx.workspaces.get(workspace.id);
    await assertOwner(tx, by);
    if (id === by.id)
      throw new AppError('invalid_request', 'Change your own password under Your account.');
    return putReset(tx, await memberOf(tx, workspace, id), by, clock.now());
  });

/**
 * The same link for the command line, which needs no owner's permission.
 * @param createdBy who makes it, in words
 * @throws Error when nobody signs in with this e-mail
 */
export const createPasswordResetByEmail = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  email: string,
  createdBy: string,
): Promise<MadeReset> =>
  store.transaction(async (tx) => {
    const found = await findMemberByEmail(tx, email);
    const member = found && (await tx.members.get(found.id)); // locked
    if (!member) throw new Error(`No member signs in with ${JSON.stringify(email)}.`);
    return putReset(tx, member, { name: createdBy, id: null }, clock.now());
  });

async function putReset(
  tx: Tx,
  member: Member,
  by: { readonly name: string; readonly id: string | null },
  now: Date,
): Promise<MadeReset> {
  const secret = newSetupToken();
  const expiresAt = timestamp(new Date(now.getTime() + RESET_LASTS_MS));
  const passwordReset = {
    hash: hashToken(secret),
    createdBy: by.name,
    createdById: by.id,
    expiresAt,
  };
  await tx.members.put({ ...member, passwordReset });
  return { token: `${member.id}.${secret}`, member };
}

/** The member a link's token is for; null when it was used or replaced, or has expired. */
export const findPasswordReset = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  token: string,
): Promise<Member | null> =>
  store.transaction(async (tx) =>
    ifTokenFits(await tx.members.peek(memberIdIn(token)), token, clock.now()),
  );

const memberIdIn = (token: string): string => token.slice(0, Math.max(0, token.indexOf('.')));

/** The member, if the token is that of their last link and has not expired; otherwise null. */
function ifTokenFits(member: Member | null, token: string, now: Date): Member | null {
  const reset = member?.passwordReset;
  const secret = token.slice(token.indexOf('.') + 1);
  return reset &&
    Date.parse(reset.expiresAt) > now.getTime() &&
    isSameText(hashToken(secret), reset.hash)
    ? member
    : null;
}

/**
 * Gives a member the password that they chose by a link, which is then used up, and signs them out
 * everywhere.
 * @returns null when the link cannot be used any more
 * @throws rate_limited (429) when too many passwords are being checked
 */
export async function resetPassword(
  deps: Pick<Deps, 'store' | 'clock' | 'passwords'>,
  token: string,
  password: string,
): Promise<Member | null> {
  // Checked before the password is hashed: hashing is costly, and anybody may send a token.
  if (!(await findPasswordReset(deps, token))) return null;
  const passwordHash = await deps.passwords.hash(password);
  return deps.store.transaction(async (tx) => {
    // Locked, so that the link works only once.
    const member = ifTokenFits(await tx.members.get(memberIdIn(token)), token, deps.clock.now());
    if (!member) return null;
    const changed = { ...member, passwordHash, passwordReset: null };
    await tx.members.put(changed);
    await deleteSessionsOf(tx, member.id);
    return changed;
  });
}
