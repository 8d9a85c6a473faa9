import type { Tx } from '../collections.ts';
import { takeOver, type Actor, type Conversation, type HandoverReason } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import { newSystemNote } from '../systemNote.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';
import { cancelApprovalsIn } from './cancelApprovals.ts';

/**
 * A person takes over: the agent pauses and `conversation.handed_over` is emitted. Nothing changes,
 * and no second event is emitted, when a person is in control already.
 * @throws conversation_closed (409), not_found (404)
 */
export const takeOverConversation = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  actor: Actor,
) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    const view = await loadConversation(tx, workspace, id);
    const reason = actor.type === 'api' ? 'api_takeover' : 'team_takeover';
    const taken = await giveToPerson(tx, view, { reason, actor }, clock.now());
    return { ...view, conversation: taken };
  });

/**
 * Saves a take-over with its event, and cancels what waits for approval; the conversation as it was
 * when a person has it already.
 */
export async function giveToPerson(
  tx: Tx,
  view: ConversationView,
  by: { reason: HandoverReason; actor: Actor },
  now: Date,
): Promise<Conversation> {
  const inControl = takeOver(view.conversation, { ...by, note: null }, now);
  if (inControl === view.conversation || !inControl.handover) return view.conversation;
  await tx.systemNotes.put(
    newSystemNote(inControl, { type: 'handed_over', reason: by.reason, note: null }, by.actor, now),
  );
  if (view.conversation.status === 'human_active') {
    await tx.conversations.put(inControl); // from one team member to another: control does not pass
    return inControl;
  }
  const taken = await cancelApprovalsIn(tx, inControl, now);
  await tx.conversations.put(taken);
  await emitEvent(
    tx,
    { name: 'conversation.handed_over', handover: inControl.handover },
    { ...view, conversation: taken },
    now,
  );
  return taken;
}
