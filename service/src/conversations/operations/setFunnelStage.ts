import type { Tx } from '../../store/collections.ts';
import { moveStage, isForward, type Conversation, type FunnelStage } from '../conversation.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/index.ts';
import { loadConversation, putChange, type ConversationView } from './conversations.ts';

/**
 * Sets the funnel stage, forward or back. The conversation may be closed: a customer can pay later.
 * When it first reaches `qualified` or a later stage, `conversation.qualified` is emitted.
 * @throws not_found (404)
 */
export const setFunnelStage = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  stage: FunnelStage,
  actor: Actor,
) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    const now = clock.now();
    const view = await loadConversation(tx, workspace, id);
    const moved = moveStage(view.conversation, stage, now);
    return { ...view, conversation: await putStageMove(tx, view, moved, actor, now) };
  });

/**
 * Moves the funnel stage without a person's request: only forward, and never out of `lost`.
 * @returns the conversation, moved or as it was
 */
export async function advanceFunnelStage(
  tx: Tx,
  view: ConversationView,
  stage: FunnelStage,
  actor: Actor,
  now: Date,
): Promise<Conversation> {
  const { conversation } = view;
  return isForward(conversation.funnelStage, stage)
    ? putStageMove(tx, view, moveStage(conversation, stage, now), actor, now)
    : conversation;
}

/**
 * Saves a move on the funnel, with its event if it has one.
 * @param moved what `moveStage` made of the view's conversation
 */
async function putStageMove(
  tx: Tx,
  view: ConversationView,
  moved: ReturnType<typeof moveStage>,
  actor: Actor,
  now: Date,
): Promise<Conversation> {
  const { conversation, qualifiedNow } = moved;
  if (conversation === view.conversation) return conversation;
  const previousStage = view.conversation.funnelStage;
  const to = conversation.funnelStage;
  const change = { type: 'stage_changed', from: previousStage, to } as const;
  const event = qualifiedNow ? ({ name: 'conversation.qualified', previousStage } as const) : null;
  return putChange(tx, view, conversation, { change, actor, event }, now);
}
