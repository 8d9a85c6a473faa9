import type { Tx } from '../../store/collections.ts';
import { timestamp } from '../../platform/clock.ts';
import { normalizeEmail } from '../../platform/contactDetails.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import {
  isOwner,
  slugFrom,
  type Workspace,
  type Member,
  type Invite,
  type Role,
} from '../workspace.ts';
import { recordOwner } from './owner.ts';
import { deleteSessionsOf } from './sessions.ts';

declare module '../../platform/deps.ts' {
  interface Deps {
    /** What other subjects do when a member is removed, in the same transaction. */
    readonly onMemberRemoved: (tx: Tx, member: Member, now: Date) => Promise<void>;
  }
}

/** Creates a workspace and the id of its agent. Names may repeat; the slug is made unique. */
export const createWorkspace = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, name: string) =>
  store.transaction(async (tx): Promise<Workspace> => {
    const base = slugFrom(name);
    let slug = base;
    for (let n = 2; (await tx.workspaces.find({ where: { slug }, limit: 1 })).length > 0; n++)
      slug = `${base.slice(0, 35)}-${n}`;
    const workspace = {
      id: newId('ws'),
      slug,
      name,
      agentId: newId('agent'),
      createdAt: timestamp(clock.now()),
    };
    await tx.workspaces.put(workspace);
    return workspace;
  });

/** Finds the workspace with this slug, or the oldest one when no slug is given. */
export const findWorkspace = ({ store }: Pick<Deps, 'store'>, slug?: string) =>
  store.transaction(async (tx): Promise<Workspace | null> => {
    const [workspace] = await tx.workspaces.find({
      where: slug === undefined ? {} : { slug },
      limit: 1,
    });
    return workspace ?? null;
  });

/** Far more than one service ever has. */
const MAX_WORKSPACES = 10_000;

/** All workspaces, the oldest first. */
export const listWorkspaces = ({ store }: Pick<Deps, 'store'>): Promise<readonly Workspace[]> =>
  store.transaction((tx) => tx.workspaces.find({ where: {}, limit: MAX_WORKSPACES }));

/** Adds a person to the team. @throws UniqueViolation when a member already has this e-mail */
export const createMember = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  { name, email, passwordHash }: Pick<Member, 'name' | 'email' | 'passwordHash'>,
) =>
  store.transaction((tx) =>
    putMember(tx, { workspaceId: workspace.id, name, email, passwordHash }, clock.now()),
  );

/**
 * As `createMember`, within the caller's transaction. The first member of a workspace is one of its
 * owners, and the first of the oldest workspace is the owner of the service.
 */
export async function putMember(
  tx: Tx,
  fields: Omit<Member, 'id' | 'createdAt'>,
  now: Date,
): Promise<Member> {
  const { workspaceId, role = 'member' } = fields;
  // Locked, so that only one of two people who join at once is the first.
  await tx.workspaces.get(workspaceId);
  const [existing] = await tx.members.find({ where: { workspaceId }, limit: 1 });
  const email = normalizeEmail(fields.email);
  const member = {
    ...fields,
    role: existing ? role : ('owner' as const),
    email,
    id: newId('mbr'),
    createdAt: timestamp(now),
  };
  await tx.members.put(member);
  await recordOwner(tx);
  return member;
}

/** The workspace's members, oldest first, and the invitations that can still be used. */
export const listTeam = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, workspace: Workspace) =>
  store.transaction(
    async (tx): Promise<{ members: readonly Member[]; invites: readonly Invite[] }> => {
      const now = clock.now().getTime();
      const invites = await invitesOf(tx, workspace.id);
      return {
        members: await membersOf(tx, workspace),
        invites: invites.filter(({ expiresAt }) => Date.parse(expiresAt) > now),
      };
    },
  );

const membersOf = (tx: Tx, { id }: Workspace): Promise<readonly Member[]> =>
  tx.members.find({ where: { workspaceId: id }, limit: 1000 });

/** All invitations, expired ones included. A workspace never has as many as the limit. */
export const invitesOf = (tx: Tx, workspaceId: string): Promise<readonly Invite[]> =>
  tx.invites.find({ where: { workspaceId }, limit: 1000 });

