import type { ChatSession } from '../contact.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';

const BATCH = 500;
/** The setting that says how far the sweep has come. */
const POSITION = 'chat_sessions_swept';

/**
 * Removes visitors of the chat who arrived before a time and never wrote: session and contact. Each
 * session is checked once: a visitor who has written by then keeps theirs.
 * @param before ISO 8601, as stored
 * @param workspaces left out: all. Otherwise those of others stay, and are looked at another time
 * @returns how many were removed
 */
export async function removeSilentVisitors(
  deps: Pick<Deps, 'store'>,
  before: string,
  workspaces?: readonly string[],
): Promise<number> {
  let removed = 0;
  let from: string | undefined;
  for (;;) {
    const after = from;
    const batch = await deps.store.transaction((tx) => removeBatch(tx, before, workspaces, after));
    removed += batch.removed;
    if (batch.seen < BATCH) return removed;
    if (workspaces !== undefined) from = batch.last;
  }
}

interface Batch {
  readonly seen: number;
  readonly removed: number;
  /** The position behind it. */
  readonly last: string | undefined;
}

async function removeBatch(
  tx: Tx,
  before: string,
  workspaces: readonly string[] | undefined,
  from: string | undefined,
): Promise<Batch> {
  const position = from ?? (await tx.settings.get(POSITION))?.value;
  const [value, id] = position?.split(' ') ?? [];
  const next = await tx.chatSessions.find({
    where: {},
    orderBy: 'createdAt',
    limit: BATCH,
    ...(value === undefined ? {} : { after: { value, id } }),
  });
  const old = next.filter(({ createdAt }) => createdAt < before);
  let removed = 0;
  for (const session of old) {
    const isWanted = workspaces?.includes(session.workspaceId) ?? true;
    if (isWanted && (await removeSilent(tx, session))) removed += 1;
  }
  const newest = old.at(-1);
  const last = newest && `${newest.createdAt} ${newest.id}`;
  if (last && workspaces === undefined) await tx.settings.put({ id: POSITION, value: last });
  return { seen: old.length, removed, last };
}

async function removeSilent(tx: Tx, { id, contactId }: ChatSession): Promise<boolean> {
  // Locked, so that a message at this moment has its conversation when that is looked for.
  await tx.contacts.get(contactId);
  const [conversation] = await tx.conversations.find({ where: { contactId }, limit: 1 });
  if (conversation) return false;
  await tx.chatSessions.delete(id);
  await tx.contacts.delete(contactId);
  return true;
}
