import type { Tx } from '../../store/collections.ts';
import {
  takeOver,
  handBack,
  close,
  isCustomerWaiting,
  type Conversation,
  type HandoverReason,
  type Verdict,
} from '../conversation.ts';
import { countClosed, countHandover } from '../counted.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/index.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { loadConversation, putChange, type ConversationView } from './conversations.ts';
import { waitIfUnanswered } from './waitIfUnanswered.ts';

/**
 * A person takes over: the agent pauses and `conversation.handed_over` is emitted. If a person is
 * in control already, another member takes over from them without an event, and an API key or the
 * same member changes nothing.
 * @throws conversation_closed (409), not_found (404), unauthorized (401) for a removed member
 */
export const takeOverConversation = (deps: Deps, workspace: Workspace, id: string, actor: Actor) =>
  deps.store.transaction(async (tx): Promise<ConversationView> => {
    await lockActor(tx, actor);
    const view = await loadConversation(tx, workspace, id);
    const reason = actor.type === 'api' ? 'api_takeover' : 'team_takeover';
    const now = deps.clock.now();
    const wasWaiting = isCustomerWaiting(view.conversation);
    const conversation = await waitIfUnanswered(tx, view.conversation);
    const by = { reason, actor, wasWaiting } as const;
    const taken = await giveToPerson(tx, deps, { ...view, conversation }, by, now);
    return { ...view, conversation: taken };
  });

/**
 * Locks a member before they are given a conversation. A removal of the member at this moment waits
 * for the lock, and takes this conversation away from them as well.
 * @throws unauthorized (401) when they were removed
 */
export async function lockActor(tx: Tx, { memberId }: Actor): Promise<void> {
  if (memberId === undefined || (await tx.members.get(memberId)) !== null) return;
  throw new AppError('unauthorized', 'You are no longer a member of this team.');
}

/**
 * Saves a take-over with its note in the thread, and with its event if control passes to a person.
 * @param by.wasWaiting whether the customer already waited for the team, because the agent was off
 * @returns the same conversation when nothing changes: see `takeOver`
 */
export async function giveToPerson(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  view: ConversationView,
  by: { reason: HandoverReason; actor: Actor; wasWaiting: boolean },
  now: Date,
): Promise<Conversation> {
  const taken = takeOver(view.conversation, { ...by, note: null }, now);
  if (taken === view.conversation || !taken.handover) return view.conversation;
  const change = { type: 'handed_over', reason: by.reason, note: null } as const;
  // From one person to another: no event, since the agent was not in control.
  if (view.conversation.status === 'human_active')
    return putChange(tx, view, taken, { change, actor: by.actor }, now);
  const event = { name: 'conversation.handed_over', handover: taken.handover } as const;
  // When the customer waited because the agent was off, the team took nothing from the agent.
  const leftAgent =
    view.conversation.status === 'ai_active' && !(by.wasWaiting && by.reason === 'team_takeover');
  if (leftAgent) await countHandover(tx, view.conversation, by.reason, now);
  const counted = leftAgent ? { ...taken, wasHandedOver: true } : taken;
  const reacted = await reactions.onLeftToPerson(tx, counted, now);
  return putChange(tx, view, reacted, { change, actor: by.actor, event }, now);
}

/**
 * Control returns to the agent, which answers if the last message is the customer's, and tells how
 * approvals ended in the meantime. Nothing changes when the agent is in control already.
 * @throws conversation_closed (409), not_found (404)
 */
export const handBackConversation = (deps: Deps, workspace: Workspace, id: string, actor: Actor) =>
  deps.store.transaction(async (tx): Promise<ConversationView> => {
    const view = await loadConversation(tx, workspace, id);
    const now = deps.clock.now();
    const handedBack = handBack(view.conversation, now);
    if (handedBack === view.conversation) return view;
    const change = { type: 'handed_back' } as const;
    const reacted = await deps.reactions.onHandedBack(tx, handedBack, now);
    return { ...view, conversation: await putChange(tx, view, reacted, { change, actor }, now) };
  });

/**
 * Closes a conversation and emits `conversation.closed`.
 * @param closing.summary up to 4,000 characters
 * @returns the conversation as it stands after closing
 * @throws not_found (404)
 * @throws conversation_closed (409) when it is closed already; its outcome stays as it was
 */
export const closeConversation = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  closing: { verdict: Verdict; summary: string; actor: Actor },
) =>
  deps.store.transaction(async (tx): Promise<ConversationView> => {
    const now = deps.clock.now();
    const view = await loadConversation(tx, workspace, id);
    return { ...view, conversation: await putClosed(tx, deps, view, closing, now) };
  });

/** Saves the end of a conversation with its event. */
export async function putClosed(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  view: ConversationView,
  closing: { verdict: Verdict; summary: string; actor: Actor },
  now: Date,
): Promise<Conversation> {
  const closed = close(view.conversation, closing, now);
  const change = { type: 'closed' } as const;
  const event = { name: 'conversation.closed', outcome: closed.outcome } as const;
  await countClosed(tx, closed, closed.outcome, now);
  const reacted = await reactions.onClosed(tx, closed, now);
  return putChange(tx, view, reacted, { change, actor: closing.actor, event }, now);
}
