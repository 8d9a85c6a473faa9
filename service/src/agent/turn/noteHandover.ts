import {
  emitEvent,
  newSystemNote,
  type AgentHandoverReason,
  type ConversationView,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Tx } from '../../store/collections.ts';

/**
 * Notes in the thread that the agent handed over, and emits the event.
 * @param view as the handover left it
 */
export async function noteHandover(
  tx: Tx,
  view: ConversationView,
  { reason, note }: { readonly reason: AgentHandoverReason; readonly note: string | null },
  actor: Actor,
  now: Date,
): Promise<void> {
  const { conversation } = view;
  const change = { type: 'handed_over', reason, note } as const;
  await tx.systemNotes.put(newSystemNote(conversation, change, actor, now));
  const handover = conversation.handover!;
  await emitEvent(tx, { name: 'conversation.awaiting_human', handover }, view, now);
}
