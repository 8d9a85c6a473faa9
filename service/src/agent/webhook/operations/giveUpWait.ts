import { waitSinceLastMessage, type Conversation } from '../../../conversations/index.ts';
import type { Deps } from '../../../platform/deps.ts';
import type { Tx } from '../../../store/collections.ts';
import { putFailed } from './answerTurn.ts';
import { isAgentOn } from '../../operations/settings.ts';
import { handoverSentence, loadContext, noteOf, putHandover } from './turnMessages.ts';
import { lockTurn } from './turns.ts';

interface LostWait {
  readonly workspaceId: string;
  readonly turnId: string | null;
  /** The customer answered, and nobody has read it. */
  readonly hasAnswer: boolean;
  /** Why, for the team. */
  readonly problem: string;
}

/**
 * The execution that asked is gone: its turn fails at once, and a customer whose answer nobody reads
 * gets a person, if the agent has control. Otherwise they wait for the team, unless they were answered.
 * @param conversation locked; null for a decision without one
 */
export async function giveUpWait(
  tx: Tx,
  deps: Pick<Deps, 'messaging' | 'reactions'>,
  { workspaceId, turnId, hasAnswer, problem }: LostWait,
  conversation: Conversation | null,
  now: Date,
): Promise<void> {
  const locked = turnId === null ? null : await lockTurn(tx, turnId);
  if (locked?.turn.status === 'running' && locked.turn.isComingBack)
    await putFailed(
      tx,
      { ...deps, clock: { now: () => now } },
      locked,
      `The workflow asked, and did not go on when its wait had ended. ${problem}`,
    );
  if (!hasAnswer || conversation === null) return;
  const current = await tx.conversations.get(conversation.id);
  if (current === null || current.status === 'closed') return;
  if (current.status !== 'ai_active' || !(await isAgentOn(tx, workspaceId)))
    return tx.conversations.put(await waitSinceLastMessage(tx, current));
  // As for a resumed turn: the handover is written beside the agent and answers nothing. What the
  // customer wrote since is answered after a hand-back.
  const context = await loadContext(tx, { workspaceId, isResumed: true }, current);
  const lost = `The customer answered a workflow, and the answer reached nobody. ${problem}`;
  const reason = 'agent_error';
  const handover = {
    reason,
    note: noteOf(lost, context),
    text: handoverSentence(context, reason),
  } as const;
  await putHandover(tx, deps, context, handover, now);
}
