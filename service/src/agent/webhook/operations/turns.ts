import {
  endTyping,
  type Conversation,
  type ConversationView,
  type Message,
} from '../../../conversations/index.ts';
import type { Deps } from '../../../platform/deps.ts';
import { AppError, ERROR_CATALOGUE, notFound } from '../../../platform/http/errorCatalogue.ts';
import { newestFirst, type Page, type PageRequest } from '../../../platform/http/page.ts';
import type { Tx } from '../../../store/collections.ts';
import type { Workspace } from '../../../team/index.ts';
import {
  endTurn,
  enqueueTurn,
  hasRested,
  isOpen,
  misfitOf,
  newWebhookTurn,
  type WebhookTurn,
} from '../webhookTurn.ts';
import { putLeftToTeam } from '../../operations/leaveToTeam.ts';
import { isAgentOn } from '../../operations/settings.ts';

/** @throws not_found (404), also for another workspace's turn */
export const getTurn = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx): Promise<WebhookTurn> => {
    const turn = await tx.webhookTurns.peek(id);
    if (turn?.workspaceId !== workspace.id) throw notFound('turn', id);
    return turn;
  });

type TurnFilter = Partial<Pick<WebhookTurn, 'status' | 'conversationId'>>;

/** The workspace's turns, newest first. */
export const listTurns = (
  { store }: Deps,
  workspace: Workspace,
  filter: TurnFilter,
  page: PageRequest,
) =>
  store.transaction(
    (tx): Promise<Page<WebhookTurn>> =>
      newestFirst(tx.webhookTurns, { workspaceId: workspace.id, ...filter }, page),
  );

/** A locked turn, with its locked conversation (null for a test). */
export interface LockedTurn {
  readonly turn: WebhookTurn;
  readonly conversation: Conversation | null;
  /** Why nothing of it may be sent, in words; null while it fits. Always null for a test. */
  readonly misfit: string | null;
}

/**
 * Locks a turn, and its conversation before it.
 * @returns null when there is none
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function lockTurn(tx: Tx, id: string): Promise<LockedTurn | null> {
  const known = await tx.webhookTurns.peek(id);
  if (!known) return null;
  const { conversationId, workspaceId } = known;
  const conversation = conversationId === null ? null : await tx.conversations.get(conversationId);
  const turn = await tx.webhookTurns.get(id);
  if (!turn) return null;
  const misfit = turn.isTest
    ? null
    : misfitOf(turn, conversation, await isAgentOn(tx, workspaceId));
  return { turn, conversation, misfit };
}

/** @throws turn_superseded (409) */
export function refuse({ id, status }: WebhookTurn, reason: string): never {
  const fix =
    status === 'suspended'
      ? 'Nothing was sent. Answer when its wait has ended.'
      : ERROR_CATALOGUE.turn_superseded.fix;
  throw new AppError('turn_superseded', `${reason} ${fix} (Turn ${id}.)`);
}

/**
 * Begins a workflow's turn about the customer's messages that wait for an answer. Older turns of the
 * conversation end, unless they rested.
 * @param about.unanswered oldest first, at least one
 */
export async function putWebhookTurn(
  tx: Tx,
  { workspace, conversation }: ConversationView,
  { number, unanswered }: { readonly number: number; readonly unanswered: readonly Message[] },
  now: Date,
): Promise<void> {
  await supersedeTurns(tx, conversation, now, { isNewTurn: true });
  const turn = newWebhookTurn(
    {
      workspaceId: workspace.id,
      conversationId: conversation.id,
      number,
      controlEpoch: conversation.controlEpoch,
      firstMessage: unanswered[0]!.number,
      lastMessage: unanswered.at(-1)!.number,
      isTest: false,
    },
    now,
  );
  await tx.webhookTurns.put(turn);
  await enqueueTurn(tx, turn, now.getTime());
}

/** More than can be open in one conversation. */
const ALL_OPEN = 100;

