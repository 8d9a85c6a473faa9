import { MAX_TOOL_CALLS_PER_TURN } from '../domain/agentTurn.ts';
import type { Tx } from '../domain/collections.ts';
import { handOver, moveStage, type Actor, type Conversation } from '../domain/conversation.ts';
import type { Deps } from '../domain/deps.ts';
import { isForward } from '../domain/funnel.ts';
import { putClosed } from '../domain/operations/closeConversation.ts';
import type { ConversationView } from '../domain/operations/loadConversation.ts';
import { putStageMove } from '../domain/operations/setFunnelStage.ts';
import { storeReply } from '../domain/operations/storeMessage.ts';
import { newSystemNote } from '../domain/systemNote.ts';
import { composeMessage } from './messageText.ts';
import type { Outcome } from './decideTurn.ts';
import { linksLeftOut } from './linksLeftOut.ts';
import { findControlled, isCurrent, needsTelling, type LoadedTurn } from './loadTurn.ts';
import { putToolCalls } from './putToolCalls.ts';
import { checkCalls } from './wantedCall.ts';

/**
 * Of one step of the model; what is beyond what a turn may make is refused, and beyond this not
 * looked at.
 */
const MAX_CALLS_LOOKED_AT = 2 * MAX_TOOL_CALLS_PER_TURN;

/**
 * Writes what the agent decided, in one transaction with its events, after rechecking control: a
 * stale outcome is dropped as a whole.
 * @returns whether it was used
 */
export async function recordOutcome(
  deps: Deps,
  turn: LoadedTurn,
  outcome: Outcome,
): Promise<boolean> {
  const calls =
    outcome.type === 'tool_calls'
      ? await checkCalls(turn, outcome.calls.slice(0, MAX_CALLS_LOOKED_AT), deps.bounds)
      : [];
  return deps.store.transaction(async (tx): Promise<boolean> => {
    const controlled = await findControlled(tx, deps, turn.conversation.id);
    if (!controlled) await tx.jobs.complete(turn.conversation.id);
    if (!controlled) return false;
    const now = deps.clock.now();
    if (
      controlled.mayAnswer !== turn.mayAnswer ||
      !(await isCurrent(tx, controlled.conversation, turn))
    ) {
      // What a customer writes to a waiting conversation asks nobody to take it up again.
      if (!controlled.mayAnswer) await nextTurn(tx, controlled.conversation.id, now);
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
      await nextTurn(tx, conversation.id, someRun ? null : now);
      return true;
    }
    await speak(tx, deps, turn, { ...view, conversation }, outcome, actor, now);
    const late = await tx.toolCalls.find({
      where: { conversationId: conversation.id, isTold: false },
      limit: 100,
    });
    await nextTurn(tx, conversation.id, late.some(needsTelling) ? now : null);
    return true;
  });
}

/** The loop takes the conversation up again at once, or waits until something asks for it. */
const nextTurn = (tx: Tx, conversationId: string, at: Date | null): Promise<void> =>
  at === null
    ? tx.jobs.complete(conversationId)
    : tx.jobs.release(conversationId, { runAt: at.getTime(), rank: 0 });

/** Says what was decided, and gives the conversation away or closes it if that belongs to it. */
async function speak(
  tx: Tx,
  deps: Deps,
  turn: LoadedTurn,
  view: ConversationView,
  outcome: Exclude<Outcome, { type: 'tool_calls' }>,
  actor: Actor,
  now: Date,
): Promise<void> {
  const isGiven = outcome.type === 'hand_over';
  const conversation = isGiven
    ? handOver(view.conversation, { reason: outcome.reason, note: outcome.note, actor }, now)
    : view.conversation;
  const sent = await storeReply(
    tx,
    deps,
    { ...view, conversation },
    { text: wordsOf(turn, outcome), actor },
    now,
  );
  if (isGiven)
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
    // What waited when the words were chosen may have ended since: that is still to be told.
    if (call?.status === status) await tx.toolCalls.put({ ...call, isTold: true });
  }
  if (outcome.type === 'reply' && outcome.close)
    await putClosed(
      tx,
      { ...view, conversation: sent.conversation },
      { ...outcome.close, actor },
      now,
    );
}

/**
 * The agent's first message in a conversation begins with the greeting. An offer of a person stands
 * last: a "yes" answers it.
 */
export function wordsOf(
  turn: LoadedTurn,
  outcome: Exclude<Outcome, { type: 'tool_calls' }>,
): string {
  const words = composed(turn, outcome);
  const leftOut = linksLeftOut(turn, words);
  return leftOut.length === 0
    ? words
    : composed(turn, { ...outcome, notices: [...leftOut, ...outcome.notices] });
}

function composed(
  { settings, messages }: LoadedTurn,
  { type, text, notices }: Exclude<Outcome, { type: 'tool_calls' }>,
): string {
  const isFirst =
    messages[0]?.number === 1 && !messages.some(({ sender }) => sender.type === 'agent');
  const greeting = isFirst && settings.greeting !== '' ? [settings.greeting] : [];
  return type === 'hand_over'
    ? composeMessage([...greeting, ...notices], text, [])
    : composeMessage(greeting, text, notices);
}

/** Forward only: a customer who pays is not led back. */
async function qualify(
  tx: Tx,
  view: ConversationView,
  actor: Actor,
  now: Date,
): Promise<Conversation> {
  if (!isForward(view.conversation.funnelStage, 'qualified')) return view.conversation;
  return putStageMove(tx, view, moveStage(view.conversation, 'qualified', now), actor, now);
}
