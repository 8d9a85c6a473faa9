import { moveStage } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import type { FunnelStage } from '../funnel.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';

/**
 * Sets the funnel stage, forward or back, of a closed conversation too (a customer can pay after the
 * talk is over). The first time in its life that the conversation is at
 * `qualified` or beyond, `conversation.qualified` is emitted.
 * @throws not_found (404)
 * @see spec sections 3 and 6; design section 3, "Funnel"
 */
export const setFunnelStage = ({ store, clock }: Deps, workspace: Workspace, id: string, stage: FunnelStage) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    const now = clock.now();
    const view = await loadConversation(tx, workspace, id);
    const { conversation, qualifiedNow } = moveStage(view.conversation, stage, now);
    if (conversation !== view.conversation) await tx.conversations.put(conversation);
    if (qualifiedNow) {
      const previousStage = view.conversation.funnelStage;
      await emitEvent(tx, { name: 'conversation.qualified', previousStage }, { ...view, conversation }, now);
    }
    return { ...view, conversation };
  });
