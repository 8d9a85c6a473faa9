import {
  MAX_REPLIES_PER_WINDOW,
  REPLY_WINDOW_MS,
  isEnabled,
  usesWebhook,
  type AgentSettings,
} from '../agentSettings.ts';
import {
  type BuiltInTool,
  findLiveTools,
  type Tool,
  isComplete,
  type ToolCall,
} from '../../tools/index.ts';
import type { Tx } from '../../store/collections.ts';
import {
  type Conversation,
  findNewestMessages,
  type Message,
  isDialogue,
  lastDialogueMessage,
  loadConversation,
  type ConversationView,
  waitIfUnanswered,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { findBuiltInTools, findAgentSettings } from '../operations/settings.ts';
import type { Workspace } from '../../team/index.ts';
import { isWithWorkflow } from '../webhook/operations/turns.ts';
import { anyAsksForPerson } from '../keyword/phrases.ts';

/** How many of the newest messages and calls the agent reads. */
const MAX_MESSAGES_READ = 100;
const MAX_CALLS_READ = 100;
/**
 * How far back replies are counted when the messages read do not cover `REPLY_WINDOW_MS`. Enough for
 * all that a customer can write in ten minutes at the default rate limit, and the replies.
 */
const MAX_MESSAGES_COUNTED = 640;

/** Everything that a decision of the agent depends on. */
export interface LoadedTurn extends ConversationView {
  /** False while the conversation waits for a person. The agent then only says how calls ended. */
  readonly mayAnswer: boolean;
  /**
   * False while a call waits for approval or a workflow waits for the team or the customer: closing
   * would cancel that. Judged once more when the conversation is closed.
   */
  readonly mayClose: boolean;
  /** The turn's number. A turn with a higher number makes this one stale. */
  readonly number: number;
  readonly settings: AgentSettings;
  /** The newest messages, in the order in which they were written. */
  readonly messages: readonly Message[];
  /** When the agent replied, newest first. It may reach further back than `messages`. */
  readonly repliedAt: readonly string[];
  /** The agent's newest calls in this conversation, oldest first. */
  readonly calls: readonly ToolCall[];
  /** Calls that have ended, or begun to wait for approval, since the agent last replied. */
  readonly untold: readonly ToolCall[];
  /** The customer's messages that nobody has answered, oldest first. */
  readonly unanswered: readonly Message[];
  /** The live tools. */
  readonly tools: readonly Tool[];
  readonly builtIn: readonly BuiltInTool[];
}

/**
 * Begins a turn of the agent in a conversation.
 * @returns null when the agent has nothing to do: a person is in control, the agent is off, everything
 * is answered, or calls are still running. Each call wakes the agent again when it ends. A customer
 * who asks for a person does not wait for the calls.
 */
export const loadTurn = (deps: Deps, conversationId: string): Promise<LoadedTurn | null> =>
  deps.store.transaction(async (tx) => {
    const turn = await load(tx, deps, conversationId);
    if (turn) return turn;
    await waitForTeamIfOff(tx, conversationId);
    await tx.jobs.complete(conversationId);
    return null;
  });

/** If the agent was turned off, a customer whom nobody has answered waits for the team. */
async function waitForTeamIfOff(tx: Tx, conversationId: string): Promise<void> {
  const conversation = await tx.conversations.get(conversationId);
  if (conversation?.status !== 'ai_active') return;
  if (isEnabled(await findAgentSettings(tx, conversation.workspaceId))) return;
  const waiting = await waitIfUnanswered(tx, conversation);
  if (waiting !== conversation) await tx.conversations.put(waiting);
}

/**
 * Finds a conversation that the agent controls, or that waits for a person.
 * @returns null for any other conversation, or when the agent is off
 */
export async function findForAgent(
  tx: Tx,
  conversationId: string,
): Promise<{
  conversation: Conversation;
  workspace: Workspace;
  settings: AgentSettings;
  mayAnswer: boolean;
} | null> {
  const conversation = await tx.conversations.get(conversationId);
  if (conversation?.status !== 'ai_active' && conversation?.status !== 'awaiting_human')
    return null;
  const workspace = await tx.workspaces.peek(conversation.workspaceId);
  if (!workspace) return null;
  const settings = await findAgentSettings(tx, workspace.id);
  return isEnabled(settings)
    ? { conversation, workspace, settings, mayAnswer: conversation.status === 'ai_active' }
    : null;
}

async function load(tx: Tx, deps: Deps, conversationId: string): Promise<LoadedTurn | null> {
  const found = await findForAgent(tx, conversationId);
  if (!found) return null;
  const { workspace, settings, mayAnswer } = found;

  const newest = await findNewestMessages(tx, conversationId, MAX_MESSAGES_READ);
  const untold = await collectUntold(tx, conversationId, newest);
  const progress = await tx.agentTurns.get(conversationId);
  const isWorkflowAnswering =
    usesWebhook(settings) && (await isWithWorkflow(tx, found.conversation));
  const unanswered =
    mayAnswer && !isWorkflowAnswering ? sinceLastReply(newest, progress?.answeredThrough ?? 0) : [];
  const tellable = mayAnswer ? untold : untold.filter(isComplete);
  if (unanswered.length === 0 && tellable.length === 0) return null;
  const running = await tx.toolCalls.find({
    where: { conversationId, status: 'running' },
    limit: 1,
  });
  if (running.length > 0 && !anyAsksForPerson(unanswered, settings.handoverPhrases)) return null;

  const calls = await tx.toolCalls.find({
    where: { conversationId },
    direction: 'desc',
    limit: MAX_CALLS_READ,
  });
  const number = (progress?.number ?? 0) + 1;
  await tx.agentTurns.put({ ...progress, id: conversationId, number });
  return {
    ...(await loadConversation(tx, workspace, conversationId)),
    mayAnswer,
    mayClose: await mayClose(tx, found.conversation),
    number,
    settings,
    messages: newest.toReversed(),
    repliedAt: replyTimesIn(
      coversReplyWindow(newest, deps.clock.now())
        ? newest
        : await findNewestMessages(tx, conversationId, MAX_MESSAGES_COUNTED),
    ),
    calls: calls.filter((call) => !isSuperseded(call, newest)).toReversed(),
    untold,
    unanswered,
    tools: await findLiveTools(tx, workspace.id),
    builtIn: await findBuiltInTools(tx, workspace.id),
  };
}

/** Whether no decision and no answer is awaited. @param conversation locked */
export async function mayClose(
  tx: Tx,
  { id: conversationId, pendingApprovals }: Conversation,
): Promise<boolean> {
  if (pendingApprovals > 0) return false;
  const open = await tx.waits.find({ where: { conversationId, status: 'open' }, limit: 1 });
  return open.length === 0;
}

/**
 * The customer's messages since the last reply. A message sent beside the agent is no reply, and a
 * customer's answer to a wait belongs to that wait.
 * @param newest the newest first
 * @param answeredThrough the number of the last message that a workflow has dealt with
 * @returns the oldest first
 */
function sinceLastReply(newest: readonly Message[], answeredThrough: number): readonly Message[] {
  const dialogue = newest.filter(isDialogue);
  const lastReply = dialogue.findIndex(({ direction }) => direction === 'outbound');
  return dialogue
    .slice(0, lastReply === -1 ? dialogue.length : lastReply)
    .filter(({ number }) => number > answeredThrough)
    .toReversed();
}

/** The calls made since the customer or the agent last wrote. */
export function callsOfTurn({
  calls,
  messages,
}: Pick<LoadedTurn, 'calls' | 'messages'>): readonly ToolCall[] {
  const began = lastDialogueMessage(messages.toReversed())?.number ?? 0;
  return calls.filter(({ afterMessage }) => afterMessage >= began);
}

/** Whether `newest` is enough to count the replies in the window. It nearly always is. */
const coversReplyWindow = (newest: readonly Message[], now: Date): boolean =>
  newest.length < MAX_MESSAGES_READ ||
  replyTimesIn(newest).length >= MAX_REPLIES_PER_WINDOW ||
  Date.parse(newest.at(-1)!.createdAt) < now.getTime() - REPLY_WINDOW_MS;

/** The messages of one answer count as one reply: they have the same time. */
const replyTimesIn = (messages: readonly Message[]): readonly string[] => [
  ...new Set(
    messages.filter(({ sender }) => sender.type === 'agent').map(({ createdAt }) => createdAt),
  ),
];

/** Whether the customer has not been told how a call ended. @param conversation locked */
export async function owesResult(tx: Tx, { id }: Conversation): Promise<boolean> {
  const newest = await findNewestMessages(tx, id, MAX_MESSAGES_READ);
  return (await collectUntold(tx, id, newest)).some(isComplete);
}

/**
 * Collects the calls that the customer has to hear about. Marks those that need no mention as told.
 */
async function collectUntold(
  tx: Tx,
  conversationId: string,
  messages: readonly Message[],
): Promise<readonly ToolCall[]> {
  const untold: ToolCall[] = [];
  for (const call of await tx.toolCalls.find({
    where: { conversationId, isTold: false },
    limit: MAX_CALLS_READ,
  })) {
    if (isSuperseded(call, messages) || isLeftToTeam(call, messages))
      await tx.toolCalls.put({ ...call, isTold: true });
    else if (call.status !== 'running') untold.push(call);
  }
  return untold;
}

/**
 * Whether the call was cancelled before it was sent because the customer wrote again. Nothing failed,
 * and the agent decides again.
 */
function isSuperseded(
  { status, attempts, neededApproval, afterMessage, finishedAt }: ToolCall,
  messages: readonly Message[],
): boolean {
  if (status !== 'cancelled' || attempts > 0 || neededApproval || finishedAt === null) return false;
  return messages.some(
    ({ direction, number, createdAt }) =>
      direction === 'inbound' && number > afterMessage && createdAt <= finishedAt,
  );
}

/**
 * Whether the agent need not say how the call ended, because someone wrote to the customer after
 * that: a team member, who saw the result, or an automation. An automation's message does not count
 * if it was sent beside the agent, or if the call needed an approval: its result was promised.
 */
const isLeftToTeam = (
  { finishedAt, neededApproval }: ToolCall,
  messages: readonly Message[],
): boolean =>
  finishedAt !== null &&
  messages.some(
    ({ sender, isBesideAgent, createdAt }) =>
      createdAt >= finishedAt &&
      (sender.type === 'team_member' ||
        (sender.type === 'api' && isBesideAgent !== true && !neededApproval)),
  );

/**
 * Whether a turn's outcome still fits the conversation: control has not changed, the customer has not
 * written, and no later turn has begun. What an automation sent beside the agent does not matter.
 * Call this function in the transaction that uses the outcome.
 */
export async function isCurrent(
  tx: Tx,
  current: Conversation,
  { conversation, number }: LoadedTurn,
): Promise<boolean> {
  const progress = await tx.agentTurns.get(conversation.id);
  return current.controlEpoch === conversation.controlEpoch && progress?.number === number;
}
