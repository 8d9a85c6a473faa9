import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Member } from '../workspace.ts';

/** Changes a member's name and time zone. What they wrote before keeps the earlier name. */
export const changeProfile = (
  { store }: Pick<Deps, 'store'>,
  { id }: Member,
  profile: Pick<Member, 'name' | 'timeZone'>,
) =>
  store.transaction(async (tx) => {
    const member = await tx.members.get(id);
    if (!member) throw notFound('member', id);
    await tx.members.put({ ...member, ...profile });
  });
