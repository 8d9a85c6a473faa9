import type { Deps } from '../../platform/deps.ts';
import { peekConversation } from '../../conversations/index.ts';
import type { Tx } from '../../store/collections.ts';
import type { SignedIn } from '../../team/index.ts';
import { isThere, isWriting, presenceAfter, presenceId, type Doing } from './presence.ts';

/** Another member who has the conversation open. */
export interface Present {
  readonly name: string;
  readonly isWriting: boolean;
}

/** More are not shown. */
const MAX_PRESENT = 20;
/** Some of those that are stored have lapsed. */
const MAX_LOOKED_AT = 10 * MAX_PRESENT;

/**
 * Records what a member does in a conversation. The record lapses unless the page reports again.
 * @throws not_found (404)
 */
export const notePresence = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { workspace, member }: SignedIn,
  conversationId: string,
  doing: Doing,
) =>
  store.transaction(async (tx): Promise<void> => {
    await peekConversation(tx, workspace, conversationId);
    const of = { workspaceId: workspace.id, conversationId, memberId: member.id };
    const former = await tx.presences.peek(presenceId(of));
    const next = presenceAfter(former, of, doing, clock.now());
    if (next !== null) await tx.presences.put(next);
  });

/** The other members who have a conversation open. @param memberId who is left out */
export async function findPresent(
  tx: Tx,
  conversationId: string,
  memberId: string,
  now: Date,
): Promise<readonly Present[]> {
  const found = await tx.presences.find({ where: { conversationId }, limit: MAX_LOOKED_AT });
  const present: Present[] = [];
  for (const presence of found) {
    if (presence.memberId === memberId || !isThere(presence, now)) continue;
    const member = await tx.members.peek(presence.memberId);
    if (member) present.push({ name: member.name, isWriting: isWriting(presence, now) });
  }
  return present.slice(0, MAX_PRESENT);
}
