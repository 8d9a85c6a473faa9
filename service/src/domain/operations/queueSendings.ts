import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { newId } from '../ids.ts';
import type { Message } from '../message.ts';
import { SENDING_QUEUE, accountGroup, newSending } from '../sending.ts';
import { splitText } from '../splitText.ts';
import { findObstacle } from './assertReachable.ts';
import type { ConversationView } from './loadConversation.ts';
import { lockSendings } from './lockSendings.ts';

/**
 * Owes a message to its channel, in pieces that the channel takes. When the channel would not take
 * it now, nothing is owed: the message has failed, and says why.
 * @returns the message as it stands
 */
export async function queueSendings(
  tx: Tx,
  deps: Pick<Deps, 'channels'>,
  sent: ConversationView & { message: Message },
  now: Date,
): Promise<Message> {
  const { contact, message } = sent;
  const obstacle = await findObstacle(tx, deps, sent, now);
  if (obstacle) {
    const failed: Message = { ...message, delivery: { state: 'failed', error: obstacle.message } };
    await tx.messages.put(failed);
    return failed;
  }
  await lockSendings(tx, contact.id);
  // A job that is there already has its time, which may be that of a retry.
  const [waiting] = await tx.sendings.find({
    where: { contactId: contact.id, status: 'pending' },
    limit: 1,
  });
  const pieces = splitText(message.text, deps.channels.capabilitiesOf(contact.channel).textMax);
  for (const [index, text] of pieces.entries()) {
    await tx.sendings.put(
      newSending({ id: newId('snd'), message, part: index + 1, text, createdAt: timestamp(now) }),
    );
  }
  if (!waiting) {
    await tx.jobs.enqueue({
      id: contact.id,
      queue: SENDING_QUEUE,
      group: accountGroup(contact),
      runAt: now.getTime(),
      rank: 0,
      data: {},
    });
  }
  return message;
}
