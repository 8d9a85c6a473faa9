import type { Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { lockSendings } from '../domain/operations/lockSendings.ts';
import { showDelivery } from '../domain/operations/showDelivery.ts';
import { recordTry, type SendResult, type Sending, type SendingPolicy } from '../domain/sending.ts';
import { scheduleSendings } from './scheduleSendings.ts';

/**
 * Writes what a try came to, in one transaction: how far the text and its message have come, and
 * when the contact's next text is due. When the text has moved on since, because the process stood
 * still for longer than its lease and another one has taken over, only that it was sent still
 * counts.
 * @param made the sending as it was tried, with the try's number
 * @returns the sending as it stands; null when it is gone
 */
export function recordSendResult(
  deps: Deps,
  { id, contactId, attempts }: Pick<Sending, 'id' | 'contactId' | 'attempts'>,
  result: SendResult,
  policy: SendingPolicy,
) {
  const random = Math.random();
  return deps.store.transaction(async (tx): Promise<Sending | null> => {
    const now = deps.clock.now();
    await lockSendings(tx, contactId);
    const before = await tx.sendings.get(id);
    const isLate = before !== null && !(before.isUnderWay && before.attempts === attempts);
    if (before && (!isLate || result.type === 'sent')) {
      const known =
        result.type === 'sent'
          ? { ...result, channelMessageId: await freeId(tx, before, result.channelMessageId) }
          : result;
      const sending = recordTry(before, known, policy, now, random);
      await tx.sendings.put(sending);
      if (sending.status !== before.status) await showDelivery(tx, before.messageId);
    }
    await scheduleSendings(tx, contactId, now);
    return before && tx.sendings.peek(id);
  });
}

/** An id names one text: given for a second one, it is no id of that. */
async function freeId(
  tx: Tx,
  { id, workspaceId }: Sending,
  channelMessageId: string | null,
): Promise<string | null> {
  if (channelMessageId === null) return null;
  const [other] = await tx.sendings.find({ where: { workspaceId, channelMessageId }, limit: 1 });
  return other && other.id !== id ? null : channelMessageId;
}
