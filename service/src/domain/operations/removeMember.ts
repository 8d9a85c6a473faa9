import type { Deps } from '../deps.ts';
import { AppError, notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';
import { deleteSessionsOf } from './endSessions.ts';

/**
 * Removes a person from the team and signs them out everywhere; their open invitations end. What
 * they wrote stays under their name.
 * @throws not_found (404); invalid_request (400) for the last member, without whom nobody could
 * sign in
 */
export const removeMember = ({ store }: Pick<Deps, 'store'>, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => {
    // locks the workspace: two members cannot remove each other at once
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
    await tx.members.delete(id);
  });
