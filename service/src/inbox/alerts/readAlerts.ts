import {
  customerName,
  isCustomerWaiting,
  peekConversation,
  withContacts,
  type Conversation,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import type { SignedIn } from '../../team/index.ts';

/** A conversation whose customer waits. */
interface WaitingAlert {
  readonly id: string;
  readonly customer: string;
  readonly since: string;
}

interface WaitingAlerts {
  readonly waiting: readonly WaitingAlert[];
  /** Customers who have waited since this time or longer are not listed; empty when all are. */
  readonly floor: string;
}

/** A browser is told of these at most at once. */
const MAX_ALERTS = 50;
const MAX_NOTES = 20;

/**
 * What a member should hear of, the last to begin to wait first: not what a colleague has, or a
 * system that answers by the API.
 */
export const readWaitingAlerts = (
  { store }: Pick<Deps, 'store'>,
  { workspace, member }: Pick<SignedIn, 'workspace' | 'member'>,
) =>
  store.transaction(async (tx): Promise<WaitingAlerts> => {
    const found = await tx.conversations.find({
      where: { workspaceId: workspace.id },
      orderBy: 'waitingSince',
      direction: 'desc',
      limit: MAX_ALERTS,
    });
    const waiting = found.filter(isCustomerWaiting);
    const theirs = waiting.filter((conversation) => isToldTo(member.id, conversation));
    const alerts = (await withContacts(tx, theirs)).map(([{ id, waitingSince }, contact]) => ({
      id,
      customer: customerName(contact),
      since: waitingSince!,
    }));
    const isCut = waiting.length === MAX_ALERTS;
    return { waiting: alerts, floor: isCut ? waiting.at(-1)!.waitingSince! : '' };
  });

const isToldTo = (memberId: string, { status, takenBy }: Conversation): boolean =>
  status !== 'human_active' || takenBy === memberId;

/** The customer of a conversation and who assigned it to the member; null when it is not theirs. */
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
