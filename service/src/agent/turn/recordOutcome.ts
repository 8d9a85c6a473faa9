import { usesWebhook } from '../agentSettings.ts';
import type { Tx } from '../../store/collections.ts';
import {
  countHandover,
  handOver,
  type Conversation,
  putClosed,
  type ConversationView,
  advanceFunnelStage,
  storeReply,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Outcome, Spoken } from './decideTurn.ts';
import { findForAgent, isCurrent, mayClose, type LoadedTurn } from './loadTurn.ts';
import { putWebhookTurn } from '../webhook/operations/turns.ts';
import { noteHandover } from './noteHandover.ts';
import { putToolCalls } from './putToolCalls.ts';
import { replyText } from './replyText.ts';
import { isComplete } from '../../tools/index.ts';
import { checkCalls } from './wantedCall.ts';

/**
 * Records what the agent decided, with its events, in one transaction. Checks control again first,
 * and drops an outcome that is out of date.
 * @returns whether the outcome was recorded
 */
export async function recordOutcome(
  deps: Deps,
  turn: LoadedTurn,
  outcome: Outcome,
): Promise<boolean> {
  const calls =
    outcome.type === 'tool_calls' ? await checkCalls(turn, outcome.calls, deps.bounds) : [];
  return deps.store.transaction(async (tx): Promise<boolean> => {
    const found = await findForAgent(tx, turn.conversation.id);
    const now = deps.clock.now();
    if (!found) {
      // If the agent was turned off, the next turn leaves the customer to the team: see `loadTurn`.
      await scheduleTurn(tx, turn.conversation.id, now);
      return false;
    }
    const { mayAnswer, conversation } = found;
    if (mayAnswer !== turn.mayAnswer || !(await isCurrent(tx, conversation, turn))) {
      // While the conversation waits for a person, new messages do not schedule a turn. So it is
      // scheduled here.
      if (!mayAnswer) await scheduleTurn(tx, conversation.id, now);
      return false;
    }
    const { workspace, contact } = turn;
    const view = { workspace, contact, conversation };
    if (outcome.type !== 'deferred' && outcome.qualify)
      view.conversation = await advanceFunnelStage(tx, view, 'qualified', actorOf(turn), now);
    if (outcome.type === 'tool_calls') {
      const areSomeRunning = await putToolCalls(tx, deps, turn, view.conversation, calls, now);
      await scheduleTurn(tx, conversation.id, areSomeRunning ? null : now);
    } else if (outcome.type === 'deferred') {
      await askWorkflow(tx, deps, turn, view, outcome, now);
      await scheduleTurn(tx, conversation.id, null);
    } else {
      await sendReply(tx, deps, turn, view, outcome, now);
      await scheduleTurn(tx, conversation.id, (await hasUntoldCall(tx, conversation)) ? now : null);
    }
    return true;
  });
}

const actorOf = ({ settings }: LoadedTurn): Actor => ({ type: 'agent', name: settings.name });

/**
 * Whether a call ended while the reply was being written, so that another turn must tell the customer.
 * A call that only waits for approval is no reason for one.
 */
async function hasUntoldCall(tx: Tx, { id: conversationId }: Conversation): Promise<boolean> {
  const where = { conversationId, isTold: false };
  const calls = await tx.toolCalls.find({ where, limit: 100 });
  return calls.some(isComplete);
}

/**
 * Schedules the conversation's next turn.
 * @param at null: no turn until something wakes the agent
 */
const scheduleTurn = (tx: Tx, conversationId: string, at: Date | null): Promise<void> =>
  at === null
    ? tx.jobs.complete(conversationId)
    : tx.jobs.release(conversationId, { runAt: at.getTime(), rank: 0 });

/** Sends the service's own notices, if any, then queues the turn in which the workflow decides. */
async function askWorkflow(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  view: ConversationView,
  { notices }: Outcome & { type: 'deferred' },
  now: Date,
): Promise<void> {
  const actor = actorOf(turn);
  const text = notices.join('\n\n');
  const { conversation } =
    text === ''
      ? view
      : await storeReply(tx, deps, view, { text, actor, isBesideAgent: true }, now);
  await markTold(tx, turn);
  await putWebhookTurn(tx, { ...view, conversation }, turn, now);
}

/** Sends the agent's reply, and hands over or closes the conversation if the outcome says so. */
async function sendReply(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  view: ConversationView,
  outcome: Spoken,
  now: Date,
): Promise<void> {
  const actor = actorOf(turn);
  const { decidedBy } = outcome;
  const isHandover = outcome.type === 'hand_over';
  const conversation = isHandover
    ? handOver(view.conversation, { reason: outcome.reason, note: outcome.note, actor }, now)
    : view.conversation;
  const sent = await storeReply(
    tx,
    deps,
    { ...view, conversation },
    {
      text: replyText(turn, outcome),
      actor,
      ...(decidedBy && { decidedBy }),
      ...(answersNothing(turn) && { isBesideAgent: true }),
    },
    now,
  );
  const after = { ...view, conversation: sent.conversation };
  if (isHandover) {
    await countHandover(tx, view.conversation, outcome.reason, now);
    await noteHandover(tx, deps, after, outcome, actor, now);
  }
  await markTold(tx, turn);
  // A workflow may have asked since the turn was loaded.
  if (outcome.type === 'reply' && outcome.close && (await mayClose(tx, after.conversation)))
    await putClosed(tx, deps, after, { ...outcome.close, actor }, now);
}

/**
 * Whether the reply is only the service's own sentences, which do not count as an answer: the
 * conversation waits for a person, or a workflow is the agent and no message waits for an answer.
 */
const answersNothing = ({ mayAnswer, settings, unanswered }: LoadedTurn): boolean =>
  !mayAnswer || (usesWebhook(settings) && unanswered.length === 0);

/** Notes that the customer was told of the turn's calls. */
async function markTold(tx: Tx, { untold }: LoadedTurn): Promise<void> {
  for (const { id, status } of untold) {
    const call = await tx.toolCalls.get(id);
    // A call that was waiting when the reply was written may have ended since. It is still untold.
    if (call?.status === status) await tx.toolCalls.put({ ...call, isTold: true });
  }
}
