import { handBack } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';

/**
 * Control returns to the agent; nothing changes when the agent has it already.
 * @throws conversation_closed (409), not_found (404)
 * @see design section 3, "Actions by status"
 */
export const handBackConversation = ({ store, clock }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    const view = await loadConversation(tx, workspace, id);
    const conversation = handBack(view.conversation, clock.now());
    if (conversation !== view.conversation) await tx.conversations.put(conversation);
    return { ...view, conversation };
  });