/** @throws permission_missing (403) when the member is no longer an owner */
export async function assertOwner(tx: Tx, { id }: Pick<Member, 'id'>): Promise<void> {
  const member = await tx.members.peek(id);
  if (!member || !isOwner(member)) throw onlyOwners();
}

export const onlyOwners = () =>
  new AppError('permission_missing', 'Only an owner can do this. Ask an owner of your workspace.');

/** @throws not_found (404), also for another workspace's */
export async function memberOf(tx: Tx, workspace: Workspace, id: string): Promise<Member> {
  const member = await tx.members.get(id);
  if (member?.workspaceId !== workspace.id) throw notFound('member', id);
  return member;
}

/**
 * Removes a person from the team and signs them out everywhere; their open invitations end. What
 * they wrote stays under their name. An owner can remove anybody; a member can only leave.
 * @throws not_found (404); permission_missing (403); invalid_request (400) for the last owner,
 * without whom nobody could manage the workspace
 */
export const removeMember = (
  { store, clock, onMemberRemoved }: Pick<Deps, 'store' | 'clock' | 'onMemberRemoved'>,
  { workspace, member: by }: { readonly workspace: Workspace; readonly member: Member },
  id: string,
) =>
  store.transaction(async (tx) => {
    // This locks the workspace, so that two members cannot remove each other at once.
    await tx.workspaces.get(workspace.id);
    if (id !== by.id) await assertOwner(tx, by);
    const member = await memberOf(tx, workspace, id);
    const others = (await membersOf(tx, workspace)).filter((other) => other.id !== id);
    if (others.length === 0)
      throw new AppError(
        'invalid_request',
        'The last member cannot be removed: nobody could sign in any more. Invite somebody first.',
      );
    if (!others.some(isOwner))
      throw new AppError(
        'invalid_request',
        'The last owner cannot be removed. Make another member an owner first.',
      );
    await deleteSessionsOf(tx, id);
    for (const invite of await invitesOf(tx, workspace.id))
      if (invite.createdById === id) await tx.invites.delete(invite.id);
    await endResetsBy(tx, workspace, member);
    for (const mark of await tx.readMarks.find({ where: { memberId: id }, limit: 1_000_000 }))
      await tx.readMarks.delete(mark.id);
    await onMemberRemoved(tx, member, clock.now());
    await tx.members.delete(id);
  });

/**
 * Makes a member an owner, or an owner a member, from their next request on.
 * @throws not_found (404); permission_missing (403); invalid_request (400) for the last owner
 */
export const changeRole = (
  { store }: Pick<Deps, 'store'>,
  { workspace, member: by }: { readonly workspace: Workspace; readonly member: Member },
  id: string,
  role: Role,
) =>
  store.transaction(async (tx) => {
    // Locked, so that two owners cannot demote each other at once.
    await tx.workspaces.get(workspace.id);
    await assertOwner(tx, by);
    const member = await memberOf(tx, workspace, id);
    const others = (await membersOf(tx, workspace)).filter((other) => other.id !== id);
    if (role === 'member' && !others.some(isOwner))
      throw new AppError(
        'invalid_request',
        'The last owner cannot become a member. Make another member an owner first.',
      );
    // Links that only an owner may make end with the role.
    if (role === 'member') {
      await endOwnerInvitesOf(tx, member);
      await endResetsBy(tx, workspace, member);
    }
    await tx.members.put({ ...member, role });
  });

/** Ends the links for new passwords that an owner made for others. */
async function endResetsBy(tx: Tx, workspace: Workspace, { id }: Member): Promise<void> {
  for (const other of await membersOf(tx, workspace)) {
    if (other.id === id || other.passwordReset?.createdById !== id) continue;
    const locked = await tx.members.get(other.id);
    if (locked?.passwordReset?.createdById === id)
      await tx.members.put({ ...locked, passwordReset: null });
  }
}

async function endOwnerInvitesOf(tx: Tx, { id, workspaceId }: Member): Promise<void> {
  for (const invite of await invitesOf(tx, workspaceId))
    if (invite.createdById === id && invite.role === 'owner') await tx.invites.delete(invite.id);
}
