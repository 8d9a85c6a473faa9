import {
  emitEvent,
  newSystemNote,
  type AgentHandoverReason,
  type Conversation,
  type ConversationView,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * Notes in the thread that the agent handed over, emits the event, and runs `onLeftToPerson`.
 * @param view as the handover left it, saved
 * @returns the conversation, saved
 */
export async function noteHandover(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  view: ConversationView,
  { reason, note }: { readonly reason: AgentHandoverReason; readonly note: string | null },
  actor: Actor,
  now: Date,
): Promise<Conversation> {
  const { conversation } = view;
  const change = { type: 'handed_over', reason, note } as const;
  await tx.systemNotes.put(newSystemNote(conversation, change, actor, now));
  const handover = conversation.handover!;
  await emitEvent(tx, { name: 'conversation.awaiting_human', handover }, view, now);
  const reacted = await reactions.onLeftToPerson(tx, conversation, now);
  if (reacted !== conversation) await tx.conversations.put(reacted);
  return reacted;
}