/** The turns of a conversation that have not ended. */
export async function findOpenTurns(
  tx: Tx,
  conversationId: string,
): Promise<readonly WebhookTurn[]> {
  const open: WebhookTurn[] = [];
  for (const status of ['queued', 'running', 'suspended'] as const)
    open.push(
      ...(await tx.webhookTurns.find({ where: { conversationId, status }, limit: ALL_OPEN })),
    );
  return open;
}

/** Whether a workflow has the customer's newest messages and may still answer them. */
export const isWithWorkflow = async (
  tx: Tx,
  { id, controlEpoch }: Conversation,
): Promise<boolean> =>
  (await findOpenTurns(tx, id)).some(
    (turn) => !hasRested(turn) && turn.controlEpoch === controlEpoch,
  );

/**
 * Ends the turns that no longer fit their conversation, because somebody took over or the customer
 * wrote again. Even without this, what their workflows answer would be refused.
 * @param conversation locked, as the change left it
 * @param options.isNewTurn a new turn begins: the others end even if they fit, unless they rested
 */
export async function supersedeTurns(
  tx: Tx,
  conversation: Conversation,
  now: Date,
  { isNewTurn = false }: { isNewTurn?: boolean } = {},
): Promise<void> {
  const open = await findOpenTurns(tx, conversation.id);
  if (open.length === 0) return;
  const isOn = await isAgentOn(tx, conversation.workspaceId);
  for (const { id } of open) {
    const turn = await tx.webhookTurns.get(id);
    if (!turn || !isOpen(turn)) continue;
    const isOlder = isNewTurn && !hasRested(turn);
    const problem =
      misfitOf(turn, conversation, isOn) ?? (isOlder ? 'A newer turn has begun.' : null);
    if (problem !== null) await putSuperseded(tx, turn, problem, now);
  }
}

/** Saves that a turn was superseded. If the agent was turned off, the customer waits for the team. */
export async function putSuperseded(
  tx: Tx,
  turn: WebhookTurn,
  problem: string,
  now: Date,
): Promise<WebhookTurn> {
  const ended = await putEnded(tx, endTurn(turn, { status: 'superseded', problem }, now), now);
  const { conversationId, workspaceId } = turn;
  if (conversationId === null) return ended;
  if (!(await isAgentOn(tx, workspaceId)))
    await putLeftToTeam(tx, await tx.conversations.get(conversationId), now);
  if (turn.replies > 0) return ended;
  // Its messages were left to it while it rested. They wait for an answer again.
  const progress = await tx.agentTurns.get(conversationId);
  if (progress?.answeredThrough === turn.lastMessage)
    await tx.agentTurns.put({ ...progress, answeredThrough: turn.firstMessage - 1 });
  return ended;
}

/**
 * Saves a turn that has ended. Its job becomes due once more: the process that makes its HTTP call
 * then lets go of it, and counts the end.
 */
export async function putEnded(tx: Tx, ended: WebhookTurn, now: Date): Promise<WebhookTurn> {
  await tx.webhookTurns.put(ended);
  await stopTyping(tx, ended);
  await enqueueTurn(tx, ended, now.getTime());
  return ended;
}

/** The customer no longer sees that somebody is typing: the turn has ended, or rests. */
export async function stopTyping(tx: Tx, { conversationId }: WebhookTurn): Promise<void> {
  const conversation = conversationId === null ? null : await tx.conversations.peek(conversationId);
  if (conversation) await endTyping(tx, conversation.contactId);
}

/** Notes that nothing up to the turn's last message waits for an answer any more. */
export async function markDealtWith(
  tx: Tx,
  { conversationId, number, lastMessage }: WebhookTurn,
): Promise<void> {
  if (conversationId === null) return;
  const before = await tx.agentTurns.get(conversationId);
  const answeredThrough = Math.max(before?.answeredThrough ?? 0, lastMessage);
  await tx.agentTurns.put({ id: conversationId, number, ...before, answeredThrough });
}
