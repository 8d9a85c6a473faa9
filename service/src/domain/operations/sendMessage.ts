import { assertOpen, type Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import type { Message } from '../message.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';
import { storeMessage } from './storeMessage.ts';
import { giveToPerson } from './takeOverConversation.ts';

/**
 * Sends a message to the customer as a person (or a system acting for one): the agent pauses exactly
 * as with a take-over, `conversation.handed_over` included, then `message.sent` is emitted.
 * @param text 1 to 4,096 characters
 * @throws conversation_closed (409), not_found (404)
 * @see spec section 3, effect 1
 */
export const sendMessage = ({ store, clock }: Deps, workspace: Workspace, id: string, text: string, actor: Actor) =>
  store.transaction(async (tx): Promise<ConversationView & { message: Message }> => {
    const now = clock.now();
    const view = await loadConversation(tx, workspace, id);
    assertOpen(view.conversation);
    const reason = actor.type === 'api' ? 'api_message' : 'team_takeover';
    const taken = await giveToPerson(tx, view, { reason, actor }, now);
    const sent = await storeMessage(tx, { ...view, conversation: taken }, { sender: actor, text, channelMessageId: null }, now);
    await emitEvent(tx, { name: 'message.sent', message: sent.message }, { ...view, ...sent }, now);
    return { ...view, ...sent };
  });
