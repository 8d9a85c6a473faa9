import type { Tx } from '../collections.ts';

/**
 * Locks what waits to be sent to a contact. Whoever adds to it looks whether a job is there
 * already, and whoever ends the last one takes the job away: both hold this. No sending has a
 * contact's id, so it is the id itself that is locked.
 * @see docs/decisions/0033
 */
export const lockSendings = async (tx: Tx, contactId: string): Promise<void> =>
  void (await tx.sendings.get(contactId));
