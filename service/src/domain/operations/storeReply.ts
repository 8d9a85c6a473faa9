import type { Tx } from '../collections.ts';
import type { Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import type { ConversationView } from './loadConversation.ts';
import { queueSendings } from './queueSendings.ts';
import { storeMessage } from './storeMessage.ts';

/**
 * Stores a message to the customer, owes it to the conversation's channel and emits `message.sent`,
 * all in the caller's transaction.
 */
export async function storeReply(
  tx: Tx,
  deps: Pick<Deps, 'channels'>,
  view: ConversationView,
  { text, actor }: { text: string; actor: Actor },
  now: Date,
) {
  const isSent = deps.channels.capabilitiesOf(view.conversation.channel).isSent;
  const delivery = isSent ? ({ state: 'pending', error: null } as const) : null;
  const written = await storeMessage(
    tx,
    view,
    { sender: actor, text, channelMessageId: null, delivery },
    now,
  );
  const stored = isSent
    ? { ...written, message: await queueSendings(tx, deps, { ...view, ...written }, now) }
    : written;
  await emitEvent(
    tx,
    { name: 'message.sent', message: stored.message },
    { ...view, ...stored },
    now,
  );
  return stored;
}
