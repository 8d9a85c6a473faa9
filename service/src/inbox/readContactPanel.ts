import { readReach, type Reach } from '../channels/index.ts';
import {
  type ContactReveal,
  type Conversation,
  type ConversationView,
  peekConversation,
  type SystemNote,
} from '../conversations/index.ts';
import type { Payment } from '../payments/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { Member, Workspace } from '../team/index.ts';
import type { ToolCall } from '../tools/index.ts';

/** What is known of a customer besides the thread. Lists have the newest first, except `members`. */
export interface ContactPanel extends ConversationView {
  readonly reach: Reach;
  /** Whom the conversation can be assigned to, the oldest member first. */
  readonly members: readonly Pick<Member, 'id' | 'name'>[];
  /** Who last read the contact's details in the clear through the API. */
  readonly lastReveal: ContactReveal | null;
  readonly otherConversations: readonly Conversation[];
  readonly payments: readonly Payment[];
  readonly calls: readonly ToolCall[];
  readonly teamNotes: readonly SystemNote[];
}

export const MAX_LISTED = 10;
/** How many notes of all kinds are searched for those that the team wrote. */
const MAX_NOTES_LOOKED_AT = 200;
const MAX_MEMBERS = 1000;

/** @throws not_found (404) */
export const readContactPanel = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  id: string,
) =>
  store.transaction(async (tx): Promise<ContactPanel> => {
    const view = await peekConversation(tx, workspace, id);
    const ofContact = { contactId: view.contact.id };
    const inThread = {
      where: { conversationId: id },
      orderBy: 'afterMessage',
      direction: 'desc',
    } as const;
    const conversations = await tx.conversations.find({
      where: ofContact,
      direction: 'desc',
      limit: MAX_LISTED + 1,
    });
    const [lastReveal = null] = await tx.contactReveals.find({
      where: ofContact,
      direction: 'desc',
      limit: 1,
    });
    const notes = await tx.systemNotes.find({ ...inThread, limit: MAX_NOTES_LOOKED_AT });
    return {
      ...view,
      reach: await readReach(tx, view.contact, clock.now()),
      members: await tx.members.find({ where: { workspaceId: workspace.id }, limit: MAX_MEMBERS }),
      lastReveal,
      otherConversations: conversations.filter((each) => each.id !== id).slice(0, MAX_LISTED),
      payments: await tx.payments.find({ ...inThread, limit: MAX_LISTED }),
      calls: await tx.toolCalls.find({ ...inThread, limit: MAX_LISTED }),
      teamNotes: notes.filter(({ change }) => change.type === 'team_note').slice(0, MAX_LISTED),
    };
  });
