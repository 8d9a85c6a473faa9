import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import type { Message } from '../message.ts';
import type { ConversationView } from './loadConversation.ts';

/** Owes a message to its channel, in pieces that the channel takes. */
export async function queueSendings(_tx: Tx, _deps: Pick<Deps, 'channels'>, _sent: ConversationView & { message: Message }, _now: Date): Promise<void> {
  throw new Error('not built yet');
}
