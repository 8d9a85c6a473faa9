import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/conversation.ts';
import type { Deps } from '../../platform/deps.ts';
import { following, inBatches } from '../../platform/http/page.ts';
import { isAtRest, removeBatch } from './removeConversations.ts';

const WORKSPACES_AT_ONCE = 100;

/**
 * Removes conversations, open or closed, that have not changed since `before`. Their messages, notes,
 * read marks, tool calls, turns, waits, outbound messages and payment links go with them. A contact
 * goes with their last conversation, and so do their chat sessions. A conversation stays until its
 * payments, tool calls, approvals, workflow turns, waits and outbound messages have ended. A note for
 * the team is a change too. Emits no event.
 * @param before ISO 8601, as stored
 * @returns how many conversations were removed
 * @see docs/decisions/0026-what-retention-removes.md
 */
export async function removeOldConversations(
  deps: Pick<Deps, 'store'>,
  before: string,
  now: Date,
): Promise<number> {
  let removed = 0;
  const all = inBatches(deps, async (tx, from) => {
    const workspaces = await tx.workspaces.find({ where: {}, limit: WORKSPACES_AT_ONCE, ...from });
    return { result: workspaces, next: following(workspaces, WORKSPACES_AT_ONCE) };
  });
  for await (const workspaces of all) {
    for (const { id } of workspaces) {
      const batches = inBatches(deps, (tx, from) =>
        removeBatch(
          tx,
          id,
          { before, now },
          (conversation) => isOld(tx, conversation, before),
          from,
        ),
      );
      for await (const removedHere of batches) removed += removedHere.length;
    }
  }
  return removed;
}

/**
 * Locks the contact, then the conversation: the order in which storing a customer's message locks
 * them. A conversation that is not at rest is not locked.
 * @returns whether the locked conversation, with its notes, is older than `before` and at rest
 */
async function isOld(tx: Tx, found: Conversation, before: string): Promise<boolean> {
  if (!(await isAtRest(tx, found))) return false;
  await tx.contacts.get(found.contactId);
  const conversation = await tx.conversations.get(found.id);
  if (conversation === null || conversation.updatedAt >= before) return false;
  return (await isAtRest(tx, conversation)) && !(await hasNoteSince(tx, conversation, before));
}

/** A note for the team leaves `updatedAt` as it was. */
async function hasNoteSince(
  tx: Tx,
  { id: conversationId }: Conversation,
  since: string,
): Promise<boolean> {
  const [newest] = await tx.systemNotes.find({
    where: { conversationId },
    orderBy: 'afterMessage',
    direction: 'desc',
    limit: 1,
  });
  return newest !== undefined && newest.createdAt >= since;
}
