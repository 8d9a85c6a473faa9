import type { Tx } from '../collections.ts';
import {
  takeOver,
  handBack,
  close,
  type Actor,
  type Conversation,
  type HandoverReason,
  type Verdict,
} from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../payload.ts';
import { newSystemNote } from '../systemNote.ts';
import type { Workspace } from '../workspace.ts';
import { cancelApprovalsIn } from './completeToolCall.ts';
import { loadConversation, type ConversationView } from './conversations.ts';
import { wakeAgent } from './wakeAgent.ts';

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
