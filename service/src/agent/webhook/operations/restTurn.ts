import { beginTyping, type Conversation } from '../../../conversations/index.ts';
import { timestamp } from '../../../platform/clock.ts';
import type { Deps } from '../../../platform/deps.ts';
import { errorWithFix, notFound } from '../../../platform/http/errorCatalogue.ts';
import type { Tx } from '../../../store/collections.ts';
import { TEST_CONVERSATION_ID } from '../../../tools/index.ts';
import { DEFAULT_TURN_TIMEOUT_SECONDS } from '../agentWebhook.ts';
import {
  COMING_BACK_MS,
  answerRefusalOf,
  enqueueTurn,
  hasRested,
  misfitOf,
  type WebhookTurn,
} from '../webhookTurn.ts';
import type { QuestionOfTurn, WaitOfTurn } from '../../../waits/index.ts';
import { leaveToTeam } from '../../operations/leaveToTeam.ts';
import { greetingOf } from '../../turn/replyText.ts';
import { findNewestInOrder, withGreeting } from './turnMessages.ts';
import { findAgentSettings, isAgentOn } from '../../operations/settings.ts';
import { lockTurn, markDealtWith, putSuperseded, refuse, stopTyping } from './turns.ts';

/**
 * Lets a turn rest while its workflow waits for a customer or a colleague: its time stops, and what
 * the HTTP call answers does not count. No other turn gets its messages.
 * @throws not_found (404); try_without_customer (409) when a test asks a customer; turn_superseded
 * (409) when it has ended or no longer fits
 */
export async function suspendTurn(
  tx: Tx,
  { workspaceId, turnId, conversationId, kind, message }: WaitOfTurn,
  now: Date,
): Promise<QuestionOfTurn> {
  const locked = await lockTurn(tx, turnId);
  if (locked?.turn.workspaceId !== workspaceId) throw notFound('turn', turnId);
  const { turn, misfit, conversation } = locked;
  if (turn.isTest && kind === 'reply')
    throw errorWithFix(
      'try_without_customer',
      `Turn ${turn.id} is a test by the team, in which there is no customer to ask.`,
    );
  const own = turn.conversationId ?? TEST_CONVERSATION_ID;
  if (conversationId !== null && conversationId !== own) throw notFound('turn', turnId);
  // A second wait may begin before the service knows that the first is over.
  const reason = (turn.status === 'suspended' ? null : answerRefusalOf(turn)) ?? misfit;
  if (reason !== null) refuse(turn, reason);
  const suspended: WebhookTurn = {
    ...turn,
    status: 'suspended',
    isUnderWay: false,
    deadline: null,
    openWaits: (turn.openWaits ?? 0) + 1,
  };
  await tx.webhookTurns.put(suspended);
  await markDealtWith(tx, suspended);
  await stopTyping(tx, suspended);
  // The job makes the process that has the HTTP call let go of it.
  await enqueueTurn(tx, suspended, now.getTime());
  const settings = await findAgentSettings(tx, workspaceId);
  // Only the customer is greeted.
  const messages =
    kind === 'reply' && conversation ? await findNewestInOrder(tx, conversation) : [];
  return {
    conversationId: turn.conversationId,
    text: withGreeting(message, greetingOf({ settings, messages })),
    actor: { type: 'agent', name: settings.name },
    decidedBy: 'webhook',
    isBesideAgent: hasRested(turn),
  };
}

const WROTE_AGAIN = 'The question was cancelled after the customer had written again.';

/**
 * Counts that a wait of a turn has ended. After the last one, the turn goes on, and needs only that
 * the agent is in control. Its time begins when its execution is back (`continueTurn`).
 * @param end.conversation as the caller has locked and changed it; null for a test
 * @param end.isUnread the customer answered the wait, but a newer turn gets that: this turn ends
 * @returns the conversation, which the caller saves: the customer waits for the team if the agent was
 * turned off
 */
export async function resumeTurn(
  tx: Tx,
  id: string,
  { conversation, isUnread }: { conversation: Conversation | null; isUnread: boolean },
  now: Date,
): Promise<Conversation | null> {
  const turn = await tx.webhookTurns.get(id);
  if (turn?.status !== 'suspended') return conversation;
  const openWaits = Math.max(0, (turn.openWaits ?? 0) - 1);
  const isOn = await isAgentOn(tx, turn.workspaceId);
  const misfit = turn.isTest ? null : misfitOf(turn, conversation, isOn);
  const superseded = misfit ?? (isUnread ? WROTE_AGAIN : null);
  if (superseded !== null) await putSuperseded(tx, { ...turn, openWaits }, superseded, now);
  else if (openWaits > 0) await tx.webhookTurns.put({ ...turn, openWaits });
  else {
    const back = { ...turn, openWaits, isResumed: true, isComingBack: true };
    await putRunning(tx, back, now, COMING_BACK_MS);
  }
  return isOn || conversation === null ? conversation : leaveToTeam(tx, conversation, now);
}

/** Begins the time of a turn whose execution is back from its wait. Typing is shown again. */
export async function continueTurn(
  tx: Tx,
  deps: Pick<Deps, 'messaging'>,
  id: string,
  now: Date,
): Promise<void> {
  const turn = await tx.webhookTurns.get(id);
  if (turn?.status !== 'running' || !turn.isResumed) return;
  const deadline = await putRunning(tx, { ...turn, isComingBack: false }, now, 0);
  const conversation =
    turn.conversationId === null ? null : await tx.conversations.peek(turn.conversationId);
  const contact = conversation && (await tx.contacts.peek(conversation.contactId));
  if (contact) await beginTyping(tx, deps, { conversation, contact }, deadline, now);
}

/** @returns its deadline */
async function putRunning(tx: Tx, turn: WebhookTurn, now: Date, extraMs: number): Promise<Date> {
  const webhook = await tx.agentWebhooks.peek(turn.workspaceId);
  const seconds = webhook?.timeoutSeconds ?? DEFAULT_TURN_TIMEOUT_SECONDS;
  const deadline = new Date(now.getTime() + seconds * 1000 + extraMs);
  await tx.webhookTurns.put({ ...turn, status: 'running', deadline: timestamp(deadline) });
  await enqueueTurn(tx, turn, deadline.getTime());
  return deadline;
}
