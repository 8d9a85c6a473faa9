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
  /** Customers who began to wait by this time may be missing; empty when all are listed. */
  readonly floor: string;
}

/** How many alerts a browser gets at once. */
const MAX_ALERTS = 50;
const MAX_NOTES = 20;

/**
 * The waiting conversations that a member should hear of, the latest first. Not those that a
 * colleague has, or an automation that answers through the API.
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

/** A conversation's customer, and who assigned it to this member; null if it is not theirs. */
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
