import type { Deps } from '../deps.ts';
import type { Invite } from '../session.ts';
import type { Member, Workspace } from '../workspace.ts';

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
