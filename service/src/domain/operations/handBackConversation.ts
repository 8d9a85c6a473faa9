import { handBack, type Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { newSystemNote } from '../systemNote.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';
import { cancelApprovalsIn } from './cancelApprovals.ts';
import { wakeAgent } from './wakeAgent.ts';

/**
 * Control returns to the agent, which answers if the last message is the customer's; nothing
 * changes when the agent has it already.
 * @throws conversation_closed (409), not_found (404)
 */
export const handBackConversation = (deps: Deps, workspace: Workspace, id: string, actor: Actor) =>
  deps.store.transaction(async (tx): Promise<ConversationView> => {
    const view = await loadConversation(tx, workspace, id);
    const now = deps.clock.now();
    const handedBack = handBack(view.conversation, now);
    if (handedBack === view.conversation) return view;
    const conversation = await cancelApprovalsIn(tx, handedBack, now);
    await tx.conversations.put(conversation);
    await tx.systemNotes.put(newSystemNote(conversation, { type: 'handed_back' }, actor, now));
    const [last] = await tx.messages.find({
      where: { conversationId: id },
      orderBy: 'number',
      direction: 'desc',
      limit: 1,
    });
    if (last?.direction === 'inbound') await wakeAgent(tx, deps, conversation, now.getTime());
    return { ...view, conversation };
  });
