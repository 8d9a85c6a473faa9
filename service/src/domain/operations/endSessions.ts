import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';

/** Signs one browser out. */
export const endSession = ({ store }: Pick<Deps, 'store'>, sessionId: string) =>
  store.transaction((tx) => tx.sessions.delete(sessionId));

/** Signs a member out of every browser. @param except a session that stays */
export const endAllSessions = ({ store }: Pick<Deps, 'store'>, memberId: string, except?: string) =>
  store.transaction((tx) => deleteSessionsOf(tx, memberId, except));

export async function deleteSessionsOf(tx: Tx, memberId: string, except?: string): Promise<void> {
  const sessions = await tx.sessions.find({ where: { memberId }, limit: 10_000 });
  for (const { id } of sessions) if (id !== except) await tx.sessions.delete(id);
}
