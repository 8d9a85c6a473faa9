import {
  findNewestMessages,
  type Contact,
  type Conversation,
  type Message,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { newestFirst, type Page, type PageRequest } from '../../platform/http/page.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { clearWait, isOpen, nextWaitWork, WAIT_QUEUE, type Wait } from '../wait.ts';

export interface WaitView {
  readonly wait: Wait;
  /** Most readers see its details masked. Null for a decision without a conversation. */
  readonly contact: Contact | null;
}

/** @throws not_found (404) */
export const getWait = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => viewWait(tx, await peekWait(tx, workspace, id)));

type WaitFilter = Partial<Pick<Wait, 'status' | 'kind' | 'conversationId'>>;

/** Lists the workspace's waits, newest first. */
export const listWaits = (
  { store }: Deps,
  workspace: Workspace,
  filter: WaitFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<WaitView>> => {
    const found = await newestFirst(tx.waits, { workspaceId: workspace.id, ...filter }, page);
    const items: WaitView[] = [];
    for (const wait of found.items) items.push(await viewWait(tx, wait));
    return { ...found, items };
  });

/**
 * Adds the contact. If it was forgotten, the wait is shown without its texts, even before they are
 * removed.
 */
export async function viewWait(tx: Tx, wait: Wait): Promise<WaitView> {
  const contact = wait.contactId === null ? null : await tx.contacts.peek(wait.contactId);
  const { forgotten } = contact ?? {};
  const mustBeCleared = forgotten !== undefined && !wait.isCleared;
  return { wait: mustBeCleared ? clearWait(wait, new Date(forgotten.at)) : wait, contact };
}

/** Without a lock. @throws not_found (404), also for another workspace's wait */
export async function peekWait(tx: Tx, workspace: Workspace, id: string): Promise<Wait> {
  const wait = await tx.waits.peek(id);
  if (wait?.workspaceId !== workspace.id) throw notFound('wait', id);
  return wait;
}

/**
 * Locks the wait's conversation and then the wait.
 * @returns null when there is no such wait
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function lockWait(
  tx: Tx,
  id: string,
): Promise<{ wait: Wait; conversation: Conversation | null } | null> {
  const known = await tx.waits.peek(id);
  if (!known) return null;
  const conversation =
    known.conversationId === null ? null : await tx.conversations.get(known.conversationId);
  const wait = await tx.waits.get(id);
  return wait && { wait, conversation };
}

/**
 * As `lockWait`.
 * @param conversationId the conversation that shows the wait; undefined: any, or none
 * @throws not_found (404), also for a wait of another workspace or conversation, which is not locked
 */
export async function lockWaitOf(
  tx: Tx,
  workspace: Workspace,
  id: string,
  conversationId?: string,
) {
  const known = await peekWait(tx, workspace, id);
  if (conversationId !== undefined && known.conversationId !== conversationId)
    throw notFound('wait', id);
  const locked = await lockWait(tx, id);
  if (!locked) throw notFound('wait', id);
  return locked;
}

/** Saves a wait and schedules its next work. */
export async function putWait(tx: Tx, wait: Wait): Promise<void> {
  await tx.waits.put(wait);
  await scheduleWait(tx, wait);
}

/** Schedules the wait's only job, with the wait's id, or removes it when nothing is left to do. */
export async function scheduleWait(tx: Tx, wait: Wait): Promise<void> {
  const runAt = nextWaitWork(wait);
  if (runAt === null) await tx.jobs.complete(wait.id);
  else await enqueueWait(tx, wait, runAt);
}

/** @param runAt when the worker looks at the wait, in milliseconds since the epoch */
const enqueueWait = (tx: Tx, wait: Wait, runAt: number): Promise<void> =>
  tx.jobs.enqueue({
    id: wait.id,
    queue: WAIT_QUEUE,
    group: workGroup(wait.workspaceId, wait.resumeHost),
    runAt,
    // Judging an answer, and the first attempt to resume, come before further attempts.
    rank: wait.resume.attempts.length === 0 ? 0 : 1,
    data: {},
  });

/**
 * Has the worker look at a wait, because one of its messages failed on its channel. If that was the
 * question, the worker ends the wait. This transaction cannot: it has locked the message, and a
 * conversation is locked before its messages.
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function noteUndeliverable(tx: Tx, waitId: string, now: Date): Promise<void> {
  const wait = await tx.waits.peek(waitId);
  if (wait && isOpen(wait)) await enqueueWait(tx, wait, now.getTime());
}

/**
 * The customer's replies to a wait, among the newest `max` messages; newest first.
 * @param wait of the kind `reply`, which always has a conversation
 */
export async function findReplies(tx: Tx, wait: Wait, max: number): Promise<readonly Message[]> {
  const newest = await findNewestMessages(tx, wait.conversationId!, max);
  return newest.filter(({ direction, waitId }) => direction === 'inbound' && waitId === wait.id);
}

/** The newest wait that has this resume URL; null when there is none. */
export async function findNewestByResumeUrl(
  tx: Tx,
  { workspaceId, resumeUrlHash }: Pick<Wait, 'workspaceId' | 'resumeUrlHash'>,
): Promise<Wait | null> {
  const where = { workspaceId, resumeUrlHash };
  const [newest] = await tx.waits.find({ where, direction: 'desc', limit: 1 });
  return newest ?? null;
}
