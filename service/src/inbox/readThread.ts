import { isAgentOn } from '../agent/index.ts';
import type { Tx } from '../store/collections.ts';
import {
  type Conversation,
  type ConversationView,
  findLastConversation,
  type Message,
  peekConversation,
  idOfReadMark,
  type SystemNote,
} from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { Payment } from '../payments/index.ts';
import type { Tool, ToolCall } from '../tools/index.ts';
import type { Wait } from '../waits/index.ts';
import type { Member, Workspace } from '../team/index.ts';
import { nameOfTaker } from './listInbox.ts';
import { findPresent, type Present } from './presence/presences.ts';
import { readReach, type Reach } from '../channels/index.ts';

export type ThreadItem =
  | { readonly type: 'message'; readonly message: Message }
  /** With its tool as it is now; null when the tool was removed, or never existed. */
  | { readonly type: 'tool_call'; readonly call: ToolCall; readonly tool: Tool | null }
  /** `isAtAnswer`: it stands after the message that answered it, not where it was asked. */
  | { readonly type: 'wait'; readonly wait: Wait; readonly isAtAnswer: boolean }
  | { readonly type: 'payment'; readonly payment: Payment }
  | { readonly type: 'note'; readonly note: SystemNote };

export interface Thread extends ConversationView {
  readonly items: readonly ThreadItem[];
  /** The `before` that reads the page before this one; null when there is none. */
  readonly earlier: number | null;
  /** False on a page of earlier messages. */
  readonly isNewest: boolean;
  readonly takenByName: string | null;
  readonly isAgentOn: boolean;
  readonly reach: Reach;
  /** The id of the contact's newest conversation; null when this is the newest. */
  readonly newerConversationId: string | null;
  /** The other members who have the conversation open. */
  readonly present: readonly Present[];
}

/** Messages on a page. */
export const THREAD_PAGE = 50;
/** How many tool calls, payment links, waits and notes a page has at most, of each. */
const MAX_BETWEEN_MESSAGES = 500;

/**
 * A page of a conversation as the team sees it: messages, and in between tool calls, payment links,
 * waits and notes. Reading the newest page marks the conversation as read.
 * @param before shows the messages before this number; null for the newest
 * @param isSeen false when the browser's page is hidden, or its request shows no messages: nothing
 * is marked as read
 * @throws not_found (404)
 */
export const readThread = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { workspace, member }: { workspace: Workspace; member: Member },
  id: string,
  { before = null, isSeen = true }: { before?: number | null; isSeen?: boolean } = {},
) =>
  store.transaction(async (tx): Promise<Thread> => {
    const view = await peekConversation(tx, workspace, id);
    const { conversation } = view;
    const isNewest = before === null || before > conversation.messageCount;
    const last = isNewest ? conversation.messageCount : before - 1;
    const first = Math.max(1, last - THREAD_PAGE + 1);
    if (isSeen && isNewest) await markRead(tx, member, conversation);
    const newestConversation = await findLastConversation(tx, conversation.contactId);
    return {
      ...view,
      items: await itemsBetween(tx, id, first, last, isNewest),
      earlier: first > 1 ? first : null,
      isNewest,
      takenByName: await nameOfTaker(tx, conversation),
      isAgentOn: await isAgentOn(tx, workspace.id),
      reach: await readReach(tx, view.contact, clock.now()),
      newerConversationId:
        newestConversation && newestConversation.id !== id ? newestConversation.id : null,
      present: await findPresent(tx, id, member.id, clock.now()),
    };
  });

async function markRead(
  tx: Tx,
  member: Member,
  { id, customerMessageCount }: Conversation,
): Promise<void> {
  const markId = idOfReadMark(member.id, id);
  const mark = await tx.readMarks.get(markId);
  if ((mark?.customerMessages ?? 0) >= customerMessageCount) return;
  await tx.readMarks.put({
    id: markId,
    memberId: member.id,
    customerMessages: customerMessageCount,
  });
}

/** Messages by their number; after each message what followed it, in the order of creation. */
async function itemsBetween(
  tx: Tx,
  conversationId: string,
  first: number,
  last: number,
  isNewest: boolean,
): Promise<ThreadItem[]> {
  const messages = await tx.messages.find({
    where: { conversationId },
    orderBy: 'number',
    after: { value: first - 1 },
    limit: Math.max(0, last - first + 1),
  });
  // Every page has what follows its last message, and the earliest what came before any message.
  const from = first === 1 ? 0 : first;
  const to = isNewest ? Infinity : last;
  const byPosition = {
    where: { conversationId },
    orderBy: 'afterMessage',
    limit: MAX_BETWEEN_MESSAGES,
  } as const;
  const fromFirst = { ...byPosition, after: { value: from - 1 } };
  const upToLast = {
    ...byPosition,
    direction: 'desc', // so `after` means the positions below
    ...(isNewest ? {} : { after: { value: to + 1 } }),
  } as const;
  /** Reads what is on the page: if that is more than the limit, the newest. */
  const read = async <Item extends { readonly afterMessage: number | null }>(
    find: (query: typeof fromFirst | typeof upToLast) => Promise<readonly Item[]>,
  ): Promise<readonly Item[]> => {
    const following = await find(fromFirst);
    const found = following.length < MAX_BETWEEN_MESSAGES ? following : await find(upToLast);
    return found.filter(({ afterMessage }) => {
      const position = afterMessage ?? 0;
      return from <= position && position <= to;
    });
  };
  const [calls, payments, waits, notes] = await Promise.all([
    read((query) => tx.toolCalls.find(query)),
    read((query) => tx.payments.find(query)),
    read((query) => tx.waits.find(query)),
    read((query) => tx.systemNotes.find(query)),
  ]);
  const placed: { position: number; time: string; item: ThreadItem }[] = [];
  const place = (position: number | null, id: string, item: ThreadItem) =>
    placed.push({ position: position ?? 0, time: timeOf(id), item });
  for (const call of calls) {
    const tool = call.toolId === null ? null : await tx.tools.peek(call.toolId);
    place(call.afterMessage, call.id, { type: 'tool_call', call, tool });
  }
  for (const payment of payments)
    place(payment.afterMessage, payment.id, { type: 'payment', payment });
  for (const wait of waits) {
    const answerAt = answerNumber(wait, messages);
    const item = { type: 'wait', wait, isAtAnswer: answerAt !== null } as const;
    place(answerAt ?? wait.afterMessage, wait.id, item);
  }
  for (const note of notes) place(note.afterMessage, note.id, { type: 'note', note });
  // The empty id sorts a message before what followed it.
  for (const message of messages) place(message.number, '', { type: 'message', message });
  return placed
    .sort((a, b) => a.position - b.position || (a.time < b.time ? -1 : 1))
    .map(({ item }) => item);
}

/**
 * The number of the message that answered a question: the question stands after it. Null when these
 * messages do not hold it.
 */
function answerNumber({ kind, answer }: Wait, messages: readonly Message[]): number | null {
  if (kind !== 'reply' || answer === null) return null;
  const lastId = answer.messages.at(-1)?.id;
  return messages.find(({ id }) => id === lastId)?.number ?? null;
}

/** Without its prefix, an id of any kind sorts by time. */
const timeOf = (id: string) => id.slice(id.indexOf('_') + 1);
