import type { Tx } from '../../store/collections.ts';
import {
  takeOver,
  handBack,
  close,
  type Conversation,
  type HandoverReason,
  type Verdict,
} from '../conversation.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/workspace.ts';
import { cancelApprovalsIn } from '../../tools/operations/completeToolCall.ts';
import {
  findNewestMessages,
  loadConversation,
  putChange,
  type ConversationView,
} from './conversations.ts';
import { wakeAgent } from '../../agent/operations/wakeAgent.ts';

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
  const change = { type: 'handed_over', reason: by.reason, note: null } as const;
  // From one team member to another: control does not pass.
  if (view.conversation.status === 'human_active')
    return putChange(tx, view, inControl, { change, actor: by.actor }, now);
  const event = { name: 'conversation.handed_over', handover: inControl.handover } as const;
  const taken = await cancelApprovalsIn(tx, inControl, now);
  return putChange(tx, view, taken, { change, actor: by.actor, event }, now);
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
    const free = await cancelApprovalsIn(tx, handedBack, now);
    const change = { type: 'handed_back' } as const;
    const conversation = await putChange(tx, view, free, { change, actor }, now);
    const [last] = await findNewestMessages(tx, id, 1);
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
  const closed = close(view.conversation, closing, now);
  const change = { type: 'closed' } as const;
  const event = { name: 'conversation.closed', outcome: closed.outcome } as const;
  const conversation = await cancelApprovalsIn(tx, closed, now);
  return putChange(tx, view, conversation, { change, actor: closing.actor, event }, now);
}
