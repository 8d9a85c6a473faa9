import { putClosed, type ConversationView, type Message } from '../../../conversations/index.ts';
import { timestamp } from '../../../platform/clock.ts';
import type { Deps } from '../../../platform/deps.ts';
import { notFound } from '../../../platform/http/errorCatalogue.ts';
import type { Tx } from '../../../store/collections.ts';
import type { Workspace } from '../../../team/index.ts';
import {
  answerRefusalOf,
  endTurn,
  enqueueTurn,
  isOpen,
  TURN_PATIENCE_MS,
  type TurnAnswer,
  type TurnOutcome,
  type WebhookTurn,
} from '../webhookTurn.ts';
import { handoverSentence, loadContext, noteOf, putHandover, sendTexts } from './turnMessages.ts';
import {
  lockTurn,
  markDealtWith,
  putEnded,
  putSuperseded,
  refuse,
  type LockedTurn,
} from './turns.ts';

/** What an answer changed. */
export interface AnsweredTurn {
  readonly turn: WebhookTurn;
  /** The messages that were sent, in their order. */
  readonly messages: readonly Message[];
  /** Null for a test. */
  readonly view: ConversationView | null;
}

/**
 * Carries out a workflow's answer that came through the API: sends its messages as the agent, and
 * hands over, closes or ends as it says, in one transaction.
 * @throws not_found (404); turn_superseded (409) when the turn has ended, somebody took over or the
 * customer wrote again; nothing is sent then
 */
export const answerTurn = (deps: Deps, workspace: Workspace, id: string, answer: TurnAnswer) =>
  deps.store.transaction(async (tx): Promise<AnsweredTurn> => {
    const locked = await lockTurn(tx, id);
    if (locked?.turn.workspaceId !== workspace.id) throw notFound('turn', id);
    const reason = answerRefusalOf(locked.turn) ?? locked.misfit;
    if (reason !== null) refuse(locked.turn, reason);
    return putAnswer(tx, deps, locked, answer);
  });

/** Whether a turn still waits for the HTTP call of an attempt. @param attempt its number */
export const awaitsCall = (turn: WebhookTurn, attempt: number): boolean =>
  turn.status === 'running' && turn.isUnderWay && turn.attempts === attempt;

/**
 * Ends a turn that got no usable answer: the customer gets the service's own sentence, and the
 * conversation waits for a person. A turn that no longer fits ends as superseded.
 * @param problem why, for the team
 * @returns the turn as it is then; null when it had ended, rests or is unknown
 */
export const failTurn = (deps: Deps, id: string, problem: string) =>
  deps.store.transaction(async (tx): Promise<WebhookTurn | null> => {
    const locked = await lockTurn(tx, id);
    if (!locked || !isOpen(locked.turn) || locked.turn.status === 'suspended') return null;
    return putFailed(tx, deps, locked, problem);
  });

/** As `failTurn`, for a turn that is open and locked. */
export async function putFailed(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'messaging' | 'reactions'>,
  { turn, conversation, misfit }: LockedTurn,
  problem: string,
): Promise<WebhookTurn> {
  const now = deps.clock.now();
  if (misfit !== null) return putSuperseded(tx, turn, misfit, now);
  if (conversation === null)
    return putEnded(tx, endTurn(turn, { status: 'failed', problem }, now), now);
  const context = await loadContext(tx, turn, conversation);
  const note = noteOf(problem, context);
  const failed = await putEnded(tx, endTurn(turn, { status: 'failed', problem: note }, now), now);
  await markDealtWith(tx, turn);
  const reason = 'agent_error';
  const text = handoverSentence(context, reason);
  await putHandover(tx, deps, context, { reason, note, text }, now);
  return failed;
}

/** Carries out the answer of a turn that is open, fits and is locked. */
export async function putAnswer(
  tx: Tx,
  deps: Deps,
  { turn, conversation }: LockedTurn,
  answer: TurnAnswer,
): Promise<AnsweredTurn> {
  const now = deps.clock.now();
  if (conversation === null) return putTried(tx, turn, answer, now);
  const loaded = await loadContext(tx, turn, conversation);
  const context = { ...loaded, decidedBy: 'webhook' } as const;
  const { texts, then } = answer;
  const changed = await putTurn(tx, turn, answer, now);
  if (then.type === 'hand_over') {
    const text =
      texts.at(-1) ?? (turn.replies === 0 ? handoverSentence(context, then.reason) : null);
    const sent = await sendTexts(tx, deps, context, texts.slice(0, -1), now);
    const last = { ...context, view: sent.view, messages: [...context.messages, ...sent.messages] };
    const handed = await putHandover(tx, deps, last, { ...then, text }, now);
    return { turn: changed, ...handed, messages: [...sent.messages, ...handed.messages] };
  }
  const sent = await sendTexts(tx, deps, context, texts, now);
  if (then.type !== 'close') return { turn: changed, ...sent };
  const { verdict, summary } = then;
  const closing = { verdict, summary, actor: context.actor };
  const closed = await putClosed(tx, deps, sent.view, closing, now);
  return { turn: changed, ...sent, view: { ...sent.view, conversation: closed } };
}

/** Saves the turn as the answer leaves it. */
async function putTurn(
  tx: Tx,
  turn: WebhookTurn,
  { texts, then }: TurnAnswer,
  now: Date,
): Promise<WebhookTurn> {
  const replies = turn.replies + texts.length;
  if (then.type === 'go_on') {
    const deadline = turn.deadline ?? timestamp(new Date(now.getTime() + TURN_PATIENCE_MS));
    const open = { ...turn, status: 'running', replies, deadline } as const;
    await tx.webhookTurns.put(open);
    if (turn.deadline === null) await enqueueTurn(tx, open, Date.parse(deadline));
    return open;
  }
  const outcome = outcomeOf(then.type, replies);
  await markDealtWith(tx, turn);
  return putEnded(tx, endTurn({ ...turn, replies }, { status: 'answered', outcome }, now), now);
}

const outcomeOf = (type: 'end' | 'hand_over' | 'close', replies: number): TurnOutcome => {
  if (type !== 'end') return type;
  return replies > 0 ? 'reply' : 'nothing';
};

/** The answer to a test is kept to be shown. */
async function putTried(
  tx: Tx,
  turn: WebhookTurn,
  { texts, then }: TurnAnswer,
  now: Date,
): Promise<AnsweredTurn> {
  const before = turn.tried?.answer?.texts ?? [];
  const tried = { text: turn.tried?.text ?? '', answer: { texts: [...before, ...texts], then } };
  const changed = await putTurn(tx, { ...turn, tried }, { texts, then }, now);
  return { turn: changed, messages: [], view: null };
}
