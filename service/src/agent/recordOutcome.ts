import { MAX_TOOL_CALLS_PER_TURN } from './agentSettings.ts';
import type { Tx } from '../store/collections.ts';
import {
  handOver,
  moveStage,
  isForward,
  type Conversation,
  putClosed,
  type ConversationView,
  putStageMove,
  storeReply,
  newSystemNote,
} from '../conversations/index.ts';
import type { Actor } from '../platform/actor.ts';
import type { Deps } from '../platform/deps.ts';
import type { Outcome, Spoken } from './decideTurn.ts';
import { findControlled, isCurrent, needsTelling, type LoadedTurn } from './loadTurn.ts';
import { putToolCalls } from './putToolCalls.ts';
import { wordsOf } from './replyText.ts';
import { checkCalls } from './keyword/wantedCall.ts';

/**
 * The most calls that are read of one step. Calls beyond a turn's limit are refused, and calls beyond
 * this one are ignored.
 */
const MAX_CALLS_READ = 2 * MAX_TOOL_CALLS_PER_TURN;

/**
 * Records what the agent decided, with its events, in one transaction. It rechecks control first, and
 * drops a stale outcome as a whole.
 * @returns whether the outcome was recorded
 */
export async function recordOutcome(
  deps: Deps,
  turn: LoadedTurn,
  outcome: Outcome,
): Promise<boolean> {
  const calls =
    outcome.type === 'tool_calls'
      ? await checkCalls(turn, outcome.calls.slice(0, MAX_CALLS_READ), deps.bounds)
      : [];
  return deps.store.transaction(async (tx): Promise<boolean> => {
    const controlled = await findControlled(tx, deps, turn.conversation.id);
    if (!controlled) {
      await tx.jobs.complete(turn.conversation.id);
      return false;
    }
    const now = deps.clock.now();
    if (
      controlled.mayAnswer !== turn.mayAnswer ||
      !(await isCurrent(tx, controlled.conversation, turn))
    ) {
      // A message to a conversation that waits for a person does not wake the agent, so this does.
      if (!controlled.mayAnswer) await scheduleTurn(tx, controlled.conversation.id, now);
      return false;
    }
    const actor: Actor = { type: 'agent', name: turn.settings.name };
    const view = {
      workspace: turn.workspace,
      contact: turn.contact,
      conversation: controlled.conversation,
    };
    const conversation =
      outcome.type !== 'hand_over' && outcome.qualify
        ? await qualify(tx, view, actor, now)
        : view.conversation;
    if (outcome.type === 'tool_calls') {
      const someRun = await putToolCalls(tx, deps, turn, conversation, calls, now);
      await scheduleTurn(tx, conversation.id, someRun ? null : now);
      return true;
    }
    await speak(tx, deps, turn, { ...view, conversation }, outcome, actor, now);
    const late = await tx.toolCalls.find({
      where: { conversationId: conversation.id, isTold: false },
      limit: 100,
    });
    await scheduleTurn(tx, conversation.id, late.some(needsTelling) ? now : null);
    return true;
  });
}

/**
 * Schedules the conversation's next turn.
 * @param at null: no turn until something wakes the agent
 */
const scheduleTurn = (tx: Tx, conversationId: string, at: Date | null): Promise<void> =>
  at === null
    ? tx.jobs.complete(conversationId)
    : tx.jobs.release(conversationId, { runAt: at.getTime(), rank: 0 });

/** Sends the agent's reply, and hands over or closes the conversation if the outcome says so. */
async function speak(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  view: ConversationView,
  outcome: Spoken,
  actor: Actor,
  now: Date,
): Promise<void> {
  const isHandover = outcome.type === 'hand_over';
  const conversation = isHandover
    ? handOver(view.conversation, { reason: outcome.reason, note: outcome.note, actor }, now)
    : view.conversation;
  const sent = await storeReply(
    tx,
    deps,
    { ...view, conversation },
    { text: wordsOf(turn, outcome), actor },
    now,
  );
  if (isHandover)
    await tx.systemNotes.put(
      newSystemNote(
        sent.conversation,
        { type: 'handed_over', reason: outcome.reason, note: outcome.note },
        actor,
        now,
      ),
    );
  for (const { id, status } of turn.untold) {
    const call = await tx.toolCalls.get(id);
    // A call that was waiting when the reply was written may have ended since. It is still untold.
    if (call?.status === status) await tx.toolCalls.put({ ...call, isTold: true });
  }
  if (outcome.type === 'reply' && outcome.close)
    await putClosed(
      tx,
      deps,
      { ...view, conversation: sent.conversation },
      { ...outcome.close, actor },
      now,
    );
}

/** Moves the funnel to `qualified`, unless it is there or further already. */
async function qualify(
  tx: Tx,
  view: ConversationView,
  actor: Actor,
  now: Date,
): Promise<Conversation> {
  if (!isForward(view.conversation.funnelStage, 'qualified')) return view.conversation;
  return putStageMove(tx, view, moveStage(view.conversation, 'qualified', now), actor, now);
}
