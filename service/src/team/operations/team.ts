import type { Tx } from '../../store/collections.ts';
import { timestamp } from '../../platform/clock.ts';
import { normalizeEmail } from '../../platform/contactDetails.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import { slugFrom, type Workspace, type Member, type Invite } from '../workspace.ts';
import { deleteSessionsOf } from './sessions.ts';

declare module '../../platform/deps.ts' {
  interface Deps {
    /** What other subjects do when a member is removed, in the same transaction. */
    readonly onMemberRemoved: (tx: Tx, member: Member) => Promise<void>;
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

/** As `createMember`, within the caller's transaction. */
export async function putMember(
  tx: Tx,
  fields: Omit<Member, 'id' | 'createdAt'>,
  now: Date,
): Promise<Member> {
  const email = normalizeEmail(fields.email);
  const member = { ...fields, email, id: newId('mbr'), createdAt: timestamp(now) };
  await tx.members.put(member);
  return member;
}

/** The workspace's members, oldest first, and the invitations that can still be used. */
export const listTeam = ({ store, clock }: Pick<Deps, 'store' | 'clock'>, workspace: Workspace) =>
  store.transaction(
    async (tx): Promise<{ members: readonly Member[]; invites: readonly Invite[] }> => {
      const now = clock.now().getTime();
      const invites = await tx.invites.find({ where: { workspaceId: workspace.id }, limit: 1000 });
      return {
        members: await tx.members.find({ where: { workspaceId: workspace.id }, limit: 1000 }),
        invites: invites.filter(({ expiresAt }) => Date.parse(expiresAt) > now),
      };
    },
  );

/**
 * Removes a person from the team and signs them out everywhere; their open invitations end. What
 * they wrote stays under their name.
 * @throws not_found (404); invalid_request (400) for the last member, without whom nobody could
 * sign in
 */
export const removeMember = (
  { store, onMemberRemoved }: Pick<Deps, 'store' | 'onMemberRemoved'>,
  workspace: Workspace,
  id: string,
) =>
  store.transaction(async (tx) => {
    // This locks the workspace, so that two members cannot remove each other at once.
    await tx.workspaces.get(workspace.id);
    const member = await tx.members.get(id);
    if (!member || member.workspaceId !== workspace.id) throw notFound('member', id);
    const others = await tx.members.find({ where: { workspaceId: workspace.id }, limit: 2 });
    if (others.length < 2)
      throw new AppError(
        'invalid_request',
        'The last member cannot be removed: nobody could sign in any more. Invite somebody first.',
      );
    await deleteSessionsOf(tx, id);
    for (const invite of await tx.invites.find({
      where: { workspaceId: workspace.id },
      limit: 1000,
    })) {
      if (invite.createdById === id) await tx.invites.delete(invite.id);
    }
    for (const mark of await tx.readMarks.find({ where: { memberId: id }, limit: 1_000_000 }))
      await tx.readMarks.delete(mark.id);
    await onMemberRemoved(tx, member);
    await tx.members.delete(id);
  });
