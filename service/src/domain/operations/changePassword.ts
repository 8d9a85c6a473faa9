import type { Deps } from '../deps.ts';
import { AppError } from '../errorCatalogue.ts';
import { deleteSessionsOf } from './endSessions.ts';
import type { SignedIn } from './findSession.ts';

/**
 * Gives a member another password and signs every other browser out.
 * @throws invalid_request (400) when the current password is wrong, rate_limited (429) when too
 * many passwords are being checked
 */
export async function changePassword(
  { store, passwords }: Pick<Deps, 'store' | 'passwords'>,
  { member, session }: SignedIn,
  { current, next }: { current: string; next: string },
): Promise<void> {
  const wrong = new AppError('invalid_request', 'The current password is wrong.', {
    param: 'current',
  });
  if (!(await passwords.isRight(current, member.passwordHash))) throw wrong;
  const passwordHash = await passwords.hash(next);
  await store.transaction(async (tx) => {
    const now = await tx.members.get(member.id);
    // changed while this one was looked at
    if (now?.passwordHash !== member.passwordHash) throw wrong;
    await tx.members.put({ ...now, passwordHash });
    await deleteSessionsOf(tx, member.id, session.id);
  });
}
