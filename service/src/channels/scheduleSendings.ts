import type { Tx } from '../domain/collections.ts';

/**
 * Gives the contact's job the time of their next text, or takes it away when none is left. One that
 * is being sent has its job already, which whoever sends it holds.
 */
export async function scheduleSendings(tx: Tx, contactId: string, now: Date): Promise<void> {
  const [next] = await tx.sendings.find({ where: { contactId, status: 'pending' }, limit: 1 });
  if (!next) return tx.jobs.complete(contactId);
  if (next.isUnderWay) return;
  const isRetry = next.nextAttemptAt !== null;
  await tx.jobs.release(contactId, {
    runAt: isRetry ? Date.parse(next.nextAttemptAt!) : now.getTime(),
    rank: isRetry ? 1 : 0,
  });
}
