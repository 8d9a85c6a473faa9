import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Member } from '../workspace.ts';

/** Changes what a member says about themselves. What they wrote keeps the name of that time. */
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
