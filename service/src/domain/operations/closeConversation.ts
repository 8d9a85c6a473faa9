import type { Tx } from '../collections.ts';
import { close, type Actor, type Conversation, type Verdict } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import { newSystemNote } from '../systemNote.ts';
import type { Workspace } from '../workspace.ts';
import { loadConversation, type ConversationView } from './loadConversation.ts';
import { cancelApprovalsIn } from './cancelApprovals.ts';

/**
 * Closes a conversation and emits `conversation.closed`.
 * @param closing.summary up to 4,000 characters
 * @returns the conversation as it stands after closing
 * @throws conversation_closed (409) when it is closed already; its outcome stays as it was
 */
export const closeConversation = (
  { store, clock }: Deps,
  workspace: Workspace,
  id: string,
  closing: { verdict: Verdict; summary: string; actor: Actor },
) =>
  store.transaction(async (tx): Promise<ConversationView> => {
    const now = clock.now();
    const view = await loadConversation(tx, workspace, id);
    return { ...view, conversation: await putClosed(tx, view, closing, now) };
  });

/** Saves the end of a conversation with its event, and cancels what waits for approval. */
export async function putClosed(
  tx: Tx,
  view: ConversationView,
  closing: { verdict: Verdict; summary: string; actor: Actor },
  now: Date,
): Promise<Conversation> {
  const conversation = await cancelApprovalsIn(tx, close(view.conversation, closing, now), now);
  await tx.conversations.put(conversation);
  await tx.systemNotes.put(newSystemNote(conversation, { type: 'closed' }, closing.actor, now));
  if (conversation.outcome) {
    await emitEvent(
      tx,
      { name: 'conversation.closed', outcome: conversation.outcome },
      { ...view, conversation },
      now,
    );
  }
  return conversation;
}
