import { customerName, peekConversation, withContacts } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { SignedIn } from '../../team/index.ts';

/** A conversation that waits for a person. */
export interface WaitingAlert {
  readonly id: string;
  readonly customer: string;
  readonly since: string;
}

/** A browser is told of these at most at once. */
export const MAX_ALERTS = 50;
const MAX_NOTES = 20;

/** What waits for a person, the last to begin first. */
export const readWaitingAlerts = (
  { store }: Pick<Deps, 'store'>,
  { workspace }: Pick<SignedIn, 'workspace'>,
) =>
  store.transaction(async (tx): Promise<readonly WaitingAlert[]> => {
    const found = await tx.conversations.find({
      where: { workspaceId: workspace.id, status: 'awaiting_human' },
      orderBy: 'waitingSince',
      direction: 'desc',
      limit: MAX_ALERTS,
    });
    return (await withContacts(tx, found)).map(([{ id, waitingSince, updatedAt }, contact]) => ({
      id,
      customer: customerName(contact),
      since: waitingSince ?? updatedAt,
    }));
  });

/** Whose conversation the member was given, and by whom; null when it is no longer theirs. */
export const readAssignment = (
  { store }: Pick<Deps, 'store'>,
  { workspace, member }: SignedIn,
  conversationId: string,
) =>
  store.transaction(async (tx): Promise<{ customer: string; by: string } | null> => {
    const { conversation, contact } = await peekConversation(tx, workspace, conversationId);
    if (conversation.assigneeId !== member.id) return null;
    const notes = await tx.systemNotes.find({
      where: { conversationId },
      orderBy: 'afterMessage',
      direction: 'desc',
      limit: MAX_NOTES,
    });
    const note = notes
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      .find(({ change }) => change.type === 'assigned' && change.to?.id === member.id);
    return { customer: customerName(contact), by: note?.actor.name ?? 'A colleague' };
  });
