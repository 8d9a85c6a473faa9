import type { Actor } from '../../platform/actor.ts';
import type { Conversation } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { countApproval, type ApprovalOutcome } from '../../tools/index.ts';
import { end, isOpen, type Wait, type WaitEnd } from '../wait.ts';
import { findReplies, lockWaitOf, peekWait, putWait, viewWait, type WaitView } from './waits.ts';

type Reactions = Pick<Deps, 'reactions'>;

/**
 * Ends an open wait. The caller's transaction has locked the wait and its conversation. The workflow's
 * execution goes on, unless a newer wait at the same address has replaced this one.
 * @returns the conversation, which the caller saves: its next messages are the agent's again
 */
export async function endWait(
  tx: Tx,
  { reactions }: Reactions,
  { wait, conversation }: { wait: Wait; conversation: Conversation | null },
  how: WaitEnd,
  now: Date,
): Promise<Conversation | null> {
  await putWait(tx, end(wait, how, now));
  if (wait.kind === 'decision') await countDecision(tx, wait, outcomeOf(how), now);
  let freed =
    conversation?.replyWaitId === wait.id ? { ...conversation, replyWaitId: null } : conversation;
  const mayBeUnread = how.status === 'cancelled' || how.status === 'taken_over';
  const isUnread = mayBeUnread && (await freeMessages(tx, wait));
  if (wait.turnId !== null)
    freed = await reactions.onWaitEnded(tx, wait.turnId, { conversation: freed, isUnread }, now);
  if (freed === null || !isUnread) return freed;
  // As if the customer had written just now: a turn about earlier messages ends.
  const written = { ...freed, controlEpoch: freed.controlEpoch + 1 };
  return reactions.onInbound(tx, written, now);
}

const outcomeOf = ({ status }: WaitEnd): ApprovalOutcome =>
  status === 'approved' || status === 'rejected' || status === 'expired' ? status : 'cancelled';

/** More messages than a customer writes while a question is open. If there are more, the newest. */
const MAX_FREED_MESSAGES = 200;

/**
 * Makes the customer's replies to the wait count as unanswered, since no workflow gets them.
 * @returns whether there were any
 */
async function freeMessages(tx: Tx, wait: Wait): Promise<boolean> {
  if (wait.kind !== 'reply') return false;
  const written = await findReplies(tx, wait, MAX_FREED_MESSAGES);
  for (const message of written) {
    const { waitId: _, ...freed } = (await tx.messages.get(message.id)) ?? message;
    await tx.messages.put(freed);
  }
  return written.length > 0;
}

/** As `endWait`, and saves the conversation. */
export async function putEnded(
  tx: Tx,
  deps: Reactions,
  ended: { wait: Wait; conversation: Conversation | null },
  how: WaitEnd,
  now: Date,
): Promise<void> {
  const freed = await endWait(tx, deps, ended, how, now);
  if (freed !== null && freed !== ended.conversation) await tx.conversations.put(freed);
}

/**
 * Cancels a wait: the question is withdrawn, and the execution goes on without an answer. A wait
 * that has ended stays as it is.
 * @param conversationId the conversation that shows the wait; undefined: any, or none
 * @throws not_found (404)
 */
export const cancelWait = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  by: Actor,
  conversationId?: string,
) =>
  deps.store.transaction(async (tx): Promise<WaitView> => {
    const locked = await lockWaitOf(tx, workspace, id, conversationId);
    if (isOpen(locked.wait))
      await putEnded(tx, deps, locked, { status: 'cancelled', cancelledBy: by }, deps.clock.now());
    return viewWait(tx, await peekWait(tx, workspace, id));
  });

/** More waits than one conversation has open. */
const MAX_OF_CONVERSATION = 1000;

/** Ends every open wait of a conversation that was closed. @returns the conversation, unsaved */
export async function endWaitsIn(
  tx: Tx,
  deps: Reactions,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> {
  const where = { conversationId: conversation.id, status: 'open' } as const;
  let freed = conversation;
  for (const { id } of await tx.waits.find({ where, limit: MAX_OF_CONVERSATION })) {
    const wait = await tx.waits.get(id);
    if (wait?.status === 'open')
      freed =
        (await endWait(tx, deps, { wait, conversation: freed }, { status: 'closed' }, now)) ??
        freed;
  }
  return freed;
}

/**
 * Ends the question to the customer of a conversation that a person took over.
 * @returns the conversation, unsaved
 */
export async function endReplyWaitOf(
  tx: Tx,
  deps: Reactions,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> {
  const wait = conversation.replyWaitId ? await tx.waits.get(conversation.replyWaitId) : null;
  if (wait?.status !== 'open') return conversation;
  const how = { status: 'taken_over' } as const;
  return (await endWait(tx, deps, { wait, conversation }, how, now)) ?? conversation;
}

/** Counts what a workflow asks the team, as approvals are counted. */
export const countDecision = (
  tx: Tx,
  { workspaceId, createdAt: since }: Wait,
  outcome: ApprovalOutcome,
  now: Date,
): Promise<void> => countApproval(tx, { workspaceId, since }, ['workflow', outcome], now);
