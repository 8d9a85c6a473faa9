import { assertOpen, type Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import type { Message } from '../message.ts';
import type { Workspace } from '../workspace.ts';
import { assertReachable } from './reachability.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';
import { storeReply } from './storeMessage.ts';
import { giveToPerson } from './takeOverConversation.ts';

/**
 * Sends a message to the customer as a person (or a system acting for one): the agent pauses
 * exactly as with a take-over, `conversation.handed_over` included, then `message.sent` is emitted.
 * @param text 1 to MAX_REPLY_CHARACTERS characters
 * @throws conversation_closed, outside_messaging_window, channel_removed (409), not_found (404)
 */
export const sendMessage = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  text: string,
  actor: Actor,
) =>
  deps.store.transaction(async (tx): Promise<ConversationView & { message: Message }> => {
    const now = deps.clock.now();
    const view = await loadConversation(tx, workspace, id);
    assertOpen(view.conversation);
    await assertReachable(tx, deps, view, now);
    const reason = actor.type === 'api' ? 'api_message' : 'team_takeover';
    const taken = await giveToPerson(tx, view, { reason, actor }, now);
    const sent = await storeReply(tx, deps, { ...view, conversation: taken }, { text, actor }, now);
    return { ...view, ...sent };
  });
