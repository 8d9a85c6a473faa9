import { hashToken, newSetupToken } from '../../security/tokens.ts';
import { timestamp } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import { INVITE_LASTS_MS, type Invite } from '../session.ts';
import type { Member } from '../workspace.ts';

/**
 * Makes a link's token by which one person can join the team within seven days. It is shown this
 * once.
 * @throws not_found (404) when the member who invites has been removed
 */
export const createInvite = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  by: Pick<Member, 'id' | 'name' | 'workspaceId'>,
  note: string,
): Promise<{ token: string; invite: Invite }> => {
  const token = newSetupToken();
  return store.transaction(async (tx) => {
    // Locked, so that removing the member at this moment finds this invitation and removes it too.
    if (by.id.startsWith('mbr_') && !(await tx.members.get(by.id))) throw notFound('member', by.id);
    const now = clock.now();
    const expiresAt = timestamp(new Date(now.getTime() + INVITE_LASTS_MS));
    const invite = {
      id: hashToken(token),
      workspaceId: by.workspaceId,
      note,
      createdBy: by.name,
      createdById: by.id,
      createdAt: timestamp(now),
      expiresAt,
    };
    for (const old of await tx.invites.find({
      where: { workspaceId: by.workspaceId },
      limit: 1000,
    })) {
      if (Date.parse(old.expiresAt) <= now.getTime()) await tx.invites.delete(old.id);
    }
    await tx.invites.put(invite);
    return { token, invite };
  });
};
